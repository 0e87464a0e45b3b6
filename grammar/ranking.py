"""The best forms of a forest under a scorer, best first, without listing the others.

A form's score is the sum of a local score of each function in it with the leaves that it takes. As in the lazy k best
of Huang & Chiang (2005), a form is worked out when it is its turn: alternatives wait under the best score that they
may still reach (``grammar.bounds``).
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from grammar.bounds import Bounds, Scorer
from grammar.canonical import filtered, unfiltered
from grammar.columns import Things, things_of, things_under
from grammar.families import Choices, Family
from grammar.forest import Apply, Filtered, Found, Leaf, Node, Packed, Pairs, Rows, combined, commuted
from grammar.forms import Form
from grammar.masks import Scores, to_masks

__all__ = ["Ranking", "Scored", "Scorer", "best"]


#: So many of the greatest bounds are sorted before the others.
_FIRST = 32


class Scored(NamedTuple):
    score: float
    form: Form


def best(forest: Found | Node, scorer: Scorer, number: int) -> list[Scored]:
    """The ``number`` forms of the highest score, best first."""
    if isinstance(forest, Found):
        return Ranking(things_of(forest)[0], scorer).best((forest.root, number))[0]
    return Ranking(things_under([forest])[0], scorer).best((forest, number))[0]


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


class Ranking:
    """The forms of a forest under one scorer, for several questions of it."""

    def __init__(self, things: Things, scorer: Scorer) -> None:
        self._things = things
        self._bounds = Bounds(things, scorer)
        # By identity: each node is kept beside its forms, so that no other takes its place.
        self._lists: dict[int, tuple[Node, _List]] = {}

    def best(self, *wanted: tuple[Node, int]) -> list[list[Scored]]:
        """So many of the best forms of each node, which is one of the forest or made out of such. What the nodes have
        in common is ranked once."""
        ranked = [list(islice(self.ranked(node), number)) for node, number in wanted]
        self._lists.clear()  # What is under way there refers to this ranking.
        return ranked

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
                return self._union(node)
            case Apply(name=name):
                parts = [(self.ranked(argument), 1) for argument in node.arguments]
                make = lambda forms: commuted(name, tuple(forms))  # noqa: E731
                return _products(parts, self._bounds.local(node), make)
            case Pairs(name=name):
                parts = [(self.ranked(node.argument), 2)]
                make = lambda forms: commuted(name, tuple(forms))  # noqa: E731
                return _products(parts, self._bounds.score(name), make, repeating=True)
            case Filtered():
                parts = [(self.ranked(node.rows), 1), (self.ranked(node.filters), 1)]
                return _products(parts, 0.0, lambda forms: filtered(forms[0], unfiltered(forms[1])[1]))
            case Rows(family=family):
                sets = node.sets
                bounds = self._bounds.of_family(family)[sets]
                return _merged(bounds, lambda place: self._rank_set(family, int(sets[place])))
            case _:
                raise TypeError(f"no node of a forest: {node!r}")

    def _union(self, node: Packed) -> Iterator[Scored]:
        number = self._things.number(node)
        if number is None:
            alternatives = [one for one in node.alternatives if one.count]
            bounds = np.array([self._bounds.of_node(one) for one in alternatives])
            return _merged(bounds, lambda place: iter(self.ranked(alternatives[place])))
        numbers = self._things.columns.below.of(number)
        opened = lambda place: iter(self.ranked(self._things.node(int(numbers[place]))))  # noqa: E731
        return _merged(self._bounds.of_numbers(numbers), opened)

    def _rank_set(self, family: Family, place: int) -> Iterator[Scored]:
        """The forms of one row set of a family."""
        mask = to_masks(family.sets.words[place : place + 1])[0]
        blocks = family.choices(mask)
        ends = np.cumsum([len(choices) for _, choices in blocks])

        def opened(place: int) -> Iterator[Scored]:
            at = int(np.searchsorted(ends, place, side="right"))
            block, choices = blocks[at]
            choice = choices.choice(place - int(ends[at]) + len(choices))
            parts = [(self.ranked(node), times) for node, times in choice]
            return _products(parts, self._bounds.score(block.join), lambda forms: combined(block, forms))

        bounds = [self._of_choices(choices) + self._bounds.score(block.join) for block, choices in blocks]
        return _merged(np.concatenate(bounds), opened)

    def _of_choices(self, choices: Choices) -> Scores:
        bounds: Scores = np.zeros(len(choices))
        for pool, pick in zip(choices.pools, choices.picks, strict=True):
            bounds += self._bounds.of_pool(pool)[pick]
        return bounds


def _merged(bounds: Scores, opener: Callable[[int], Iterator[Scored]]) -> Iterator[Scored]:
    """The items of several sources, best first: each source is best first too, and none of its items exceeds its
    bound. A source is opened when its turn comes; of equals, what is at hand comes first."""
    order = _falling(bounds)
    waiting = next(order, None)
    queue: list[tuple[float, int, Scored]] = []
    opened: dict[int, Iterator[Scored]] = {}
    while queue or waiting is not None:
        if waiting is not None and (not queue or bounds[waiting] > -queue[0][0]):
            place = waiting
            waiting = next(order, None)
            opened[place] = opener(place)
        else:
            _, place, item = heappop(queue)
            yield item
        following = next(opened[place], None)
        if following is not None:
            heappush(queue, (-following.score, place, following))


def _falling(bounds: Scores) -> Iterator[int]:
    """The places of bounds, the greatest first; of equals the first. There may be millions, of which few are asked
    for: the greatest are sorted by themselves."""
    few = len(bounds) <= 4 * _FIRST
    ahead = bounds >= (-np.inf if few else np.partition(bounds, -_FIRST)[-_FIRST])
    for places in (np.flatnonzero(ahead), np.flatnonzero(~ahead)):
        yield from map(int, places[np.argsort(-bounds[places], kind="stable")])


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
