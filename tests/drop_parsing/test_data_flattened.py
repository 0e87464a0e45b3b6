"""Flattened rows: context split, references told apart, answers typed by rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.data.flattened import type_answer
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Answer, AnswerDate

PASSAGE = "Carn had 15 boats in 81 BC. Ulf of Hull, Yorkshire, and Dag of Leeds came on 3 May."
NO_DATE = AnswerDate()


def read_answers(tmp_path: Path, **fields: Any) -> tuple[Answer | None, tuple[Answer, ...]]:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"context": f"Passage: {PASSAGE}\nQuestion: Which?\nAnswer:", **fields}))
    (passage,), faults = read_all([path])
    assert not faults
    (question,) = passage.questions
    assert (passage.text, question.text) == (PASSAGE, "Which?")
    return question.answer, question.validated_answers


FIFTEEN, EIGHTY_ONE = Answer("15", NO_DATE), Answer("81", NO_DATE)
BOTH = Answer("", NO_DATE, ("15", "81"))


@pytest.mark.parametrize(
    ("fields", "answer", "validated"),
    [
        ({"completion": " 15", "ref_text": "15"}, FIFTEEN, ()),
        ({"completion": "15", "ref_text": "15|81|15| "}, FIFTEEN, (EIGHTY_ONE,)),
        ({"completion": "15", "ref_text": ["15", "81"]}, FIFTEEN, (EIGHTY_ONE,)),
        ({"completion": "81", "ref_text": ["15"]}, EIGHTY_ONE, (FIFTEEN,)),
        ({"ref_text": ["15", ["15", "81"]]}, FIFTEEN, (BOTH,)),
        ({"completion": "15, 81", "ref_text": "15, 81"}, BOTH, ()),
        ({"completion": "15, 81", "ref_text": ["15", "81"]}, BOTH, ()),
        ({"completion": ["15", "81"]}, BOTH, ()),
        ({"completion": "81"}, EIGHTY_ONE, ()),
        ({}, None, ()),
    ],
)
def test_references(
    tmp_path: Path, fields: dict[str, Any], answer: Answer | None, validated: tuple[Answer, ...]
) -> None:
    """S20: all of these spans, and any of these references, stay different."""
    assert read_answers(tmp_path, **fields) == (answer, validated)


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("16,000", "How many?", Answer("16,000", NO_DATE)),
        ("-2.5", "How much?", Answer("-2.5", NO_DATE)),
        ("3.", "Which?", Answer("", NO_DATE, ("3.",))),
        ("1914", "In what year?", Answer(date=AnswerDate(year="1914"))),
        ("1914", "How many?", Answer("1914", NO_DATE)),
        ("3 May", "When?", Answer(date=AnswerDate("3", "May"))),
        ("11 December 1921", "When?", Answer(date=AnswerDate("11", "December", "1921"))),
        ("May", "Who?", Answer("", NO_DATE, ("May",))),
        ("Hull, Yorkshire", "Where?", Answer("", NO_DATE, ("Hull, Yorkshire",))),
        ("Leeds, Hull, Yorkshire", "Where?", Answer("", NO_DATE, ("Leeds", "Hull, Yorkshire"))),
        ("Leeds, Paris", "Where?", Answer("", NO_DATE, ("Leeds, Paris",))),
    ],
)
def test_bare_strings_are_typed_by_rule(text: str, question: str, answer: Answer) -> None:
    assert type_answer(text, PASSAGE, question) == answer


def test_the_rule_agrees_with_the_original_types(shared_data: Path) -> None:
    """On DROP's own typed answers, joined as flattened copies join them."""
    agree = total = 0
    for passage in read_all([shared_data / "drop/train.json"])[0]:
        for question in passage.questions:
            for answer in question.references:
                typed = type_answer(", ".join(answer.texts()), passage.text, question.text)
                agree += (typed.kind, typed.texts()) == (answer.kind, answer.texts())
                total += 1
    assert agree / total > 0.98


def test_rows_are_gathered_by_passage_and_bad_ones_named(tmp_path: Path) -> None:
    rows = [
        {"id": "4032", "context": "Passage: A Question: is one?\nQuestion: Q1?\nAnswer:", "completion": "5"},
        {"context": "Passage: B.\nQuestion: Q2?", "completion": 5},
        {"context": "Just text."},
        {"context": "B.", "question": "Q3?", "ref_text": "x", "passage_id": "b"},
        {"context": 7},
        {"context": "Passage: A Question: is one?\nQuestion: Q4?\nAnswer:"},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    passages, faults = read_all([path])
    assert [(p.id, p.text, [(q.id, q.text) for q in p.questions]) for p in passages] == [
        ("x.jsonl:1", "A Question: is one?", [("4032", "Q1?"), ("x.jsonl:6", "Q4?")]),
        ("b", "B.", [("x.jsonl:4", "Q3?")]),
    ]
    assert [str(fault).split(": ", 1)[1] for fault in faults] == [
        "line 2: field completion must be a string or a list of strings but is the number 5",
        "line 3: field context holds no question: write 'Passage: ... Question: ...'",
        "line 5: field context must be a string but is the number 7",
    ]
