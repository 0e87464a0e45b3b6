"""How sure a figure is: 95% intervals of a proportion and of a mean."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from grammar.classes import wilson


@dataclass(frozen=True, slots=True)
class Proportion:
    """``successes`` of ``total``; shares lie between 0 and 1."""

    successes: int
    total: int

    @property
    def share(self) -> float | None:
        """None of nothing."""
        return self.successes / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's; all between 0 and 1 where there is nothing."""
        return wilson(self.successes, self.total)


def proportion(outcomes: Iterable[bool]) -> Proportion:
    """How many of the outcomes are true."""
    found = list(outcomes)
    return Proportion(sum(found), len(found))


def mean_interval(
    values: Iterable[tuple[Hashable, float]], resamples: int = 2000, seed: int = 0
) -> tuple[float, float] | None:
    """The interval of the mean of (group, value) pairs by bootstrap; None of nothing.

    Whole groups are drawn, since the values of one group depend on each other: the questions of one passage share
    its table.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    sizes: dict[Hashable, int] = defaultdict(int)
    for group, value in values:
        sums[group] += value
        sizes[group] += 1
    if not sums:
        return None
    by_group = np.array([[sums[group], sizes[group]] for group in sums])
    random = np.random.default_rng(seed)
    means = np.empty(resamples)
    for draw in range(resamples):
        total, size = by_group[random.integers(len(by_group), size=len(by_group))].sum(axis=0)
        means[draw] = total / size
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
