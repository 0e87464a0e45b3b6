"""Numbers in words. The grammar of what is one number is ours, as a regular expression; the value of a plain
cardinal comes from text2num, which knows no ordinal, fraction, decimal, "dozen" or "trillion" and, given a
whole sentence, would have to guess where a number ends.

All functions take lower-case text: see :func:`lower`.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from text_to_num import text2num

from extractors.value_types import NumberKind
from extractors.value_units import is_plural

_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
#: Scale words, as powers of ten; a dozen is no power and is read by itself.
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_IRREGULAR_ORDINALS = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
}


def _ordinal(word: str) -> str:
    for ordinal, cardinal in _IRREGULAR_ORDINALS.items():
        if cardinal == word:
            return ordinal
    return word[:-1] + "ieth" if word.endswith("y") else word + "th"


_ORDINALS = {_ordinal(word): word for word in [*_UNITS, *_TEENS, *_TENS, *SCALES]}
_DENOMINATORS = {"half": 2, "quarter": 4} | {
    ordinal: text2num(word, "en")
    for ordinal, word in _ORDINALS.items()
    if word not in ("one", "two", "trillion")
}


def _any(words: "list[str] | dict[str, str] | dict[str, int]") -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + r")\b"


_S = r"(?:\s++|-)"
_AND = rf"(?:{_S}and)?{_S}"
_SCALE = _any([*SCALES, "dozen"])
_U, _T = _any(_UNITS), _any(_TENS)
# "a" is one before a scale word: "a hundred".
_BELOW_100 = rf"(?:{_T}(?:{_S}{_U})?|{_any(_TEENS)}|{_U}|an?\b(?={_S}{_SCALE}))"
# "five hundred and six hundred" are two numbers.
_BELOW_1000 = rf"(?:{_BELOW_100}(?:{_S}hundred\b(?:{_AND}{_BELOW_100}(?!{_S}hundred\b))?)?)"
_REST = rf"(?:{_AND}{_BELOW_1000}(?!{_S}{_SCALE}))?"
_THOUSANDS = rf"{_S}thousand\b{_REST}"
_BELOW_THOUSAND_AND = rf"(?:{_AND}{_BELOW_1000}{_S}thousand\b)?{_REST}"
_MILLIONS = rf"{_S}million\b{_BELOW_THOUSAND_AND}"
_BILLIONS = rf"{_S}billion\b(?:{_AND}{_BELOW_1000}{_S}million\b)?{_BELOW_THOUSAND_AND}"
_CARDINAL = rf"(?:(?:zero|nought)\b|{_BELOW_1000}(?:{_BILLIONS}|{_MILLIONS}|{_THOUSANDS})?)"
_CARDINAL_PATTERN = re.compile(_CARDINAL)

# A count before an ordinal is part of it only from "hundred" up: "two second-half scores" has two numbers.
_ORDINAL_TAIL = rf"(?:{_T}{_S}{_any({_ordinal(u): u for u in _UNITS})}|{_any(_ORDINALS)})"
_AFTER_SCALE = "(?:" + "|".join(f"(?<={scale})" for scale in SCALES) + ")"
_ORDINAL_PATTERN = re.compile(
    rf"(?:{_CARDINAL}{_AFTER_SCALE}{_AND}{_ORDINAL_TAIL}|{_ORDINAL_TAIL}"
    rf"|{_BELOW_1000}{_S}{_any([_ordinal(s) for s in SCALES])})"
)

_FRACTION_ENDS = re.compile(
    r"\s*+(?:$|[^\w\s-])|\s++(?:of|the|as|that|to|in|were|was|are|is|and|or|more|less)\b"
)
_OF_A_GAME = re.compile(r"\b(?:first|last|final|all|the|through|after|over|in|for|next)\s++$")
_WHICH_PART = re.compile(r"(?:\bthe|\bother|\bopening|\bfinal|\blast|\w(?:st|nd|rd|th)|\bsecond)[\s-]++$")
#: Words before the half of a game, unless a quantity follows.
_GAME_HALF = re.compile(
    r"\b(?:this|that|each|either|same|latter|early|late|next|at|in|to|by|per|every|before|into|entering|their|his"
    r"|its|until|since|after|till)(?:\s++|-)$"
)
_MEASURED = "(?:mile|hour|century|inch|pint|acre|ton|gallon|point|minute|day|year|season|share|pound|dollar)"
_HALF_OF_IT = re.compile(
    rf"\s++(?:of|the|a|an|its|their|his|her|as|that|this|these|those|all|what|were|are)\b|[\s-]{_MEASURED}\b"
)
_QUARTER_OF = re.compile(
    r"\s++of\b(?!\s++(?:the|this|that|a|their|an)\s++(?:game|season|match|year)\b)"
    rf"|[\s-]{_MEASURED}\b"
)
_ARTICLE = re.compile(r"\s++an?\b")
_ONE_PART = rf"(?:(?:one|an?)(?:-|\s++)(?P<part>{_any(_DENOMINATORS)}))(?!-)"
_PARTS = rf"(?P<count>{_any([*_UNITS, *_TEENS])})(?:-|\s++)(?P<parts>{'|'.join(_DENOMINATORS)})s\b"
_FRACTION_PATTERN = re.compile(rf"{_PARTS}|{_ONE_PART}")
_HALF_OF = re.compile(
    r"(?:an?\s++)?(?P<word>half|quarter)\b"
    r"(?:(?:-|\s++)(?:an?\s++)?(?P<scale>hundred|thousand|million|billion|trillion|dozen)\b)?"
)
_AND_PART = re.compile(
    rf"{_S}and{_S}(?:(?:an?|one){_S}(?P<part>half|third|quarter|fourth|fifth|eighth)"
    rf"|(?P<count>two|three){_S}(?P<parts>third|quarter|fourth)s)\b"
)
_POINT = re.compile(rf"{_S}point((?:{_S}(?:zero|nought|oh|{_any(_UNITS)}))++)")
_SCALE_AFTER = re.compile(rf"{_S}(hundred|thousand|million|billion|trillion|dozen)\b(?!-?s\b)")
#: "hundred thousand million": more in a row is no number.
_MAX_SCALES = 3
_BARE_SCALES = re.compile(rf"{_SCALE}(?:{_S}{_SCALE}){{,{_MAX_SCALES - 1}}}")
_COUNTED_SECOND = re.compile(
    rf"(?:\b(?:per|each|every|one|last|split)[\s-]|\d[\s-]|\b(?:{'|'.join(_UNITS + _TEENS)}|hundred)-)$"
)
_SECOND_PART = re.compile(r"[\s-](?:half|quarter|period|down|place|round|leg|set|string)\b")
_TIMES = {"twice": 2, "thrice": 3}
_MANY = re.compile(r"\b(?:several|few|many|some|couple|more|by|the|of|per|these|those)\s++$")
_NEXT_WORD = re.compile(r"\s++([a-z]+)")

#: Where a number in words can begin.
START = (
    rf"\b(?:(?:an?)(?={_S}(?:{_any([*SCALES, 'dozen'])}|{_any(_DENOMINATORS)}))"
    rf"|{_any([*_UNITS, *_TEENS, *_TENS, 'zero', 'nought', *_ORDINALS, *SCALES, 'dozen', 'half', 'quarter'])}"
    rf"|{_any([*_TIMES])})"
)


class Read(NamedTuple):
    """What was read: an exact value, where it ends, its kind, and where to look for its unit."""

    value: Fraction
    end: int
    kind: NumberKind
    unit_from: int


def lower(text: str) -> str:
    """``text`` in lower case with the same offsets."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def read_words(text: str, start: int) -> Read | None:
    """The number in words that begins at ``start``, the longest there is; None where the words mean none."""
    return (
        _read_times(text, start)
        or _read_fraction(text, start)
        or _read_half(text, start)
        or _read_ordinal(text, start)
        or _read_cardinal(text, start)
    )


