"""Families of row sets: each distinct set once, with the exact number of forms that denote it, in NumPy arrays.

A family is made of *blocks*: every choice of one form from each of some pools, whose row sets are then met or joined.
Only distinct sets are combined; which choices make a set is worked out when a form of it is asked for. The sets of a
family can be grouped by what a function sees of them: the rows in a mask, the first row, the last row, or how many
there are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from grammar.forest import Node

Words = npt.NDArray[np.uint64]  # [sets, words]: bit i of a set's rows is bit i % 64 of word i // 64
Counts = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

#: What a function sees of the rows of a mask in a set: these rows, the first or the last of them, or their number.
Aspect = Literal["rows", "first", "last", "number"]
#: Counts are 64-bit integers: a family that may hold more forms is refused.
MAX_COUNT = 2**62


class TooMany(Exception):
    """A family would hold more forms than are counted exactly, or take more work than it may."""


@dataclass(frozen=True, slots=True)
class Sets:
    """Distinct row sets, in order, with the number of forms of each."""

    words: Words
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    def combined(self, others: "Sets", union: bool) -> "Sets":
        """Every set of the one met (or joined) with every set of the other."""
        combine = np.bitwise_or if union else np.bitwise_and
        words = combine(self.words[:, None, :], others.words[None, :, :]).reshape(-1, self.words.shape[1])
        return distinct(words, (self.counts[:, None] * others.counts[None, :]).ravel())

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
    groups = group(words)
    return Sets(words[groups.firsts], groups.sums(counts))


class Pool:
    """Row sets, each with the node of the forms that it stands for: all those of some families, and others."""

    def __init__(
        self, members: "Iterable[tuple[int, Node]]", rows: int, families: "Sequence[Family]" = ()
    ) -> None:
        self.rows = rows
        self.families = tuple(families)
        self.members = list(members)

    @cached_property
    def masks(self) -> list[int]:
        return [mask for family in self.families for mask in family.masks] + [
            mask for mask, _ in self.members
        ]

    @cached_property
    def nodes(self) -> "list[Node]":
        sets = [node for family in self.families for node in family.nodes]
        return sets + [node for _, node in self.members]

    def __len__(self) -> int:
        return sum(map(len, self.families)) + len(self.members)

    @cached_property
    def count(self) -> int:
        return sum(node.count for node in self.nodes)

    @cached_property
    def words(self) -> Words:
        return to_words(self.masks, self.rows)

    @cached_property
    def sets(self) -> Sets:
        """Raises TooMany where the forms are too many to count."""
        if self.count > MAX_COUNT:
            raise TooMany
        return distinct(self.words, np.array([node.count for node in self.nodes], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class See:
    """What a function sees of a set of rows: of those in the mask, an aspect. What is seen is a set of rows again;
    for their number, as many from the first row on."""

    mask: int
    aspect: Aspect = "rows"

    def of(self, words: Words) -> Words:
        seen: Words = words & to_words([self.mask], 64 * words.shape[1])
        match self.aspect:
            case "rows":
                return seen
            case "first":
                return _first(seen)
            case "last":
                return _last(seen)
            case "number":
                return _number(seen)


def _first(words: Words) -> Words:
    """Of each set, the first row alone."""
    lowest = words & (~words + np.uint64(1))
    for i in range(1, words.shape[1]):
        lowest[words[:, :i].any(axis=1), i] = 0
    return lowest


def _last(words: Words) -> Words:
    """Of each set, the last row alone."""
    smeared = words.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        smeared |= smeared >> np.uint64(shift)
    highest = smeared ^ (smeared >> np.uint64(1))
    for i in range(words.shape[1] - 1):
        highest[words[:, i + 1 :].any(axis=1), i] = 0
    return highest


def _number(words: Words) -> Words:
    """As many rows as each set has, from the first on."""
    numbers = np.bitwise_count(words).sum(axis=1, dtype=np.intp)
    rows = 64 * words.shape[1]
    table = to_words([(1 << number) - 1 for number in range(rows + 1)], rows)
    return np.asarray(table[numbers])


#: Nodes, each with how many different forms of it are chosen.
Choice = tuple[tuple["Node", int], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Every choice of a form from each pool; all different, and in any order, where a pool stands several times in a
    row. The first pool is of rows, the others are of filters over them; or ``join`` names a function of two of rows.
    """

    pools: tuple[Pool, ...]
    join: str = ""

    @property
    def runs(self) -> list[tuple[Pool, int]]:
        """The pools with how often each stands in a row."""
        return [(next(run), 1 + len(list(run))) for _, run in groupby(self.pools, key=id)]

    def sets(self, budget: int) -> Sets:
        """The row sets of all choices. Raises TooMany where the forms are too many to count, or more pairs than the
        budget would be combined."""
        if prod(pool.count for pool in self.pools) > MAX_COUNT:
            raise TooMany
        union = self.join == "union"
        made: Sets | None = None
        for pool, times in self.runs:
            chosen = pool.sets.powers(times, union, budget)
            if made is not None and len(made) * len(chosen) > budget:
                raise TooMany
            made = chosen if made is None else made.combined(chosen, union)
        assert made is not None
        return made

    def choices(self, mask: int) -> list[Choice]:
        """The choices of nodes whose forms make just this set of rows."""
        union = self.join == "union"
        combine = np.bitwise_or if union else np.bitwise_and
        picks: list[tuple[Pool, Index]] = []
        for pool, times in self.runs:
            fitting = np.array(
                [i for i, m in enumerate(pool.masks) if (m & ~mask if union else mask & ~m) == 0], int
            )
            chosen = _unordered(len(fitting), times)
            before, after = (len(picks[0][1]) if picks else 1), len(chosen[0])
            picks = [(p, np.repeat(pick, after)) for p, pick in picks]
            picks += [(pool, np.tile(fitting[pick], before)) for pick in chosen]
        words = picks[0][0].words[picks[0][1]]
        for pool, pick in picks[1:]:
            words = combine(words, pool.words[pick])
        sought = to_words([mask], 64 * words.shape[1])[0]
        places = np.flatnonzero((words == sought).all(axis=1))
        columns = [[(pool, i) for i in pick[places].tolist()] for pool, pick in picks]
        chosen_nodes = [
            tuple((pool.nodes[i], len(list(same))) for (pool, i), same in groupby(choice))
            for choice in zip(*columns, strict=True)
        ]
        return [choice for choice in chosen_nodes if all(node.count >= times for node, times in choice)]


