"""Which row sets are alike to a function, found for many sets at once: it is then called for one of each kind only.

``tests/grammar/test_alike.py`` holds each against its function.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from grammar.families import Words
from grammar.types import Part, Relation
from grammar.view import View

#: Beyond this a sum of whole numbers is no longer exact in any order.
_EXACT = 2.0**53

#: View, row sets [sets, words], relation, part -> a key for each set [sets, parts of the key]: sets with the same key
#: have the same denotation. None where this cannot be told without calling the function.
Keys = Callable[[View, Words, Relation, Part | None], Words | None]


def _where(words: Words, rows: int) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
    """Each row of a mask, with the sets that have it."""
    row = 0
    while rows:
        if rows & 1:
            yield row, (words[:, row // 64] >> np.uint64(row % 64)) & np.uint64(1) != 0
        rows >>= 1
        row += 1


def _sums(view: View, words: Words, relation: Relation) -> tuple[Words, Words] | None:
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
    return total.view(np.uint64), size


def _sum(view: View, words: Words, relation: Relation, part: Part | None) -> Words | None:
    sums = _sums(view, words, relation)
    return None if sums is None else np.stack([sums[0], (sums[1] > 0).astype(np.uint64)], axis=1)


def _average(view: View, words: Words, relation: Relation, part: Part | None) -> Words | None:
    sums = _sums(view, words, relation)
    return None if sums is None else np.stack(sums, axis=1)


def _greatest(sign: float) -> Keys:
    def keys(view: View, words: Words, relation: Relation, part: Part | None) -> Words:
        most = np.full(len(words), -np.inf)
        for row, has in _where(words, view.with_numbers[relation]):
            most = np.maximum(most, np.where(has, sign * view.numbers[relation][row][0], -np.inf))
        return most.view(np.uint64)[:, None]

    return keys


def _count_phrases(view: View, words: Words, relation: Relation, part: Part | None) -> Words:
    """As many phrases as are held: a bit for each different phrase."""
    assert part is not None
    phrases = view.parts_of(relation, part)
    numbered = {text: i for i, text in enumerate(dict.fromkeys(t.key for cell in phrases for t in cell))}
    held = np.zeros((len(words), len(numbered)), np.bool_)
    for row, has in _where(words, view.with_part(relation, part)):
        for text in phrases[row]:
            held[:, numbered[text.key]] |= has
    different: Words = held.sum(axis=1, dtype=np.uint64)[:, None]
    return different


def _extreme(sign: float) -> Keys:
    """The first row with the greatest number, and 1. Where some row has a date, dates may decide instead."""

    def keys(view: View, words: Words, relation: Relation, part: Part | None) -> Words | None:
        if view.with_dates[relation]:
            return None
        most = np.full(len(words), -np.inf)
        best = np.zeros(len(words), np.uint64)
        for row, has in _where(words, view.with_numbers[relation]):
            value = sign * view.numbers[relation][row][0]
            greater = has & (value > most)
            most[greater] = value
            best[greater] = row + 1
        return best[:, None]

    return keys


KEYS: dict[str, Keys] = {
    "argmax": _extreme(1.0),
    "argmin": _extreme(-1.0),
    "sum": _sum,
    "average": _average,
    "max": _greatest(1.0),
    "min": _greatest(-1.0),
    "count_phrases": _count_phrases,
}
