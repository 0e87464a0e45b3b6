"""``drop-parsing evaluate``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.data.metric import evaluate
from drop_parsing.data.reading import read_all
from drop_parsing.demo import demo_path

Write = Callable[[str, Any], Path]


def test_scores_worked_out_by_hand(run: Callable[..., Any], small: Path, write: Write) -> None:
    predictions = {
        "q-number": "15",  # right
        "q-sum": ["69"],  # wrong
        "q-span": "the old harbour",  # a third of it too much: F1 0.67 for "harbour"
        "q-spans": "Ada",  # one of two: F1 0.50
        "q-date": "May 1920",  # right
        "q-crew": "12",  # right
        "q-unheard": "42",
    }
    done = run("evaluate", write("p.json", predictions), small, "--json")
    assert done.code == 0
    result = done.json
    assert result["questions"] == 7
    assert result["em"] == pytest.approx(100 * 3 / 7)
    assert result["f1"] == pytest.approx(100 * (3 + 0.67 + 0.5) / 7)
    assert result["by_type"]["spans"] == {"questions": 1, "em": 0.0, "f1": 50.0}
    assert result["by_type"]["date"] == {"questions": 1, "em": 100.0, "f1": 100.0}
    assert (result["missing"], result["unknown"]) == (1, 1)
    assert "q-never" in done.err
    assert "q-unheard" in done.err


def test_all_of_these_is_not_any_of_these(run: Callable[..., Any], write: Write) -> None:
    """User report S20."""
    pairs = [
        {"query_id": "a", "question": "Which?", "answer": {"spans": ["15", "81"]}},
        {
            "query_id": "b",
            "question": "Which?",
            "answer": {"spans": ["15"]},
            "validated_answers": [{"spans": ["81"]}],
        },
    ]
    data = write("s20.json", {"p": {"passage": "15 and 81.", "qa_pairs": pairs}})
    one = run("evaluate", write("one.json", {"a": "15", "b": "15"}), data, "--json").json
    both = run("evaluate", write("both.json", {"a": ["15", "81"], "b": ["15", "81"]}), data, "--json").json
    assert (one["em"], one["f1"]) == (50.0, 75.0)
    assert (both["em"], both["f1"]) == (50.0, 75.0)
    assert one["by_type"]["spans"] == {"questions": 1, "em": 0.0, "f1": 50.0}
    assert both["by_type"]["spans"] == {"questions": 1, "em": 100.0, "f1": 100.0}


@pytest.mark.parametrize("metric", ["official", "strict"])
def test_agrees_with_the_metric(run: Callable[..., Any], write: Write, metric: str) -> None:
    passages, _ = read_all([demo_path()])
    questions = [question for passage in passages for question in passage.questions]
    predictions: dict[str, Any] = {
        question.id: list(questions[i // 3 * 3].references[0].texts()) for i, question in enumerate(questions)
    }
    expected = evaluate(predictions, questions, strict=metric == "strict")
    done = run("evaluate", write("p.json", predictions), demo_path(), "--metric", metric, "--json").json
    assert 0 < done["em"] < 100
    assert (done["em"], done["f1"]) == (expected.em, expected.f1)
    shown = run("evaluate", write("p.json", predictions), demo_path(), "--metric", metric).out
    assert f"{expected.em:.2f}" in shown


def test_gold_answers_score_100(run: Callable[..., Any], write: Write) -> None:
    passages, _ = read_all([demo_path()])
    gold = {q.id: list(q.references[0].texts()) for p in passages for q in p.questions}
    done = run("evaluate", write("gold.json", gold), demo_path(), "--json")
    assert (done.json["em"], done.json["f1"]) == (100.0, 100.0)
    assert done.err == ""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "p.json"),
        ("", "not JSON"),
        ('{"q-number": ', "not JSON"),
        ("[" * 200_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("[1]", "one JSON object"),
        ('"15"', "one JSON object"),
        ({"q-number": 15}, "q-number"),
        ({"q-number": {"number": "15"}}, "q-number"),
        ({"q-number": ["15", 7]}, "q-number"),
    ],
    ids=["missing", "empty", "cut", "deep", "bytes", "list", "string", "number", "object", "mixed"],
)
def test_bad_predictions(run: Callable[..., Any], small: Path, write: Write, content: Any, says: str) -> None:
    path = small.with_name("p.json")
    if content is not None:
        write("p.json", content)
    assert says in run("evaluate", path, small).sentence


def test_predictions_in_a_folder(run: Callable[..., Any], small: Path) -> None:
    assert "Is a directory" in run("evaluate", small.parent, small).sentence


def test_nothing_to_score(run: Callable[..., Any], write: Write) -> None:
    data = write("x.jsonl", [{"id": "p", "text": "Ada."}])
    assert "answer" in run("evaluate", write("p.json", {}), data).sentence


def test_ids_are_no_markup(run: Callable[..., Any], small: Path, write: Write) -> None:
    done = run("evaluate", write("p.json", {"[/red]": "1", "\ud800": "2"}), small)
    assert done.code == 0
    assert "[/red]" in done.err


def test_a_bad_question_is_named_and_the_others_scored(
    run: Callable[..., Any], write: Write, documents: dict[str, Any]
) -> None:
    documents["crew"]["qa_pairs"][0]["answer"] = ["12"]
    data = write("bad.json", json.loads(json.dumps(documents)))
    done = run("evaluate", write("p.json", {"q-number": "15"}), data, "--json")
    assert done.code == 1
    assert done.json["questions"] == 6
    assert "q-crew" in str(done.json["failed"])
