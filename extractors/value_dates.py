"""Dates of a text by their form alone; a bare year needs its context and is read in ``value_years``.

Own patterns, no date library: dateutil completes a partial date from today's, and cannot say which parts were
written. Nothing is completed here, with one exception that the sentence itself states: the two ends of one
range share what is written once ("July 12-15, 2004", "from May to July 1914").
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from extractors.value_types import Date
from extractors.value_units import DASHES, counted

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH_NUMBER = {name.lower(): i for i, name in enumerate(MONTHS, 1)}
_MONTH_NUMBER |= {name[:3].lower(): i for i, name in enumerate(MONTHS, 1)} | {"sept": 9}
#: Also verbs, names and adjectives: a month without a day or year only where a preposition says so.
_AMBIGUOUS = {"march", "april", "may", "june", "august"}
#: Four digits outside this stretch are never a bare year.
FIRST_YEAR, LAST_YEAR = 1000, 2100

_DASH = rf"[{DASHES}]"
CONNECT = rf"(?:\s?{_DASH}\s?|\s(?:to|and|through|or|until)\s)"
_SUFFIX = r"(?:st|nd|rd|th)?\b"
_ERA = r"(?:BCE?\b|B\.\s?C\.(?:\s?E\.)?|CE\b|C\.E\.|AD\b|A\.D\.)"
_MONTH = re.compile(
    rf"\b(?P<name>{'|'.join(MONTHS)}|{'|'.join(MONTHS).upper()}"
    rf"|{'|'.join(m.lower() for m in MONTHS if m not in ('March', 'May', 'August'))}"
    rf"|(?P<short>{'|'.join(m[:3] for m in MONTHS)}|Sept)\b\.?)(?![^\W_])"
)
_DAY_BEFORE = re.compile(
    rf"(?<![{DASHES}\w.,:/$£€])(?:(?:the\s)?(?P<first>\d{{1,2}}){_SUFFIX}{CONNECT})?"
    rf"(?P<day>\d{{1,2}}){_SUFFIX}(?:\sof)?(?:\s{{1,2}}|{_DASH})$"
)
_DAY_AFTER = re.compile(
    rf"\s{{1,2}}(?:the\s)?(?P<day>\d{{1,2}}){_SUFFIX}(?![.:,/]\d|\s?%|{_DASH}[a-z]|\s{_ERA})"
    rf"(?P<more>{CONNECT}(?P<last>\d{{1,2}}){_SUFFIX}(?![.:,/]\d|\s?%|{_DASH}[a-z]|\s[A-Z][a-z]{{2}}))?"
)
_YEAR = re.compile(
    rf"(?:\s?,\s?(?:of\s|in\s)?|\s{{1,2}}(?:of\s|in\s)?|{_DASH})(?:AD\s)?"
    rf"(?:(?P<year>\d{{4}})(?![\w%]|[.,]\d)|(?P<old>\d{{1,4}})(?=\s{_ERA}))(?:\s(?P<era>{_ERA}))?"
)
_OLD_YEAR = re.compile(r"\s(?P<year>\d{3})(?=\s*+(?:$|[.,;:)](?!\d)))")
_MONTH_CONTEXT = re.compile(
    r"\b(?:in|since|until|till|by|from|for|to|of|during|after|before|through|early|late|mid|last|next|this|every|each"
    rf"|around|between|previous|following)(?:\s|{_DASH})$|(?:{'|'.join(MONTHS)})(?:,|\s(?:and|or|to|through))?\s?{_DASH}?\s?$",
    re.IGNORECASE,
)
_NAME_AFTER = re.compile(
    r"\s(?!(?:The|In|On|At|By|He|She|It|They|When|As|After|Before|And|But)\b)[A-Z][a-z]+"
)

_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])")
_SLASHED = re.compile(
    r"(?<![\w/.])(?P<one>\d{1,2})(?P<by>[/.])(?P<two>\d{1,2})(?P=by)(?P<year>\d{4}|\d\d(?!\d))(?![/\d]|\.\d)"
)
_DECADE = re.compile(r"(?<![\d,.])(?P<year>1\d\d0|20\d0)['\u2019]?s\b")
_BC = re.compile(
    rf"(?<![\w.,])(?:(?P<first>\d{{1,5}}){CONNECT})?(?P<last>\d{{1,3}},\d{{3}}|\d{{1,5}})\s?(?P<era>{_ERA})"
)
_AD = re.compile(
    rf"\b(?:AD|A\.\s?D\.)\s?(?P<first>\d{{1,4}})(?!\d|,\d)(?:{CONNECT}(?P<last>\d{{1,4}})(?![\d%]|,\d))?"
)
_YEARS = re.compile(
    rf"(?<![\w.,/$£€])(?P<first>[12]\d{{3}})(?P<by>\s?{_DASH}\s?|/)(?P<last>[12]\d{{3}}|\d\d)(?![\w%/]|[.,]\d|{_DASH}\d)"
)
_SCORE_TAIL = re.compile(rf"\s?{_DASH}\s?\d")


def find_dates(text: str) -> list[Date]:
    """The dates of ``text`` that their form gives away, in text order, without overlap."""
    found = [*_months(text), *_plain(text)]
    found.sort(key=lambda date: (date.start, -date.end))
    kept: list[Date] = []
    for date in found:
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return _share_ends(text, kept)


def _valid(day: int | None, month: int | None) -> bool:
    if month is not None and not 1 <= month <= 12:
        return False
    return day is None or 1 <= day <= (_DAYS_IN_MONTH[month - 1] if month else 31)


def _year(digits: str, era: str | None) -> int | None:
    year = int(digits.replace(",", ""))
    return (-year if era and era.startswith("B") else year) or None


def _plain(text: str) -> Iterator[Date]:
    """Dates without a month's name."""
    for match in _ISO.finditer(text):
        month, day = int(match.group("month")), int(match.group("day"))
        if _valid(day, month):
            yield Date(_year(match.group("year"), None), month, day, None, match.start(), match.end())
    for match in _SLASHED.finditer(text):
        one, two = int(match.group("one")), int(match.group("two"))
        # Month first, as in the newspapers of the United States, unless only the other order is a date.
        month, day = (two, one) if match.group("by") == "." or one > 12 else (one, two)
        if _valid(day, month) and (match.group("by") == "/" or len(match.group("year")) == 4):
            # Which century two digits stand in is not written.
            year = match.group("year")
            yield Date(
                _year(year, None) if len(year) == 4 else None, month, day, None, match.start(), match.end()
            )
    for match in _DECADE.finditer(text):
        decade = int(match.group("year"))
        # "the 1800s" is the century, "the 2000s" the decade.
        end = decade + 99 if decade % 100 == 0 and decade != 2000 else decade + 9
        yield Date(decade, None, None, None, match.start(), match.end(), end)
    for match in _BC.finditer(text):
        first, era = match.group("first"), match.group("era")
        start = match.start("last")
        if first:
            yield Date(_year(first, era), None, None, None, match.start(), match.end("first"))
        yield Date(_year(match.group("last"), era), None, None, None, start, match.end())
    for match in _AD.finditer(text):
        yield Date(_year(match.group("first"), None), None, None, None, match.start(), match.end("first"))
        if last := match.group("last"):
            yield Date(_year(last, None), None, None, None, match.start("last"), match.end())
    yield from _year_ranges(text)


