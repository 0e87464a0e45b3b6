"""Dates of a text: expressions that are dates by their form, and the reading of a bare number as a year.

Own patterns, no date library: dateutil and its relatives complete a partial date from today's, and take "17/1918"
out of "5/17/1918". Nothing is completed here, with one exception that the sentence itself states: the two ends of
one range share what is written once ("July 12-15, 2004", "from May to July 1914").
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from extractors.value_types import Date
from extractors.value_units import DASHES, counted, is_plural

MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH_NUMBER = {name.lower(): i for i, name in enumerate(MONTHS, 1)}
_MONTH_NUMBER |= {name[:3].lower(): i for i, name in enumerate(MONTHS, 1)} | {"sept": 9}
#: Also verbs, names and adjectives: a month without a day or year only where a preposition says so.
_AMBIGUOUS = {"march", "april", "may", "june", "august"}
FIRST_YEAR, LAST_YEAR = 1000, 2100

_DASH = rf"[{DASHES}]"
_CONNECT = rf"(?:\s?{_DASH}\s?|\s(?:to|and|through|or|until)\s)"
_SUFFIX = r"(?:st|nd|rd|th)?\b"
_ERA = r"(?P<era>BCE?\b|B\.\s?C\.(?:\s?E\.)?|CE\b|C\.E\.|AD\b|A\.D\.)"
_MONTH = re.compile(
    rf"\b(?P<name>{'|'.join(MONTHS)}|{'|'.join(MONTHS).upper()}"
    rf"|{'|'.join(m.lower() for m in MONTHS if m not in ('March', 'May', 'August'))}"
    rf"|(?P<short>{'|'.join(m[:3] for m in MONTHS)}|Sept)\b\.?)(?![^\W_])"
)
_DAY_BEFORE = re.compile(
    rf"(?<![\w.,:/$£€{DASHES}])(?:(?:the\s)?(?P<first>\d{{1,2}}){_SUFFIX}{_CONNECT})?"
    rf"(?P<day>\d{{1,2}}){_SUFFIX}(?:\sof)?(?:\s|{_DASH})$"
)
_DAY_AFTER = re.compile(
    rf"\s(?:the\s)?(?P<day>\d{{1,2}}){_SUFFIX}(?![.:,/]\d|\s?%|{_DASH}(?:[a-z]))"
    rf"(?P<more>{_CONNECT}(?P<last>\d{{1,2}}){_SUFFIX}(?![.:,/]\d|\s?%|{_DASH}[a-z]|\s[A-Z][a-z]{{2}}))?"
)
_YEAR = re.compile(
    rf"(?:\s?,\s?(?:of\s|in\s)?|\s(?:of\s|in\s)?|{_DASH})(?:AD\s)?"
    rf"(?:(?P<year>\d{{4}})(?![\w%]|[.,]\d)|(?P<old>\d{{1,4}})(?=\s{_ERA}))(?:\s{_ERA})?"
)
_OLD_YEAR = re.compile(r"\s(?P<year>\d{3})(?=\s*+(?:$|[.,;:)](?!\d)))")
_MONTH_CONTEXT = re.compile(
    r"\b(?:in|since|until|till|by|from|to|of|during|after|before|through|early|late|mid|last|next|this|every|each"
    rf"|around|between|previous|following)(?:\s|{_DASH})$|(?:{'|'.join(MONTHS)})(?:,|\s(?:and|or|to|through))?\s?{_DASH}?\s?$",
    re.IGNORECASE,
)
_NAME_AFTER = re.compile(r"\s(?!(?:The|In|On|At|By|He|She|It|They|When|As|After|Before|And|But)\b)[A-Z][a-z]+")

_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])")
_SLASHED = re.compile(r"(?<![\w/.])(?P<one>\d{1,2})(?P<by>[/.])(?P<two>\d{1,2})(?P=by)(?P<year>\d{4}|\d\d(?!\d))(?![/\d]|\.\d)")
_DECADE = re.compile(r"(?<![\d,.])(?P<year>1\d\d0|20\d0)['’]?s\b")
_BC = re.compile(
    rf"(?<![\w.,])(?:(?P<first>\d{{1,5}}){_CONNECT})?(?P<last>\d{{1,3}},\d{{3}}|\d{{1,5}})\s?{_ERA}"
)
_AD = re.compile(rf"\b(?:AD|A\.\s?D\.)\s?(?P<first>\d{{1,4}})(?!\d|,\d)(?:{_CONNECT}(?P<last>\d{{1,4}})(?![\d%]|,\d))?")
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
        year, month, day = (int(part) for part in match.groups())
        if _valid(day, month):
            yield Date(year or None, month, day, None, match.start(), match.end())
    for match in _SLASHED.finditer(text):
        one, two = int(match.group("one")), int(match.group("two"))
        # Month first, as in the newspapers of the United States, unless only the other order is a date.
        month, day = (two, one) if match.group("by") == "." or one > 12 else (one, two)
        if _valid(day, month) and (match.group("by") == "/" or len(match.group("year")) == 4):
            # Which century two digits stand in is not written.
            year = int(match.group("year")) if len(match.group("year")) == 4 else None
            yield Date(year, month, day, None, match.start(), match.end())
    for match in _DECADE.finditer(text):
        year = int(match.group("year"))
        # "the 1800s" is the century, "the 2000s" the decade.
        last = year + 99 if year % 100 == 0 and year != 2000 else year + 9
        yield Date(year, None, None, None, match.start(), match.end(), last)
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
    """Both years of "2005-2009", "1914–18" and "1998/99"; not of a count ("1500-2000 men")."""
    for match in _YEARS.finditer(text):
        first, last = int(match.group("first")), int(match.group("last"))
        if len(match.group("last")) == 2:
            after = (last - first) % 100
            if not 1 <= after <= 60 or ("/" in match.group("by") and after != 1):
                continue
            last = first + after
        if not FIRST_YEAR <= first <= last <= LAST_YEAR or counted(text, match.end()):
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
    if last and (
        not _valid(int(last), month) or int(last) <= first or counted(text, match.end())
    ):
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


_RANGE = re.compile(_CONNECT)


def _share_ends(text: str, dates: list[Date]) -> list[Date]:
    """Gives the first end of a range the year that is written at the second: "May to July 1914"."""
    for i in range(len(dates) - 1):
        first, last = dates[i], dates[i + 1]
        if first.year is None and first.month and last.month and last.year and _RANGE.fullmatch(text, first.end, last.start):
            if (first.month, first.day or 0) < (last.month, last.day or 0) and (first.day is None) == (last.day is None):
                dates[i] = replace(first, year=last.year)
    return dates


Reading = Literal["number", "date", "both"]
_LAST_WORD = re.compile(rf"([^\W\d_]+|'s|’s|[(,;{DASHES}/])[.'’]?(\s*+)$")
_NEXT = re.compile(rf"(?:\s++|{_DASH})([^\W\d_]+)")
_YEAR_COMES = frozenset(
    "in since until till during year early late mid circa ca c spring summer autumn fall winter season pre post "
    "dated est established founded born died".split()
)
_YEAR_MAY_COME = frozenset("by from after before of through following throughout between for on".split())
_COUNT_COMES = frozenset(
    "over nearly almost approximately approx some least most only than another exactly roughly with about around "
    "total numbered numbering estimated have had has contained contains total totaling totalling".split()
)
_SIZES = re.compile(
    r"\b(?:total|population|average|number|height|elevation|peak|length|distance|sum|strength|force|capacity|depth"
    r"|attendance|garrison|crew|army|altitude|speed|maximum|minimum|majority|rate|density|income)\s++of\s++$"
)
_DETERMINERS = frozenset("the this that his her its their our a an 's ’s".split())
_YEAR_HEADS = frozenset(
    """season election elections olympics championships playoffs finals census estimate estimates games data figures
    population draft campaign world treaty constitution war revolution budget school calendar model edition series""".split()
)
_MANY_COUNTED = frozenset(
    """people men women children soldiers troops km m miles meters metres feet ft households houses families homes
    housing tons tonnes ships guns horses casualties prisoners inhabitants residents yards hours acres kg km² sq""".split()
)


def read_year(text: str, start: int, end: int, previous: Date | None) -> Reading:
    """Whether the bare whole number at ``[start, end)`` counts, is a year, or may be either.

    ``previous`` is the date before it, if any: "1914 and 1918" are years together.
    """
    value = int(text[start:end])
    before = text[max(0, start - 28) : start].lower()
    last = _LAST_WORD.search(before)
    word = last.group(1) if last else ""
    following = _NEXT.match(text, end)
    after = following.group(1) if following else ""
    if value < FIRST_YEAR:
        return _read_old_year(text, end, word, after) if end - start == 3 else "number"
    if not FIRST_YEAR <= value <= LAST_YEAR or end - start != 4:
        return "number"
    hyphenated = end < len(text) and text[end] in DASHES and after.islower()
    if text.startswith(("%", " %"), end) or after.lower() in ("percent", "per", "million", "thousand", "square"):
        return "number"
    counts = counted(text, end) and after.lower() not in _YEAR_HEADS
    if word in _YEAR_COMES and last and last.group(2):
        return "both" if after in _MANY_COUNTED else "date"
    if hyphenated:
        return "date" if word in DASHES or after in ("present", "born", "season") else "number"
    if previous is not None and previous.year and _RANGE.fullmatch(text, previous.end, start):
        return "number" if counts else "date"
    if counts and not (word in _DETERMINERS and after[:1].isupper()):
        return "number"
    if word == "(" and text[end : end + 1] in tuple(f"),;:{DASHES}"):
        return "date"
    if word in _YEAR_MAY_COME:
        return "number" if word == "of" and _SIZES.search(before) else "date"
    if word in _DETERMINERS and after:
        return "date" if not is_plural(after.lower()) or after.lower() in _YEAR_HEADS or after[0].isupper() else "number"
    if after.lower() in _YEAR_HEADS:
        return "date"
    if re.search(r"(?:^|[.!?]\s++)$", before) and text[end : end + 1] == ",":
        return "date"
    if word in _COUNT_COMES:
        return "number"
    return "both"


_FUNCTION_WORDS = frozenset("the a an he she it they when by and but as his her their who which was were".split())


def _read_old_year(text: str, end: int, word: str, after: str) -> Reading:
    """A year of three digits only after a word that calls for one, and only where nothing follows to be counted."""
    if word not in ("in", "since", "until", "year", "circa"):
        return "number"
    plain = not after or after in _FUNCTION_WORDS
    return "date" if plain and not text.startswith(("%", " %"), end) else "number"
