"""Wrong answers of a parser as one self-contained HTML file, no script and no network."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from drop_parsing import __version__
from drop_parsing.analysis.errors import MEANINGS, ErrorAnalysis
from drop_parsing.reports.coverage_page import highlighted
from extractors.store import atomic_file


def write_page(path: Path, analysis: ErrorAnalysis, source: str, command: str) -> None:
    """Write the page. ``source`` names the data, ``command`` is what makes the page again.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    environment = Environment(
        loader=PackageLoader("drop_parsing.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["highlighted"] = highlighted
    page = environment.get_template("errors.html.j2").render(
        analysis=analysis, meanings=MEANINGS, source=source, command=command, version=__version__
    )
    with atomic_file(path) as file:
        file.write(page.encode("utf-8", "replace"))
