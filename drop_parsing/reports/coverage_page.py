"""The coverage report: one self-contained HTML file, no script and no network."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from drop_parsing.analysis.coverage import SchemeCoverage
from drop_parsing.reports.rendering import render_to
from extractors.table import Span

#: Bounds of the histogram of forms a question, as powers of ten.
_POWERS = (0, 1, 2, 3, 6, 9, 12)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a paragraph, marked or not."""

    text: str
    marked: bool


def write_page(path: Path, schemes: Sequence[SchemeCoverage], source: str, command: str) -> None:
    """Write the page. ``source`` names the data, ``command`` is what makes the page again.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    render_to(
        path,
        "coverage.html.j2",
        {"highlighted": highlighted},
        schemes=schemes,
        histograms={s.scheme: histogram(c.count for c in s.report.found.values()) for s in schemes},
        source=source,
        command=command,
    )


def highlighted(text: str, cells: Iterable[Span]) -> list[Piece]:
    """The text cut into marked and plain pieces: marked is what lies in one of the cells."""
    pieces: list[Piece] = []
    done = 0
    for cell in sorted(cells, key=lambda span: (span.start, span.end)):
        start = max(cell.start, done)
        if cell.end > start:
            pieces += [Piece(text[done:start], False), Piece(text[start : cell.end], True)]
            done = cell.end
    return [piece for piece in [*pieces, Piece(text[done:], False)] if piece.text]


def histogram(counts: Iterable[int]) -> list[tuple[str, int]]:
    """How many questions have no form, 1 to 9, 10 to 99, ... forms."""
    bins = [0] * (len(_POWERS) + 1)
    for count in counts:
        bins[sum(count >= 10**power for power in _POWERS)] += 1
    bounds = [f"10{_superscript(power)}" if power > 1 else str(10**power) for power in _POWERS]
    labels = [
        "none",
        *(f"{low} to {high}" for low, high in pairwise(bounds)),
        f"{bounds[-1]} or more",
    ]
    return list(zip(labels, bins, strict=True))


def _superscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
