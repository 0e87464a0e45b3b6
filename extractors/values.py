"""Numbers and dates of a text, with their character spans.

Text in, values out: no tagger, no parser. Dates are found first, by form, then numbers and bare years in one
pass over the rest. The patterns are our own; text2num gives the value of plain cardinals in words.
Choices, where a text leaves room:

- A span holds what the value is made of: sign, currency, "million", "%", "dollars", the "quarter" of a date.
  A unit stays outside: in "45-yard" the number is "45".
- "third" is an ordinal; a part of something in "a third of", "one-third", "two thirds". "half" is 0.5, but
  the half of a game is no quantity, and its first half is the ordinal 1. "three quarters" is 0.75, "the
  first three quarters" are 3.
- "fourth quarter" is both the ordinal 4 and a date with quarter 4; so is "in the third" with nothing after it
  in a text about quarters or touchdowns. "19th century" is the ordinal 19 and the years 1801 to 1900.
- "the 1990s" are the years 1990 to 1999, "the 1800s" 1800 to 1899, "the 2000s" 2000 to 2009. "the 90s" names
  no century and gives nothing.
- A bare year is a date where its words say so ("in 1914", "the 1914 season"), a number where it counts
  ("1500 men"), and both where neither is said. "1914-18" are two years; "17-10" are two numbers.
- A date stays partial. Only the two ends of one range share what is written once ("May to July 1914").
- "5/17/1918" has the month first unless that is no date; two digits for a year give no year.
- "9:30" is a clock time, 9.5; "am" or "pm" is its unit and does not change the value.
- "twice" is 2 and "thrice" 3, while "once" mostly means formerly and gives nothing. "hundreds", "dozens" and
  "several hundred" give nothing, nor do roman numerals, "no one", "F-15" and "49ers".
- Every decimal digit of Unicode counts as a digit, superscripts do not. More than 250 digits are no number.
- Values are floats: exact up to 2**53.
"""

import re
from dataclasses import replace
from decimal import Decimal

from extractors.value_dates import MONTHS, find_dates
from extractors.value_numbers import find_numbers
from extractors.value_types import Date, Number, NumberKind

__all__ = ["Date", "Number", "NumberKind", "find_values", "format_date", "format_number"]

_QUARTER = re.compile(r"(?:\s|-)quarters?\b", re.IGNORECASE)
_CENTURY = re.compile(r"(?:\s|-)centur(?:y|ies)\b(?P<bc>\s(?:BCE?\b|B\.C\.(?:E\.)?))?", re.IGNORECASE)
_YEAR_OF_QUARTER = re.compile(r"\s(?:of\s)?")
_GAME = re.compile(r"quarter|touchdown|field goal", re.IGNORECASE)
_PLAIN_BEFORE = re.compile(
    r"\b(?:in|of|during|into|through|open|start|begin)\sthe\s(?:early\s|late\s)?$", re.IGNORECASE
)
_PLAIN_AFTER = re.compile(r"\s*+(?:$|[.,;:)])|\s(?:with|when|as|on|after|before|by|and|but|to|while|for)\b")


def find_values(text: str) -> tuple[tuple[Number, ...], tuple[Date, ...]]:
    """Every number and every date of ``text``, each in text order. Takes any string and time linear in it.

    Numbers do not overlap one another; a date may share its place with a number.
    """
    dates = find_dates(text)
    numbers, years = find_numbers(text, dates)
    dates = sorted([*dates, *years], key=lambda date: date.start)
    return tuple(numbers), tuple(_with_ordinals(text, numbers, dates))


def _with_ordinals(text: str, numbers: list[Number], dates: list[Date]) -> list[Date]:
    """``dates`` and those that ordinals name: quarters, of a year where it is written, and centuries."""
    by_start = {date.start: date for date in dates}
    about_game = None
    for number in numbers:
        if number.kind != "ordinal":
            continue
        if number.unit == "century" and number.value <= 100:
            date = _century(text, number)
        elif number.unit == "quarter" and number.value <= 4:
            date = _quarter(text, number)
            after = _YEAR_OF_QUARTER.match(text, date.end)
            year = by_start.get(after.end()) if after else None
            if year is not None and year.month is None and year.last_year is None:
                del by_start[year.start]
                date = replace(date, year=year.year, end=year.end)
        elif number.unit is None and number.value <= 4 and _is_plain(text, number):
            if about_game is None:
                about_game = bool(_GAME.search(text))
            if not about_game:
                continue
            date = _quarter(text, number)
        else:
            continue
        by_start[date.start] = date
    return sorted(by_start.values(), key=lambda date: date.start)


def _quarter(text: str, number: Number) -> Date:
    unit = _QUARTER.match(text, number.end)
    return Date(None, None, None, int(number.value), number.start, unit.end() if unit else number.end)


def _century(text: str, number: Number) -> Date:
    unit = _CENTURY.match(text, number.end)
    first, last = int(number.value) * 100 - 99, int(number.value) * 100
    if unit and unit.group("bc"):
        first, last = -last, -first
    return Date(first, None, None, None, number.start, unit.end() if unit else number.end, last)


def _is_plain(text: str, number: Number) -> bool:
    """Whether an ordinal stands alone as in "in the third, ..."."""
    before = text[max(0, number.start - 24) : number.start]
    return bool(_PLAIN_BEFORE.search(before) and _PLAIN_AFTER.match(text, number.end))


def format_number(value: float) -> str:
    """``value`` as an answer: plain digits, rounded to 8 decimals, without a trailing ".0" or an exponent.

    Raises ValueError for an infinite or undefined value.
    """
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{value} can't be written in digits: pass a finite number.")
    if value == int(value):
        return str(int(value))
    # From the shortest decimal that is the float, so that no binary noise appears.
    digits = f"{Decimal(repr(float(value))):.8f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def format_date(date: Date) -> str:
    """``date`` as an answer: its known parts as day, month, year ("12 July 2004", "May 1914", "44 BC").

    Ranges read "1990s", "19th century" or "1914-1918"; quarters "4th quarter" and "4th quarter of 2009".
    """
    if date.year is not None and date.last_year is not None:
        return _format_range(date.year, date.last_year)
    year = "" if date.year is None else f"{-date.year} BC" if date.year < 0 else str(date.year)
    if date.quarter is not None:
        quarter = f"{_ordinal(date.quarter)} quarter"
        return f"{quarter} of {year}" if year else quarter
    parts = [str(date.day or ""), MONTHS[date.month - 1] if date.month else "", year]
    return " ".join(part for part in parts if part)


def _format_range(first: int, last: int) -> str:
    if first > 0 and first % 10 == 0 and last == first + (99 if first % 100 == 0 and first != 2000 else 9):
        return f"{first}s"
    if last == first + 99 and first % 100 == 1:
        return f"{_ordinal(last // 100)} century"
    if last == first + 99 and first < 0 and first % 100 == 0:
        return f"{_ordinal(-first // 100)} century BC"
    return f"{first}-{last}" if first > 0 else f"{-first}-{-last} BC"


def _ordinal(value: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th") if value % 100 not in (11, 12, 13) else "th"
    return f"{value}{suffix}"
