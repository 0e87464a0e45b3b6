"""Row sets as bit masks in NumPy arrays: many at a time combined, grouped, and each distinct one kept once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Words = npt.NDArray[np.uint64]  # [sets, words]: bit i of a set's rows is bit i % 64 of word i // 64
Counts = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
#: A value for each set.
V = TypeVar("V", Counts, Scores)


#: Counts are 64-bit integers: a family that may hold more forms is refused.
MAX_COUNT = 2**62
#: Pairs of sets that are combined at a time.
_PAIRS = 2**19
#: So few sets are told apart by sorting.
_FEW = 4096


class TooMany(Exception):
    """A family would hold more forms than are counted exactly, or take more work than it may."""


def width(rows: int) -> int:
    """How many words a set of so many rows takes."""
    return max(1, -(-rows // 64))


def to_words(masks: Sequence[int], rows: int) -> Words:
    size = 8 * width(rows)
    data = b"".join(mask.to_bytes(size, "little") for mask in masks)
    words: Words = np.frombuffer(data, dtype="<u8").reshape(len(masks), width(rows)).astype(np.uint64)
    return words


def to_masks(words: Words) -> list[int]:
    if words.shape[1] == 1:
        masks: list[int] = words[:, 0].tolist()
        return masks
    size, data = 8 * words.shape[1], words.astype("<u8").tobytes()
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


@dataclass(frozen=True, slots=True)
class Groups:
    """Items grouped: ``order[starts[g]:starts[g + 1]]`` are the items of group g."""

    order: Index
    starts: Index

    def __len__(self) -> int:
        return len(self.starts) - 1

    def items(self, group: int) -> Index:
        return self.order[self.starts[group] : self.starts[group + 1]]

    def reduced(self, values: V, by: Literal["sum", "max"]) -> V:
        """The sum or the greatest of the values of each group."""
        if not len(self):
            return values
        reduce = np.add if by == "sum" else np.maximum
        reduced: V = reduce.reduceat(values[self.order], self.starts[:-1])
        return reduced

    @property
    def firsts(self) -> Index:
        """One item of each group."""
        return self.order[self.starts[:-1]]


def group(words: Words) -> Groups:
    """Items by their words; the groups in the same order for the same words."""
    keys = words[:, 0] if words.shape[1] == 1 else _hashed(words)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    fresh = ordered[1:] != ordered[:-1]
    if words.shape[1] > 1:
        differ = _differ(words, order)
        if (differ & ~fresh).any():  # two sets share a hash: all are compared
            order = np.lexsort(words.T)
            differ = _differ(words, order)
        fresh = differ
    starts = np.concatenate(([0], np.flatnonzero(fresh) + 1)) if len(order) else np.zeros(0, np.intp)
    return Groups(order, np.append(starts, len(order)))


def _differ(words: Words, order: Index) -> npt.NDArray[np.bool_]:
    """Whether each set differs from the one before in an order."""
    differ = np.zeros(max(0, len(order) - 1), np.bool_)
    for column in words.T:
        ordered = column[order]
        differ |= ordered[1:] != ordered[:-1]
    return differ


def _hashed(words: Words) -> npt.NDArray[np.uint64]:
    """One word for each set of several."""
    hashed = np.zeros(len(words), np.uint64)
    for column in words.T:
        hashed = (hashed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    return hashed


@dataclass(frozen=True, slots=True)
class Sets:
    """Distinct row sets, in order, with the number of forms of each."""

    words: Words
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    def combined(self, others: "Sets", union: bool) -> "Sets":
        """Every set of the one met (or joined) with every set of the other."""
        return Sets(*combined((self.words, self.counts), (others.words, others.counts), union, "sum"))

    def powers(self, number: int, union: bool, budget: int) -> "Sets":
        """The choices of so many different forms, met or joined.

        Of the ways to add a form to a smaller choice, those that add one of its own forms leave its rows as they are;
        the others make every greater choice once for each of its forms.
        """
        chosen = self
        for size in range(2, number + 1):
            if len(chosen) * len(self) > budget:
                raise TooMany
            added = chosen.combined(self, union)
            words = np.concatenate([added.words, chosen.words])
            added = distinct(words, np.concatenate([added.counts, (1 - size) * chosen.counts]))
            kept = added.counts > 0
            chosen = Sets(added.words[kept], added.counts[kept] // size)
        return chosen


def distinct(words: Words, counts: Counts) -> Sets:
    """Each set once, with the counts of all its places together."""
    return Sets(*gathered(words, counts, "sum"))


def combined(
    mine: tuple[Words, V], theirs: tuple[Words, V], union: bool, by: Literal["sum", "max"]
) -> tuple[Words, V]:
    """Every set of the one met (or joined) with every set of the other, each once: the values are the sums of their
    products or the greatest of their sums."""
    (words, values), (others, more) = mine, theirs
    combine = np.bitwise_or if union else np.bitwise_and
    value = np.multiply if by == "sum" else np.add
    # So many at a time that the pairs take little memory; at least one, and once where there is none.
    step = max(1, _PAIRS // max(1, len(others)))
    parts: list[tuple[Words, V]] = []
    for start in range(0, max(1, len(words)), step):
        some = words[start : start + step]
        made = combine(some.T[:, :, None], others.T[:, None, :]).reshape(words.shape[1], -1)
        parts.append(gathered(made.T, value.outer(values[start : start + step], more).ravel(), by))
    if len(parts) == 1:
        return parts[0]
    return gathered(
        np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts]), by
    )


def gathered(words: Words, values: V, by: Literal["sum", "max"]) -> tuple[Words, V]:
    """Each set once, with the sum or the greatest of the values of all its places; the same sets in the same order."""
    if len(values) > _FEW:  # Sorting all of them would take longer.
        names: list[str] = [str(i) for i in range(words.shape[1])]
        table = pa.table([*np.ascontiguousarray(words.T), values], [*names, "value"])
        found = table.group_by(names, use_threads=False).aggregate([("value", by)])
        words = np.stack([found[name].to_numpy() for name in names], axis=1)
        values = found[f"value_{by}"].to_numpy()
    groups = group(words)
    return words[groups.firsts], groups.reduced(values, by)
