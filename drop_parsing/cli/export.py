"""``drop-parsing export``: tables in files for other programs."""

from typing import Annotated

import typer

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    BackendName,
    Cache,
    Cluster,
    Coref,
    Inputs,
    Json,
    Scheme,
    TrustArchive,
    Workers,
    failures,
    finish,
    one_scheme,
    place,
    print_result,
    progress_bar,
    read_warned,
    stdout,
)
from drop_parsing.data.sources import Meter
from drop_parsing.errors import InputError
from drop_parsing.extraction import open_store, ordered_tables
from extractors.export import FORMATS
from extractors.export import export as export_tables
from extractors.registry import Backend
from extractors.remote import RemotePath


def export(
    inputs: Inputs,
    out: Annotated[str, typer.Option(help="The folder, or its URL, to write to.", show_default=False)],
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "jsonl",
    scheme: Scheme = "syndep",
    cache: Cache = DEFAULT_CACHE,
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    workers: Workers = 0,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Write the tables of every paragraph to files. Those that the cache has are not made again.

    Example: `drop-parsing export drop_dev.json --format csv --out tables/`
    """
    if format not in FORMATS:
        raise InputError(f"--format {format} is not one of: {', '.join(FORMATS)}.")
    name, chosen = one_scheme(scheme), Backend(backend, trust_archive, coref)
    store, folder = open_store(place(cache), name, chosen), place(out)
    if isinstance(folder, RemotePath) and not folder.lasting:
        raise InputError(f"--out {out} would be gone when the command ends: give a folder, or a store's URL.")
    meter = Meter()
    with (
        progress_bar("tables", meter.total) as advance,
        ordered_tables(read_warned(inputs, meter), name, store, chosen, workers, cluster, advance) as (
            done,
            tables,
        ),
    ):
        files = export_tables(tables, format, folder)
    result = {"files": [str(path) for path in files], "failed": failures(done.failed)}
    print_result(as_json, result, lambda: stdout.print("\n".join(map(str, files))))
    finish(done.failed)
