"""The two kinds of value that a text holds."""

from dataclasses import dataclass
from typing import Literal

NumberKind = Literal["cardinal", "ordinal", "fraction", "percent", "money", "clock"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text. ``unit`` is the lower-case singular noun counted or measured, ``%`` or a currency
    sign; ``None`` where there is none."""

    value: float
    start: int
    end: int
    unit: str | None = None
    kind: NumberKind = "cardinal"


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as the text gives it: a missing part stays ``None``. BC years are negative.

    ``last_year`` closes a range that one expression names ("the 1990s": 1990 to 1999).
    """

    year: int | None
    month: int | None
    day: int | None
    quarter: int | None
    start: int
    end: int
    last_year: int | None = None
