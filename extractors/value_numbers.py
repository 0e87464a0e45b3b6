"""Numbers of a text, in digits and in words, and the bare years among them. One pass from left to right."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from extractors.value_dates import read_year
from extractors.value_types import Date, Number, NumberKind
from extractors.value_units import DASHES, MEASURES, singular, unit_after
from extractors.value_words import START, lower, read_words, scaled

_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
#: Beyond this many digits a string of them is an identifier; a float could not hold it either.
_MAX_DIGITS = 300
_SIGNS = "$€£¥₹₩₽"
# Digit strings are taken whole and possessively, so that no input can make the search start over.
_NUMERAL = re.compile(rf"(?P<digits>(?:(?<![\w.])\.)?\d++(?:[,.\u00a0\u2009\u202f]\d++)*+)|(?P<vulgar>[{_VULGAR}])|{START}")
_WELL_FORMED = re.compile(
    r"(?:\d{1,3}(?:,\d{3})++|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})++|\d{1,2}(?:,\d\d)++,\d{3}|\d++)?(?:\.\d++)?"
)
_PIECE = re.compile(r"\d++(?:\.\d++)*+")
_CLOCK = re.compile(r"(?<![\w:.,])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])(?:\s?(?P<half>[ap])\.?m\b\.?)?")
_OVER = re.compile(r"/(\d{1,4})(?![\d/,.]*\d)")
_MIXED = re.compile(rf"(?:\s|-)?(?:(?P<vulgar>[{_VULGAR}])|(?<=[\s-])(?P<over>\d{{1,3}})/(?P<under>\d{{1,3}})(?![\d/]))")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_GLUED = re.compile(r"[^\W\d_]++[²³]?")
_SHORT_SCALE = {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "tn": 12}
_PERCENT = re.compile(r"\s?%|[\s-](?:percent|per\s?cent|percentage)\b(?:\s+points?\b)?", re.IGNORECASE)
_CURRENCY = re.compile(r"[\s-](dollar|euro|cent|peso|franc|rupee|ruble|rouble|guilder|shilling|yen|yuan)s?\b", re.IGNORECASE)
_MONEY_PREFIX = re.compile(rf"(?:[A-Z]{{1,3}})?([{_SIGNS}])\s?$|\b(USD|EUR|GBP)\s?$")
_MINUS = re.compile(r"\b(?:minus|negative)\s+$")
_SUSPENDED = rf"(?:-(?=\s))?\s*(?:,?\s+(?:and|or|to|through)\s+(?:the\s+|a\s+|an?\s+)?(?:early\s+|late\s+|mid-?\s*)?|[{DASHES}]\s*)"
_CONNECT = re.compile(_SUSPENDED)
_COMMA = re.compile(r"-?,\s+")
_QUARTER_YEAR = re.compile(r"(?:\s|-)quarter\s(?:of\s)?((?:1[89]|20)\d\d)\b")


@dataclass(slots=True)
class _Scan:
    """The state of the pass over one text."""

    text: str
    lower: str
    known: Sequence[Date]
    numbers: list[Number]
    dates: list[Date]
    free_from: int = 0


def find_numbers(text: str, known: Sequence[Date]) -> tuple[list[Number], list[Date]]:
    """The numbers outside the dates ``known``, and those dates with the ones found on the way: bare years,
    quarters and centuries."""
    masked = _mask(lower(text), known)
    scan = _Scan(text, masked, known, [], [*known])
    while match := _NUMERAL.search(masked, scan.free_from):
        scan.free_from = match.end()
        if match.group("digits"):
            _read_digits(scan, match.start("digits"), match.end("digits"))
        elif match.group("vulgar"):
            _add(scan, Fraction(unicodedata.numeric(match.group()))  .limit_denominator(100), match.start(), match.end(), "fraction")
        elif read := read_words(masked, match.start()):
            _add(scan, read.value, match.start(), read.end, read.kind, read.unit_from)
    numbers = _share_units(text, scan.numbers)
    dates = [*scan.dates, *_quarters_and_centuries(text, numbers)]
    return numbers, sorted(dates, key=lambda date: (date.start, date.end))
