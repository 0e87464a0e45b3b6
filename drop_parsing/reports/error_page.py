"""Wrong answers of a parser as one self-contained HTML file, no script and no network."""

from pathlib import Path

from drop_parsing.analysis.errors import MEANINGS, ErrorAnalysis
from drop_parsing.reports.coverage_page import highlighted
from drop_parsing.reports.rendering import render_to


def write_page(path: Path, analysis: ErrorAnalysis, source: str, command: str) -> None:
    """Write the page. ``source`` names the data, ``command`` is what makes the page again.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    render_to(
        path,
        "errors.html.j2",
        {"highlighted": highlighted},
        analysis=analysis,
        meanings=MEANINGS,
        source=source,
        command=command,
    )
