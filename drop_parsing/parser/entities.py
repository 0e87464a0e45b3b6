"""Entities: what the leaves of a question's language stand for, and the graph of which occurs with which.

Each leaf of the language (a relation or part of the table, a string, number or date of the question) is one entity.
In the graph a literal is joined to the relations in whose cells it stands, two literals to each other where one row
has both, and a part to the relations in whose cells it occurs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import networkx as nx

from extractors.table import Argument
from extractors.value_types import Number as TextNumber
from grammar.language import Language, date_leaf, number_leaf, part_leaf, relation_leaf, string_leaf
from grammar.types import Part, Relation, Rows
from grammar.view import View, as_date, key, round_off, spans_of

#: The most places in the paragraph that are kept of one entity: a relation stands in most sentences.
MAX_PLACES = 16
#: The most relations and the most parts of one question; no question of DROP's dev split reaches them.
MAX_RELATIONS = 128
MAX_PARTS = 128

_PIECE = re.compile(r"[^\W_]+")

Place = tuple[int, int]
Name = TypeVar("Name", Relation, Part)


@dataclass(frozen=True, slots=True)
class Entity:
    """One leaf. ``name`` is the leaf as it stands in a form, ``type`` its type; ``words`` are those of its name;
    ``rows`` counts the rows that have it; ``places`` are the stretches of the paragraph (start, end) that it stands
    for, in text order; ``needs`` what a relation holds (see ``grammar.signature.Needs``); ``origin`` the stretches of
    the question that it was made of."""

    name: str
    type: str
    words: tuple[str, ...]
    rows: int = 0
    places: tuple[Place, ...] = ()
    needs: tuple[str, ...] = ()
    origin: tuple[Place, ...] = ()


@dataclass(slots=True)
class Contents:
    """What the cells under a relation, or the phrases of a part, hold: the keys of their words and lemmas, the units
    of their numbers, and how many of ``size`` cells hold each type of entity (``PERSON``), a ``number`` or a
    ``date``."""

    words: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)
    kinds: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def share(self, kinds: Iterable[str]) -> float:
        """How large a part of the cells holds the commonest of these kinds."""
        return max((self.kinds.get(kind, 0) for kind in kinds), default=0) / max(self.size, 1)


class TableEntities:
    """The entities that a table gives to every question about it: relations and parts, with their contents."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.relations = [
            self._relation(name)
            for name in _commonest(view.relations, MAX_RELATIONS, lambda name: view.filled[name].bit_count())
        ]
        self.parts = [
            self._part(name)
            for name in _commonest(view.parts, MAX_PARTS, lambda name: self.contents[part_leaf(name)].size)
        ]

    @cached_property
    def contents(self) -> dict[str, Contents]:
        """Leaf -> what it holds."""
        contents = {}
        for name in self.view.relations:
            contents[relation_leaf(name)] = made = Contents()
            for cell in self.view.cells[name]:
                for argument in cell:
                    _add(made, argument)
        for part in self.view.parts:
            contents[part_leaf(part)] = made = Contents()
            for argument in self._arguments():
                for span in spans_of(argument, part):
                    made.words.update(key(span.text).split("_"))
                    made.kinds[span.label] = made.kinds.get(span.label, 0) + 1
                    made.size += 1
        return contents

    def _arguments(self) -> Iterator[Argument]:
        return (argument for row in self.view.table.rows for _, argument in row.cells())

    def _relation(self, name: Relation) -> Entity:
        places = ((a.start, a.end) for cell in self.view.cells[name] for a in cell)
        needs = tuple(need for need, relations in self.view.holding.items() if relations[name])
        rows = self.view.filled[name].bit_count()
        return Entity(relation_leaf(name), "Relation", _pieces(name), rows, _first(places), needs)

    def _part(self, name: Part) -> Entity:
        places = ((span.start, span.end) for a in self._arguments() for span in spans_of(a, name))
        rows = self.contents[part_leaf(name)].size
        return Entity(part_leaf(name), "Part", _pieces(name), rows, _first(places))


