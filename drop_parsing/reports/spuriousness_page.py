"""The spuriousness report: one self-contained HTML file with an explorer of its questions; no network."""

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from markupsafe import Markup

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.analysis.judged import JUDGES, Spuriousness
from drop_parsing.analysis.judgement import PAPER_STUDY, Judgement
from drop_parsing.analysis.overview import AGREES, Overview, together
from drop_parsing.data.types import Kind
from drop_parsing.reports.coverage_page import histogram
from drop_parsing.reports.rendering import render_to
from drop_parsing.reports.spuriousness_data import pack, readable_count
from extractors.table import Table

#: Upper bounds of the bins of the histogram of classes a question.
_CLASS_BINS = (0, 1, 2, 4, 8, 16, 32, 64)


def write_page(
    path: Path,
    found: Spuriousness,
    overviews: Sequence[Overview],
    tables: Mapping[tuple[str, str], Table],
    judgement: Judgement | None,
    source: str,
    command: str,
) -> None:
    """Write the page. ``tables`` are by scheme and passage id, ``source`` names the data, ``command`` makes the page
    again.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    style = _asset("page.css") + _asset("spuriousness.css")
    script = _asset("spuriousness.js")
    render_to(
        path,
        "spuriousness.html.j2",
        {"percent": percent, "range": interval, "count": readable_count},
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        packed=pack(found, tables),
        found=found,
        overviews=overviews,
        together=together(found),
        agrees=AGREES,
        kinds=[kind for kind in get_args(Kind) if any(kind in o.kinds for o in overviews)],
        distributions={
            "Consistent forms of a question": _beside([histogram(o.forms) for o in overviews]),
            "Classes of a question": _beside([class_histogram(o.classes) for o in overviews]),
        },
        judges=JUDGES,
        judgement=judgement,
        paper=PAPER_STUDY,
        source=source,
        command=command,
    )


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """The content security policy: nothing but this very style and this very script."""
    allowed = {"default-src": "'none'", "style-src": _digest(style), "script-src": _digest(script)}
    allowed |= {"base-uri": "'none'", "form-action": "'none'"}
    return "; ".join(f"{name} {what}" for name, what in allowed.items())


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def percent(share: float | None) -> str:
    return "–" if share is None or math.isnan(share) else f"{100 * share:.1f}%"


def interval(bounds: Proportion | tuple[float, float] | None) -> str:
    """The bounds of a 95% interval, in percent."""
    if bounds is None:
        return ""
    low, high = bounds.interval if isinstance(bounds, Proportion) else bounds
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _beside(histograms: Sequence[list[tuple[str, int]]]) -> list[tuple[str, list[int]]]:
    """Histograms of the same bins as one: each bin with its number in each."""
    return [(bins[0][0], [number for _, number in bins]) for bins in zip(*histograms, strict=True)]


def class_histogram(counts: Iterable[int]) -> list[tuple[str, int]]:
    """How many questions have no class, 1, 2, 3 to 4, 5 to 8, ... classes."""
    bins = [0] * (len(_CLASS_BINS) + 1)
    for count in counts:
        bins[sum(count > bound for bound in _CLASS_BINS)] += 1
    labels = []
    for low, high in zip((-1, *_CLASS_BINS), _CLASS_BINS, strict=False):
        labels.append("none" if high == 0 else str(high) if high == low + 1 else f"{low + 1} to {high}")
    return list(zip([*labels, f"more than {_CLASS_BINS[-1]}"], bins, strict=True))