def scaled(text: str, value: Fraction, end: int) -> tuple[Fraction, int]:
    """``value`` times the scale words that follow, after an optional "and a half"."""
    if part := _AND_PART.match(text, end):
        value, end = value + _part(part), part.end()
    for _ in range(_MAX_SCALES):
        scale = _SCALE_AFTER.match(text, end)
        if scale is None:
            break
        value, end = value * _scale(scale.group(1)), scale.end()
    return value, end


def _scale(word: str) -> int:
    return 12 if word == "dozen" else 10 ** SCALES[word]


def _part(match: re.Match[str]) -> Fraction:
    if match.group("part"):
        return Fraction(1, _DENOMINATORS[match.group("part")])
    return Fraction(text2num(match.group("count"), "en"), _DENOMINATORS[match.group("parts")])


def _read_times(text: str, start: int) -> Read | None:
    for word, value in _TIMES.items():
        if text.startswith(word, start):
            end = start + len(word)
            return Read(Fraction(value), end, "cardinal", end)
    return None


def _read_fraction(text: str, start: int) -> Read | None:
    match = _FRACTION_PATTERN.match(text, start)
    if match is None:
        return None
    end, word = match.end(), match.group("part") or match.group("parts")
    if word in ("half", "quarter"):
        if match.group("part"):
            return None  # "a half" and "a quarter" are read with what follows
        if (
            match.group("count") != "three"
            or word == "half"
            or _OF_A_GAME.search(text[max(0, start - 12) : start])
        ):
            return None  # "two quarters" and "two halves" are counted
    elif match.group("part") and not ("-" in match.group() or _FRACTION_ENDS.match(text, end)):
        return None  # "a third field goal", "one fourth quarter score"
    return Read(_part(match), end, "fraction", end)


