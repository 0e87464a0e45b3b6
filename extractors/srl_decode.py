"""From scores to the arguments of one predicate.

The scores are those of a conditional random field over every choice of stretches that do not overlap. Its
probabilities of single labels are worked out first; the arguments are then those whose probabilities, above a
threshold, add up to the most: no two overlap, each core role comes once, and a continuation follows what it
continues. That finds more right arguments than the one most probable choice does.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Roles that a predicate fills once.
CORE = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5")
_BIT = {role: 1 << k for k, role in enumerate(CORE)}


def probabilities(stretches: Sequence[tuple[int, int]], gains: NDArray[np.float32]) -> NDArray[np.float64]:
    """(N, labels): how probable each label of each stretch is. ``stretches`` are first and last tokens; ``gains``
    (N, labels) are the scores of the labels over being no argument."""
    order = sorted(range(len(stretches)), key=lambda k: stretches[k][::-1])
    ends = [stretches[k][1] for k in order]
    before = [bisect_left(ends, stretches[k][0]) for k in order]
    best = gains.max(axis=1, initial=-1e4)
    shares = np.exp(gains - best[:, None])
    sums = shares.sum(axis=1)
    chosen = np.empty(len(stretches))
    chosen[order] = _chances((best + np.log(sums))[order].tolist(), before)
    found: NDArray[np.float64] = shares * (chosen / sums)[:, None]
    return found


def _chances(weights: Sequence[float], before: Sequence[int]) -> list[float]:
    """How probable each stretch is as an argument: sums over all choices by dynamic programming from left to right, and
    their gradient from right to left. ``weights`` are logarithms; the first ``before`` stretches end before one's own
    begins."""
    # totals[k] is the log of the summed weights of the choices among the first k stretches, parts[k] the share of the
    # stretch k in totals[k + 1].
    totals, parts = [0.0], []
    for weight, earlier in zip(weights, before, strict=True):
        without, within = totals[-1], totals[earlier] + weight
        totals.append(max(without, within) + log1p(exp(-abs(without - within))))
        parts.append(exp(within - totals[-1]))
    chances = [0.0] * len(weights)
    slopes = [*chances, 1.0]
    for k in range(len(weights) - 1, -1, -1):
        chances[k] = own = slopes[k + 1] * parts[k]
        slopes[k] += slopes[k + 1] - own
        slopes[before[k]] += own
    return chances


class Choice(NamedTuple):
    """A candidate, tokens ``first`` to ``last``, under a label. ``gain`` is what it is worth."""

    first: int
    last: int
    label: str
    gain: float


class _Plan(NamedTuple):
    gain: float
    choice: Choice | None
    before: "_Plan | None"


_EMPTY = _Plan(0.0, None, None)


def best_choices(choices: Sequence[Choice]) -> list[Choice]:
    """The consistent subset with the greatest sum of gains, in text order.

    Dynamic programming from left to right, one plan for each set of core roles used so far. What gains
    nothing is never needed, so it may be left out before. Among equals the first found wins: the result
    depends on the order of ``choices`` only there.
    """
    ordered = sorted(choices, key=lambda choice: (choice.last, choice.first))
    ends = [choice.last for choice in ordered]
    tables: list[dict[int, _Plan]] = [{0: _EMPTY}]
    for choice in ordered:
        table = dict(tables[-1])
        own = _BIT.get(choice.label, 0)
        needed = _BIT.get(choice.label[2:], 0) if choice.label.startswith("C-") else 0
        for used, shorter in tables[bisect_left(ends, choice.first)].items():
            if used & own or needed & ~used:
                continue
            gain = shorter.gain + choice.gain
            other = table.get(used | own)
            if other is None or gain > other.gain:
                table[used | own] = _Plan(gain, choice, shorter)
        tables.append(table)
    plan: _Plan | None = max(tables[-1].values(), key=lambda plan: plan.gain)
    chosen = []
    while plan is not None and plan.choice is not None:
        chosen.append(plan.choice)
        plan = plan.before
    return chosen[::-1]
