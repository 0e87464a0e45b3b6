"""The best consistent arguments of one predicate: no two overlap, each core role comes once, and a
continuation follows what it continues."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

#: Roles that a predicate fills once.
CORE = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5")
_BIT = {role: 1 << k for k, role in enumerate(CORE)}


class Choice(NamedTuple):
    """A candidate, tokens ``first`` to ``last``, under a label. ``gain`` is its score over being no
    argument."""

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
