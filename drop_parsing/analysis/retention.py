"""Information retention: how much of what the answers need is left in the tables.

Of the gold numbers that stand in the passage, the share that stands as a number, or as a part of a date, in
some cell; of the gold spans that stand in the passage, the share that lies inside some cell. The paper found
the needed information in 25% of its best tables.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from drop_parsing.data.metric import normalise
from drop_parsing.data.types import Answer, Passage
from extractors.table import Table

_SMALL_NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
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
    "twenty",
]
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(slots=True)
class Share:
    """``kept`` of ``total``."""

    kept: int = 0
    total: int = 0

    @property
    def percent(self) -> float:
        return 100 * self.kept / self.total if self.total else 0.0

    def count(self, kept: bool) -> None:
        self.kept += kept
        self.total += 1


@dataclass(slots=True)
class Retention:
    """``numbers`` and ``spans`` that are gold and stand in the passage, and those that a table keeps."""

    numbers: Share
    spans: Share


def retention(passages: Iterable[tuple[Passage, Sequence[Table]]]) -> Retention:
    """Measure the first reference of every question against the tables of its passage, taken together."""
    result = Retention(Share(), Share())
    for passage, tables in passages:
        written = numbers_written(passage.text)
        held = set().union(*map(numbers_held, tables))
        cells = sorted({(c.start, c.end) for table in tables for row in table.rows for _, c in row.cells()})
        for question in passage.questions:
            for answer in question.references[:1]:
                _count(answer, passage.text, written, held, cells, result)
    return result


def _count(
    answer: Answer,
    text: str,
    written: set[float],
    held: set[float],
    cells: list[tuple[int, int]],
    result: Retention,
) -> None:
    if answer.kind == "number":
        if answer.value in written:
            result.numbers.count(answer.value in held)
    elif answer.kind in ("span", "spans"):
        for span in answer.spans:
            places = occurrences(span, text)
            if places:
                inside = any(a <= start and end <= b for start, end in places for a, b in cells)
                result.spans.count(inside)


def numbers_written(text: str) -> set[float]:
    """The numbers that stand in a text, in digits or as a small number word; found without the extractor, so
    that what it misses counts."""
    digits = {float(match.group().replace(",", "")) for match in _DIGITS.finditer(text)}
    words = {
        float(_SMALL_NUMBERS.index(word))
        for word in re.findall(r"[a-z]+", text.lower())
        if word in _SMALL_NUMBERS
    }
    return digits | words


def numbers_held(table: Table) -> set[float]:
    """The values of the numbers in a table's cells, and the years, days and months of its dates."""
    held: set[float] = set()
    for row in table.rows:
        for _, cell in row.cells():
            held.update(float(number.value) for number in cell.numbers)
            for date in cell.dates:
                parts = (date.year, date.last_year, date.month, date.day, date.quarter)
                held.update(float(abs(part)) for part in parts if part is not None)
    return held


def occurrences(span: str, text: str) -> list[tuple[int, int]]:
    """Where a span stands in a text, whatever the case and spacing."""
    words = normalise(span) and span.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]
