"""The comparison of systems as one self-contained HTML file, no script and no network."""

from pathlib import Path
from typing import Any

from drop_parsing.analysis.comparison import Comparison
from drop_parsing.reports.rendering import render_to


def write_page(
    path: Path,
    rows: list[dict[str, Any]],
    comparison: Comparison,
    people: dict[str, Any] | None,
    trained_on: int | None,
    paper_trained_on: int,
) -> None:
    """Write the page; ``rows`` are the paper's and ours as ``compare --json`` gives them.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    render_to(
        path,
        "comparison.html.j2",
        {},
        rows=rows,
        comparison=comparison,
        kinds=sorted({kind for system in comparison.systems for kind in system.by_type}),
        people=people,
        trained_on=trained_on,
        paper_trained_on=paper_trained_on,
    )
