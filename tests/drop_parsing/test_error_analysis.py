"""Why answers are wrong: each reason on a case made for it; shares, the sample, and a page that stays safe."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra models is not installed")

from drop_parsing.analysis.errors import REASONS, ErrorAnalysis, Reason, analyse_errors, reason_of
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.parser.answering import Candidate, Parsed
from drop_parsing.reports.error_page import write_page
from extractors.registry import make_extractor
from extractors.table import Paragraph, Span, Table, text_hash
from grammar.forms import parse

TEXT = "Carn had 70 boats. Hull sold 25 nets to Leeds."


@pytest.fixture(scope="module")
def table() -> Table:
    return make_extractor("syndep").extract(Paragraph("p", TEXT))


def parsed(answer: str, *others: str, cell: str = "") -> Parsed:
    beam = tuple(
        Candidate(parse(f"(count_structures {i})").form, math.log(0.5), (text,), 0.0)
        for i, text in enumerate((answer, *others))
    )
    cells = (Span(cell, TEXT.index(cell), TEXT.index(cell) + len(cell), "obj"),) if cell else ()
    return Parsed("q", (answer,), beam[0].form, cells, beam, None)


def reason(answer: Answer, found: Parsed, table: Table | None, forms: int = 0) -> Reason:
    return reason_of(Question("q", "How many?", answer), found, table, TEXT, lambda question, table: forms)


def test_each_reason_on_its_case(table: Table) -> None:
    boats = Answer(number="70")
    assert reason(boats, parsed("3", "70"), table) == "in the beam, not first"
    assert reason(boats, parsed("3", cell="70 boats"), table) == "value error"
    assert reason(boats, parsed("3", cell="Hull"), table, forms=9) == "not in the beam"
    assert reason(boats, parsed("3"), table) == "no consistent form"
    assert reason(Answer(number="95"), parsed("3"), table) == "no consistent form"
    cut = replace(table, rows=table.rows[:1])
    assert reason(Answer(spans=("Leeds",)), parsed("Carn"), cut) == "not in table"
    assert reason(boats, parsed(""), None) == "not in table"


def test_only_wrong_answers_are_drawn_and_shares_are_of_the_sample(table: Table) -> None:
    questions = tuple(
        Question(f"q{i}", "How many?", Answer(number=number))
        for i, number in enumerate(("70", "25", "4", "5"))
    )
    passage = Passage("p", TEXT, (*questions, Question("none", "Why?")))
    answers = {q.id: replace(parsed("70", "25"), id=q.id) for q in passage.questions}
    found = analyse_errors([passage], answers, {text_hash(TEXT): table}, lambda q, t: 0, number=9)
    assert (found.wrong, found.questions) == (3, 4)
    assert [wrong.question.id for wrong in found.sample] == ["q1", "q2", "q3"]
    assert set(found.shares()) == set(REASONS)
    assert found.shares()["in the beam, not first"] == pytest.approx(100 / 3)
    assert sum(found.shares().values()) == pytest.approx(100)
    again = analyse_errors([passage], answers, {text_hash(TEXT): table}, lambda q, t: 0, number=2)
    assert len(again.sample) == 2
    with pytest.raises(InputError, match="No question has an answer"):
        analyse_errors([replace(passage, questions=())], answers, {}, lambda q, t: 0)


@pytest.mark.parametrize(
    "injection", ["<script>alert(1)</script>", '"><img src=x>', "{{ 7 * 191 }}", "</details>"]
)
def test_text_on_the_page_stays_text(injection: str, table: Table, tmp_path: Path) -> None:
    text = f"Ada sold 3 boats {injection}."
    passage = Passage("p", text, (Question("q", f"Who {injection}?", Answer(spans=(injection,))),))
    own = make_extractor("syndep").extract(Paragraph("p", text))
    found = analyse_errors([passage], {"q": parsed(injection[1:])}, {text_hash(text): own}, lambda q, t: 0)
    write_page(tmp_path / "page.html", found, injection, f"predict {injection}")
    page = (tmp_path / "page.html").read_text()
    assert injection not in page.replace("</details>\n", "") or injection == "{{ 7 * 191 }}"
    assert "1337" not in page
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page


def test_no_wrong_answer_makes_a_page_too(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", ErrorAnalysis((), 0, 4), "dev", "predict")
    assert "0 of 4 answers" in (tmp_path / "page.html").read_text()
