"""What a paragraph's rows failed to keep."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from extractors.annotate import Annotation
from extractors.table import Lost, Row
from extractors.values import Date, Number


def lost(annotation: Annotation, rows: Sequence[Row]) -> Lost:
    covered = {row.sentence for row in rows}
    values = uncovered(annotation, rows)
    return Lost(
        sentences=tuple(s for s in range(len(annotation.sentences)) if s not in covered),
        numbers=tuple(value for value in values if isinstance(value, Number)),
        dates=tuple(value for value in values if isinstance(value, Date)),
    )


def uncovered(annotation: Annotation, rows: Iterable[Row]) -> list[Number | Date]:
    """The values that lie in no cell."""
    spans = sorted({(cell.start, cell.end) for row in rows for _, cell in row.cells()})
    starts = [start for start, _ in spans]
    reach = [0, *accumulate((end for _, end in spans), max)]
    values: list[Number | Date] = [*annotation.numbers, *annotation.dates]
    return [value for value in values if reach[bisect_right(starts, value.start)] < value.end]


def tokens_of(annotation: Annotation, value: Number | Date) -> tuple[int, int]:
    """The first and the last token of a value."""
    first = max(bisect_right(annotation.starts, value.start) - 1, 0)
    return first, max(bisect_left(annotation.starts, value.end) - 1, first)
