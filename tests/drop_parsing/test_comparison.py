"""The bootstrap against a formula, its invariants, and which rows of the paper ours stand beside."""

import math

import numpy as np
import pytest

from drop_parsing.analysis.comparison import PAPER, compare, paper_row
from drop_parsing.data.metric import Evaluation, evaluate
from drop_parsing.data.types import Answer, Question

QUESTIONS = [Question(f"q{n}", "?", Answer(number=str(n))) for n in range(400)]


def evaluation(share: float, seed: int) -> Evaluation:
    """A system that is right about ``share`` of the questions."""
    random = np.random.default_rng(seed)
    right = random.random(len(QUESTIONS)) < share
    return evaluate({q.id: str(n) if right[n] else "wrong" for n, q in enumerate(QUESTIONS)}, QUESTIONS)


def test_an_interval_is_near_that_of_the_normal_distribution() -> None:
    one = compare({"one": evaluation(0.3, 1)}, resamples=4000).systems[0]
    share = one.f1.mean / 100
    width = 100 * 1.96 * math.sqrt(share * (1 - share) / len(QUESTIONS))
    assert one.f1.low == pytest.approx(one.f1.mean - width, abs=0.6)
    assert one.f1.high == pytest.approx(one.f1.mean + width, abs=0.6)
    assert one.em == one.f1


def test_a_clear_difference_is_significant_and_chance_is_not() -> None:
    systems = {"low": evaluation(0.3, 1), "high": evaluation(0.5, 2), "as low": evaluation(0.3, 3)}
    found = {(d.first, d.second): d for d in compare(systems, resamples=2000).differences}
    assert found["low", "high"].p_value < 0.01
    assert found["low", "high"].f1.high < 0
    assert found["low", "as low"].p_value > 0.05
    assert found["low", "as low"].f1.low < 0 < found["low", "as low"].f1.high


def test_the_same_system_differs_by_nothing() -> None:
    same = compare({"a": evaluation(0.4, 1), "b": evaluation(0.4, 1)}, resamples=500).differences[0]
    assert (same.f1.mean, same.f1.low, same.f1.high, same.p_value) == (0, 0, 0, 1)


def test_pairs_are_compared_on_the_same_draws() -> None:
    """A system that adds one right answer is above on nearly every draw, though both intervals overlap."""
    answers = {q.id: str(n) if n % 2 else "wrong" for n, q in enumerate(QUESTIONS)}
    better = {**answers, **{f"q{n}": str(n) for n in range(0, 40, 2)}}
    systems = {"less": evaluate(answers, QUESTIONS), "more": evaluate(better, QUESTIONS)}
    compared = compare(systems, resamples=1000)
    assert compared.differences[0].p_value < 0.01
    assert compared.systems[0].f1.high > compared.systems[1].f1.low


def test_other_questions_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="same questions"):
        compare({"a": evaluate({}, QUESTIONS), "b": evaluate({}, QUESTIONS[1:])})


def test_the_seed_decides() -> None:
    systems = {"a": evaluation(0.4, 1), "b": evaluation(0.5, 2)}
    assert compare(systems, 200) == compare(systems, 200)
    assert compare(systems, 200) != compare(systems, 200, seed=1)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("naqanet", "NAQANet"),
        ("naqanet-add-sub", "NAQANet + Add / Sub"),
        ("naqanet-question-span", "NAQANet + Question Span"),
        ("count", "NAQANet + Count"),
        ("majority", "Majority"),
        ("question-only", "Question-only"),
        ("bert", "BERT"),
        ("ours", None),
    ],
)
def test_a_name_stands_beside_its_row(name: str, method: str | None) -> None:
    assert paper_row(name) == method
    assert method is None or method in PAPER
