"""The official metric against its recorded scores, its published evaluator, and its known quirks."""

import importlib.util
import json
import random
from itertools import permutations
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drop_parsing.data.alignment import align
from drop_parsing.data.drop_json import passages_to_json
from drop_parsing.data.metric import evaluate, normalise, score, score_texts
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Answer, AnswerDate, Question
from drop_parsing.errors import InputError


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The evaluator's own file, without the package around it."""
    pytest.importorskip("scipy")
    package = importlib.util.find_spec("allennlp_models")
    if package is None or not package.submodule_search_locations:
        pytest.skip("allennlp-models is not installed")
    path = Path(package.submodule_search_locations[0], "rc", "tools", "drop.py")
    spec = importlib.util.spec_from_file_location("peer_drop_evaluator", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_official_cases(shared_data: Path) -> None:
    cases = json.loads((shared_data / "drop/official_metric_cases.json").read_text("utf-8"))
    assert len(cases) == 1535
    wrong = []
    for case in cases:
        prediction = case["prediction"]
        if "answer" in case:
            got = score(prediction, [Answer.from_json(case["answer"])])
        else:
            got = score_texts(
                [prediction] if isinstance(prediction, str) else prediction, case["gold_strings"]
            )
        if got != pytest.approx((case["em"], case["f1"]), abs=1e-9):
            wrong.append((case, got))
    assert not wrong


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [  # S19
        (["Leeds"], ["Hull", "Leeds"], (0.0, 0.5)),
        (["Leeds"], ["Leeds", "Hull"], (0.0, 0.5)),
        (["Hull"], ["Hull", "Leeds"], (0.0, 0.5)),
        (["Marsh", "Marsh"], ["Marsh"], (0.0, 0.5)),
        (["tall", "oak", "tree", "tall oak", "oak tree", "tall oak tree"], ["oak"], (0.0, 0.17)),
        (["a", "b"], ["b", "a"], (1.0, 1.0)),
        ([], ["x"], (0.0, 0.0)),
        # an exact match although the counts differ, with an F1 that says so
        (["x", "x", "y"], ["x", "y", "y"], (1.0, 0.67)),
    ],
)
def test_several_spans(predicted: list[str], gold: list[str], expected: tuple[float, float]) -> None:
    assert score(predicted, [Answer(spans=tuple(gold))]) == pytest.approx(expected, abs=1e-9)


def test_all_of_these_is_not_any_of_these() -> None:
    """S20"""
    every, any_of = [Answer(spans=("15", "81"))], [Answer(number="15"), Answer(number="81")]
    assert score("15", every) == (0.0, 0.5)
    assert score(["15", "81"], every) == (1.0, 1.0)
    assert score("15", any_of) == (1.0, 1.0)
    assert score(["15", "81"], any_of) == (0.0, 0.5)


