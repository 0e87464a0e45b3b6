"""The DROP metric with the faults of the official one mended: ``--metric strict``.

It is not comparable with published figures. What it mends is listed in :func:`score_answer`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from drop_parsing.data.alignment import align
from drop_parsing.data.types import Answer

Words = tuple[str, ...]

_DASHES = re.compile("[\u2010-\u2015\u2212]")
_DROPPED = re.compile(r"['\u2019]|(?<=[^\W\d_])\.")  # "man's" is "mans", "U.S." is "us"
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_TOKEN = re.compile(rf"(?P<number>(?:(?<!\S)-)?(?:{_NUMBER}))(?!\w)|[^\W_]+")
_WHOLE_NUMBER = re.compile(rf"(?P<sign>-?)\s?[$£€]?\s?(?P<number>{_NUMBER})\s?%?\.?")
_ARTICLES = frozenset(("a", "an", "the"))
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = (
    {word: value for value, word in enumerate(("zero", *_ONES, *_TEENS, "eighteen", "nineteen"))}
    | {tens: 10 * value for value, tens in enumerate(_TENS, 2)}
    | {f"{t} {o}": 10 * v + d for v, t in enumerate(_TENS, 2) for d, o in enumerate(_ONES, 1)}
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|"
    r"nov(ember)?|dec(ember)?"
)
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DATE_TOKEN = re.compile(r"(\d+)(?:st|nd|rd|th)?|[^\W\d_]+")


def score_answer(predicted: Sequence[str], reference: Answer) -> tuple[float, float]:
    """Exact match (0 or 1) and F1 (0 to 1) of predicted spans against one reference.

    What differs from the official metric:

    - A number is a decimal number in the text, wherever it stands: a comma, period or line break after it
      does not change it, ``-5`` keeps its sign (there the hyphen is lost and ``-5`` equals ``5``), every
      dash and minus is a hyphen, and ``nan``, ``1e3`` and ``1_000`` are words.
    - Text that is a number word and nothing else, from zero to ninety-nine, is that number.
    - Every number of the reference must be in the prediction, not just one of them.
    - Any white space and every dash separates words; words count as often as they occur.
    - Text that consists of articles keeps them: the blood type ``A`` is not ``the``.
    - Blank spans are dropped on both sides, and nothing matches a blank reference: there two different
      texts of punctuation are equal, and a reference is skipped when its first span is blank.
    - Exact match needs each span as often as the reference has it: there (a, a, b) equals (a, b, b), with
      an F1 below 1.
    - A date is compared by its parts: ``December 11, 1921`` and ``1921-12-11`` are ``11 December 1921``,
      and F1 counts the parts in common.
    - F1 is not rounded.
    """
    if reference.kind == "date" and len(predicted) == 1:
        wanted, given = _date_parts(reference.texts()[0]), _date_parts(predicted[0])
        if wanted and given:
            common = len(wanted & given)
            return float(wanted == given), 2 * common / (len(wanted) + len(given))
    gold = [_words(text) for text in reference.texts() if text.strip()]
    spans = [_words(text) for text in predicted if text.strip()]
    if not gold or not spans:
        return 0.0, 0.0
    scores = align([[_f1(span, target) for span in spans] for target in gold])
    return float(Counter(gold) == Counter(spans)), sum(scores) / max(len(gold), len(spans))


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> Words:
    """The words of a text as they are compared, numbers in one canonical form; never empty."""
    folded = _DASHES.sub("-", unicodedata.normalize("NFKC", text).casefold())
    digits = _FOREIGN_DIGIT.sub(lambda match: str(int(match[0])), folded)
    plain = _DROPPED.sub("", digits).strip()
    if number := _WHOLE_NUMBER.fullmatch(plain):
        return (_canonical(number["sign"] + number["number"]),)
    if (word := plain.replace("-", " ")) in _NUMBER_WORDS:
        return (str(_NUMBER_WORDS[word]),)
    tokens = [_canonical(m["number"]) if m["number"] else m[0] for m in _TOKEN.finditer(plain)]
    content = [token for token in tokens if token not in _ARTICLES]
    return tuple(content or tokens or (plain,))


def _canonical(number: str) -> str:
    whole, _, fraction = number.lstrip("-").replace(",", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    value = f"{whole}.{fraction}" if fraction else whole
    return f"-{value}" if number.startswith("-") and value != "0" else value


def _f1(predicted: Words, gold: Words) -> float:
    if not {word for word in gold if _is_number(word)} <= set(predicted):
        return 0.0
    common = (Counter(predicted) & Counter(gold)).total()
    return 2 * common / (len(predicted) + len(gold))


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdecimal()


def _date_parts(text: str) -> frozenset[tuple[str, int]] | None:
    """The (part, value) pairs of a text that is a date and nothing else; ``None`` for any other text."""
    plain = _DASHES.sub("-", text.casefold()).strip()
    if iso := _ISO_DATE.fullmatch(plain):
        return frozenset(zip(("year", "month", "day"), map(int, iso.groups()), strict=True))
    parts: list[tuple[str, int]] = []
    for token in _DATE_TOKEN.finditer(plain):
        if token[1]:
            if len(token[1]) > 4:
                return None
            parts.append(("day" if len(token[1]) <= 2 else "year", int(token[1])))
        elif _MONTH.fullmatch(token[0]):
            parts.append(("month", 1 + _MONTHS.index(token[0][:3])))
        elif token[0] not in ("the", "of"):
            return None
    names = [name for name, _ in parts]
    return frozenset(parts) if parts and len(set(names)) == len(names) else None