@lru_cache(maxsize=256)
def _unordered(size: int, length: int) -> tuple[Index, ...]:
    """Every choice of ``length`` from ``size`` members, with repetition, in order."""
    if length == 1:
        return (np.arange(size),)
    shorter = _unordered(size, length - 1)
    follow = size - shorter[-1]  # how many members may follow
    starts = np.repeat(np.cumsum(follow) - follow, follow)
    final = np.arange(int(follow.sum())) - starts + np.repeat(shorter[-1], follow)
    return (*(np.repeat(pick, follow) for pick in shorter), final)


@dataclass(frozen=True, slots=True)
class Groups:
    """Items grouped: ``order[starts[g]:starts[g + 1]]`` are the items of group g."""

    order: Index
    starts: Index

    def __len__(self) -> int:
        return len(self.starts) - 1

    def items(self, group: int) -> Index:
        return self.order[self.starts[group] : self.starts[group + 1]]

    @property
    def firsts(self) -> Index:
        """One item of each group."""
        return self.order[self.starts[:-1]]

    def greatest(self, values: Scores) -> Scores:
        return np.maximum.reduceat(values[self.order], self.starts[:-1]) if len(self.order) else values[:0]

    def sums(self, values: Counts) -> Counts:
        return np.add.reduceat(values[self.order], self.starts[:-1]) if len(self.order) else values[:0]


