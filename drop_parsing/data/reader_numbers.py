"""The numbers of a passage that the add/subtract head may give a sign."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Literal, get_args

from drop_parsing.data.reader_tokens import Tokens
from extractors.values import find_values

#: ``integers``: tokens that are whole numbers in digits, or zero to nineteen in lower-case words (the paper).
#: ``values``: also decimals, larger numbers in words, fractions and "million", and 100 where there are
#: percentages, for what they leave over.
NumberRule = Literal["integers", "values"]
NUMBER_RULES: tuple[NumberRule, ...] = get_args(NumberRule)

#: The token of a number that stands nowhere in the passage.
NOWHERE = -1

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_VALUES = {word: value for value, word in enumerate(_WORDS.split())}
_DIGITS = re.compile(r"\+?\d{1,300}")
_PERCENT = re.compile(r"%|\bpercent|\bper cent", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Numbers:
    """``values[i]`` stands at token ``tokens[i]``, in token order; constants come last, at ``NOWHERE``."""

    tokens: tuple[int, ...]
    values: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def integer(word: str) -> int | None:
    """The value of a word under the rule ``integers``; thousands may have commas."""
    plain = word.replace(",", "")
    return int(plain) if _DIGITS.fullmatch(plain) else _VALUES.get(plain)


def numbers_of(text: str, tokens: Tokens, rule: NumberRule) -> Numbers:
    """The numbers of a passage under ``rule``."""
    found = {
        place: float(value) for place, word in enumerate(tokens.words) if (value := integer(word)) is not None
    }
    if rule == "values":
        for number in find_values(text)[0]:
            if number.kind in ("ordinal", "clock"):
                continue
            first = bisect_right(tokens.ends, number.start)
            last = bisect_left(tokens.starts, number.end)
            for place in range(first, last):
                found.pop(place, None)
            if first < last:
                found[first] = number.value
    places = sorted(found)
    values = [found[place] for place in places]
    if rule == "values" and _PERCENT.search(text):
        places, values = [*places, NOWHERE], [*values, 100.0]
    return Numbers(tuple(places), tuple(values))
