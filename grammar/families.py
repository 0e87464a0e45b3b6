"""Families of row sets: each distinct set once, with the exact number of forms that denote it, in NumPy arrays.

A family is made of *blocks*: every choice of one form from each of some pools, whose row sets are then met or joined.
Only distinct sets are combined; which choices make a set is worked out when a form of it is asked for. The sets of a
family can be grouped by what a function sees of them: the rows in a mask, the first row, the last row, or how many
there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from grammar.masks import (
    MAX_COUNT,
    Counts,
    Groups,
    Index,
    Sets,
    TooMany,
    Words,
    distinct,
    group,
    to_masks,
    to_words,
    width,
)

if TYPE_CHECKING:
    from grammar.forest import Node

#: Choices that are looked at a time.
_CHOICES = 2**18

#: What a function sees of the rows of a mask in a set: these rows, the first or the last of them, or their number.
Aspect = Literal["rows", "first", "last", "number"]


class Pool:
    """Row sets, each with the node of the forms that it stands for: all those of some families, then others."""

    def __init__(
        self, members: "Iterable[tuple[int, Node]]", rows: int, families: "Sequence[Family]" = ()
    ) -> None:
        self.rows = rows
        self.families = tuple(families)
        self.members = list(members)

    def __len__(self) -> int:
        return sum(map(len, self.families)) + len(self.members)

    @cached_property
    def words(self) -> Words:
        own = to_words([mask for mask, _ in self.members], self.rows)
        return np.concatenate([*(family.sets.words for family in self.families), own])

    @cached_property
    def count(self) -> int:
        families = sum(family.count for family in self.families)
        return families + sum(node.count for _, node in self.members)

    @cached_property
    def counts(self) -> Counts:
        """The number of forms of each set. Raises TooMany where they are too many to count."""
        if self.count > MAX_COUNT:
            raise TooMany
        own = np.array([node.count for _, node in self.members], dtype=np.int64)
        return np.concatenate([*(family.sets.counts for family in self.families), own])

    @cached_property
    def sets(self) -> Sets:
        """Raises TooMany as ``counts`` does."""
        return distinct(self.words, self.counts)

    def node(self, place: int) -> "Node":
        """The forms of the set at a place."""
        for family in self.families:
            if place < len(family):
                return family.node(place)
            place -= len(family)
        return self.members[place][1]


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

    def choices(self, mask: int) -> "Choices":
        """The choices of nodes whose forms make just this set of rows."""
        union = self.join == "union"
        combine = np.bitwise_or if union else np.bitwise_and
        sought = to_words([mask], self.pools[0].rows)
        picks: list[Index] = []
        words = np.zeros_like(sought) if union else ~np.zeros_like(sought)
        ranks = np.zeros(1, np.intp)  # of what was picked last, among what fits
        for i, pool in enumerate(self.pools):
            beyond = pool.words & ~sought if union else sought & ~pool.words
            fitting = np.flatnonzero(~beyond.any(axis=1))
            fitting_words = pool.words[fitting]
            if i == 0 or pool is not self.pools[i - 1]:
                ranks = np.zeros(len(ranks), np.intp)
            last = i == len(self.pools) - 1
            kept = []
            for part in _parts(len(fitting) - ranks):
                chosen, following = _followed(ranks[part], len(fitting))
                if last:
                    there = (combine(words[part][chosen], fitting_words[following]) == sought).all(axis=1)
                    chosen, following = chosen[there], following[there]
                kept.append((part.start + chosen, following))
            chosen, ranks = (np.concatenate(columns) for columns in zip(*kept, strict=True))
            picks = [*(pick[chosen] for pick in picks), fitting[ranks]]
            if not last:
                words = combine(words[chosen], fitting_words[ranks])
        enough = self._enough(picks)
        return Choices(self.pools, [pick[enough] for pick in picks])

    def _enough(self, picks: Sequence[Index]) -> npt.NDArray[np.bool_]:
        """Whether the sets picked have a different form for every time that they are picked."""
        enough = np.ones(len(picks[0]), np.bool_)
        needed = np.ones(len(enough), np.int64)
        for i in range(1, len(self.pools)):
            if self.pools[i] is self.pools[i - 1]:
                needed = np.where(picks[i] == picks[i - 1], needed + 1, 1)
                enough &= self.pools[i].counts[picks[i]] >= needed
        return enough


def _parts(sizes: Index) -> Iterator[slice]:
    """Items in parts that have not much more than ``_CHOICES`` together, at least one part."""
    ends = np.cumsum(sizes)
    start = 0
    while True:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _CHOICES)))
        yield slice(start, stop)
        start = stop
        if start >= len(sizes):
            return


def _followed(ranks: Index, number: int) -> tuple[Index, Index]:
    """Each rank with each that may follow it, itself or greater, of so many: the places of the ranks, the ranks that
    follow."""
    follow = number - ranks
    starts = np.cumsum(follow) - follow
    chosen = np.repeat(np.arange(len(ranks)), follow)
    return chosen, np.arange(len(chosen)) - starts[chosen] + ranks[chosen]


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of one set from each pool, by their places there: ``picks[i]`` are of ``pools[i]``."""

    pools: Sequence[Pool]
    picks: Sequence[Index]

    def __len__(self) -> int:
        return len(self.picks[0])

    @property
    def counts(self) -> Counts:
        """The number of forms of each choice. No product exceeds the count of all choices of a block, which fits."""
        counts = times = np.ones(len(self), np.int64)
        for i, (pool, pick) in enumerate(zip(self.pools, self.picks, strict=True)):
            # How often the same set has been picked in a row: so many different forms of it are chosen.
            again = pick == self.picks[i - 1] if i and pool is self.pools[i - 1] else False
            times = np.where(again, times + 1, 1)
            counts = counts * (pool.counts[pick] - times + 1) // times
        return counts

    def choice(self, number: int) -> Choice:
        picked = zip(self.pools, (int(pick[number]) for pick in self.picks), strict=True)
        same = (list(places) for _, places in groupby(picked, key=lambda pick: (id(pick[0]), pick[1])))
        return tuple((places[0][0].node(places[0][1]), len(places)) for places in same)


