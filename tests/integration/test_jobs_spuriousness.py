"""The job of the analysis: kept in the cache, resumed, and the same whatever runs it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from drop_parsing.analysis.qdmr import Decomposition, question_key
from drop_parsing.analysis.spuriousness import SpuriousnessSettings
from drop_parsing.analysis.spuriousness_job import (
    AnalysisReport,
    analyse_passages,
    open_analyses,
    summary,
    weights_lines,
)
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.extraction import extract_tables, open_store
from extractors.registry import DEFAULT_BACKEND
from extractors.store import TableStore

SETTINGS = SpuriousnessSettings(max_size=1)
NAMES = ("Ada", "Bram", "Corin", "Dara")


def passage(number: int) -> Passage:
    text = f"{NAMES[number]} sold {number + 3} boats, Eyre sold 9 boats, and rain fell for {number + 3} days."
    questions = (
        Question(f"q{number}", f"How many boats did {NAMES[number]} sell?", Answer(number=str(number + 3))),
        Question(f"r{number}", "Who sold 9 boats?", Answer(spans=("Eyre",))),
        Question(f"s{number}", "Who paid?"),
    )
    return Passage(f"p{number}", text, questions)


PASSAGES = [passage(number) for number in range(4)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> TableStore:
    store = open_store(tmp_path_factory.mktemp("tables"), "syndep", DEFAULT_BACKEND)
    assert not extract_tables(PASSAGES, {"syndep": store}).failed
    return store


def run(
    cache: Path, tables: TableStore, passages: list[Passage] = PASSAGES, **options: object
) -> AnalysisReport:
    analyses = open_analyses(cache, "syndep", SETTINGS)
    return analyse_passages(passages, tables, analyses, SETTINGS, {}, part_questions=4, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def first(tables: TableStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AnalysisReport]:
    cache = tmp_path_factory.mktemp("first")
    return cache, run(cache, tables)


def parts(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cache.rglob("part-*.parquet")}


def test_every_question_with_an_answer_is_analysed_in_order(first: tuple[Path, AnalysisReport]) -> None:
    cache, report = first
    assert [one.query_id for one in report.questions] == [f"{letter}{i}" for i in range(4) for letter in "qr"]
    assert (report.failed, report.cached, report.skipped) == ([], 0, 4)
    assert all(one.covered for one in report.questions)
    assert len(parts(cache)) == 4  # a passage of three questions fills a part of four


def test_a_second_run_answers_from_the_cache(first: tuple[Path, AnalysisReport], tables: TableStore) -> None:
    cache, report = first
    before = parts(cache)
    again = run(cache, tables)
    assert (again.questions, again.cached) == (report.questions, 8)
    assert parts(cache) == before


def test_workers_write_the_same_bytes(
    first: tuple[Path, AnalysisReport], tables: TableStore, tmp_path: Path
) -> None:
    cache, report = first
    assert run(tmp_path, tables, workers=2).questions == report.questions
    assert parts(tmp_path) == parts(cache)


def test_what_was_stopped_ends_with_the_same_bytes(
    first: tuple[Path, AnalysisReport], tables: TableStore, tmp_path: Path
) -> None:
    cache, _ = first
    run(tmp_path, tables, PASSAGES[:2])
    assert run(tmp_path, tables).cached == 4
    assert parts(tmp_path) == parts(cache)


def test_new_ids_are_no_change_and_new_answers_are(
    first: tuple[Path, AnalysisReport], tables: TableStore
) -> None:
    cache, report = first
    old, *others = PASSAGES[0].questions
    renamed = replace(PASSAGES[0], id="other", questions=(replace(old, id="new"), *others))
    found = run(cache, tables, [renamed])
    assert found.cached == 2
    assert (found.questions[0].query_id, found.questions[0].passage_id) == ("new", "other")
    assert found.questions[0].classes == report.questions[0].classes
    changed = replace(renamed, questions=(replace(old, answer=Answer(number="9")), *others))
    assert run(cache, tables, [changed]).cached == 0


def test_a_decomposition_that_was_not_there_is_a_change(
    first: tuple[Path, AnalysisReport], tables: TableStore
) -> None:
    cache, _ = first
    steps = {
        question_key(PASSAGES[0].questions[0].text): Decomposition.parse("return boats ;return number of #1")
    }
    analyses = open_analyses(cache, "syndep", SETTINGS)
    found = analyse_passages(PASSAGES[:1], tables, analyses, SETTINGS, steps)
    assert found.cached == 0
    assert found.questions[0].classes[0].scores["qdmr"] is not None


def test_a_passage_without_a_table_is_named(first: tuple[Path, AnalysisReport], tables: TableStore) -> None:
    cache, _ = first
    unknown = Passage("px", "Nobody extracted this.", (Question("qx", "Who?", Answer(spans=("Nobody",))),))
    report = run(cache, tables, [unknown, PASSAGES[0]])
    assert [failed.item for failed in report.failed] == ["question qx"]
    assert "px" in report.failed[0].reason
    assert [one.query_id for one in report.questions] == ["q0", "r0"]


def test_the_summary_adds_up(first: tuple[Path, AnalysisReport]) -> None:
    _, report = first
    found = summary("syndep", report.questions)
    assert (found.questions, found.covered, found.complete) == (8, 8, 8)
    assert found.forms == sum(one.forms for one in report.questions)
    assert found.classes == sum(one.met for one in report.questions)
    assert 0 <= found.without_right <= 1
    assert 0 < found.spurious_rate <= 1
    assert found.by_judge["qdmr"] is None
    assert found.by_judge["contrast"] is None
    assert 0 < (found.by_judge["vote"] or 0) < 1
    assert summary("syndep", []).spurious_rate == 0


def test_weights_for_a_learner(first: tuple[Path, AnalysisReport]) -> None:
    _, report = first
    lines = [json.loads(line) for line in weights_lines(report.questions)]
    assert [line["query_id"] for line in lines] == [one.query_id for one in report.questions]
    for line in lines:
        assert line["scheme"] == "syndep"
        assert sum(line["forms"].values()) == pytest.approx(1)
        assert all(form.startswith("(") for form in line["forms"])
