"""The best forms of a forest under a scorer, best first, without listing the others.

A form's score is the sum of a local score of each function in it with the leaves that it takes. As in the lazy k best
of Huang & Chiang (2005), a form is worked out when it is its turn: alternatives wait in a queue under the best score
that they may still reach, which for the rows of a family is found for all its sets at once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from grammar.canonical import filtered, unfiltered
from grammar.families import Block, Choice, Family, Pool, Scores, See, Words, group
from grammar.forest import Apply, Filtered, Leaf, Node, Packed, Pairs, Rows, combined, commuted
from grammar.forms import Form

#: The name of a function and the names of the leaves that it is applied to -> how well they suit.
Scorer = Callable[[str, tuple[str, ...]], float]


class Scored(NamedTuple):
    score: float
    form: Form


def best(node: Node, scorer: Scorer, number: int) -> list[Scored]:
    """The ``number`` forms of the highest score, best first."""
    return list(islice(_Ranking(scorer).ranked(node), number))


class _List:
    """What an iterator yields, kept."""

    def __init__(self, scored: Iterator[Scored]) -> None:
        self._source = scored
        self._kept: list[Scored] = []

    def get(self, index: int) -> Scored | None:
        """The item with this number, None beyond the end."""
        self._kept += islice(self._source, max(0, index + 1 - len(self._kept)))
        return self._kept[index] if index < len(self._kept) else None

    def __iter__(self) -> Iterator[Scored]:
        index = 0
        while (item := self.get(index)) is not None:
            yield item
            index += 1


class _Ranking:
    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        # By identity: the nodes are kept beside what is known of them, so that no other takes their place.
        self._lists: dict[int, tuple[Node, _List]] = {}
        self._bounds: dict[int, tuple[Node, float]] = {}
        self._families: dict[int, tuple[Family, Scores]] = {}
        self._seen: dict[tuple[int, See], list[float]] = {}
        self._pools: dict[int, tuple[Pool, Scores]] = {}

    def ranked(self, node: Node) -> _List:
        if id(node) not in self._lists:
            self._lists[id(node)] = (node, _List(self._rank(node)))
        return self._lists[id(node)][1]

    def _rank(self, node: Node) -> Iterator[Scored]:
        """The forms of a node, best first."""
        match node:
            case Leaf():
                return iter([Scored(0.0, node.form())])
            case Packed():
                return _merged((self.bound(one), self._opener(one)) for one in node.alternatives if one.count)
            case Apply(name=name):
                parts = [(self.ranked(argument), 1) for argument in node.arguments]
                make = lambda forms: commuted(name, tuple(forms))  # noqa: E731
                return _products(parts, self._local(node), make)
            case Pairs(name=name):
                parts = [(self.ranked(node.argument), 2)]
                make = lambda forms: commuted(name, tuple(forms))  # noqa: E731
                return _products(parts, self._scorer(name, ()), make, repeating=True)
            case Filtered():
                parts = [(self.ranked(node.rows), 1), (self.ranked(node.filters), 1)]
                return _products(parts, 0.0, lambda forms: filtered(forms[0], unfiltered(forms[1])[1]))
            case Rows():
                return self._rank_rows(node)
            case _:
                raise TypeError(f"no node of a forest: {node!r}")

    def _opener(self, node: Node) -> Callable[[], Iterator[Scored]]:
        return lambda: iter(self.ranked(node))

    def _rank_rows(self, node: Rows) -> Iterator[Scored]:
        family = node.family
        bounds = self._family(family)
        sets = node.sets.tolist()
        return _merged((float(bounds[i]), self._set_opener(family, family.masks[i])) for i in sets)

    def _set_opener(self, family: Family, mask: int) -> Callable[[], Iterator[Scored]]:
        def opened() -> Iterator[Scored]:
            return _merged(
                (
                    self._join(block) + sum(times * self.bound(node) for node, times in choice),
                    self._choice_opener(block, choice),
                )
                for block, choice in family.choices(mask)
            )

        return opened

    def _choice_opener(self, block: Block, choice: Choice) -> Callable[[], Iterator[Scored]]:
        def opened() -> Iterator[Scored]:
            parts = [(self.ranked(node), times) for node, times in choice]
            return _products(parts, self._join(block), lambda forms: combined(block, forms))

        return opened

    def _join(self, block: Block) -> float:
        return self._scorer(block.join, ()) if block.join else 0.0

    def _local(self, node: Apply) -> float:
        leaves = (argument.form().name for argument in node.arguments if isinstance(argument, Leaf))
        return self._scorer(node.name, tuple(name for name in leaves if name != "all_structures"))

    # What a node may reach at most.

    def bound(self, node: Node) -> float:
        known = self._bounds.get(id(node))
        if known is None:
            known = self._bounds[id(node)] = (node, self._bound(node))
        return known[1]

    def _bound(self, node: Node) -> float:
        match node:
            case Packed():
                return max((self.bound(one) for one in node.alternatives if one.count), default=-np.inf)
            case Apply():
                return self._local(node) + sum(map(self.bound, node.arguments))
            case Pairs():
                return self._scorer(node.name, ()) + 2 * self.bound(node.argument)
            case Filtered():
                return self.bound(node.rows) + self.bound(node.filters)
            case Rows():
                seen = self._of_seen(node.family, node.see)
                return max(seen[place] for place in node.places)
            case _:
                return 0.0

    def _of_seen(self, family: Family, see: See) -> list[float]:
        key = (id(family), see)
        if key not in self._seen:
            bounds: list[float] = group(see.of(family.sets.words)).greatest(self._family(family)).tolist()
            self._seen[key] = bounds
        return self._seen[key]

    def _family(self, family: Family) -> Scores:
        """For each set of a family."""
        if id(family) not in self._families:
            parts = [self._block(block) for block in family.blocks]
            words, bounds = _greatest(
                np.concatenate([family.sets.words, *(words for words, _ in parts)]),
                np.concatenate([np.full(len(family), -np.inf), *(bounds for _, bounds in parts)]),
            )
            # A form taken twice is none, so that more sets have a bound than there are.
            places = group(np.concatenate([words, family.sets.words]))
            there = np.diff(places.starts) == 2
            self._families[id(family)] = (family, bounds[there])
        return self._families[id(family)][1]

    def _block(self, block: Block) -> tuple[Words, Scores]:
        combine = np.bitwise_or if block.join == "union" else np.bitwise_and
        words, bounds = self._pool(block.pools[0])
        for pool in block.pools[1:]:
            more, theirs = self._pool(pool)
            words, bounds = _greatest(
                combine(words[:, None, :], more[None, :, :]).reshape(-1, words.shape[1]),
                (bounds[:, None] + theirs[None, :]).ravel(),
            )
        return words, bounds + self._join(block)

    def _pool(self, pool: Pool) -> tuple[Words, Scores]:
        if id(pool) not in self._pools:
            self._pools[id(pool)] = (
                pool,
                np.array([self.bound(node) for node in pool.nodes], dtype=np.float64),
            )
        return _greatest(pool.words, self._pools[id(pool)][1])


def _greatest(words: Words, scores: Scores) -> tuple[Words, Scores]:
    groups = group(words)
    return words[groups.firsts], groups.greatest(scores)


def _merged(sources: Iterable[tuple[float, Callable[[], Iterator[Scored]]]]) -> Iterator[Scored]:
    """The items of several sources, best first: each source is best first too, and none of its items exceeds its
    bound. A source is opened when its turn comes."""
    queue: list[tuple[float, int, Scored | None]] = []
    openers: list[Callable[[], Iterator[Scored]]] = []
    opened: dict[int, Iterator[Scored]] = {}
    for number, (bound, opener) in enumerate(sources):
        openers.append(opener)
        queue.append((-bound, number, None))
    queue.sort(key=lambda entry: entry[:2])
    while queue:
        _, number, item = heappop(queue)
        if item is not None:
            yield item
        else:
            opened[number] = openers[number]()
        following = next(opened[number], None)
        if following is not None:
            heappush(queue, (-following.score, number, following))


def _products(
    parts: Sequence[tuple[_List, int]],
    local: float,
    make: Callable[[Sequence[Form]], Form],
    repeating: bool = False,
) -> Iterator[Scored]:
    """Every choice of so many forms of each part, best first; all different ones, unless ``repeating``."""
    lists = [part for part, times in parts for _ in range(times)]
    step = 0 if repeating else 1
    start = tuple(step * i for _, times in parts for i in range(times))
    #: Where the place before is of the same part, and must be smaller (or not greater, if repeating).
    follows = [i > 0 for _, times in parts for i in range(times)]

    def scored(places: tuple[int, ...]) -> tuple[float, tuple[int, ...], list[Form]] | None:
        items = [part.get(place) for part, place in zip(lists, places, strict=True)]
        found = [item for item in items if item is not None]
        if len(found) < len(items):
            return None
        return -local - sum(item.score for item in found), places, [item.form for item in found]

    first = scored(start)
    queue = [] if first is None else [first]
    done = {start}
    while queue:
        score, places, forms = heappop(queue)
        yield Scored(-score, make(forms))
        for i in range(len(places)):
            after = (*places[:i], places[i] + 1, *places[i + 1 :])
            fits = i + 1 == len(places) or not follows[i + 1] or after[i] + step <= after[i + 1]
            if fits and after not in done:
                done.add(after)
                entry = scored(after)
                if entry is not None:
                    heappush(queue, entry)
