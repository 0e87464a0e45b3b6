"""Each fault of the official metric that ``strict`` mends: the official score, and the mended one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drop_parsing.data.metric import Prediction, evaluate, score
from drop_parsing.data.types import Answer, AnswerDate, Question


def spans(*texts: str) -> Answer:
    return Answer(spans=texts)


@pytest.mark.parametrize(
    ("prediction", "reference", "official", "strict"),
    [
        pytest.param("5.\n6", spans("5 6"), (0, 0), (1, 1), id="number with period and line break"),
        pytest.param("-5", Answer("5"), (1, 1), (0, 0), id="sign is kept"),
        pytest.param("\u22125", Answer("-5"), (0, 0), (1, 1), id="minus sign is a hyphen"),
        pytest.param("4\u201315", spans("4-15"), (0, 0), (1, 1), id="en dash is a hyphen"),
        pytest.param("1,000", Answer("1000"), (1, 1), (1, 1), id="grouped digits"),
        pytest.param("$1,000.50", Answer("1000.5"), (0, 0), (1, 1), id="money with decimals"),
        pytest.param("05.0", Answer("5"), (1, 1), (1, 1), id="leading and trailing zeros"),
        pytest.param("1e3", Answer("1000"), (1, 1), (0, 0), id="exponent is not a number"),
        pytest.param("Forty-five", Answer("45"), (0, 0), (1, 1), id="number word"),
        pytest.param(
            "one tree", spans("1 tree"), (0, 0), (0, 0), id="number word within a text stays a word"
        ),
        pytest.param("25 to 30", spans("25 to 44"), (0, 0.67), (0, 0), id="every number must be there"),
        pytest.param("A", spans("the"), (1, 1), (0, 0), id="articles alone"),
        pytest.param("..", spans("."), (1, 1), (0, 0), id="punctuation alone"),
        pytest.param(["Hull", " "], spans("Hull"), (0, 0.5), (1, 1), id="blank predicted span"),
        pytest.param("Hull", spans("", "Hull"), (0, 0), (1, 1), id="blank first reference span"),
        pytest.param(
            ["a1", "a1", "b1"], spans("a1", "b1", "b1"), (1, 0.67), (0, 2 / 3), id="counts of spans"
        ),
        pytest.param(["Marsh", "Marsh"], spans("Marsh"), (0, 0.5), (0, 0.5), id="repeats still cost"),
        pytest.param("New York", spans("New York New York"), (0, 1), (0, 2 / 3), id="repeated words"),
        pytest.param("oak tree", spans("tall oak tree"), (0, 0.8), (0, 0.8), id="partial overlap"),
        pytest.param("U.S.", spans("US"), (1, 1), (1, 1), id="abbreviation"),
        pytest.param("the man's 3rd hat", spans("mans 3rd hat"), (1, 1), (1, 1), id="apostrophe and ordinal"),
    ],
)
def test_mended(
    prediction: Prediction, reference: Answer, official: tuple[float, float], strict: tuple[float, float]
) -> None:
    assert score(prediction, [reference]) == pytest.approx(official)
    assert score(prediction, [reference], strict=True) == pytest.approx(strict)


DECEMBER = Answer(date=AnswerDate("11", "December", "1921"))


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("December 11, 1921", DECEMBER, (1, 1)),
        ("the 11th of Dec. 1921", DECEMBER, (1, 1)),
        ("1921-12-11", DECEMBER, (1, 1)),
        ("December 1921", DECEMBER, (0, 0.8)),
        ("1922", DECEMBER, (0, 0)),
        ("11 December 1921", Answer(date=AnswerDate(year="1921")), (0, 0.5)),
        ("in the year 1921", Answer(date=AnswerDate(year="1921")), (0, 0.5)),  # no date and nothing else
    ],
)
def test_dates_are_compared_by_parts(
    prediction: str, reference: Answer, expected: tuple[float, float]
) -> None:
    assert score(prediction, [reference], strict=True) == pytest.approx(expected)


def test_f1_is_not_rounded() -> None:
    assert score("x y z w", [spans("x")], strict=True)[1] == 0.4
    assert score("x1 y z", [spans("x1", "b", "c")], strict=True)[1] == pytest.approx(1 / 6)


def test_blank_reference_never_matches() -> None:
    assert score("", [Answer(), spans(" ")], strict=True) == (0.0, 0.0)


def test_evaluation_takes_the_strict_rules_too() -> None:
    questions = [Question("q", "?", Answer("5"), (Answer(),))]
    result = evaluate({"q": "five"}, questions, strict=True)
    assert (result.em, result.f1, result.scores["q"].kind) == (100.0, 100.0, "number")
    assert evaluate({"q": "five"}, questions).em == 0.0


WORDS = "the A 5 -5 5. 1,000 Hull oak-tree ten \u2013 . \u0663 '"
TEXT = st.lists(st.sampled_from([*WORDS.split(), "x\ny"]), max_size=4)


@given(st.lists(TEXT.map(" ".join) | st.text(max_size=5), min_size=1, max_size=4))
def test_a_text_matches_itself_and_scores_stay_in_range(texts: list[str]) -> None:
    reference = spans(*texts)
    em, f1 = score(texts, [reference], strict=True)
    assert (em, f1) == ((1.0, 1.0) if reference.kind else (0.0, 0.0))
    em, f1 = score(texts[1:] or "", [reference], strict=True)
    assert em in (0.0, 1.0)
    assert 0 <= f1 <= 1
    assert not em or f1 == 1
