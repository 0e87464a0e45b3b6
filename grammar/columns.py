"""A forest as a few columns of numbers: what is kept of it, and what is worked out for all of it at once.

Its *things* are the nodes that the answers reach, their families and the pools of these. They are numbered by depth,
then kind, then as they are met: what stands below a thing has a smaller number, and things of one depth and kind, a
*run*, follow one another.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from grammar.families import Block, Family, Pool, See
from grammar.forest import Apply, Filtered, Found, Leaf, Node, Packed, Pairs, Rows
from grammar.forms import Form
from grammar.masks import to_masks, to_words, width

Ints = npt.NDArray[np.int64]

KINDS = ("packed", "apply", "pairs", "filtered", "rows", "pool", "family")
PACKED, APPLY, PAIRS, FILTERED, ROWS, POOL, FAMILY = range(len(KINDS))
JOINS = ("", "union", "intersection")


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of numbers for each thing, one after another; ``ends`` are where they end."""

    values: Ints
    ends: Ints

    def of(self, place: int) -> Ints:
        return self.values[self.ends[place - 1] if place else 0 : self.ends[place]]

    def span(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """The numbers of the things from ``start`` to ``stop``, and where those of each begin among them."""
        first = self.ends[start - 1] if start else 0
        begins = np.concatenate([[first], self.ends[start : stop - 1]]) - first
        return self.values[first : self.ends[stop - 1]], begins


@dataclass(frozen=True)
class Columns:
    """What a forest is made of, thing by thing.

    ``below`` are the things that it is made of (a leaf is -1 less the place of its text). ``tags`` name the function
    of a call (a place in ``texts``), what is seen of rows (a place in ``sees``), and the rows of the table for
    families and pools. ``rest`` are the sizes of a union's alternatives; the places that rows stand for; the masks of
    a pool's members, in 32-bit words; the joins and numbers of pools of a family's blocks. ``counts`` are those of
    the unions, in order.
    """

    texts: Sequence[str]
    sees: Sequence[See]
    kinds: Ints
    depths: Ints
    tags: Ints
    below: Lists
    rest: Lists
    counts: Sequence[int]

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """Kind, start and end of each run."""
        key = self.depths * len(KINDS) + self.kinds
        starts = np.flatnonzero(np.diff(key, prepend=-1)).tolist()
        return [(int(self.kinds[start]), start, stop) for start, stop in pairwise([*starts, len(key)])]

    @cached_property
    def unions(self) -> Ints:
        """For a union, its place in ``counts``."""
        return np.cumsum(self.kinds == PACKED) - 1


class Things:
    """The things of a forest by their numbers: those that a search made, or such as are made when they are asked for.
    A leaf has a number below 0."""

    def __init__(self, columns: Columns, made: dict[int, Any]) -> None:
        self.columns = columns
        self._made = made
        self._numbers = {id(thing): number for number, thing in made.items()}

    def number(self, thing: object) -> int | None:
        """The number of a thing of these that was made before."""
        return self._numbers.get(id(thing))

    def thing(self, number: int) -> Any:
        if number not in self._made:
            thing = self._make(number)
            self._made[number] = thing
            self._numbers[id(thing)] = number
        return self._made[number]

    def node(self, number: int) -> Node:
        node: Node = self.thing(number)
        return node

    def _make(self, number: int) -> Any:
        columns = self.columns
        if number < 0:
            return Leaf(Form(columns.texts[-1 - number]))
        tag = int(columns.tags[number])
        below: list[int] = columns.below.of(number).tolist()
        rest: list[int] = columns.rest.of(number).tolist()
        match int(columns.kinds[number]):
            case 0:  # PACKED
                return _Stored(self, below, columns.counts[columns.unions[number]], rest)
            case 1:  # APPLY
                return Apply(columns.texts[tag], *map(self.node, below))
            case 2:  # PAIRS
                return Pairs(columns.texts[tag], self.node(below[0]))
            case 3:  # FILTERED
                return Filtered(self.node(below[0]), self.node(below[1]))
            case 4:  # ROWS
                return Rows(self.thing(below[0]), columns.sees[tag], rest)
            case 5:  # POOL
                return self._pool(tag, below, rest)
            case _:
                pools = map(self.thing, below)
                joins, sizes = rest[::2], rest[1::2]
                blocks = [
                    Block(tuple(next(pools) for _ in range(size)), JOINS[join])
                    for join, size in zip(joins, sizes, strict=True)
                ]
                return Family(blocks, tag)

    def _pool(self, rows: int, below: list[int], rest: list[int]) -> Pool:
        """The families come first, as many as there are no masks for."""
        members = len(rest) // (2 * width(rows))
        families, nodes = below[: len(below) - members], below[len(below) - members :]
        words = np.array(rest, np.uint32).view(np.uint64).reshape(members, width(rows))
        made = [*zip(to_masks(words), map(self.node, nodes), strict=True)]
        return Pool(made, rows, [self.thing(family) for family in families])


class _Stored(Packed):
    """A union whose alternatives are made when they are asked for."""

    __slots__ = ("_below", "_things")

    def __init__(self, things: Things, below: Sequence[int], count: int, sizes: Sequence[int]) -> None:
        super().__init__((), sizes)
        self._things = things
        self._below = below
        self.count = count

    @property
    def alternatives(self) -> list[Node]:
        if len(self._alternatives) < len(self._below):
            self._alternatives = [self._things.node(number) for number in self._below]
        return self._alternatives


def things_of(found: Found) -> tuple[Things, list[int]]:
    """The things that the answers of a search reach, worked out once, and the numbers of the answers' own."""
    if found.things is None:
        found.things = things_under(list(found.answers.values()))
    return found.things


def things_under(nodes: Sequence[Node]) -> tuple[Things, list[int]]:
    """The things that nodes reach, themselves included, and the nodes' numbers."""
    writer = _Writer()
    return writer.things(writer.numbers(nodes))


class _Writer:
    """Notes each thing once, what is below it before it."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._sees: dict[See, int] = {}
        #: The same by identity, which is found sooner: readings share them.
        self._see_at: dict[int, int] = {}
        self._met: dict[int, int] = {}
        self._things: list[Any] = []
        self._kinds: list[int] = []
        self._depths: list[int] = []
        self._tags: list[int] = []
        self._below: list[list[int]] = []
        self._rest: list[Sequence[int]] = []

    def numbers(self, things: Iterable[Any]) -> list[int]:
        """The numbers of things for now; what is new is noted."""
        met = self._met.get
        return [
            _NOTERS[type(thing)](self, thing) if (number := met(id(thing))) is None else number
            for thing in things
        ]

    def _leaf(self, leaf: Leaf) -> int:
        number = self._met[id(leaf)] = -1 - self._text(leaf.form().name)
        return number

    def _packed(self, packed: Packed) -> int:
        return self._note(packed, PACKED, 0, self.numbers(packed.alternatives), packed.sizes)

    def _apply(self, apply: Apply) -> int:
        return self._note(apply, APPLY, self._text(apply.name), self.numbers(apply.arguments))

    def _pairs(self, pairs: Pairs) -> int:
        return self._note(pairs, PAIRS, self._text(pairs.name), self.numbers((pairs.argument,)))

    def _filtered(self, filtered: Filtered) -> int:
        return self._note(filtered, FILTERED, 0, self.numbers((filtered.rows, filtered.filters)))

    def _rows(self, rows: Rows) -> int:
        see = self._see_at.get(id(rows.see))
        if see is None:
            see = self._see_at[id(rows.see)] = self._sees.setdefault(rows.see, len(self._sees))
        return self._note(rows, ROWS, see, self.numbers((rows.family,)), sorted(rows.places))

    def _pool(self, pool: Pool) -> int:
        below = self.numbers((*pool.families, *(node for _, node in pool.members)))
        words = to_words([mask for mask, _ in pool.members], pool.rows)
        return self._note(pool, POOL, pool.rows, below, words.view(np.uint32).ravel().tolist())

    def _family(self, family: Family) -> int:
        below = self.numbers(pool for block in family.blocks for pool in block.pools)
        rest = [*chain(*((JOINS.index(block.join), len(block.pools)) for block in family.blocks))]
        return self._note(family, FAMILY, family.rows, below, rest)

    def _note(self, thing: Any, kind: int, tag: int, below: list[int], rest: Sequence[int] = ()) -> int:
        depths = self._depths
        depth = -1
        for number in below:
            if number >= 0 and depths[number] > depth:
                depth = depths[number]
        number = self._met[id(thing)] = len(depths)
        depths.append(depth + 1)
        self._things.append(thing)
        self._kinds.append(kind)
        self._tags.append(tag)
        self._below.append(below)
        self._rest.append(rest)
        return number

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def things(self, noted_as: Sequence[int]) -> tuple[Things, list[int]]:
        """All that was noted, in order, and the numbers of some of it."""
        kinds, depths, tags = (np.array(one, np.int64) for one in (self._kinds, self._depths, self._tags))
        order = np.lexsort((kinds, depths))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        below, rest = _ordered(self._below, order), _ordered(self._rest, order)
        values = below.values
        inner = values >= 0
        values[inner] = numbers[values[inner]]
        made = {number: self._things[place] for number, place in enumerate(order.tolist())}
        counts = [thing.count for thing in made.values() if isinstance(thing, Packed)]
        columns = Columns(
            list(self._texts), list(self._sees), kinds[order], depths[order], tags[order], below, rest, counts
        )
        return Things(columns, made), [int(numbers[n]) if n >= 0 else n for n in noted_as]


_NOTERS: dict[type, Callable[[_Writer, Any], int]] = {
    Leaf: _Writer._leaf,
    Packed: _Writer._packed,
    _Stored: _Writer._packed,
    Apply: _Writer._apply,
    Pairs: _Writer._pairs,
    Filtered: _Writer._filtered,
    Rows: _Writer._rows,
    Pool: _Writer._pool,
    Family: _Writer._family,
}


def _ordered(lists: Sequence[Sequence[int]], order: Ints) -> Lists:
    ordered = [lists[place] for place in order.tolist()]
    ends = np.cumsum(np.fromiter(map(len, ordered), np.int64, len(ordered)))
    size = int(ends[-1]) if len(ends) else 0
    return Lists(np.fromiter(chain.from_iterable(ordered), np.int64, size), ends)
