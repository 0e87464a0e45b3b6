"""What reads values out of row sets in a search: of a family, each value with all the rows that it is read from.

A reader is a function with the relation and the leaves that it takes. It is called once for all rows that it sees the
same of; what ``grammar.alike`` tells of it is not called for.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isnan
from typing import cast

import numpy as np

from grammar.alike import TELLERS
from grammar.canonical import EXTREMES
from grammar.families import Aspect, Family, See, Seen
from grammar.forest import Node, Rows
from grammar.functions import FUNCTIONS, Function
from grammar.goal import Goal
from grammar.language import Language
from grammar.leaves import Leaves
from grammar.masks import group, to_words
from grammar.types import Date, Denotation, Part, Relation, String, Text
from grammar.view import round_off

#: What a reader sees of rows, by its scope.
_ASPECTS: dict[str, Aspect] = {
    "first": "first",
    "holding": "rows",
    "part": "rows",
    "first part": "first",
    "last part": "last",
}
#: So few sets are read one by one.
_FEW = 32


class Reader:
    """A function that reads a value out of rows: what it takes beside them, what it sees of them, and what it has
    read. Of texts an answer needs a row of ``holds`` and none of ``spoils``."""

    __slots__ = ("arguments", "each", "function", "holds", "leaves", "see", "spoils", "values")

    def __init__(
        self, function: Function, arguments: tuple[object, ...], leaves: tuple[Node, ...], see: See
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.leaves = leaves
        self.see = see
        self.holds = 0
        self.spoils = 0
        self.each: list[tuple[int, Denotation]] | None = None
        self.values: dict[int, Denotation | None] = {}


class Readings:
    """The readers of a language: of values, and of the rows with an extreme value by function and relation."""

    def __init__(self, language: Language, leaves: Leaves, goal: Goal) -> None:
        self._language = language
        self._view = language.view
        self._leaves = leaves
        self._goal = goal
        self._held: dict[Text, bool] = {}
        self.of_values = list(self._make_readers())
        self.of_extremes = {
            (name, relation): Reader(
                FUNCTIONS[name], (relation,), (), See(self._view.holding["value"][relation])
            )
            for name in sorted(EXTREMES)
            for relation in language.offered(FUNCTIONS[name])
        }

    def _make_readers(self) -> Iterator[Reader]:
        for function in FUNCTIONS.values():
            if function.arguments == ("Rows",) and function.result == "Number":
                yield Reader(function, (), (), See(self._view.all, "number"))
            if function.scope not in _ASPECTS:
                continue
            for relation in self._language.offered(function):
                for mask, values, leaves in self._further(function, relation):
                    see = See(mask, _ASPECTS[function.scope])
                    reader = Reader(
                        function, (relation, *values), (self._leaves.relations[relation], *leaves), see
                    )
                    if function.result == "String":
                        self._note_texts(reader)
                    if function.result != "String" or reader.holds:
                        yield reader

    def _further(
        self, function: Function, relation: Relation
    ) -> Iterator[tuple[int, tuple[object, ...], tuple[Node, ...]]]:
        """The rows that a reader can see, and what it takes after (rows, relation) with its forms."""
        view = self._view
        match function.arguments[2:]:
            case ():
                yield (
                    view.all if function.scope == "first" else view.holding[function.needs][relation],
                    (),
                    (),
                )
            case ("Part",):
                for part in view.part_names[relation]:
                    seen = view.all if function.scope == "first" else view.with_part(relation, part)
                    yield seen, (part,), (self._leaves.parts[part],)
            case ("String",):
                for value, leaf in self._leaves.literals["String"].items():
                    sought = cast(String, value)[0].key
                    if any(view.number_near(relation, row, sought) is not None for row in range(view.size)):
                        yield view.all, (value,), (leaf,)

    def _note_texts(self, reader: Reader) -> None:
        """Which rows an answer's texts may be read from, and which rows spoil it."""
        relation = cast(Relation, reader.arguments[0])
        if not any(map(self._may_hold, self._view.read[relation])):
            return
        for row in range(self._view.size):
            if reader.see.mask >> row & 1:
                value = reader.function.call(self._view, 1 << row, *reader.arguments)
                texts = cast(String, value or ())
                if reader.function.name == "mode":
                    texts = self._view.texts[relation][row]
                reader.holds |= any(map(self._may_hold, texts)) << row
                reader.spoils |= (bool(texts) and not self.may_serve(texts)) << row
        if self._goal.partial or not reader.function.gathers:
            reader.spoils = 0

    def read(self, reader: Reader, family: Family) -> Iterator[tuple[Denotation, Rows]]:
        """The values that are read out of a family, each with the forms of the rows."""
        seen = family.seen(reader.see)
        for value, places in self._read_sets(reader, seen).items():
            count = seen.counts[places[0]] if len(places) == 1 else sum(map(seen.counts.__getitem__, places))
            yield value, Rows(family, reader.see, places, count)

    def _read_sets(self, reader: Reader, seen: Seen) -> dict[Denotation, list[int]]:
        """Value -> where among the sets seen it is read."""
        found: dict[Denotation, list[int]] = {}
        if reader.see.aspect in ("first", "last"):
            for mask, value in self._one_by_one(reader):
                if mask in seen.index:
                    found.setdefault(value, []).append(seen.index[mask])
            return found
        for places, read in self._told_apart(reader, seen):
            if read is not None:
                found.setdefault(read, []).extend(places)
        return found

    def _one_by_one(self, reader: Reader) -> list[tuple[int, Denotation]]:
        """What is read out of no rows and out of each row."""
        if reader.each is None:
            masks = [0, *(1 << row for row in range(self._view.size) if reader.see.mask >> row & 1)]
            values = [(mask, self.value(reader, mask)) for mask in masks]
            reader.each = [(mask, value) for mask, value in values if value is not None]
        return reader.each

    def _told_apart(self, reader: Reader, seen: Seen) -> Iterator[tuple[Sequence[int], Denotation | None]]:
        """The sets seen that may serve, with what is read out of them: those together that are alike."""
        words, masks = seen.sets.words, seen.masks
        if reader.function.result == "String":
            holds, spoils = to_words([reader.holds, reader.spoils], self._view.size)
            useful = (words & holds).any(axis=1) & ~(words & spoils).any(axis=1)
            yield from (
                ((place,), self.value(reader, masks[place])) for place in np.flatnonzero(useful).tolist()
            )
            return
        tell = TELLERS.get(reader.function.name) if len(seen) > _FEW else None
        relation, part = (*reader.arguments, None, None)[:2]
        alike = tell(self._view, words, cast(Relation, relation), cast(Part | None, part)) if tell else None
        if alike is None:
            yield from (((place,), self.value(reader, mask)) for place, mask in enumerate(masks))
            return
        groups = group(alike.key)
        order, starts = groups.order.tolist(), groups.starts.tolist()
        if alike.numbers is None:
            values = [self.value(reader, masks[place]) for place in groups.firsts.tolist()]
        else:
            values = [None if isnan(n) else round_off(n) for n in alike.numbers[groups.firsts].tolist()]
        yield from zip((order[start:end] for start, end in pairwise(starts)), values, strict=True)

    def value(self, reader: Reader, mask: int) -> Denotation | None:
        """What is read out of some rows, where that can serve."""
        if mask not in reader.values:
            value = reader.function.call(self._view, mask, *reader.arguments)
            reader.values[mask] = value if value is not None and self.may_serve(value) else None
        return reader.values[mask]

    def may_serve(self, value: Denotation) -> bool:
        """Whether a value can be an answer or be used in one: of texts, those that some answer may hold."""
        texts = isinstance(value, tuple) and not isinstance(value, Date)
        return not texts or self._goal.may_serve(cast(String, value))

    def _may_hold(self, text: Text) -> bool:
        if text not in self._held:
            self._held[text] = self._goal.may_hold(text)
        return self._held[text]
