"""A packed forest taken apart by what its forms denote on several tables, without listing them.

From below: each node becomes nodes whose forms have one vector each. Row sets are those of all tables one after
another, so that a filter, a union or an intersection is still one operation on bits and the arrays of
``grammar.families`` serve as they are. After the rows of each table comes a bit that is set where the rows are defined
there: a filter may compare with a value that a copy has not.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import cast

from grammar.families import Block, Family, Pool, See
from grammar.forest import Apply, Filtered, Leaf, Node, Packed, Pairs, Rows
from grammar.functions import FUNCTIONS, Function
from grammar.language import Language
from grammar.masks import TooMany, to_masks
from grammar.types import Denotation
from grammar.types import Rows as RowSet
from grammar.worlds import Vector, Worlds

#: So many parts a forest may be taken apart into, over all its nodes, and so many pairs of row sets may be combined.
MAX_PARTS = 20_000
MAX_PAIRS = 300_000

Parts = dict[Vector, Node]


def refined(root: Node, worlds: Worlds, language: Language, tables: Sequence[int]) -> Parts:
    """What forms denote on the tables (by their numbers in ``worlds``, the real one first) -> the forms that do.
    Raises TooMany where that would take too many parts."""
    return _Refinement(worlds, language, tables).parts(root)


class _Refinement:
    def __init__(self, worlds: Worlds, language: Language, tables: Sequence[int]) -> None:
        self._worlds = worlds
        self._language = language
        self._tables = tuple(tables)
        sizes = [worlds.views[table].size for table in tables]
        self._offsets = [sum(sizes[:i]) + i for i in range(len(sizes))]
        self._sizes = sizes
        self._bits = sum(sizes) + len(sizes)
        self._number = 0
        # By identity, each with what it was made of, so that no other takes its place.
        self._parts: dict[int, tuple[Node, Parts]] = {}
        self._families: dict[int, tuple[Family, Family]] = {}
        self._pools: dict[int, tuple[Pool, Pool]] = {}
        self._applied: dict[tuple[str, int, tuple[object, ...]], Denotation | None] = {}

    def parts(self, node: Node) -> Parts:
        if id(node) not in self._parts:
            made = self._merged(self._take_apart(node))
            self._parts[id(node)] = (node, made)
        return self._parts[id(node)][1]

    def _merged(self, pieces: Iterable[tuple[Vector, Node]]) -> Parts:
        merged: dict[Vector, list[Node]] = {}
        for vector, node in pieces:
            self._number += 1
            if self._number > MAX_PARTS:
                raise TooMany
            merged.setdefault(vector, []).append(node)
        return {v: nodes[0] if len(nodes) == 1 else Packed(nodes) for v, nodes in merged.items()}

    def _take_apart(self, node: Node) -> Iterator[tuple[Vector, Node]]:
        match node:
            case Leaf():
                yield self._leaf(node), node
            case Packed():
                for alternative in node.alternatives:
                    if alternative.count:
                        yield from self.parts(alternative).items()
            case Apply():
                for choice in product(*(self.parts(argument).items() for argument in node.arguments)):
                    vector = self._apply(node.name, [vector for vector, _ in choice])
                    yield vector, Apply(node.name, *(part for _, part in choice))
            case Pairs():
                for (mine, one), (theirs, other) in combinations_with_replacement(
                    self.parts(node.argument).items(), 2
                ):
                    pair = Pairs(node.name, one) if one is other else Apply(node.name, one, other)
                    yield self._apply(node.name, [mine, theirs]), pair
            case Filtered():
                for (rows, one), (kept, filters) in product(
                    self.parts(node.rows).items(), self.parts(node.filters).items()
                ):
                    yield _met(rows, kept), Filtered(one, filters)
            case Rows():
                yield from self._rows(node)
            case _:
                raise TypeError(f"no node of a forest: {node!r}")

    def _leaf(self, node: Leaf) -> Vector:
        name = node.form().name
        if name in FUNCTIONS:
            return tuple(FUNCTIONS[name].call(self._worlds.views[table]) for table in self._tables)
        leaf = self._language.leaf(name)
        if leaf is None:
            raise ValueError(f"{name!r} is neither a function nor a leaf of this language")
        return (cast(Denotation, leaf[1]),) * len(self._tables)

    def _apply(self, name: str, arguments: Sequence[Vector]) -> Vector:
        function = FUNCTIONS[name]
        if len(arguments) < len(function.arguments):  # a filter without its rows stands for one over all rows
            arguments = [tuple(self._worlds.views[table].all for table in self._tables), *arguments]
        by_table = zip(self._tables, zip(*arguments, strict=True), strict=True)
        return tuple(self._applied_on(function, table, values) for table, values in by_table)

    def _applied_on(self, function: Function, table: int, values: tuple[object, ...]) -> Denotation | None:
        place = (function.name, table, values)
        if place not in self._applied:
            self._applied[place] = self._worlds.apply(function, table, values)
        return self._applied[place]

    # Rows.

    def _rows(self, node: Rows) -> Iterator[tuple[Vector, Node]]:
        """The row sets over all tables of which the real table's part is seen as the node's."""
        family = self._family(node.family)
        masks = node.family.seen(node.see).masks
        wanted = {masks[place] for place in node.places}
        everything = See((1 << self._bits) - 1)
        sets = family.seen(everything)
        # The real table's rows are the first bits, so that what is seen of them is seen here.
        for place, mask in enumerate(to_masks(node.see.of(sets.sets.words))):
            if mask in wanted:
                yield self._split(sets.masks[place]), Rows(family, everything, (place,), sets.counts[place])

    def _family(self, family: Family) -> Family:
        if id(family) not in self._families:
            blocks = []
            for block in family.blocks:
                pools = tuple(map(self._pool, block.pools))
                if block.join == "union" and any(self._undefined(pool) for pool in pools):
                    raise TooMany  # bits that are met where rows are joined
                blocks.append(Block(pools, block.join))
            made = Family(blocks, self._bits, MAX_PAIRS)
            made.sets  # noqa: B018  # TooMany is raised here
            self._families[id(family)] = (family, made)
        return self._families[id(family)][1]

    def _pool(self, pool: Pool) -> Pool:
        if id(pool) not in self._pools:
            members = [
                (self._joined(vector), part)
                for _, node in pool.members
                for vector, part in self.parts(node).items()
            ]
            families = [self._family(family) for family in pool.families]
            self._pools[id(pool)] = (pool, Pool(members, self._bits, families))
        return self._pools[id(pool)][1]

    def _undefined(self, pool: Pool) -> bool:
        """Whether some rows of the pool are not defined on some table."""
        defined = sum(1 << offset + size for offset, size in zip(self._offsets, self._sizes, strict=True))
        masks = [mask for family in pool.families for mask in family.masks] + [
            mask for mask, _ in pool.members
        ]
        return any(mask & defined != defined for mask in masks)

    def _joined(self, vector: Vector) -> int:
        """The rows of all tables as one set."""
        parts = zip(vector, self._offsets, self._sizes, strict=True)
        return sum(
            (cast(int, rows) | 1 << size) << offset for rows, offset, size in parts if rows is not None
        )

    def _split(self, mask: int) -> Vector:
        return tuple(
            cast(Denotation, mask >> offset & (1 << size) - 1) if mask >> offset + size & 1 else None
            for offset, size in zip(self._offsets, self._sizes, strict=True)
        )


def _met(rows: Vector, others: Vector) -> Vector:
    pairs = zip(rows, others, strict=True)
    return tuple(None if a is None or b is None else RowSet(cast(int, a) & cast(int, b)) for a, b in pairs)
