"""The functions of the language, one typed Python function each: the grammar is read off their annotations.

The first parameter of each is the view of the table; the others are the arguments of the form, bound by
position. The first part holds the functions of the original semantic-parsing baseline for DROP, under its
names and with its meaning but for one thing: a value that is not there (the number of a cell without one,
the maximum of nothing) is ``None``, and a form that needs it has no denotation. The second part holds what
DROP asks beyond them.
"""

import operator
from collections import Counter
from collections.abc import Callable
from datetime import date as calendar_date
from typing import Literal

from grammar.signature import FUNCTIONS, Function, function
from grammar.types import Date, Number, Part, Relation, Rows, String, Text
from grammar.view import ENTITY, View, round_off

__all__ = ["FUNCTIONS", "Function", "function"]

# Rows: the original's.


def _first(rows: Rows) -> int:
    """The number of the first row of a set that is not empty."""
    return (rows & -rows).bit_length() - 1


def _indices(rows: int) -> list[int]:
    """The numbers of the rows of a set, in order."""
    indices = []
    while rows:
        lowest = rows & -rows
        indices.append(lowest.bit_length() - 1)
        rows ^= lowest
    return indices


@function()
def all_structures(view: View) -> Rows:
    """Every row of the table."""
    return view.all


@function("each")
def filter_in(view: View, rows: Rows, relation: Relation, string: String) -> Rows:
    """The rows whose cell contains the text (of several, the first)."""
    return Rows(rows & view.contains(relation, string[0].key)) if string else Rows(0)


@function("each")
def filter_not_in(view: View, rows: Rows, relation: Relation, string: String) -> Rows:
    """The rows whose cell does not contain the text, rows without such a cell included."""
    return Rows(rows & ~view.contains(relation, string[0].key)) if string else Rows(0)


def _where_number(
    view: View, rows: Rows, relation: Relation, test: Callable[[float, float], bool], value: Number
) -> Rows:
    """The rows whose cell has a number, the first of which passes ``test(number, value)``."""
    numbers = view.numbers.get(relation, ())
    return Rows(rows & sum(1 << i for i, cell in enumerate(numbers) if cell and test(cell[0], value)))


def _where_date(view: View, rows: Rows, relation: Relation, test: Callable[[Date], bool]) -> Rows:
    """The rows whose cell has a date, the first of which passes ``test``."""
    dates = view.dates.get(relation, ())
    return Rows(rows & sum(1 << i for i, cell in enumerate(dates) if cell and test(cell[0])))


