"""The comparison of systems as one self-contained HTML file, no script and no network."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from drop_parsing import __version__
from drop_parsing.analysis.comparison import Comparison
from extractors.store import atomic_file


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
    environment = Environment(
        loader=PackageLoader("drop_parsing.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    page = environment.get_template("comparison.html.j2").render(
        rows=rows,
        comparison=comparison,
        kinds=sorted({kind for system in comparison.systems for kind in system.by_type}),
        people=people,
        trained_on=trained_on,
        paper_trained_on=paper_trained_on,
        version=__version__,
    )
    with atomic_file(path) as file:
        file.write(page.encode("utf-8", "replace"))
