"""Whether a bare whole number is a year, by the words on both sides of it."""

import re
from typing import Literal

from extractors.value_dates import FIRST_YEAR, LAST_YEAR, RANGE
from extractors.value_types import Date
from extractors.value_units import DASHES, counted, word_set

Reading = Literal["number", "date", "both"]

_DASHES = frozenset(DASHES)
_LAST_WORD = re.compile(rf"([^\W\d_]+|'s|\u2019s|[{DASHES}(,;/])[.'\u2019]?(?P<space>\s*+)$")
_NEXT = re.compile(rf"(?:\s++|[{DASHES}])([^\W\d_]+)")
_YEAR_COMES = word_set(
    """in since until till during year early late mid circa ca c spring summer autumn fall winter season
    pre post dated est established founded born died"""
)
_YEAR_MAY_COME = word_set("by from after before of through following throughout between for on")
_COUNT_COMES = word_set(
    """over nearly almost approximately approx some least most only than another exactly roughly with about
    around total numbered numbering estimated have had has contained contains totaling totalling"""
)
_COUNTS_ON = word_set("percent per million thousand square")
_SIZES = re.compile(
    r"\b(?:total|population|average|number|height|elevation|peak|length|distance|sum|strength|force|capacity|depth"
    r"|attendance|garrison|crew|army|altitude|speed|maximum|minimum|majority|rate|density|income)\s++of\s++$"
)
_YEAR_BEFORE = re.compile(
    rf"\b(?:(?:mid|pre|post|early|late)[{DASHES}]|(?:prior|compared|back|dating)\s++to\s++)$"
)
_SENTENCE_END = re.compile(r"[.!?]\s++$")
_LIST = re.compile(rf"{RANGE.pattern}|,\s(?:and\s)?|/")
_TO_NUMBER = re.compile(rf"{RANGE.pattern}\d[\d,]*+")
_DETERMINERS = word_set("the this that his her its their our a an 's \u2019s")
_YEAR_HEADS = word_set(
    """season election elections olympics championships playoffs finals census estimate estimates games
    data figures population draft campaign world treaty constitution war revolution budget school
    calendar model edition series"""
)
_MANY_COUNTED = word_set(
    """people men women children soldiers troops km m miles meters metres feet ft households houses
    families homes housing tons tonnes ships guns horses casualties prisoners inhabitants residents
    yards hours acres kg km² sq"""
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
    if text.startswith(("%", " %"), end) or after.lower() in _COUNTS_ON:
        return "number"
    other_end = _TO_NUMBER.match(text, end)
    counts = counted(text, other_end.end() if other_end else end) and after.lower() not in _YEAR_HEADS
    if word in _YEAR_COMES and last and last.group("space"):
        return "both" if after in _MANY_COUNTED else "date"
    if text[end : end + 1] in _DASHES and after.islower():
        return "date" if after in ("present", "born", "season") else "number"
    if previous is not None and previous.year and _LIST.fullmatch(text, previous.end, start):
        return "number" if counts else "date"
    if counts and not (word in _DETERMINERS and after[:1].isupper()):
        return "number"
    if word in _COUNT_COMES or (word == "of" and _SIZES.search(before)):
        return "number"
    if word == "(" or word in _YEAR_MAY_COME or _YEAR_BEFORE.search(before):
        return "date"
    if (word in _DETERMINERS and after) or after.lower() in _YEAR_HEADS:
        return "date"
    opens = text.startswith(",", end) and (start == 0 or _SENTENCE_END.search(before))
    return "date" if opens else "both"


_FUNCTION_WORDS = word_set("the a an he she it they when by and but as his her their who which was were")


def _read_old_year(text: str, end: int, word: str, after: str) -> Reading:
    """Three digits are a year only after a word that calls for one and with nothing to count after them."""
    if word not in ("in", "since", "until", "year", "circa"):
        return "number"
    plain = not after or after in _FUNCTION_WORDS
    return "date" if plain and not text.startswith(("%", " %"), end) else "number"