def _year_ranges(text: str) -> Iterator[Date]:
    """Both years of "2005-2009", "1914-18" and "1998/99"; not of a count ("1500-2000 men")."""
    for match in _YEARS.finditer(text):
        first, last = int(match.group("first")), int(match.group("last"))
        if len(match.group("last")) == 2:
            after = (last - first) % 100
            if not 1 <= after <= 60 or ("/" in match.group("by") and after != 1):
                continue
            last = first + after
        elif counted(text, match.end()):
            continue
        if not FIRST_YEAR <= first <= last <= LAST_YEAR:
            continue
        yield Date(first, None, None, None, match.start(), match.end("first"))
        yield Date(last, None, None, None, match.start("last"), match.end())


def _months(text: str) -> Iterator[Date]:
    """Dates with a month's name: every one of the partial forms."""
    done = 0
    for match in _MONTH.finditer(text):
        if match.start() < done:
            continue
        word = match.group("name").rstrip(".")
        month, end = _MONTH_NUMBER[word.lower()], match.end()
        before = text[max(done, match.start() - 24) : match.start()]
        left, right = _DAY_BEFORE.search(before), _DAY_AFTER.match(text, end)
        if left and not _valid(int(left.group("day")), month):
            left = None
        if right and not _valid(int(right.group("day")), month):
            right = None
        dates: list[Date] = []
        if left:
            offset = match.start() - len(before)
            year, end = _year_after(text, end, comma=False)
            start = offset + left.start("day")
            if left.group("first") and _valid(int(left.group("first")), month):
                span = offset + left.start("first"), offset + left.end("first")
                dates.append(Date(year, month, int(left.group("first")), None, *span))
            dates.append(Date(year, month, int(left.group("day")), None, start, end))
        elif right and not (word in ("May", "March") and counted(text, right.end("day"))):
            dates = _days_after(text, match.start(), month, right)
        else:
            year, after = _year_after(text, end, comma=True)
            if year is not None or _bare_month(text, match, word):
                dates = [Date(year, month, None, None, match.start(), after)]
        yield from dates
        if dates:
            done = dates[-1].end


