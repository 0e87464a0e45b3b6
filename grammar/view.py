"""A table as the functions of the language see it: bit masks and values by relation, each made once."""

import re
import unicodedata
from functools import cached_property, lru_cache

from extractors import values
from extractors.table import Argument, Span, Table
from grammar.types import Date, Number, Part, Relation, Rows, String, Text

#: The part of a cell that holds every entity, whatever its type.
ENTITY = Part("entity")

_NOT_WORD = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=2**16)
def key(text: str) -> str:
    """The form in which texts are searched for: lower case, no accents, words joined by one underscore."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _NOT_WORD.sub("_", text.lower()).strip("_")


def round_off(value: float) -> Number:
    """A number without the noise of binary fractions: 87.1 - 83.5 is 3.6. DROP's have at most six decimals."""
    return Number(round(value, 8) + 0.0)


def as_date(date: values.Date) -> Date:
    return Date(date.year, date.month, date.day, date.quarter, date.last_year)


class View:
    """One table, indexed. Rows are numbered as in the table; a mask has bit i set for row i.

    Everything is made on first use and kept: a search asks for the same cells thousands of times.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.size = len(table.rows)
        self.all = Rows((1 << self.size) - 1)
        self.relations = tuple(Relation(name) for name in table.relations)
        self._contains: dict[tuple[Relation, str], Rows] = {}
        self._mentions: dict[str, Rows] = {}
        self._with_part: dict[tuple[Relation, Part], Rows] = {}
        self._entities_in: dict[tuple[Relation, Part], tuple[String, ...]] = {}
        self._numbers_in: dict[tuple[Relation, Part], tuple[tuple[Number, ...], ...]] = {}
        self._near: dict[tuple[Relation, int, str], Number | None] = {}
        self._parts: dict[tuple[Relation, Part], tuple[String, ...]] = {}

    @cached_property
    def cells(self) -> dict[Relation, tuple[tuple[Argument, ...], ...]]:
        """Relation -> the arguments of each row, an empty tuple where a row has none."""
        return {name: tuple(row.cell(name) for row in self.table.rows) for name in self.relations}

    @cached_property
    def filled(self) -> dict[Relation, Rows]:
        """Relation -> the rows that have an argument there."""
        return {name: mask_of(cells) for name, cells in self.cells.items()}

    @cached_property
    def texts(self) -> dict[Relation, tuple[String, ...]]:
        """Relation -> the texts of each row's arguments."""
        return {
            name: tuple(tuple(Text(a.text, key(a.text)) for a in cell) for cell in cells)
            for name, cells in self.cells.items()
        }

    @cached_property
    def numbers(self) -> dict[Relation, tuple[tuple[Number, ...], ...]]:
        """Relation -> the numbers of each row's arguments, in text order."""
        return {
            name: tuple(tuple(round_off(n.value) for a in cell for n in a.numbers) for cell in cells)
            for name, cells in self.cells.items()
        }

    @cached_property
    def dates(self) -> dict[Relation, tuple[tuple[Date, ...], ...]]:
        """Relation -> the dates of each row's arguments, in text order."""
        return {
            name: tuple(tuple(as_date(d) for a in cell for d in a.dates) for cell in cells)
            for name, cells in self.cells.items()
        }

    @cached_property
    def with_numbers(self) -> dict[Relation, Rows]:
        return {name: mask_of(cells) for name, cells in self.numbers.items()}

    @cached_property
    def with_dates(self) -> dict[Relation, Rows]:
        return {name: mask_of(cells) for name, cells in self.dates.items()}

    @cached_property
    def holding(self) -> dict[str, dict[Relation, Rows]]:
        """What a function may need of a relation (see ``functions.Needs``) -> relation -> the rows that hold it."""
        values = {name: Rows(self.with_numbers[name] | self.with_dates[name]) for name in self.relations}
        entities = {name: mask_of(self.parts_of(name, ENTITY)) for name in self.relations}
        return {
            "cell": self.filled,
            "number": self.with_numbers,
            "date": self.with_dates,
            "value": values,
            "entity": entities,
        }

    @cached_property
    def _searched(self) -> dict[Relation, tuple[tuple[tuple[str, frozenset[str]], ...], ...]]:
        """Relation -> for each row's arguments, the bounded key of the text and the lemmas with their pieces."""
        return {
            name: tuple(tuple((f"_{key(a.text)}_", _lemmas(a)) for a in cell) for cell in cells)
            for name, cells in self.cells.items()
        }

    def contains(self, relation: Relation, sought: str) -> Rows:
        """The rows with an argument under ``relation`` that has ``sought`` (a key) as consecutive words, or
        all its words among its lemmas."""
        mask = self._contains.get((relation, sought))
        if mask is None:
            bounded, words = f"_{sought}_", frozenset(sought.split("_"))
            cells = self._searched.get(relation, ())
            mask = Rows(
                sum(
                    1 << i
                    for i, cell in enumerate(cells)
                    if any(bounded in text or words <= lemmas for text, lemmas in cell)
                )
            )
            self._contains[relation, sought] = mask
        return mask

    def quotes(self, sought: str) -> bool:
        """Whether some cell has the words of ``sought`` (a key) one after another."""
        bounded = f"_{sought}_"
        return any(bounded in text for cells in self._searched.values() for cell in cells for text, _ in cell)

    def mentions(self, sought: str) -> Rows:
        """The rows that contain ``sought`` under any relation."""
        mask = self._mentions.get(sought)
        if mask is None:
            mask = Rows(0)
            for relation in self.relations:
                mask = Rows(mask | self.contains(relation, sought))
            self._mentions[sought] = mask
        return mask

    @cached_property
    def part_names(self) -> dict[Relation, tuple[Part, ...]]:
        """Relation -> the parts that occur in its cells, in order of first appearance."""
        names: dict[Relation, tuple[Part, ...]] = {}
        for relation, cells in self.cells.items():
            found: dict[Part, None] = {}
            for cell in cells:
                for argument in cell:
                    found.update((Part(span.label), None) for span in argument.phrases)
                    found.update((Part(span.label.lower()), None) for span in argument.entities if span.label)
                    if argument.entities:
                        found[ENTITY] = None
            names[relation] = tuple(found)
        return names

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Every part that occurs in the table."""
        return tuple(dict.fromkeys(part for parts in self.part_names.values() for part in parts))

    def parts_of(self, relation: Relation, part: Part) -> tuple[String, ...]:
        """For each row, the texts of that part in its cell under ``relation``."""
        texts = self._parts.get((relation, part))
        if texts is None:
            texts = tuple(
                tuple(Text(span.text, key(span.text)) for a in cell for span in spans_of(a, part))
                for cell in self.cells.get(relation, ())
            )
            self._parts[relation, part] = texts
        return texts

    @cached_property
    def read(self) -> dict[Relation, frozenset[Text]]:
        """Relation -> every text that can be read from its cells: whole, a phrase or an entity."""
        return {
            name: frozenset(
                Text(text, key(text))
                for cell in cells
                for argument in cell
                for text in {argument.text, *(span.text for span in argument.phrases + argument.entities)}
            )
            for name, cells in self.cells.items()
        }

    def entities_in(self, relation: Relation, part: Part) -> tuple[String, ...]:
        """For each row, the named entities inside the phrases of that part in its cell."""
        if (relation, part) not in self._entities_in:
            self._entities_in[relation, part] = tuple(
                tuple(
                    Text(entity.text, key(entity.text))
                    for argument in cell
                    for span in spans_of(argument, part)
                    for entity in argument.entities
                    if span.start <= entity.start and entity.end <= span.end
                )
                for cell in self.cells.get(relation, ())
            )
        return self._entities_in[relation, part]

    def numbers_in(self, relation: Relation, part: Part) -> tuple[tuple[Number, ...], ...]:
        """For each row, the numbers inside the phrases of that part in its cell."""
        if (relation, part) not in self._numbers_in:
            self._numbers_in[relation, part] = tuple(
                tuple(
                    round_off(number.value)
                    for argument in cell
                    for span in spans_of(argument, part)
                    for number in argument.numbers
                    if span.start <= number.start and number.end <= span.end
                )
                for cell in self.cells.get(relation, ())
            )
        return self._numbers_in[relation, part]

    def with_part(self, relation: Relation, part: Part) -> Rows:
        """The rows that have the part in their cell."""
        if (relation, part) not in self._with_part:
            self._with_part[relation, part] = mask_of(self.parts_of(relation, part))
        return self._with_part[relation, part]

    def number_near(self, relation: Relation, row: int, sought: str, strict: bool = True) -> Number | None:
        """The number of a cell nearest to ``sought`` (a key) in it; of two as near, the one before it.

        Where the cell has not these words: None, or the cell's first number if not ``strict``.
        """
        memo = (relation, row, sought)
        if memo not in self._near:
            self._near[memo] = _nearest(self.cells.get(relation, ((),) * self.size)[row], sought)
        nearest = self._near[memo]
        if nearest is None and not strict:
            return next(iter(self.numbers[relation][row]), None)
        return nearest

    @cached_property
    def first_dates(self) -> tuple[Date | None, ...]:
        """The first date of each row, in text order over all its cells."""
        found = []
        for row in self.table.rows:
            dates = [(d.start, as_date(d)) for _, argument in row.cells() for d in argument.dates]
            found.append(min(dates, key=lambda d: d[0])[1] if dates else None)
        return tuple(found)


#: What parts one statement of a list from the next: a number beyond it belongs to another thing.
_BOUNDARY = re.compile(r"[,;]|\b(?:and|but|while|whereas)\b")
_BOUNDARY_COST = 100


def _nearest(cell: tuple[Argument, ...], sought: str) -> Number | None:
    """The number nearest to the first occurrence of ``sought`` in a cell, in characters between them; a comma or
    a conjunction between counts as ``_BOUNDARY_COST`` more."""
    for argument in cell:
        place = _find(argument.text, sought.split("_"))
        if place is None:
            continue
        first, last = place
        apart: list[tuple[int, int, float]] = []
        for number in argument.numbers:
            start, end = number.start - argument.start, number.end - argument.start
            if end <= first or start >= last:
                between = argument.text[end:first] or argument.text[last:start]
                cost = len(between) + _BOUNDARY_COST * len(_BOUNDARY.findall(between))
                apart.append((cost, start, number.value))
        if apart:
            return round_off(min(apart)[2])
    return None


def _find(text: str, words: list[str]) -> tuple[int, int] | None:
    """Where words (keys) stand one after another in a text, as they are searched for: without case or accents."""
    places = [match.span() for match in _WORD.finditer(text)]
    keys = [key(text[start:end]) for start, end in places]
    for i in range(len(keys) - len(words) + 1):
        if keys[i : i + len(words)] == words:
            return places[i][0], places[i + len(words) - 1][1]
    return None


def spans_of(argument: Argument, part: Part) -> list[Span]:
    """The stretches of a cell that ``part`` names."""
    phrases = [span for span in argument.phrases if span.label == part]
    entities = [span for span in argument.entities if part in (ENTITY, span.label.lower())]
    return phrases + entities


def mask_of(cells: tuple[tuple[object, ...], ...]) -> Rows:
    """The rows whose cell is not empty."""
    return Rows(sum(1 << i for i, cell in enumerate(cells) if cell))


def _lemmas(argument: Argument) -> frozenset[str]:
    keys = [key(lemma) for lemma in argument.lemmas]
    return frozenset(keys).union(*(k.split("_") for k in keys if "_" in k))
