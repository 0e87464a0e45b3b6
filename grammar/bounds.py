"""The most that each thing of a forest may reach under a scorer, worked out for whole runs of them at once."""

from collections.abc import Callable, Iterable

import numpy as np

from grammar.columns import APPLY, FILTERED, PACKED, PAIRS, ROWS, Ints, Things
from grammar.families import Block, Family, Pool, See, Seen
from grammar.forest import Apply, Filtered, Leaf, Node, Packed, Pairs, Rows
from grammar.masks import Scores, Words, combined, gathered, group

#: The name of a function and the names of the leaves that it is applied to -> how well they suit.
Scorer = Callable[[str, tuple[str, ...]], float]


class Bounds:
    """``of[i]`` is the bound of thing i: no form of it scores higher. Those of leaves, rows and families of sets are
    asked for by name."""

    def __init__(self, things: Things, scorer: Scorer) -> None:
        self._things = things
        self._scorer = scorer
        #: By identity, each with the family or pool: so that no other takes its place.
        self._families: dict[int, tuple[Family, Scores]] = {}
        self._pools: dict[int, tuple[Pool, Scores]] = {}
        #: What was worked out of the sets of each family, by what is seen of them.
        self._seen: dict[int, dict[Seen, Scores]] = {}
        self.of = np.zeros(len(things.columns.kinds))
        for kind, start, stop in things.columns.runs:
            self._run(kind, start, stop)

    def of_numbers(self, numbers: Ints) -> Scores:
        """The bounds of things and leaves by their numbers."""
        return np.where(numbers < 0, 0.0, self.of[numbers]) if len(self.of) else np.zeros(len(numbers))

    def of_node(self, node: Node) -> float:
        """The bound of a node, which may be one that was made out of things of the forest."""
        number = self._things.number(node)
        if number is not None:
            return float(self.of[number])
        match node:
            case Packed():
                return max((self.of_node(one) for one in node.alternatives if one.count), default=-np.inf)
            case Apply():
                return self.local(node) + sum(map(self.of_node, node.arguments))
            case Pairs():
                return self.score(node.name) + 2 * self.of_node(node.argument)
            case Filtered():
                return self.of_node(node.rows) + self.of_node(node.filters)
            case Rows():
                return float(self.of_seen(node.family, node.see)[list(node.places)].max(initial=-np.inf))
            case _:
                return 0.0

    def of_family(self, family: Family) -> Scores:
        """For each row set of a family."""
        if id(family) not in self._families:
            parts = [self._block(block) for block in family.blocks]
            words, bounds = gathered(
                np.concatenate([family.sets.words, *(words for words, _ in parts)]),
                np.concatenate([np.full(len(family), -np.inf), *(bounds for _, bounds in parts)]),
                "max",
            )
            # A form taken twice is none, so that more sets have a bound than there are.
            places = group(np.concatenate([words, family.sets.words]))
            there = np.diff(places.starts) == 2
            self._families[id(family)] = (family, bounds[there])
        return self._families[id(family)][1]

    def of_pool(self, pool: Pool) -> Scores:
        """For each row set of a pool."""
        if id(pool) not in self._pools:
            number = self._things.number(pool)
            assert number is not None, "a pool is a thing wherever its family is"
            below = self._things.columns.below.of(number)
            parts = [*map(self.of_family, pool.families), self.of_numbers(below[len(pool.families) :])]
            self._pools[id(pool)] = (pool, np.concatenate(parts))
        return self._pools[id(pool)][1]

    def score(self, name: str) -> float:
        """The score of a function without leaves; there is none for no function."""
        return self._scorer(name, ()) if name else 0.0

    def local(self, node: Apply) -> float:
        """The score of a call with its leaves."""
        return self._local(node.name, (arg.form().name for arg in node.arguments if isinstance(arg, Leaf)))

    def of_seen(self, family: Family, see: See) -> Scores:
        """For each set that is seen."""
        return self._of_seen(family, family.seen(see))

    def _of_seen(self, family: Family, seen: Seen) -> Scores:
        known = self._seen.setdefault(id(family), {})
        if seen not in known:
            bounds = self.of_family(family) if seen.wider is None else self._of_seen(family, seen.wider)
            known[seen] = seen.groups.reduced(bounds, "max")
        return known[seen]

    def _local(self, name: str, leaves: Iterable[str]) -> float:
        return self._scorer(name, tuple(leaf for leaf in leaves if leaf != "all_structures"))

    def _run(self, kind: int, start: int, stop: int) -> None:
        columns = self._things.columns
        below, begins = columns.below.span(start, stop)
        if kind == PACKED:
            self.of[start:stop] = _greatest(self.of_numbers(below), begins)
        elif kind == APPLY:
            self.of[start:stop] = np.add.reduceat(self.of_numbers(below), begins) + self._locals(start, stop)
        elif kind == PAIRS:
            own = np.array([self.score(columns.texts[tag]) for tag in columns.tags[start:stop].tolist()])
            self.of[start:stop] = own + 2 * self.of_numbers(below)
        elif kind == FILTERED:
            self.of[start:stop] = np.add.reduceat(self.of_numbers(below), begins)
        elif kind == ROWS:
            self._rows(start, stop, below)

    def _locals(self, start: int, stop: int) -> Scores:
        """The local scores of calls, found once for those of the same function with the same leaves."""
        columns = self._things.columns
        below, begins = columns.below.span(start, stop)
        tags = columns.tags[start:stop]
        base = len(columns.texts) + 1
        digits = np.maximum(0, -below)  # a leaf's text from 1 on, 0 for a thing
        keys = tags.copy()
        for place in range(int(np.diff(begins, append=len(below)).max())):
            there = begins + place < np.append(begins[1:], len(below))
            keys = keys * base + np.where(there, digits[np.minimum(begins + place, len(below) - 1)], 0)
        _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
        scores = []
        for first in firsts.tolist():
            leaves = [columns.texts[-1 - n] for n in columns.below.of(start + first).tolist() if n < 0]
            scores.append(self._local(columns.texts[int(tags[first])], leaves))
        return np.array(scores)[inverse]

    def _rows(self, start: int, stop: int, families: Ints) -> None:
        """Rows: the best of the sets that are seen as one of their masks."""
        columns = self._things.columns
        tags = columns.tags[start:stop]
        places, begins = columns.rest.span(start, stop)
        lengths = np.diff(begins, append=len(places))
        bounds = np.empty(len(places))
        keys = families * len(columns.sees) + tags
        each = np.repeat(keys, lengths)
        order = np.argsort(each, kind="stable")
        cuts = np.flatnonzero(np.diff(each[order], prepend=-1))
        for some in np.split(order, cuts)[1:]:
            number, tag = divmod(int(each[some[0]]), len(columns.sees))
            bounds[some] = self.of_seen(self._things.thing(number), columns.sees[tag])[places[some]]
        self.of[start:stop] = _greatest(bounds, begins)

    def _block(self, block: Block) -> tuple[Words, Scores]:
        first, *others = [gathered(pool.words, self.of_pool(pool), "max") for pool in block.pools]
        made = first
        for other in others:
            made = combined(made, other, block.join == "union", "max")
        words, bounds = made
        return words, bounds + self.score(block.join)


def _greatest(scores: Scores, begins: Ints) -> Scores:
    """Of lists of scores, one after another, the greatest of each; ``begins`` are where they begin. The greatest of
    none is below any score."""
    greatest: Scores = np.full(len(begins), -np.inf)
    some = np.diff(begins, append=len(scores)) > 0
    if some.any():
        greatest[some] = np.maximum.reduceat(scores, begins[some])
    return greatest