def test_validated_answers_count_and_blank_ones_do_not() -> None:
    """S23"""
    answers = (Answer("24"), Answer("23"), Answer("24"), Answer())
    question = Question("q", "?", answers[0], answers[1:])
    for prediction, expected in (("23", 1.0), ("24", 1.0), ("", 0.0)):
        assert score(prediction, answers) == (expected, expected)
        assert score(prediction, question.references) == (expected, expected)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The 1,000-yard Run!", "1000.0 yard run"),
        ("10.", "10.0"),
        ("10\n", "10.0"),
        ("an the a", ""),
        ("U.S.", "us"),
        ("-5", "5.0"),
        ("1e3", "1000.0"),
        ("it's  a\tdog", "its dog"),
        ("4\u201315", "4\u201315"),
        ("\ud800", "\ud800"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


WORDS = """the a an of Hull Leeds oak tree ship 5 5. 5.0 1,000 1000 -5 -3 10-yard U.S. nan inf 1_0 2% $4.2 ''
 . \u0663 \u22125 A"""
WORD = st.sampled_from([*WORDS.split(), "x\ny", "5\n", "\u00a0"])
TEXT = st.lists(WORD, max_size=4).map(" ".join) | st.text(max_size=6)


@settings(max_examples=400, deadline=None)
@given(predicted=st.lists(TEXT, min_size=1, max_size=5), gold=st.lists(TEXT, min_size=1, max_size=5))
def test_agrees_with_the_published_evaluator(peer: ModuleType, predicted: list[str], gold: list[str]) -> None:
    assert score_texts(predicted, gold) == pytest.approx(peer.get_metrics(predicted, gold), abs=1e-9)


def test_aggregates_agree_with_the_published_evaluator(
    peer: ModuleType, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passages = read_all([shared_data / "drop/dev.json"])[0][:60]
    questions = [question for passage in passages for question in passage.questions]
    rng = random.Random(5)
    predictions = {
        question.id: list(rng.choice((question, question, rng.choice(questions))).references[-1].texts())
        for question in questions
        if rng.random() < 0.9
    }
    ours = evaluate(predictions, questions)
    em, f1 = peer.evaluate_json(passages_to_json(passages), predictions)
    assert (ours.em, ours.f1) == pytest.approx((100 * em, 100 * f1), abs=1e-9)
    printed = capsys.readouterr().out
    for kind, by_type in ours.by_type.items():
        assert f"{kind}: {by_type.questions} (" in printed
        assert f"accuracy {by_type.em:.3f}\n  F1 score {by_type.f1:.3f}" in printed
    assert printed.count("Missing prediction") == len(ours.missing) > 0


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=width, max_size=width),
            min_size=1,
            max_size=5,
        )
    )
)
def test_alignment_is_the_best_of_all(scores: list[list[float]]) -> None:
    rows, columns = len(scores), len(scores[0])
    size = max(rows, columns)
    padded = [[scores[r][c] if r < rows and c < columns else 0.0 for c in range(size)] for r in range(size)]
    best = max(sum(padded[r][c] for r, c in enumerate(order)) for order in permutations(range(size)))
    aligned = align(scores)
    assert len(aligned) == rows
    assert sum(aligned) == pytest.approx(best, abs=1e-12)


def test_a_large_alignment_is_exact() -> None:
    """Every row prefers column 0, so that no shortcut applies; the best matching is known by construction."""
    size = 120
    scores = [[(row + 1) * (size - column) / size**2 for column in range(size)] for row in range(size)]
    best = sum((row + 1) * (row + 1) / size**2 for row in range(size))  # larger with larger
    assert sum(align(scores)) == pytest.approx(best, abs=1e-9)


def test_evaluation_lists_what_it_did_not_score() -> None:
    questions = [
        Question("right", "?", Answer("5")),
        Question("half", "?", Answer(spans=("Hull", "Leeds"))),
        Question("missing", "?", Answer(date=AnswerDate(year="1914"))),
        Question("null", "?", Answer("7")),
        Question("blank", "?", Answer(date=AnswerDate())),
        Question("test", "?"),
    ]
    result = evaluate({"right": "5", "half": "Hull", "blank": "", "null": None, "typo": "1"}, questions)
    assert (result.em, result.f1, result.questions) == (20.0, 30.0, 5)
    assert (result.missing, result.unknown, result.unanswered) == (("missing", "null"), ("typo",), ("test",))
    assert {kind: (s.questions, s.em, s.f1) for kind, s in result.by_type.items()} == {
        "number": (2, 50.0, 50.0),
        "spans": (1, 0.0, 50.0),
        "date": (1, 0.0, 0.0),
        "none": (1, 0.0, 0.0),
    }


def test_type_is_that_of_the_best_reference() -> None:
    question = Question("q", "?", Answer("5"), (Answer(spans=("Hull",)), Answer(spans=("Hull", "Leeds"))))
    assert evaluate({"q": "Hull"}, [question]).scores["q"].kind == "span"
    assert evaluate({"q": "5"}, [question]).scores["q"].kind == "number"
    assert evaluate({"q": "nothing"}, [question]).scores["q"].kind == "spans"  # the last of equals


@pytest.mark.parametrize("prediction", [7, ["x", None], {"answer": "x"}])
def test_a_malformed_prediction_is_named(prediction: object) -> None:
    with pytest.raises(InputError, match="question q must be a string or a list of strings"):
        evaluate({"q": prediction}, [Question("q", "?", Answer("5"))])  # type: ignore[dict-item]


def test_nothing_to_score_against() -> None:
    with pytest.raises(InputError, match="No question has an answer"):
        evaluate({"q": "5"}, [Question("q", "?")])
