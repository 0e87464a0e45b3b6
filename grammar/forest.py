"""The packed forest that a search returns: sets of logical forms, counted, numbered and drawn without listing them.

A node is a set of forms, and numbers them: ``form(i)`` is the i-th of ``count``. That is all that reading a form,
listing, and drawing at random need. Nodes are shared: what two forms have in common is held once. The rows of forms
are not held one by one at all but in the arrays of ``grammar.families``; ``Rows`` is a set of such row sets.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import comb, prod
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from grammar.canonical import COMMUTING, filtered, ordered, unfiltered
from grammar.families import Block, Choice, Family, See
from grammar.forms import Form
from grammar.masks import Index
from grammar.types import Denotation

if TYPE_CHECKING:
    from grammar.columns import Things

K = TypeVar("K", bound=Hashable)


class Node(Protocol):
    """A set of forms."""

    @property
    def count(self) -> int: ...

    def form(self, index: int) -> Form:
        """The form with this number, ``0 <= index < count``."""
        ...


class Leaf:
    """A single form."""

    __slots__ = ("_form",)
    count = 1

    def __init__(self, form: Form) -> None:
        self._form = form

    def form(self, index: int = 0) -> Form:
        return self._form


class Packed:
    """The union of alternatives that have no form in common. ``sizes``, if any, are those of the alternatives."""

    __slots__ = ("_alternatives", "_ends", "count", "sizes")

    def __init__(self, alternatives: Sequence[Node] = (), sizes: Sequence[int] = ()) -> None:
        self._alternatives = list(alternatives)
        self._ends: list[int] = []
        self.sizes = list(sizes)
        self.count = sum(alternative.count for alternative in alternatives)

    @property
    def alternatives(self) -> list[Node]:
        return self._alternatives

    def add(self, alternative: Node) -> None:
        self._alternatives.append(alternative)
        self.count += alternative.count

    def form(self, index: int) -> Form:
        if len(self._ends) != len(self.alternatives):
            self._ends = list(accumulate(alternative.count for alternative in self.alternatives))
        at = bisect_right(self._ends, index)
        return self.alternatives[at].form(index - (self._ends[at - 1] if at else 0))


class Apply:
    """A function over sets of forms: one form for each choice of arguments. Arguments that commute must be sets
    without a form in common."""

    __slots__ = ("_count", "arguments", "name")

    def __init__(self, name: str, *arguments: Node) -> None:
        self.name = name
        self.arguments = arguments
        self._count: int | None = None

    @property
    def count(self) -> int:
        if self._count is None:
            self._count = prod(argument.count for argument in self.arguments)
        return self._count

    def form(self, index: int) -> Form:
        forms = []
        for argument in reversed(self.arguments):
            index, place = divmod(index, argument.count)
            forms.append(argument.form(place))
        return commuted(self.name, tuple(reversed(forms)))


class Pairs:
    """A function that commutes over two forms of one set, which may be the same."""

    __slots__ = ("argument", "name")

    def __init__(self, name: str, argument: Node) -> None:
        self.name = name
        self.argument = argument

    @property
    def count(self) -> int:
        return comb(self.argument.count + 1, 2)

    def form(self, index: int) -> Form:
        mine, theirs = combination(index, 2)
        return commuted(self.name, (self.argument.form(mine), self.argument.form(theirs - 1)))


class Filtered:
    """Rows under the filters of other rows: those of ``filters``, which stand over all the table's rows."""

    __slots__ = ("filters", "rows")

    def __init__(self, rows: Node, filters: Node) -> None:
        self.rows = rows
        self.filters = filters

    @property
    def count(self) -> int:
        return self.rows.count * self.filters.count

    def form(self, index: int) -> Form:
        mine, theirs = divmod(index, self.filters.count)
        return filtered(self.rows.form(mine), unfiltered(self.filters.form(theirs))[1])


class Rows:
    """The forms of the rows of a family that a function sees as one of some masks (see ``grammar.families.See``),
    which are given by their places among all that it sees."""

    __slots__ = ("_count", "family", "places", "see")

    def __init__(self, family: Family, see: See, places: Sequence[int], count: int | None = None) -> None:
        self.family = family
        self.see = see
        self.places = places
        self._count = count

    @property
    def count(self) -> int:
        if self._count is None:
            counts = self.family.seen(self.see).counts
            self._count = sum(map(counts.__getitem__, self.places))
        return self._count

    @property
    def sets(self) -> Index:
        """The family's row sets that are seen so."""
        return self.family.seen_as(self.see, self.places)

    def form(self, index: int) -> Form:
        sets = self.sets
        counts = self.family.sets.counts[sets]
        ends = np.cumsum(counts)
        at = int(np.searchsorted(ends, index, side="right"))
        index -= int(ends[at] - counts[at])
        for block, choices in self.family.choices(self.family.masks[int(sets[at])]):
            ends = np.cumsum(choices.counts)
            place = int(np.searchsorted(ends, index, side="right"))
            index -= int(ends[place - 1]) if place else 0
            if place < len(ends):
                return _chosen(block, choices.choice(place), index)
        raise IndexError("there is no form with this number")


