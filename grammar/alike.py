"""Which row sets are alike to a function and what it reads out of them, found for many sets at once.

``tests/grammar/test_families.py`` holds each against its function.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grammar.masks import Scores, Words
from grammar.types import Part, Relation
from grammar.view import View

#: Beyond this a sum of whole numbers is no longer exact in any order.
_EXACT = 2.0**53


class Alike(NamedTuple):
    """Row sets as a function tells them apart: those with the same key [sets, parts of the key] have the same
    denotation, which is in ``numbers`` (NaN for none) but for its rounding. Without these the function tells it."""

    key: Words
    numbers: Scores | None = None


#: View, row sets [sets, words], relation, part -> the sets told apart; None where only the function can do this.
Teller = Callable[[View, Words, Relation, Part | None], Alike | None]


def _where(words: Words, rows: int) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
    """Each row of a mask, with the sets that have it."""
    row = 0
    while rows:
        if rows & 1:
            yield row, (words[:, row // 64] >> np.uint64(row % 64)) & np.uint64(1) != 0
        rows >>= 1
        row += 1


def _sums(view: View, words: Words, relation: Relation) -> tuple[Scores, Words] | None:
    """The sum of the first numbers of each set and their number, where whole numbers make it exact."""
    numbers, held = view.numbers[relation], view.with_numbers[relation]
    total = np.zeros(len(words))
    size = np.zeros(len(words), np.uint64)
    bound = 0.0
    for row, has in _where(words, held):
        value = numbers[row][0]
        bound += abs(value)
        if not value.is_integer() or bound >= _EXACT:
            return None
        total += np.where(has, value, 0.0)
        size += has
    return total, size


def _sum(view: View, words: Words, relation: Relation, part: Part | None) -> Alike | None:
    sums = _sums(view, words, relation)
    if sums is None:
        return None
    total, size = sums
    some = size > 0
    key = np.stack([total.view(np.uint64), some.astype(np.uint64)], axis=1)
    return Alike(key, np.where(some, total, np.nan))


def _average(view: View, words: Words, relation: Relation, part: Part | None) -> Alike | None:
    sums = _sums(view, words, relation)
    if sums is None:
        return None
    total, size = sums
    return Alike(
        np.stack([total.view(np.uint64), size], axis=1),
        np.where(size > 0, total / np.maximum(size, 1), np.nan),
    )


def _greatest(sign: float) -> Teller:
    def tell(view: View, words: Words, relation: Relation, part: Part | None) -> Alike:
        most = np.full(len(words), -np.inf)
        for row, has in _where(words, view.with_numbers[relation]):
            most = np.maximum(most, np.where(has, sign * view.numbers[relation][row][0], -np.inf))
        return Alike(most.view(np.uint64)[:, None], np.where(most > -np.inf, sign * most, np.nan))

    return tell


def _count_phrases(view: View, words: Words, relation: Relation, part: Part | None) -> Alike:
    """As many phrases as are held: a bit for each different phrase."""
    assert part is not None
    phrases = view.parts_of(relation, part)
    numbered = {text: i for i, text in enumerate(dict.fromkeys(t.key for cell in phrases for t in cell))}
    held = np.zeros((len(words), len(numbered)), np.bool_)
    for row, has in _where(words, view.with_part(relation, part)):
        for text in phrases[row]:
            held[:, numbered[text.key]] |= has
    different: Words = held.sum(axis=1, dtype=np.uint64)
    return Alike(different[:, None], np.where(different > 0, different, np.nan))


def _extreme(sign: float) -> Teller:
    """The first row with the greatest number, and 1. Where some row has a date, dates may decide instead."""

    def tell(view: View, words: Words, relation: Relation, part: Part | None) -> Alike | None:
        if view.with_dates[relation]:
            return None
        most = np.full(len(words), -np.inf)
        best = np.zeros(len(words), np.uint64)
        for row, has in _where(words, view.with_numbers[relation]):
            value = sign * view.numbers[relation][row][0]
            greater = has & (value > most)
            most[greater] = value
            best[greater] = row + 1
        return Alike(best[:, None])

    return tell


TELLERS: dict[str, Teller] = {
    "argmax": _extreme(1.0),
    "argmin": _extreme(-1.0),
    "sum": _sum,
    "average": _average,
    "max": _greatest(1.0),
    "min": _greatest(-1.0),
    "count_phrases": _count_phrases,
}