class Family:
    """The row sets of blocks that have no form in common; ``budget`` is the most pairs to combine at a time."""

    def __init__(self, blocks: Sequence[Block], rows: int, budget: int = MAX_COUNT) -> None:
        self.rows = rows
        self.blocks = blocks
        self.budget = budget
        self._seen: dict[See, Seen] = {}
        self._choices: dict[int, list[tuple[Block, Choices]]] = {}

    @cached_property
    def sets(self) -> Sets:
        """Raises TooMany as a block does."""
        parts = [block.sets(self.budget) for block in self.blocks]
        if sum(part.counts.sum(dtype=np.float64) for part in parts) > MAX_COUNT:
            raise TooMany
        empty = Sets(np.zeros((0, width(self.rows)), np.uint64), np.zeros(0, np.int64))
        words = np.concatenate([part.words for part in (empty, *parts)])
        counts = np.concatenate([part.counts for part in (empty, *parts)])
        return parts[0] if len(parts) == 1 else distinct(words, counts)

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def masks(self) -> list[int]:
        return to_masks(self.sets.words)

    @property
    def count(self) -> int:
        return int(self.sets.counts.sum())

    def node(self, place: int) -> "Node":
        """The forms of the set at a place. It is not kept: it would hold the family that holds it."""
        from grammar.forest import Rows

        return Rows(self, See((1 << self.rows) - 1), (place,), int(self.sets.counts[place]))

    def choices(self, mask: int) -> list[tuple[Block, Choices]]:
        """The choices that make one of the sets, block by block."""
        if mask not in self._choices:
            self._choices[mask] = [(block, block.choices(mask)) for block in self.blocks]
        return self._choices[mask]

    def seen(self, see: See) -> "Seen":
        """The sets by what a function sees of them."""
        if see not in self._seen:
            self._seen[see] = Seen(see, self._narrowest(see.mask), self.sets)
        return self._seen[see]

    def _narrowest(self, mask: int) -> "Seen | None":
        """Of what was seen before, the fewest sets that show all of the mask."""
        wider = (seen for see, seen in self._seen.items() if see.aspect == "rows" and mask & ~see.mask == 0)
        return min(wider, key=len, default=None)

    def seen_as(self, see: See, places: Sequence[int]) -> Index:
        """The sets that are seen as one of those at some places of what is seen."""
        seen: Seen | None = self.seen(see)
        found: Index = np.array(places, np.intp)
        while seen is not None:
            found = np.concatenate([found[:0], *map(seen.groups.items, found.tolist())])
            seen = seen.wider
        return np.sort(found)


class Seen:
    """The sets of a family by what is seen of them: ``masks[g]`` is seen, by as many forms as ``sets.counts[g]``. They
    are found among the sets that were seen before, if any, which show more: ``wider``."""

    def __init__(self, see: See, wider: "Seen | None", own: Sets) -> None:
        self.see = see
        self.wider = wider
        self._of = own if wider is None else wider.sets
        self.sets: Sets = distinct(see.of(self._of.words), self._of.counts)
        self.masks = to_masks(self.sets.words)

    def __len__(self) -> int:
        return len(self.masks)

    @cached_property
    def groups(self) -> Groups:
        """The sets that they are found among by what is seen of each."""
        return group(self.see.of(self._of.words))

    @cached_property
    def index(self) -> dict[int, int]:
        """Mask -> its place."""
        return {mask: place for place, mask in enumerate(self.masks)}

    @cached_property
    def counts(self) -> list[int]:
        counts: list[int] = self.sets.counts.tolist()
        return counts
