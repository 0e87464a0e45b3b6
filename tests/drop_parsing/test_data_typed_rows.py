"""Rows with a passage and one question: as on Hugging Face, or with answers in DROP's form."""

import json
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Answer, AnswerDate, Passage, Question

BLANK = AnswerDate()
TEXT = "Carn had 15 boats and 81 huts in May 1920."


def row(number: int, spans: list[str], types: list[str], **changes: Any) -> dict[str, Any]:
    return {
        "section_id": "carn",
        "query_id": f"q{number}",
        "passage": TEXT,
        "question": f"Question {number}?",
        "answers_spans": {"spans": spans, "types": types},
    } | changes


def read(path: Path, *rows: dict[str, Any]) -> tuple[list[Passage], list[str]]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    passages, faults = read_all([path])
    return passages, [str(fault) for fault in faults]


@pytest.mark.parametrize(
    ("spans", "types", "answers"),
    [
        (["15"], ["number"], [Answer("15", BLANK)]),
        (["15", "15", "81"], ["number"] * 3, [Answer("15", BLANK), Answer("81", BLANK)]),
        (["Carn"], ["span"], [Answer(date=BLANK, spans=("Carn",))]),
        (["boats", "huts", "boats"], ["span"] * 3, [Answer(date=BLANK, spans=("boats", "huts"))]),
        (
            ["15", "15 boats"],
            ["number", "span"],
            [Answer("15", BLANK), Answer(date=BLANK, spans=("15 boats",))],
        ),
        (["May 1920"], ["date"], [Answer(date=AnswerDate("", "May", "1920"))]),
        (["2 May 1920"], ["date"], [Answer(date=AnswerDate("2", "May", "1920"))]),
        (["1920"], ["date"], [Answer(date=AnswerDate("", "", "1920"))]),
        (["late in 1920"], ["date"], [Answer(date=AnswerDate("", "", "late in 1920"))]),
        ([], [], []),
    ],
)
def test_answers_by_their_types(
    tmp_path: Path, spans: list[str], types: list[str], answers: list[Answer]
) -> None:
    [passage], faults = read(tmp_path / "x.jsonl", row(1, spans, types))
    assert faults == []
    first = answers[0] if answers else None
    assert passage == Passage("carn", TEXT, (Question("q1", "Question 1?", first, tuple(answers[1:])),))


def test_rows_are_gathered_by_passage(tmp_path: Path) -> None:
    passages, faults = read(
        tmp_path / "x.jsonl",
        row(1, ["15"], ["number"]),
        row(2, ["huts"], ["span"], passage="Huts.", section_id="huts"),
        row(3, ["81"], ["number"]),
    )
    assert faults == []
    assert [(p.id, [q.id for q in p.questions]) for p in passages] == [
        ("carn", ["q1", "q3"]),
        ("huts", ["q2"]),
    ]


def test_answers_in_the_form_of_drop(tmp_path: Path) -> None:
    given = {"passage": TEXT, "question": "How many?", "query_id": "q", "answer": {"number": "15"}}
    [passage], faults = read(tmp_path / "x.jsonl", given, given | {"query_id": "r", "answer": None})
    assert faults == []
    assert [question.answer for question in passage.questions] == [Answer("15"), None]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answers_spans": "15"}, "answers_spans must be an object but is a string"),
        ({"answers_spans": {"spans": ["15"]}}, "answers_spans.types must be a list of strings but is null"),
        ({"answers_spans": {"spans": ["1"], "types": []}}, "has 1 spans but 0 types"),
        (
            {"answers_spans": {"spans": ["1", "2"], "types": ["number", "x"]}},
            "holds 'x': number, date or span",
        ),
        ({"question": 7}, "question must be a string but is the number 7"),
        ({"passage": 7}, "passage must be a string but is the number 7"),
    ],
)
def test_a_bad_row_is_named_and_the_others_kept(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    good = row(2, ["15"], ["number"])
    [passage], [fault] = read(tmp_path / "x.jsonl", row(1, ["15"], ["number"]) | changes, good)
    assert [question.id for question in passage.questions] == ["q2"]
    assert "x.jsonl: line 1: field" in fault
    assert message in fault