def _days_after(text: str, start: int, month: int, match: re.Match[str]) -> list[Date]:
    """The one or two dates of "July 12", "July 12, 2004", "July 12-15, 2004"."""
    first, last = int(match.group("day")), match.group("last")
    if last and (not _valid(int(last), month) or int(last) <= first or counted(text, match.end())):
        last = None
    if last is None:
        day_end = match.start("more") if match.group("more") else match.end()
        year, end = _year_after(text, day_end, comma=True)
        return [Date(year, month, first, None, start, end)]
    year, end = _year_after(text, match.end(), comma=True)
    return [
        Date(year, month, first, None, start, match.start("more")),
        Date(year, month, int(last), None, match.start("last"), end),
    ]


def _year_after(text: str, end: int, *, comma: bool) -> tuple[int | None, int]:
    """The year that follows a day or month, and its end; not the count of "On May 3, 1500 men"."""
    match = _YEAR.match(text, end)
    if match is not None:
        year = _year(match.group("year") or match.group("old"), match.group("era"))
        if year is not None and not ("," in match.group() and counted(text, match.end())):
            return year, match.end()
    elif match := _OLD_YEAR.match(text, end):
        return int(match.group("year")), match.end()
    return None, end


def _bare_month(text: str, match: re.Match[str], word: str) -> bool:
    if match.group("short") and word != "May":
        return False
    if not word.istitle():
        return False
    if word.lower() not in _AMBIGUOUS:
        return True
    before = text[max(0, match.start() - 24) : match.start()]
    return bool(_MONTH_CONTEXT.search(before)) and not _NAME_AFTER.match(text, match.end())


RANGE = re.compile(CONNECT)


def _share_ends(text: str, dates: list[Date]) -> list[Date]:
    """Gives the first end of a range the year that is written at the second: "May to July 1914"."""
    for i in range(len(dates) - 1):
        first, last = dates[i], dates[i + 1]
        ranged = RANGE.fullmatch(text, first.end, last.start) is not None
        if ranged and first.year is None and last.year and _orderly(first, last):
            dates[i] = replace(first, year=last.year)
    return dates


def _orderly(first: Date, last: Date) -> bool:
    """Whether two dates name the same parts of a year, the first an earlier one: "November to February 1915"
    spans two years."""
    if first.month is None or last.month is None or (first.day is None) != (last.day is None):
        return False
    return (first.month, first.day or 0) < (last.month, last.day or 0)
