"""The places of a paragraph that a table's cells hold values and names at, and other values for them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from extractors.table import Argument, Span, Table
from extractors.values import Date, Number, format_number
from grammar.rewriting import Edit

#: Entities that are values, not names.
_VALUES = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
_YEAR = re.compile(r"\b\d{3,4}\b")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
#: How often a value is drawn again that is there already.
_TRIES = 8

T = TypeVar("T")


class Places:
    """The numbers, dates and names of a table by their place in the paragraph."""

    def __init__(self, table: Table) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        numbers: dict[tuple[int, int], Number] = {}
        dates: dict[tuple[int, int], Date] = {}
        names: dict[tuple[int, int], Span] = {}
        for argument in (argument for row in table.rows for _, argument in row.cells()):
            for number in argument.numbers:
                numbers[number.start, number.end] = number
                self._note(argument, number.start, number.end)
            for date in argument.dates:
                dates[date.start, date.end] = date
                self._note(argument, date.start, date.end)
            for name in argument.entities:
                if name.label not in _VALUES:
                    name = _bare(name)
                    names[name.start, name.end] = name
        self.numbers = [numbers[place] for place in sorted(numbers)]
        self.dates = [dates[place] for place in sorted(dates)]
        self.names = list(_apart(names[place] for place in sorted(names, key=lambda p: (p[0], -p[1]))))

    def _note(self, argument: Argument, start: int, end: int) -> None:
        self.texts[start, end] = argument.text[start - argument.start : end - argument.start]

    def redrawn_numbers(self, random: Random) -> Iterator[Edit]:
        """Other numbers, from the range of those that are counted or measured alike."""
        taken: set[float] = set()
        for number in self.numbers:
            if self._date_at(number) is None:
                value = self._drawn(number, taken, random)
                taken.add(value)
                old = self.texts[number.start, number.end]
                yield Edit(number.start, number.end, old, _written(number, old, value), number=value)

    def _drawn(self, number: Number, taken: set[float], random: Random) -> float:
        alike = [
            other.value for other in self.numbers if (other.unit, other.kind) == (number.unit, number.kind)
        ]
        low, high = min(alike), max(alike)
        if high - low < 3 * _step(number.value):  # too few to draw from
            low, high = sorted((low - abs(low) / 2, high + abs(high) + 3 * _step(number.value)))
        step = _step(number.value)
        value = number.value
        for _ in range(_TRIES):
            value = max(step * round(random.uniform(low, high) / step), step)
            value = round(value, 8)
            if value != number.value and value not in taken:
                break
        return value

    def redrawn_dates(self, random: Random) -> Iterator[Edit]:
        """Other years, within those of the paragraph and ten more; a date without a year keeps its place."""
        years = [date.year for date in self.dates if date.year is not None]
        for date in self.dates:
            text = self.texts[date.start, date.end]
            written = _YEAR.search(text)
            if date.year is None or date.last_year or written is None or int(written.group()) != date.year:
                continue
            year = random.choice(
                [y for y in range(min(years) - 5, max(years) + 6) if y not in (0, date.year)]
            )
            new = text[: written.start()] + str(year) + text[written.end() :]
            number = float(year) if self._number_at(date) else None
            yield Edit(date.start, date.end, text, new, number, replace(date, year=year))

    def exchanged_values(self, random: Random) -> Iterator[Edit]:
        """The numbers of each unit and kind, and the dates with the same known parts, at one another's places."""
        numbers = [number for number in self.numbers if self._date_at(number) is None]
        for mine, theirs in _exchanged(numbers, [(n.unit, n.kind) for n in numbers], random):
            old, new = self.texts[mine.start, mine.end], self.texts[theirs.start, theirs.end]
            yield Edit(mine.start, mine.end, old, new, number=theirs.value)
        dates = [date for date in self.dates if self._number_at(date) is None]
        years = [date for date in self.dates if self._number_at(date) is not None and date.quarter is None]
        for date, other in [
            *_exchanged(dates, [_known(date) for date in dates], random),
            *_exchanged(years, [_known(date) for date in years], random),
        ]:
            old, new = self.texts[date.start, date.end], self.texts[other.start, other.end]
            number = self._number_at(other)
            yield Edit(date.start, date.end, old, new, number.value if number else None, other)

    def exchanged_names(self, random: Random) -> Iterator[Edit]:
        """The names of each entity type at one another's places; those alone of their type together."""
        kinds: dict[str, set[str]] = {}
        for name in self.names:
            kinds.setdefault(name.label, set()).add(name.text)
        labels = [name.label if len(kinds[name.label]) > 1 else "" for name in self.names]
        for mine, theirs in _exchanged(self.names, labels, random):
            if mine.text != theirs.text:
                yield Edit(mine.start, mine.end, mine.text, theirs.text)

    def _date_at(self, number: Number) -> Date | None:
        return next((d for d in self.dates if d.start < number.end and number.start < d.end), None)

    def _number_at(self, date: Date) -> Number | None:
        return next((n for n in self.numbers if n.start < date.end and date.start < n.end), None)


def _bare(name: Span) -> Span:
    """A name without its article."""
    article = _ARTICLE.match(name.text)
    if article is None:
        return name
    return replace(name, text=name.text[article.end() :], start=name.start + article.end())


def _apart(names: Iterable[Span]) -> Iterator[Span]:
    """Of names that overlap the first and longest."""
    end = -1
    for name in names:
        if name.start >= end:
            yield name
            end = name.end


def _exchanged(items: Sequence[T], kinds: Sequence[object], random: Random) -> Iterator[tuple[T, T]]:
    """Each item that is to change with the one of its kind whose place it takes."""
    for kind in dict.fromkeys(kinds):
        alike = [item for item, own in zip(items, kinds, strict=True) if own == kind]
        others = random.sample(alike, len(alike))
        yield from ((mine, theirs) for mine, theirs in zip(alike, others, strict=True) if mine is not theirs)


def _known(date: Date) -> tuple[bool, ...]:
    parts = (date.year, date.month, date.day, date.quarter, date.last_year)
    return tuple(part is not None for part in parts)


def _step(value: float) -> float:
    """What a value is rounded to: one, its last decimal, or so many thousands that two digits are left."""
    written = format_number(abs(value))
    if "." in written:
        return float(10.0 ** -len(written.partition(".")[2]))
    zeros = len(written) - len(written.rstrip("0"))
    return float(10 ** max(0, min(zeros, len(written) - 2)))


def _written(number: Number, old: str, value: float) -> str:
    """A number as it stands in a text in place of an old one, with its currency or percent sign."""
    text = format_number(value)
    if number.kind == "ordinal":
        return f"{text}th"
    if number.kind == "percent":
        return f"{text}%"
    sign = re.match(r"[^\w\s.+-]*", old)
    return (sign.group() if sign and number.kind == "money" else "") + text