@function("each", "number")
def filter_number_greater(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is greater than the number."""
    return _where_number(view, rows, relation, operator.gt, number)


@function("each", "number")
def filter_number_greater_equals(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is at least the number."""
    return _where_number(view, rows, relation, operator.ge, number)


@function("each", "number")
def filter_number_lesser(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is less than the number."""
    return _where_number(view, rows, relation, operator.lt, number)


@function("each", "number")
def filter_number_lesser_equals(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is at most the number."""
    return _where_number(view, rows, relation, operator.le, number)


@function("each", "number")
def filter_number_equals(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is equal to the number."""
    return _where_number(view, rows, relation, operator.eq, number)


@function("each", "number")
def filter_number_not_equals(view: View, rows: Rows, relation: Relation, number: Number) -> Rows:
    """The rows whose first number under the relation is other than the number."""
    return _where_number(view, rows, relation, operator.ne, number)


@function("each", "date")
def filter_date_greater(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows whose first date under the relation is after the date."""
    return _where_date(view, rows, relation, lambda d: d.compare(date) == 1)


@function("each", "date")
def filter_date_greater_equals(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows whose first date under the relation is after the date, or agrees with it."""
    return _where_date(view, rows, relation, lambda d: d.compare(date) == 1 or d.agrees(date))


@function("each", "date")
def filter_date_lesser(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows whose first date under the relation is before the date."""
    return _where_date(view, rows, relation, lambda d: d.compare(date) == -1)


@function("each", "date")
def filter_date_lesser_equals(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows whose first date under the relation is before the date, or agrees with it."""
    return _where_date(view, rows, relation, lambda d: d.compare(date) == -1 or d.agrees(date))


@function("each", "date")
def filter_date_equals(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows with a first date under the relation no known part of which differs from the date's."""
    return _where_date(view, rows, relation, lambda d: d.agrees(date))


@function("each", "date")
def filter_date_not_equals(view: View, rows: Rows, relation: Relation, date: Date) -> Rows:
    """The rows with a first date under the relation a known part of which differs from the date's."""
    return _where_date(view, rows, relation, lambda d: not d.agrees(date))


@function("all", "value")
def argmax(view: View, rows: Rows, relation: Relation) -> Rows:
    """The first row with the greatest number under the relation, or the latest date if dates are commoner
    there; no row where there is neither."""
    return _extreme(view, rows, relation, 1)


@function("all", "value")
def argmin(view: View, rows: Rows, relation: Relation) -> Rows:
    """The first row with the smallest number under the relation, or the earliest date if dates are commoner
    there; no row where there is neither."""
    return _extreme(view, rows, relation, -1)


def _extreme(view: View, rows: Rows, relation: Relation, sign: Literal[1, -1]) -> Rows:
    with_numbers = Rows(rows & view.with_numbers.get(relation, 0))
    with_dates = Rows(rows & view.with_dates.get(relation, 0))
    if with_dates.bit_count() > with_numbers.bit_count():
        dates = [(i, view.dates[relation][i][0]) for i in _indices(with_dates)]
        # Partial dates are partly ordered: no other row's date may be known to lie beyond the one chosen.
        best = next((i for i, d in dates if all(other.compare(d) != sign for _, other in dates)), None)
        return Rows(0 if best is None else 1 << best)
    if not with_numbers:
        return Rows(0)
    numbers = view.numbers[relation]
    return Rows(1 << max(_indices(with_numbers), key=lambda i: (sign * numbers[i][0], -i)))


@function()
def first(view: View, rows: Rows) -> Rows:
    """The first of the rows."""
    return Rows(rows & -rows)


@function()
def last(view: View, rows: Rows) -> Rows:
    """The last of the rows."""
    return Rows(1 << rows.bit_length() - 1) if rows else Rows(0)


@function()
def previous(view: View, rows: Rows) -> Rows:
    """The row of the table before the first of the rows."""
    return Rows((rows & -rows) >> 1)


@function()
def next_(view: View, rows: Rows) -> Rows:
    """The row of the table after the last of the rows."""
    return Rows(1 << rows.bit_length() & view.all) if rows else Rows(0)


# Values: the original's.


@function("holding", gathers=True)
def select(view: View, rows: Rows, relation: Relation) -> String | None:
    """The texts of the cells."""
    texts = view.texts.get(relation)
    return tuple(t for i in _indices(rows) for t in texts[i]) or None if texts else None


@function("holding")
def mode(view: View, rows: Rows, relation: Relation) -> String | None:
    """The commonest text of the cells; all of them, in order of reaching that count, where several are."""
    counts = Counter(t.key for t in select(view, rows, relation) or ())
    most = max(counts.values(), default=0)
    seen: Counter[str] = Counter()
    commonest: list[Text] = []
    for text in select(view, rows, relation) or ():
        seen[text.key] += 1
        if seen[text.key] == most:
            commonest.append(text)
    return tuple(commonest) or None


@function("holding", "entity", gathers=True)
def extract_entity(view: View, rows: Rows, relation: Relation) -> String | None:
    """The first named entity of each cell that has one."""
    entities = view.parts_of(relation, ENTITY)
    return tuple(entities[i][0] for i in _indices(rows) if entities[i]) or None if entities else None


@function("first", "number")
def extract_number(view: View, rows: Rows, relation: Relation) -> Number | None:
    """The first number in the cell of the first row."""
    cell = view.numbers[relation][_first(rows)] if rows and relation in view.numbers else ()
    return cell[0] if cell else None


@function("number")
def count_structures(view: View, rows: Rows) -> Number:
    """How many rows."""
    return Number(float(rows.bit_count()))


@function("first", "entity")
def count_entities(view: View, rows: Rows, relation: Relation) -> Number:
    """How many named entities the cell of the first row has."""
    entities = view.parts_of(relation, ENTITY)
    return Number(float(len(entities[_first(rows)]) if rows and entities else 0))


def _numbers(view: View, rows: Rows, relation: Relation) -> list[Number]:
    """The first number of each cell that has one."""
    return [view.numbers[relation][i][0] for i in _indices(Rows(rows & view.with_numbers.get(relation, 0)))]


@function("holding", "number")
def max_(view: View, rows: Rows, relation: Relation) -> Number | None:
    """The greatest of the cells' first numbers."""
    return max(_numbers(view, rows, relation), default=None)


@function("holding", "number")
def min_(view: View, rows: Rows, relation: Relation) -> Number | None:
    """The smallest of the cells' first numbers."""
    return min(_numbers(view, rows, relation), default=None)


@function("holding", "number")
def sum_(view: View, rows: Rows, relation: Relation) -> Number | None:
    """The sum of the cells' first numbers."""
    numbers = _numbers(view, rows, relation)
    return round_off(sum(numbers)) if numbers else None


@function("holding", "number")
def average(view: View, rows: Rows, relation: Relation) -> Number | None:
    """The mean of the cells' first numbers."""
    numbers = _numbers(view, rows, relation)
    return round_off(sum(numbers) / len(numbers)) if numbers else None


@function()
def diff(view: View, minuend: Number, subtrahend: Number) -> Number:
    """The first number less the second."""
    return round_off(minuend - subtrahend)


@function()
def date(view: View, year: Number, month: Number, day: Number, quarter: Number) -> Date | None:
    """The date of these parts, -1 for a part that is not known; no date where they name none."""
    parts = [float(part) for part in (year, month, day, quarter)]
    if not all(part.is_integer() for part in parts):
        return None
    made = Date(*(None if part == -1 else int(part) for part in parts))
    return made if made.is_possible() else None


# Beyond the original.


@function()
def union(view: View, rows: Rows, others: Rows) -> Rows:
    """The rows of either set."""
    return Rows(rows | others)


@function()
def intersection(view: View, rows: Rows, others: Rows) -> Rows:
    """The rows of both sets."""
    return Rows(rows & others)


def _distinct(texts: tuple[String, ...], rows: Rows) -> String | None:
    """The texts of the rows, each once whatever its case."""
    found: dict[str, Text] = {}
    for i in _indices(rows) if texts else ():
        for text in texts[i]:
            found.setdefault(text.key, text)
    return tuple(found.values()) or None


@function("part", gathers=True)
def extract_phrase(view: View, rows: Rows, relation: Relation, part: Part) -> String | None:
    """The phrases or entities of that kind inside the cells, each once."""
    return _distinct(view.parts_of(relation, part), rows)


@function("first part")
def first_phrase(view: View, rows: Rows, relation: Relation, part: Part) -> String | None:
    """The first phrase or entity of that kind inside the cells."""
    phrases = view.parts_of(relation, part)
    return next((phrases[i][:1] for i in _indices(rows) if phrases and phrases[i]), None)


@function("last part")
def last_phrase(view: View, rows: Rows, relation: Relation, part: Part) -> String | None:
    """The last phrase or entity of that kind inside the cells."""
    phrases = view.parts_of(relation, part)
    return next((phrases[i][-1:] for i in reversed(_indices(rows)) if phrases and phrases[i]), None)


@function("part")
def count_phrases(view: View, rows: Rows, relation: Relation, part: Part) -> Number | None:
    """How many different phrases or entities of that kind the cells hold."""
    phrases = extract_phrase(view, rows, relation, part)
    return Number(float(len(phrases))) if phrases else None


@function("part", "entity", gathers=True)
def extract_entity_in(view: View, rows: Rows, relation: Relation, part: Part) -> String | None:
    """The named entities inside the phrases of that kind in the cells, each once."""
    return _distinct(view.entities_in(relation, part), rows)


@function("first", "number")
def extract_number_in(view: View, rows: Rows, relation: Relation, part: Part) -> Number | None:
    """The first number inside a phrase of that kind in the cell of the first row."""
    numbers = view.numbers_in(relation, part)
    return next(iter(numbers[_first(rows)]), None) if rows and numbers else None


@function()
def both(view: View, string: String, other: String) -> String | None:
    """Several spans as one answer: the texts of the first, then those of the second, which must differ."""
    return None if {text.key for text in string} & {text.key for text in other} else string + other


@function("first", "date")
def extract_date(view: View, rows: Rows, relation: Relation) -> Date | None:
    """The first date in the cell of the first row."""
    cell = view.dates[relation][_first(rows)] if rows and relation in view.dates else ()
    return cell[0] if cell else None


@function("first", "number")
def number_near(view: View, rows: Rows, relation: Relation, string: String) -> Number | None:
    """The number in the cell of the first row that stands nearest to the text there; of two as near, the
    one before it."""
    return view.number_near(relation, _first(rows), string[0].key) if rows and string else None


@function()
def add(view: View, number: Number, other: Number) -> Number:
    """The sum of two numbers."""
    return round_off(number + other)


@function()
def complement(view: View, percentage: Number) -> Number:
    """What is missing to a hundred per cent."""
    return round_off(100 - percentage)


@function()
def year(view: View, date: Date) -> Number | None:
    """The year of a date."""
    return None if date.year is None else Number(float(date.year))


@function()
def year_diff(view: View, date: Date, earlier: Date) -> Number | None:
    """The years from the second date to the first, by their years alone."""
    if date.year is None or earlier.year is None:
        return None
    # There is no year 0: from 1 BC to AD 1 is one year.
    crossing = (date.year > 0) - (earlier.year > 0)
    return Number(float(date.year - earlier.year - crossing))


@function()
def month_diff(view: View, date: Date, earlier: Date) -> Number | None:
    """The months from the second date to the first, by their months and, where both have one, their years."""
    years = year_diff(view, date, earlier)
    if date.month is None or earlier.month is None or (years is None and (date.year or earlier.year)):
        return None
    return Number(12 * (years or 0.0) + date.month - earlier.month)


@function()
def day_diff(view: View, date: Date, earlier: Date) -> Number | None:
    """The days from the second date to the first; without years, within one year that is no leap year."""
    if (date.year is None) != (earlier.year is None):
        return None
    later_day, earlier_day = _ordinal(date), _ordinal(earlier)
    if later_day is None or earlier_day is None:
        return None
    return Number(float(later_day - earlier_day))


def _ordinal(date: Date) -> int | None:
    if date.month is None or date.day is None:
        return None
    try:
        return calendar_date(date.year or 2001, date.month, date.day).toordinal()
    except (ValueError, OverflowError):  # 30 February, or a year before 1 or after 9999
        return None


def _compare(
    view: View, rows: Rows, relation: Relation, string: String, other: String, sign: Literal[1, -1]
) -> String | None:
    """Whichever of two texts has the greater (sign 1) or smaller (-1) number: for each the number nearest to
    it in the first row that mentions it and has a number under the relation."""
    values = []
    for text in (string, other):
        near = Rows(rows & view.mentions(text[0].key) & view.with_numbers.get(relation, 0)) if text else 0
        values.append(
            view.number_near(relation, _first(Rows(near)), text[0].key, strict=False) if near else None
        )
    mine, theirs = values
    if mine is None or theirs is None or mine == theirs:
        return None
    return string if (mine > theirs) == (sign == 1) else other


@function("all", "number")
def compare_greater(
    view: View, rows: Rows, relation: Relation, string: String, other: String
) -> String | None:
    """Whichever of two texts goes with the greater number under the relation."""
    return _compare(view, rows, relation, string, other, 1)


@function("all", "number")
def compare_lesser(
    view: View, rows: Rows, relation: Relation, string: String, other: String
) -> String | None:
    """Whichever of two texts goes with the smaller number under the relation."""
    return _compare(view, rows, relation, string, other, -1)


def _compare_order(
    view: View, rows: Rows, string: String, other: String, sign: Literal[1, -1]
) -> String | None:
    """Whichever of two texts is mentioned in the earlier (-1) or later (1) row: by the first date of the
    rows that mention them where both have one that decides, else by the order of the rows."""
    mine = Rows(rows & view.mentions(string[0].key)) if string else Rows(0)
    theirs = Rows(rows & view.mentions(other[0].key)) if other else Rows(0)
    if not mine or not theirs:
        return None
    first, second = view.first_dates[_first(mine)], view.first_dates[_first(theirs)]
    order = first.compare(second) if first and second else None
    order = order or (_first(mine) > _first(theirs)) - (_first(mine) < _first(theirs))
    return None if not order else string if order == sign else other


@function()
def compare_earlier(view: View, rows: Rows, string: String, other: String) -> String | None:
    """Whichever of two texts comes first: by the dates of the first rows that mention them where these
    decide, else by the order of those rows."""
    return _compare_order(view, rows, string, other, -1)


@function()
def compare_later(view: View, rows: Rows, string: String, other: String) -> String | None:
    """Whichever of two texts comes last: by the dates of the first rows that mention them where these
    decide, else by the order of those rows."""
    return _compare_order(view, rows, string, other, 1)


@function()
def compare_more(view: View, rows: Rows, string: String, other: String) -> String | None:
    """Whichever of two texts is mentioned in more of the rows."""
    mine = (rows & view.mentions(string[0].key)).bit_count() if string else 0
    theirs = (rows & view.mentions(other[0].key)).bit_count() if other else 0
    return None if mine == theirs else string if mine > theirs else other
