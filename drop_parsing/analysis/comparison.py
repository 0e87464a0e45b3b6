"""The paper's table with our systems beside it: intervals and significance from a paired bootstrap."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drop_parsing.data.metric import Evaluation, TypeScore

#: The figures of the paper (Dua et al. 2019, table 6): method -> dev EM, dev F1, test EM, test F1, in percent.
PAPER: Mapping[str, tuple[float | None, float | None, float, float]] = {
    "Majority": (0.09, 1.38, 0.07, 1.44),
    "Question-only": (4.28, 8.07, 4.18, 8.59),
    "Paragraph-only": (0.13, 2.27, 0.14, 2.26),
    "Syn Dep": (9.38, 11.64, 8.51, 10.84),
    "OpenIE": (8.80, 11.31, 8.53, 10.77),
    "SRL": (9.28, 11.72, 8.98, 11.45),
    "BiDAF": (26.06, 28.85, 24.75, 27.49),
    "QANet": (27.50, 30.44, 25.50, 28.36),
    "QANet + ELMo": (27.71, 30.33, 27.08, 29.67),
    "BERT": (30.10, 33.36, 29.45, 32.70),
    "NAQANet + Question Span": (25.94, 29.17, 24.98, 28.18),
    "NAQANet + Count": (30.09, 33.92, 30.04, 32.75),
    "NAQANet + Add / Sub": (43.07, 45.71, 40.40, 42.96),
    "NAQANet": (46.20, 49.24, 44.07, 47.01),
    "Human": (None, None, 94.09, 96.42),
}

#: Questions that the paper's systems were trained on.
PAPER_TRAINING = 77_409

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean in percent and its 95% bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class System:
    """One system on our questions: ``em`` and ``f1`` with intervals, and both by answer type."""

    name: str
    em: Interval
    f1: Interval
    by_type: Mapping[str, TypeScore]
    missing: int


@dataclass(frozen=True, slots=True)
class Difference:
    """F1 of ``first`` less that of ``second`` on the same questions. ``p_value`` is two-sided: how often a
    resampled difference lies on the other side of 0, twice."""

    first: str
    second: str
    f1: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All systems, and each pair of them."""

    questions: int
    systems: tuple[System, ...]
    differences: tuple[Difference, ...]


def compare(evaluations: Mapping[str, Evaluation], resamples: int = 10_000, seed: int = 0) -> Comparison:
    """Compare systems evaluated on the same questions, of which each resample draws as many with replacement.

    Raises ValueError where the questions are not the same.
    """
    names = list(evaluations)
    ids = list(evaluations[names[0]].scores)
    if any(list(evaluation.scores) != ids for evaluation in evaluations.values()):
        raise ValueError("the systems were not evaluated on the same questions")
    em, f1 = (
        np.array([[getattr(evaluations[name].scores[id], key) for id in ids] for name in names]) * 100
        for key in ("em", "f1")
    )
    em_means, f1_means = _resampled(em, f1, resamples, seed)
    systems = tuple(
        System(
            name,
            _interval(em[place].mean(), em_means[place]),
            _interval(f1[place].mean(), f1_means[place]),
            evaluations[name].by_type,
            len(evaluations[name].missing),
        )
        for place, name in enumerate(names)
    )
    differences = tuple(
        Difference(
            names[one],
            names[other],
            _interval(f1[one].mean() - f1[other].mean(), f1_means[one] - f1_means[other]),
            _p_value(f1_means[one] - f1_means[other]),
        )
        for one in range(len(names))
        for other in range(one + 1, len(names))
    )
    return Comparison(len(ids), systems, differences)


def _resampled(em: Scores, f1: Scores, resamples: int, seed: int) -> tuple[Scores, Scores]:
    """Means (systems, resamples) of each over the same draws."""
    random = np.random.default_rng(seed)
    questions = em.shape[1]
    means = np.empty((2, len(em), resamples))
    for draw in range(resamples):
        weights = np.bincount(random.integers(questions, size=questions), minlength=questions)
        means[0, :, draw] = em @ weights
        means[1, :, draw] = f1 @ weights
    means /= questions
    return means[0], means[1]


def _interval(mean: float, resampled: Scores) -> Interval:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Interval(float(mean), float(low), float(high))


def _p_value(differences: Scores) -> float:
    """At least 1 / (resamples + 1): a bootstrap cannot tell smaller ones."""
    count = len(differences)
    below, above = np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0)
    return float(min(1.0, 2 * (min(below, above) + 1) / (count + 1)))


def paper_row(name: str) -> str | None:
    """The paper's method that a system's name stands for, by letters alone: "naqanet-add-sub"."""
    wanted = _letters(name)
    return next((method for method in PAPER if _letters(method) in (wanted, f"naqanet{wanted}")), None)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
