"""The packed forest that a search returns: sets of logical forms, counted and listed without writing them all out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from grammar.forms import Form
from grammar.types import Denotation


class Forms(Protocol):
    """A set of forms: counted without listing them."""

    @property
    def count(self) -> int: ...

    def forms(self) -> Iterator[Form]: ...


class Leaf:
    """A single form."""

    count = 1

    def __init__(self, form: Form) -> None:
        self.form = form

    def forms(self) -> Iterator[Form]:
        yield self.form


class Packed:
    """Forms that share a denotation: the union of alternatives that have no form in common."""

    __slots__ = ("alternatives", "count")

    def __init__(self) -> None:
        self.alternatives: list[Forms] = []
        self.count = 0

    def add(self, alternative: Forms) -> None:
        self.alternatives.append(alternative)
        self.count += alternative.count

    def forms(self) -> Iterator[Form]:
        """Every form, in the order in which its alternatives were found: small ones first."""
        for alternative in self.alternatives:
            yield from alternative.forms()


class Apply:
    """A function over sets of forms: one form for each choice of arguments."""

    __slots__ = ("arguments", "count", "name")

    def __init__(self, name: str, *arguments: Forms) -> None:
        self.name = name
        self.arguments = arguments
        self.count = 1
        for argument in arguments:
            self.count *= argument.count

    def forms(self) -> Iterator[Form]:
        for arguments in _choices(self.arguments):
            yield Form(self.name, arguments)


class Filtered:
    """Rows under filters: each form of the rows put into each filter, which is kept as a form without them."""

    __slots__ = ("count", "filters", "rows")

    def __init__(self, filters: Forms, rows: Forms) -> None:
        self.filters = filters
        self.rows = rows
        self.count = filters.count * rows.count

    def forms(self) -> Iterator[Form]:
        for rows, condition in _choices((self.rows, self.filters)):
            yield Form(condition.name, (rows, *condition.arguments))


def _choices(arguments: Sequence[Forms]) -> Iterator[tuple[Form, ...]]:
    """One form of each, in every combination, none of them listed whole."""
    if not arguments:
        yield ()
        return
    for form in arguments[0].forms():
        for others in _choices(arguments[1:]):
            yield (form, *others)


def _in_turn(alternatives: list[Forms]) -> Iterator[Form]:
    """One form of each alternative, round after round, until all are spent; read lazily."""
    iterators: Iterable[Iterator[Form]] = (alternative.forms() for alternative in alternatives)
    while iterators:
        left = []
        for iterator in iterators:
            for form in islice(iterator, 1):
                yield form
                left.append(iterator)
        iterators = left


@dataclass(frozen=True, slots=True)
class Found:
    """The consistent forms of one question: every one up to ``size``, which is less than was asked for where the
    budget of the search did not reach further. ``denotations`` has each answer that was reached, once."""

    packed: Packed
    denotations: tuple[Denotation, ...]
    size: int

    @property
    def count(self) -> int:
        """How many forms there are, exactly."""
        return self.packed.count

    def forms(self, limit: int | None = None) -> Iterator[Form]:
        """The forms, at most ``limit``: one from each way of reaching an answer in turn, small ones first, so
        that the beginning shows what there is and not a thousand variants of one filter."""
        return islice(_in_turn(self.packed.alternatives), limit)