def group(words: Words) -> Groups:
    """Items by their words; the groups in the same order for the same words."""
    keys = words[:, 0] if words.shape[1] == 1 else _hashed(words)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    fresh = ordered[1:] != ordered[:-1]
    if words.shape[1] > 1:
        differ = (words[order][1:] != words[order][:-1]).any(axis=1)
        if (differ & ~fresh).any():  # two sets share a hash: all are compared
            order = np.lexsort(words.T)
            differ = (words[order][1:] != words[order][:-1]).any(axis=1)
        fresh = differ
    starts = np.concatenate(([0], np.flatnonzero(fresh) + 1)) if len(order) else np.zeros(0, np.intp)
    return Groups(order, np.append(starts, len(order)))


def _hashed(words: Words) -> npt.NDArray[np.uint64]:
    """One word for each set of several."""
    hashed = np.zeros(len(words), np.uint64)
    for column in words.T:
        hashed = (hashed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    return hashed


class Family:
    """The row sets of blocks that have no form in common; ``budget`` is the most pairs to combine at a time."""

    def __init__(self, blocks: Sequence[Block], rows: int, budget: int = MAX_COUNT) -> None:
        self.rows = rows
        self.blocks = blocks
        self.budget = budget
        self._seen: dict[See, Seen] = {}
        self._choices: dict[int, list[tuple[Block, Choice]]] = {}

    @cached_property
    def sets(self) -> Sets:
        """Raises TooMany as a block does."""
        parts = [block.sets(self.budget) for block in self.blocks]
        empty = Sets(np.zeros((0, width(self.rows)), np.uint64), np.zeros(0, np.int64))
        words = np.concatenate([part.words for part in (empty, *parts)])
        counts = np.concatenate([part.counts for part in (empty, *parts)])
        if counts.sum(dtype=np.float64) > MAX_COUNT:
            raise TooMany
        return parts[0] if len(parts) == 1 else distinct(words, counts)

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def masks(self) -> list[int]:
        return to_masks(self.sets.words)

    @cached_property
    def nodes(self) -> "list[Node]":
        """The forms of each set."""
        from grammar.forest import sets_of

        return [node for _, node in sets_of(self)]

    def choices(self, mask: int) -> list[tuple[Block, Choice]]:
        """The choices that make one of the sets, each with its block."""
        if mask not in self._choices:
            self._choices[mask] = [(block, choice) for block in self.blocks for choice in block.choices(mask)]
        return self._choices[mask]

    def seen(self, see: See) -> "Seen":
        """The sets by what a function sees of them."""
        if see not in self._seen:
            self._seen[see] = Seen(see, self._narrowest(see.mask), self.rows)
        return self._seen[see]

    def _narrowest(self, mask: int) -> Sets:
        """Of what was seen before, the fewest sets that show all of the mask."""
        wider = (
            seen.sets for see, seen in self._seen.items() if see.aspect == "rows" and mask & ~see.mask == 0
        )
        return min(wider, key=len, default=self.sets)

    def seen_as(self, see: See, masks: Sequence[int]) -> Index:
        """The sets that are seen as one of the masks."""
        seen = see.of(self.sets.words)
        places = [np.flatnonzero((seen == words).all(axis=1)) for words in to_words(masks, self.rows)]
        return np.sort(np.concatenate(places))


class Seen:
    """The sets of a family by what is seen of them: ``masks[g]`` is seen, by as many forms as ``sets.counts[g]``."""

    def __init__(self, see: See, sets: Sets, rows: int) -> None:
        self.see = see
        self.sets = distinct(see.of(sets.words), sets.counts)
        self.masks = to_masks(self.sets.words)

    def __len__(self) -> int:
        return len(self.masks)

    @cached_property
    def index(self) -> dict[int, int]:
        """Mask -> its place."""
        return {mask: place for place, mask in enumerate(self.masks)}

    @cached_property
    def counts(self) -> list[int]:
        counts: list[int] = self.sets.counts.tolist()
        return counts


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
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in words]