def seen_of(family: Family, see: See) -> Iterator[tuple[int, Rows]]:
    """What is seen of the sets of a family, with the forms of the rows that are seen so."""
    seen = family.seen(see)
    for place, (mask, count) in enumerate(zip(seen.masks, seen.counts, strict=True)):
        yield mask, Rows(family, see, (place,), count)


def sets_of(family: Family) -> Iterator[tuple[int, Rows]]:
    """The sets of a family with their forms."""
    return seen_of(family, See((1 << family.rows) - 1))


def _chosen(block: Block, choice: Choice, index: int) -> Form:
    """One form of a choice."""
    forms: list[Form] = []
    for node, times in choice:
        index, place = divmod(index, comb(node.count, times))
        forms += [node.form(i) for i in combination(place, times)]
    return combined(block, forms)


def combined(block: Block, forms: Sequence[Form]) -> Form:
    """The form of the parts that a block chooses: two sets of rows joined, or rows under filters."""
    if block.join:
        return Form(block.join, ordered(tuple(forms)))
    return filtered(forms[0], set(forms[1:]))


def combination(index: int, length: int) -> list[int]:
    """The combination of ``length`` numbers, rising, with this place in colexicographic order."""
    numbers = []
    for size in range(length, 0, -1):
        number = size - 1
        low, high = size - 1, size
        while comb(high, size) <= index:
            low, high = high, 2 * high
        while low < high:  # the last number with comb(number, size) <= index
            middle = (low + high + 1) // 2
            low, high = (middle, high) if comb(middle, size) <= index else (low, middle - 1)
        number = low
        numbers.append(number)
        index -= comb(number, size)
    return numbers[::-1]


def commuted(name: str, arguments: tuple[Form, ...]) -> Form:
    """A function applied to arguments, in order where they commute."""
    return Form(name, ordered(arguments) if name in COMMUTING else arguments)


def up_to(node: Node, size: int) -> Node:
    """The forms of an answer whose readings have no greater size."""
    match node:
        case Packed() if node.sizes:
            pairs = zip(node.alternatives, node.sizes, strict=True)
            return Packed([alternative for alternative, own in pairs if own <= size])
        case Packed():
            return Packed([up_to(alternative, size) for alternative in node.alternatives])
        case Apply():
            return Apply(node.name, *(up_to(argument, size) for argument in node.arguments))
        case Pairs():
            return Pairs(node.name, up_to(node.argument, size))
        case _:
            return node


def of_size(node: Node, size: int) -> Node:
    """The forms of an answer whose greatest reading has just this size."""
    match node:
        case Packed() if node.sizes:
            pairs = zip(node.alternatives, node.sizes, strict=True)
            return Packed([alternative for alternative, own in pairs if own == size])
        case Packed():
            return Packed([of_size(alternative, size) for alternative in node.alternatives])
        case Apply():
            mine, *others = node.arguments
            alternatives = [Apply(node.name, of_size(mine, size), *(up_to(other, size) for other in others))]
            for other in others:
                alternatives.append(Apply(node.name, up_to(mine, size - 1), of_size(other, size)))
            return Packed(alternatives)
        case Pairs():
            mine, less = of_size(node.argument, size), up_to(node.argument, size - 1)
            return Packed([Pairs(node.name, mine), Apply(node.name, mine, less)])
        case _:
            return Packed()


class Found:
    """The consistent forms of one question: every one up to ``size``, which is less than was asked for where the
    budget of the search did not reach further. ``answers`` has each denotation that was reached with its forms."""

    def __init__(self, answers: Mapping[Denotation, Node], size: int) -> None:
        self.answers = dict(answers)
        self.size = size
        self.root = Packed(list(self.answers.values()))
        #: What the answers are made of, and their numbers there: see ``grammar.columns.things_of``.
        self.things: tuple[Things, list[int]] | None = None

    @property
    def count(self) -> int:
        """How many forms there are, exactly."""
        return self.root.count

    @property
    def denotations(self) -> tuple[Denotation, ...]:
        return tuple(self.answers)

    def forms(self, limit: int | None = None) -> Iterator[Form]:
        """The forms in the order of their numbers, at most ``limit``."""
        return listed(self.root, limit)

    def sample(self, number: int, seed: int) -> list[Form]:
        """So many forms drawn at random, each form as likely as any other, some perhaps twice."""
        random = Random(seed)
        return [self.root.form(random.randrange(self.count)) for _ in range(number if self.count else 0)]

    def by_size(self) -> Iterator[Node]:
        """The forms whose greatest reading has size 0, 1, ... up to ``size``."""
        for size in range(self.size + 1):
            yield of_size(self.root, size)

    def union(self, other: "Found") -> "Found":
        """The forms of two searches of one language, for different answers: those of either."""
        return Found({**other.answers, **self.answers}, min(self.size, other.size))


def add_forms(made: dict[K, Packed], key: K, forms: Node) -> None:
    """Add forms to those of a key; they must have none in common with what is there."""
    packed = made.get(key)
    if packed is None:
        packed = made[key] = Packed()
    packed.add(forms)


def listed(node: Node, limit: int | None = None) -> Iterator[Form]:
    """The forms of a node in the order of their numbers, at most ``limit``."""
    for index in range(node.count if limit is None else min(limit, node.count)):
        yield node.form(index)
