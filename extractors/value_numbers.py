"""Numbers of a text, in digits and in words, and the bare years among them. One pass from left to right."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd

from extractors.value_types import Date, Number, NumberKind
from extractors.value_units import DASHES, MEASURES, singular, unit_after
from extractors.value_words import START, lower, read_words, scaled
from extractors.value_years import read_year

_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
#: A longer string of digits is an identifier; a float could not hold it with its scale words.
_MAX_DIGITS = 250
_SIGNS = "$€£¥₹₩₽"
# Digit strings are taken whole and possessively, so that no input can make the search start over.
_NUMERAL = re.compile(
    rf"(?P<digits>(?:(?<![\w.])\.)?\d++(?:[,.\u00a0\u2009\u202f]\d++)*+)|(?P<vulgar>[{_VULGAR}])|{START}"
)
_WELL_FORMED = re.compile(
    r"(?:\d{1,3}(?:,\d{3})++|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})++|\d{1,2}(?:,\d\d(?!\d))++,\d{3}|\d++)?(?:\.\d++)?"
)
# A comma before one or two digits is only there the decimal one; elsewhere it parts two numbers.
_DECIMAL_COMMA = re.compile(r"\d++,\d\d?(?:\s?%|\s(?:percent|per\scent|million|billion)\b)")
_PIECE = re.compile(r"\d++(?:\.\d++)*+")
_CLOCK = re.compile(
    r"(?<![\w:.,])(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:]))?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?"
)
# "22/32 for 307 yards" is a count out of a count.
_OVER = re.compile(r"/(2|3|4|5|6|8|10|12|16)(?![\d/,.]*\d|\s(?:for|on|from|passing)\b)")
_MIXED = re.compile(
    rf"(?:\s|-)?(?:(?P<vulgar>[{_VULGAR}])|(?<=[\s-])(?P<over>\d{{1,3}})/(?P<under>\d{{1,3}})(?![\d/]))"
)
_GLUED = re.compile(rf"(?![{_VULGAR}²³])[^\W\d_]++")
_SHORT_SCALE = {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "tn": 12}
_PERCENT = re.compile(r"\s?%|[\s-](?:percent|per\s?cent|percentage)\b(?:\s+points?\b)?", re.IGNORECASE)
_CURRENCY = re.compile(
    r"[\s-](dollar|euro|cent|peso|franc|rupee|ruble|rouble|guilder|shilling|yen|yuan)s?\b", re.IGNORECASE
)
_MONEY_PREFIX = re.compile(rf"(?:[A-Z]{{1,3}})?([{_SIGNS}])\s?$|\b(USD|EUR|GBP)\s?$")
_MINUS = re.compile(r"\b(?:minus|negative)\s+$")
_LINK = re.compile(
    rf"-?,?\s(?:and|or|to|through)\s(?:an?\s|the\s)?(?:early\s|late\s|mid[\s-])?|\s?[{DASHES}]\s?|-to-"
)
_LONGEST_LINK = 20
_COMMA = re.compile(r"-?,\s")
_DASH_SET = frozenset(DASHES)
_MINUS_SIGNS = "-\u2212\u2013"
_SEPARATOR = re.compile(r"[,\u00a0\u2009\u202f]")
_CODES = {"USD": "$", "EUR": "€", "GBP": "£"}
_OPENING = frozenset("([{\"'\u201c\u2018/")


@dataclass(slots=True)
class _Scan:
    """The state of the pass over one text; ``lower`` is in lower case, with the known dates blanked."""

    text: str
    lower: str
    known: Sequence[Date]
    known_ends: Sequence[int]
    numbers: list[Number] = field(default_factory=list)
    years: list[Date] = field(default_factory=list)
    free_from: int = 0


def find_numbers(text: str, known: Sequence[Date]) -> tuple[list[Number], list[Date]]:
    """The numbers of ``text`` outside its dates ``known`` (sorted, disjoint), and its bare years."""
    scan = _Scan(text, _blank(lower(text), known), known, [date.end for date in known])
    while match := _NUMERAL.search(scan.lower, scan.free_from):
        scan.free_from = match.end()
        if match.group("digits"):
            _read_digits(scan, *match.span("digits"))
        elif match.group("vulgar"):
            _add(scan, _vulgar(match.group()), match.start(), match.end(), "fraction")
        elif read := read_words(scan.lower, match.start()):
            _add(scan, read.value, match.start(), read.end, read.kind, unit_from=read.unit_from)
    return _share_units(text, scan.numbers), scan.years


def _blank(text: str, dates: Sequence[Date]) -> str:
    pieces, done = [], 0
    for date in dates:
        pieces += [text[done : date.start], "\0" * (date.end - date.start)]
        done = date.end
    return "".join([*pieces, text[done:]])


def _vulgar(sign: str) -> Fraction:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10)


def _read_digits(scan: _Scan, start: int, end: int) -> None:
    """Reads one unbroken string of digits, commas and points; if it is no number, its pieces are."""
    if (clock := _CLOCK.match(scan.lower, start)) and (clock.group("minute") or clock.group("half")):
        parts = [int(part or 0) for part in clock.group("hour", "minute", "second")]
        half = clock.group("half")
        value = Fraction(parts[0] * 3600 + parts[1] * 60 + parts[2], 3600)
        _add(scan, value, start, clock.end(), "clock", unit=f"{half}m" if half else None)
    elif _is_name(scan.text, start):
        return
    elif _WELL_FORMED.fullmatch(scan.text, start, end):
        _read_numeral(scan, start, end)
    elif _DECIMAL_COMMA.match(scan.lower, start):
        _read_numeral(scan, start, end, decimal_comma=True)
    else:
        for piece in _PIECE.finditer(scan.text, start, end):
            if piece.group().count(".") < 2:
                _read_numeral(scan, *piece.span())


def _is_name(text: str, start: int) -> bool:
    """Whether the digits are part of a name ("F15", "F-15") or of an escaped character ("&#233;")."""
    before = text[max(0, start - 2) : start]
    if before == "&#":
        return True
    if before and (before[-1].isalpha() or before[-1] == "_"):
        return True
    return len(before) == 2 and before[-1] in DASHES and before[0].isupper()


def _read_numeral(scan: _Scan, start: int, end: int, *, decimal_comma: bool = False) -> None:
    text, numeral = scan.text, scan.text[start:end]
    if len(numeral) > _MAX_DIGITS:
        return
    value = Fraction(_SEPARATOR.sub("." if decimal_comma else "", numeral))
    plain_end = end
    kind: NumberKind = "cardinal"
    unit: str | None = None
    unit_from: int | None = None
    money = _MONEY_PREFIX.search(text[max(0, start - 6) : start])
    if glued := _GLUED.match(text, end):
        word = glued.group().lower()
        if word in ("st", "nd", "rd", "th"):
            kind, end = "ordinal", glued.end()
        elif money and word in _SHORT_SCALE:
            value, end = value * 10 ** _SHORT_SCALE[word], glued.end()
        elif singular(word) in MEASURES:
            unit = singular(word)
        else:
            return
    elif (
        numeral.isdecimal()
        and (over := _OVER.match(text, end))
        and gcd(int(numeral), int(over.group(1))) == 1
        and 0 < value < int(over.group(1))
    ):
        value, kind, end = value / int(over.group(1)), "fraction", over.end()
    elif numeral.isdecimal() and (mixed := _MIXED.match(text, end)) and (part := _part(mixed)):
        value, end = value + part, mixed.end()
    if kind == "cardinal" and unit is None:
        value, end = scaled(scan.lower, value, end)
    if money:
        kind, unit, unit_from = "money", _CODES.get(money.group(2), money.group(1)), end
        start -= len(money.group())
    if negative := _is_negative(scan, start):
        value, start = -value, start - 1
    if end == plain_end and kind == "cardinal" and unit is None and not negative and numeral.isdecimal():
        reading = read_year(text, start, end, _previous(scan, start))
        if reading != "number":
            scan.years.append(Date(int(numeral), None, None, None, start, end))
        if reading == "date":
            return
    _add(scan, value, start, end, kind, unit=unit, unit_from=unit_from)


def _part(match: re.Match[str]) -> Fraction | None:
    if match.group("vulgar"):
        return _vulgar(match.group("vulgar"))
    over, under = int(match.group("over")), int(match.group("under"))
    return Fraction(over, under) if 0 < over < under else None


def _is_negative(scan: _Scan, start: int) -> bool:
    """Whether a sign at the beginning of a word stands before the number; not the dash of "4 -15"."""
    text = scan.text
    if start == 0 or text[start - 1] not in _MINUS_SIGNS:
        return False
    if start > 1 and not (text[start - 2].isspace() or text[start - 2] in _OPENING):
        return False
    last = scan.numbers[-1].end if scan.numbers else 0
    return not last or bool(text[last : start - 1].strip())


def _previous(scan: _Scan, start: int) -> Date | None:
    """The last date before ``start``."""
    i = bisect_right(scan.known_ends, start)
    found = [*scan.known[max(0, i - 1) : i], *scan.years[-1:]]
    return max(found, key=lambda date: date.end, default=None)


def _add(
    scan: _Scan,
    value: Fraction,
    start: int,
    end: int,
    kind: NumberKind,
    *,
    unit: str | None = None,
    unit_from: int | None = None,
) -> None:
    """Keeps a number with what stands beside it: "minus" before; percent, a currency or a noun after."""
    if kind in ("cardinal", "fraction") and unit is None:
        if percent := _PERCENT.match(scan.text, end):
            kind, unit, end = "percent", "%", percent.end()
        elif currency := _CURRENCY.match(scan.text, end):
            kind, unit, end = "money", currency.group(1).lower(), currency.end()
    if minus := _MINUS.search(scan.lower, max(scan.free_from - 400, start - 10, 0), start):
        value, start = -value, minus.start()
    if unit is None and kind != "clock":
        # The second of "a 3-1 lead" is no single one of anything.
        paired = (
            scan.text[max(0, start - 1) : start] in _DASH_SET and scan.text[start - 2 : start - 1].isdigit()
        )
        many = kind == "cardinal" and (abs(value) > 1 or value == 0 or paired)
        unit, _ = unit_after(scan.text, end if unit_from is None else unit_from, many=many)
    scan.numbers.append(Number(float(value), start, end, unit, kind))
    scan.free_from = max(end, scan.free_from)


def _share_units(text: str, numbers: list[Number]) -> list[Number]:
    """Gives the numbers of a range or list the unit that is written once: "40 to 50 huts", "$3-5"."""
    linked = False
    for i in range(len(numbers) - 2, -1, -1):
        first, last = numbers[i], numbers[i + 1]
        linked = bool(
            last.start - first.end <= _LONGEST_LINK
            and (
                _LINK.fullmatch(text, first.end, last.start)
                or (linked and _COMMA.fullmatch(text, first.end, last.start))
            )
        )
        same = (first.kind == "ordinal") == (last.kind == "ordinal") and "clock" not in (
            first.kind,
            last.kind,
        )
        if not (linked and same):
            continue
        if first.unit is None and last.unit:
            kind = last.kind if last.kind in ("percent", "money") else first.kind
            numbers[i] = replace(first, unit=last.unit, kind=kind)
        elif first.kind == "money" and last.unit is None and last.kind == "cardinal":
            numbers[i + 1] = replace(last, unit=first.unit, kind="money")
    return numbers
