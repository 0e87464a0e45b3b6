"""The row sets of a search, size by size: those that may hold many rows, in families, and those of one row at most."""

from collections.abc import Iterator, Sequence, Set
from itertools import combinations_with_replacement
from typing import Literal, cast

from grammar.canonical import ALL, EXTREMES
from grammar.families import Block, Family, Pool, See
from grammar.forest import Apply, Filtered, Leaf, Node, Packed, add_forms, seen_of, sets_of
from grammar.leaves import Leaves
from grammar.readings import Readings
from grammar.view import View

#: Rows by the outermost function of their form, where they have one row at most: an extreme's with its relation.
Kind = tuple[str, str]
_EMPTY: Kind = ("empty", "")
_FILTERED: Kind = ("filter", "")
_FIRST: Kind = ("first", "")
_LAST: Kind = ("last", "")


class RowSets:
    """The row sets of the forms of each size so far; ``budget`` is the most pairs of sets to combine at a time."""

    def __init__(self, view: View, leaves: Leaves, readings: Readings, budget: int) -> None:
        self._view = view
        self._relations = leaves.relations
        self._readings = readings
        self._budget = budget
        self._all = Pool([(view.all, Leaf(ALL))], view.size)
        #: Rows that may be many: under filters alone, and those under a union.
        self.conjunctions: list[Family] = []
        self.unions: list[Family] = []
        #: Rows of one row at most: kind -> mask -> forms.
        self.singles: list[dict[Kind, dict[int, Packed]]] = []
        self._operands: dict[int, Pool] = {}
        self._bases: dict[int, Pool] = {}
        self._readable: dict[tuple[int, str], Family] = {}

    def make(self, size: int, filters: Sequence[Pool]) -> None:
        """The row sets of the forms of exactly this size, the next one; ``filters`` are those whose argument has size
        0, 1, ... up to the size before. Raises TooMany where the budget does not reach so far."""
        conjunctions = [(self._all, *pools) for pools in _filter_sets(size, filters)]
        unions: list[tuple[Pool, ...]] = []
        for i in range(1, size):
            joined_rows = Pool((), self._view.size, [self.unions[size - i]])
            unions += [(joined_rows, *pools) for pools in _filter_sets(i, filters) if len(joined_rows)]
        halves = range(1, (size - 1) // 2 + 1)
        joined = [(self._united(i), self._united(size - 1 - i)) for i in halves]
        conjunction = self._family([Block(pools) for pools in conjunctions])
        union = self._family([Block(pools, "union") for pools in joined] + [Block(pools) for pools in unions])
        for family, sizes in ((conjunction, self.conjunctions), (union, self.unions)):
            family.sets  # noqa: B018  # TooMany is raised here
            sizes.append(family)
        self.singles.append(self._make_singles(size) if size else {})

    def of(self, size: int, without: Literal["", "first", "single"] = "") -> Family:
        """The rows of a size, but for those with ``first`` outermost (``first``) or those that are one at most by
        their form (``single``)."""
        key = (size, without)
        if key not in self._readable:
            families = self._many(size)
            if without == "single" and len(families) == 1:
                self._readable[key] = families[0]
            else:
                kinds = {_FIRST} if without == "first" else frozenset[Kind]()
                singles = self._single(size, kinds) if without != "single" else ()
                self._readable[key] = self._family([Block((Pool(singles, self._view.size, families),))])
        return self._readable[key]

    def _family(self, blocks: Sequence[Block]) -> Family:
        return Family(blocks, self._view.size, self._budget)

    def _many(self, size: int) -> list[Family]:
        return [family for family in (self.conjunctions[size], self.unions[size]) if len(family)]

    def _single(self, size: int, without: Set[Kind]) -> Iterator[tuple[int, Node]]:
        """The rows that are one at most by their form, but for some kinds."""
        for kind, rows in self.singles[size].items():
            if kind not in without:
                yield from rows.items()

    def _united(self, size: int) -> Pool:
        """What a union takes: rows of this size that are neither all nor none by their form."""
        if size not in self._operands:
            self._operands[size] = Pool(self._single(size, {_EMPTY}), self._view.size, self._many(size))
        return self._operands[size]

    def _met(self, size: int) -> Pool:
        """What an intersection takes: rows with no filter outermost, neither all nor none by their form."""
        if size not in self._bases:
            self._bases[size] = Pool(self._single(size, {_EMPTY, _FILTERED}), self._view.size)
        return self._bases[size]

    def _make_singles(self, size: int) -> dict[Kind, dict[int, Packed]]:
        below = size - 1
        made: dict[Kind, dict[int, Packed]] = {}

        def add(kind: Kind, mask: int, forms: Node) -> None:
            add_forms(made.setdefault(kind, {}), mask, forms)

        for family in self._many(below):
            for mask, rows in seen_of(family, See(self._view.all, "first")):
                add(_FIRST, mask, Apply("first", rows))
                add(("previous", "") if below else _EMPTY, mask >> 1, Apply("previous", rows))
            for mask, rows in seen_of(family, See(self._view.all, "last")):
                add(_LAST, mask, Apply("last", rows))
                if below:
                    add(("next", ""), mask << 1 & self._view.all, Apply("next", rows))
        for mask, forms in self._single(below, {_EMPTY, _FIRST}):
            add(("previous", ""), mask >> 1, Apply("previous", forms))
        for mask, forms in self._single(below, {_EMPTY, _LAST}):
            add(("next", ""), mask << 1 & self._view.all, Apply("next", forms))
        self._add_extremes(below, made)
        for i in range(1, size):
            family = self.conjunctions[i]
            for mask, forms in self._single(size - i, {_EMPTY, _FILTERED}):
                for kept, filters in seen_of(family, See(mask)):
                    add(_FILTERED, kept, Filtered(forms, filters))
        for i in range(1, below // 2 + 1):
            for mask, forms in sets_of(
                self._family([Block((self._met(i), self._met(below - i)), "intersection")])
            ):
                add(("intersection", ""), mask, forms)
        return made

    def _add_extremes(self, below: int, made: dict[Kind, dict[int, Packed]]) -> None:
        """The rows with the greatest or smallest value of rows of the size below."""
        for (name, relation), reader in self._readings.of_extremes.items():
            others = self._single(below, {_EMPTY, *((extreme, relation) for extreme in EXTREMES)})
            seen = [pair for family in self._many(below) for pair in self._readings.read(reader, family)]
            chosen = [(self._readings.value(reader, mask & reader.see.mask), forms) for mask, forms in others]
            for row, forms in [*seen, *chosen]:
                extreme = Apply(name, forms, self._relations[relation])
                add_forms(made.setdefault((name, relation), {}), cast(int, row), extreme)


def _filter_sets(size: int, filters: Sequence[Pool]) -> list[tuple[Pool, ...]]:
    """The ways in which filters make this size together; a filter's size is one more than its argument's."""
    sets = []
    for number in range(size + 1):
        for sizes in combinations_with_replacement(range(size), number):
            if sum(sizes) + number == size:
                sets.append(tuple(filters[i] for i in sizes))
    return [pools for pools in sets if all(map(len, pools))]
