from pathlib import Path

import pytest

from drop_parsing.analysis.retention import numbers_held, numbers_written, occurrences, retention
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Answer, Passage, Question
from extractors.registry import make_extractor
from extractors.table import Paragraph, Table

TEXT = "Carn had 70 boats in May 1914. Its twelve crews, of 1,250 men, sailed for Hull City."


def table_of(text: str) -> Table:
    return make_extractor("syndep").extract(Paragraph("p", text))


def passage(*answers: Answer) -> Passage:
    questions = tuple(Question(f"q{i}", "How many?", answer) for i, answer in enumerate(answers))
    return Passage("p", TEXT, questions)


def test_numbers_are_found_without_the_extractor() -> None:
    assert numbers_written("1,250 men, 3.5% and twelve of 1914") == {1250.0, 3.5, 12.0, 1914.0}


def test_a_table_holds_numbers_and_the_parts_of_dates() -> None:
    assert {70.0, 12.0, 1250.0, 1914.0, 5.0} <= numbers_held(table_of(TEXT))


@pytest.mark.parametrize(
    ("span", "places"),
    [
        ("hull city", [(74, 83)]),
        ("Hull  City", [(74, 83)]),
        ("Leeds", []),
        ("the", []),
        ("", []),
        ("a.b", []),
    ],
)
def test_where_a_span_stands(span: str, places: list[tuple[int, int]]) -> None:
    assert occurrences(span, TEXT) == places


def test_what_stands_in_the_paragraph_counts_and_what_the_table_lost_is_missed() -> None:
    asked = passage(Answer(number="70"), Answer(number="71"), Answer(spans=("Hull City", "Leeds")))
    whole = retention([(asked, [table_of(TEXT)])])
    assert (whole.numbers.kept, whole.numbers.total) == (1, 1)
    assert (whole.spans.kept, whole.spans.total) == (1, 1)
    half = retention([(asked, [table_of(TEXT.split(".")[1])])])
    assert (half.numbers.kept, half.numbers.total) == (0, 1)


def test_tables_are_measured_together() -> None:
    asked = passage(Answer(number="70"), Answer(spans=("Hull City",)))
    halves = [table_of(f"{half}.") for half in TEXT.split(".")[:2]]
    apart = [retention([(asked, [half])]).numbers.kept for half in halves]
    together = retention([(asked, halves)])
    assert apart == [1, 0]
    assert (together.numbers.kept, together.numbers.total) == (1, 1)


def test_retention_on_real_paragraphs(shared_data: Path) -> None:
    passages, _ = read_all([shared_data / "drop" / "dev.json"])
    tables = make_extractor("syndep").pipe(Paragraph(p.id, p.text) for p in passages)
    kept = retention((p, [table]) for p, table in zip(passages, tables, strict=True))
    assert kept.numbers.percent >= 97
    assert kept.spans.percent >= 95