def _read_half(text: str, start: int) -> Read | None:
    """A half or a quarter of a quantity; None for the half or the quarter of a game."""
    match = _HALF_OF.match(text, start)
    if match is None:
        return None
    word, end = match.group("word"), match.end()
    value = Fraction(1, _DENOMINATORS[word])
    if scale := match.group("scale"):
        return Read(value * _scale(scale), end, "cardinal", end)
    before = text[max(0, start - 10) : start]
    follows = (_QUARTER_OF if word == "quarter" else _HALF_OF_IT).match(text, end) is not None
    if _WHICH_PART.search(before) or (word == "quarter" and not follows):
        return None
    if not follows and (text.startswith("-", end) or _GAME_HALF.search(before)):
        return None  # "half-time", "at the half"
    article = _ARTICLE.match(text, end)
    return Read(value, end, "fraction", article.end() if article else end)


def _read_ordinal(text: str, start: int) -> Read | None:
    match = _ORDINAL_PATTERN.match(text, start)
    if match is None:
        return None
    words = match.group()
    *front, last = re.split(r"[\s-]+", words)
    if front and " " in words and "-" not in words:
        follower = _NEXT_WORD.match(text, match.end())
        if follower and is_plural(follower.group(1)) and not follower.group(1).startswith("centur"):
            return None  # "twenty first downs"
    if not front and last == "second" and _is_time(text, start, match.end()):
        return None
    if not front and last == "first" and re.search(r"\bat\s++$", text[max(0, start - 8) : start]):
        return None
    value = _cardinal(" ".join([*front, _ORDINALS[last]]))
    return None if value is None else Read(value, match.end(), "ordinal", match.end())


def _is_time(text: str, start: int, end: int) -> bool:
    """Whether "second" is the unit of time."""
    return bool(
        _COUNTED_SECOND.search(text[max(0, start - 12) : start]) and not _SECOND_PART.match(text, end)
    )


def _read_cardinal(text: str, start: int) -> Read | None:
    match = _CARDINAL_PATTERN.match(text, start)
    if match is None:
        return _read_bare_scales(text, start)
    words, end = match.group(), match.end()
    if _pronoun(text, start, end):
        return None
    if re.search(r"\bbetween\s++$", text[max(0, start - 12) : start]):
        words = _first_of_two(text, words, end)
        end = start + len(words)
    value = _cardinal(words)
    if value is None:
        return None
    if point := _POINT.match(text, end):
        digits = re.sub(r"\w+", lambda w: str(_digit(w.group())), point.group(1))
        value += Fraction("0." + re.sub(r"\D", "", digits))
        end = point.end()
    value, end = scaled(text, value, end)
    return Read(value, end, "cardinal", end)


def _digit(word: str) -> int:
    return _UNITS.index(word) + 1 if word in _UNITS else 0


def _first_of_two(text: str, words: str, end: int) -> str:
    """After "between", "one hundred and fifty" is two numbers unless another "and" follows."""
    if re.compile(r"\s++and\b").match(text, end):
        return words
    return re.split(r"\s+and\s", words)[0]


def _pronoun(text: str, start: int, end: int) -> bool:
    """Whether "one" stands for a person or thing."""
    if text[start:end] != "one":
        return False
    if text.startswith((" another", "'s", "\u2019s"), end):
        return True
    return bool(
        re.search(
            r"\b(?:no|any|every|each|this|that|which|another|other)\s++$", text[max(0, start - 9) : start]
        )
    )


def _read_bare_scales(text: str, start: int) -> Read | None:
    """ "hundred" and "dozen" without a count are that many unless a vague word stands before them."""
    match = _BARE_SCALES.match(text, start)
    if match is None or _MANY.search(text[max(0, start - 9) : start]):
        return None
    value = Fraction(1)
    for word in re.findall(r"\w+", match.group()):
        value *= _scale(word)
    return Read(value, match.end(), "cardinal", match.end())


def _cardinal(words: str) -> Fraction | None:
    """The value of a plain cardinal; "a" counts as one and "dozen" is left to :func:`scaled`."""
    words = re.sub(r"[\s-]+", " ", words)
    words = re.sub(r"^an? ?", "one ", words).strip()
    if words == "trillion":
        return Fraction(10**12)
    try:
        return Fraction(text2num(words, "en"))
    except ValueError:
        return None