def entities_of(
    language: Language, table: TableEntities, origins: dict[str, tuple[Place, ...]]
) -> tuple[Entity, ...]:
    """Every entity of a question's language: relations, parts, strings, numbers, dates. ``origins`` says for a leaf
    of the question which of its stretches it was made of."""
    view, literals = language.view, language.literals
    made = [*table.relations, *table.parts]
    for text in literals.strings:
        places = ((a.start, a.end) for a in _holding(view, text.key))
        leaf = string_leaf(text.key)
        words, rows = tuple(text.key.split("_")), view.mentions(text.key).bit_count()
        made.append(Entity(leaf, "String", words, rows, _first(places), (), origins.get(leaf, ())))
    arguments = [argument for row in view.table.rows for _, argument in row.cells()]
    for number in literals.numbers:
        found = {(n.start, n.end) for a in arguments for n in a.numbers if round_off(n.value) == number}
        leaf = number_leaf(number)
        made.append(Entity(leaf, "Number", (leaf,), len(found), _first(found), (), origins.get(leaf, ())))
    for date in literals.dates:
        found = {(d.start, d.end) for a in arguments for d in a.dates if as_date(d).agrees(date)}
        leaf = date_leaf(date)
        words = tuple(str(part) for part in date[:4] if part is not None)
        made.append(Entity(leaf, "Date", words, len(found), _first(found), (), origins.get(leaf, ())))
    return tuple({entity.name: entity for entity in made}.values())


def entity_graph(language: Language, entities: tuple[Entity, ...]) -> nx.Graph:
    """The graph whose nodes are the positions of ``entities`` and whose edges are as the module says."""
    view, literals = language.view, language.literals
    number = {entity.name: i for i, entity in enumerate(entities)}
    graph = nx.Graph()
    graph.add_nodes_from(range(len(entities)))
    rows_of: dict[int, Rows] = {}

    def join(leaf: str, rows_by_relation: Iterable[tuple[Relation, int]]) -> None:
        node = number[leaf]
        rows_of[node] = Rows(0)
        for relation, rows in rows_by_relation:
            if rows and relation_leaf(relation) in number:
                graph.add_edge(node, number[relation_leaf(relation)])
            rows_of[node] = Rows(rows_of[node] | rows)

    for text in literals.strings:
        join(string_leaf(text.key), ((name, view.contains(name, text.key)) for name in view.relations))
    for value in literals.numbers:
        join(
            number_leaf(value),
            ((name, _rows(value in cell for cell in cells)) for name, cells in view.numbers.items()),
        )
    for date in literals.dates:
        join(
            date_leaf(date),
            (
                (name, _rows(any(d.agrees(date) for d in cell) for cell in cells))
                for name, cells in view.dates.items()
            ),
        )
    graph.add_edges_from((i, j) for i, j in combinations(rows_of, 2) if rows_of[i] & rows_of[j])
    for relation, parts in view.part_names.items():
        for part in parts:
            ends = (relation_leaf(relation), part_leaf(part))
            if all(end in number for end in ends):
                graph.add_edge(number[ends[0]], number[ends[1]])
    return graph


def _commonest(names: Sequence[Name], most: int, count: Callable[[Name], int]) -> list[Name]:
    """The names in table order; of more than ``most``, those that occur in most places."""
    kept = set(sorted(names, key=lambda name: -count(name))[:most])
    return [name for name in names if name in kept]


def _holding(view: View, sought: str) -> Iterator[Argument]:
    """The arguments of cells that contain a key."""
    for name in view.relations:
        rows = view.contains(name, sought)
        for i, cell in enumerate(view.cells[name]):
            if rows >> i & 1:
                yield from cell


def _add(contents: Contents, argument: Argument) -> None:
    contents.words.update(key(argument.text).split("_"), map(key, argument.lemmas))
    contents.units.update(number.unit for number in argument.numbers if number.unit)
    kinds = {span.label for span in argument.entities} | _values(argument.numbers, bool(argument.dates))
    for kind in kinds:
        contents.kinds[kind] = contents.kinds.get(kind, 0) + 1
    contents.size += 1


def _values(numbers: tuple[TextNumber, ...], dates: bool) -> set[str]:
    return ({"number"} if numbers else set()) | ({"date"} if dates else set())


def _rows(holds: Iterable[bool]) -> int:
    return sum(1 << i for i, held in enumerate(holds) if held)


def _first(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(sorted(set(places))[:MAX_PLACES])


def _pieces(name: str) -> tuple[str, ...]:
    return tuple(_PIECE.findall(name.lower()))
