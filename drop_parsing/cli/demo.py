"""``drop-parsing demo``: the main job on the bundled paragraphs."""

from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli.common import Json, finish, print_result, stdout
from drop_parsing.cli.search import print_coverage, search_schemes, summary
from drop_parsing.data.reading import read_all
from drop_parsing.demo import demo_path
from drop_parsing.reports.coverage_page import write_page
from drop_parsing.searching import SearchSettings
from extractors.registry import Backend, schemes


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report and its cache.")] = Path("demo-report"),
    as_json: Json = False,
) -> None:
    """Paragraphs become tables, questions become the forms that reach their answers; a page says how far it goes.

    Example: `drop-parsing demo --out demo-report`, then open demo-report/report.html.
    """
    passages, _ = read_all([demo_path()])
    settings = SearchSettings()
    coverage, failed = search_schemes(schemes(), passages, out / "data_cache", Backend(), settings, 0, None)
    page = out / "report.html"
    write_page(page, coverage, f"the demo, {len(passages)} paragraphs", f"drop-parsing demo --out {out}")
    result = {
        "report": str(page),
        "coverage": {scheme.scheme: summary(scheme, settings.max_size) for scheme in coverage},
    }

    def show() -> None:
        print_coverage(coverage)
        stdout.print(f"report: {page}")
        stdout.print(f"next: drop-parsing show {demo_path()} --passage {passages[0].id}")

    print_result(as_json, result, show)
    finish(failed)
