"""``drop-parsing export``: tables in files for other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli.common import (
    BackendName,
    Inputs,
    Json,
    Scheme,
    failures,
    finish,
    one_scheme,
    print_result,
    progress_bar,
    read_warned,
    stdout,
)
from drop_parsing.data.types import Fault
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed, extractor_of
from extractors.export import FORMATS
from extractors.export import export as export_tables
from extractors.registry import Backend
from extractors.table import Paragraph


def export(
    inputs: Inputs,
    out: Annotated[Path, typer.Option(help="The folder to write to.", show_default=False)],
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "jsonl",
    scheme: Scheme = "syndep",
    backend: BackendName = None,
    as_json: Json = False,
) -> None:
    """Write the tables of every paragraph to files.

    Example: `drop-parsing export drop_dev.json --format csv --out tables/`
    """
    if format not in FORMATS:
        raise InputError(f"--format {format} is not one of: {', '.join(FORMATS)}.")
    extractor = extractor_of(one_scheme(scheme), Backend(backend))
    failed: list[Failed] = []

    def paragraphs() -> Iterator[Paragraph]:
        for item in read_warned(inputs):
            if isinstance(item, Fault):
                failed.append(Failed(f"{item.file}: {item.where}", item.message))
            else:
                advance(1)
                yield Paragraph(item.id, item.text)

    with progress_bar("tables") as advance:
        files = export_tables(extractor.pipe(paragraphs()), format, out)
    result = {"files": [str(path) for path in files], "failed": failures(failed)}
    print_result(as_json, result, lambda: stdout.print("\n".join(map(str, files))))
    finish(failed)
