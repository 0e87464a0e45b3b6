"""One score of a class out of what the judges say: a logistic regression with fixed weights.

A judge that has nothing to say counts as undecided. The weights are committed, so that the same input has the same
scores everywhere; ``calibrate`` fits them to judged classes.
"""

from collections.abc import Mapping, Sequence
from math import exp

import numpy as np

from drop_parsing.analysis.judged import JUDGES

#: What the score is made of.
FEATURES = tuple(JUDGES)
#: What a judge without an opinion counts for.
UNDECIDED = 0.5
#: From this score on a class is kept.
KEPT = 0.7

#: The log-odds of a class with every judge undecided, and what each judge adds for each point above that: fitted on the
#: sheet that a person judged, once with and once without the decompositions (``benchmarks/spuriousness_calibrate.py``),
#: but for contrasts, which it has none of.
BIAS = -2.9
WEIGHTS: Mapping[str, float] = {
    "vote": 1.6,
    "qdmr": 4.0,
    "grounding": 5.4,
    "contrast": 1.5,
    "calls": 3.3,
}


def combined(
    scores: Mapping[str, float | None], bias: float = BIAS, weights: Mapping[str, float] = WEIGHTS
) -> float:
    """The probability that a class means its question, 0 to 1."""
    features = zip(FEATURES, _features(scores), strict=True)
    return 1 / (1 + exp(-(bias + sum(weights[name] * value for name, value in features))))


def calibrate(
    judged: Sequence[tuple[Mapping[str, float | None], bool]], penalty: float = 1.0
) -> tuple[float, dict[str, float]]:
    """The bias and weights that fit judged classes best: their scores, and whether they mean their question.

    Logistic regression by Newton's method with an L2 penalty on the weights; the right classes, which are few, count
    as much as the spurious ones together. Raises ValueError where the classes are not of both kinds.
    """
    labels = np.array([right for _, right in judged], dtype=np.float64)
    if not 0 < labels.sum() < len(labels):
        raise ValueError("The judged classes are all right or all wrong: judge some of the other kind.")
    rows = np.array([[1.0, *_features(scores)] for scores, _ in judged])
    counts = len(labels) / 2 * np.where(labels == 1, 1 / labels.sum(), 1 / (len(labels) - labels.sum()))
    ridge = penalty * np.diag([1e-9, *(1.0 for _ in FEATURES)])
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (counts * (labels - likely)) - ridge @ weights
        step = np.linalg.solve((rows.T * (counts * likely * (1 - likely))) @ rows + ridge, gradient)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    bias, *others = weights.tolist()
    return bias, dict(zip(FEATURES, others, strict=True))


def _features(scores: Mapping[str, float | None]) -> list[float]:
    values = (scores.get(name) for name in FEATURES)
    return [0.0 if value is None else value - UNDECIDED for value in values]
