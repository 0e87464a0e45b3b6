"""``drop-parsing extract``: tables for many paragraphs, kept in the cache."""

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
    chosen_schemes,
    failures,
    finish,
    place,
    print_result,
    progress_bar,
    read_warned,
    stdout,
)
from drop_parsing.data.sources import Meter
from drop_parsing.extraction import extract_tables, open_store
from extractors.registry import Backend


def extract(
    inputs: Inputs,
    scheme: Scheme = "syndep",
    cache: Cache = DEFAULT_CACHE,
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    workers: Workers = 0,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Extract the tables of every paragraph; those that the cache has are not made again.

    Example: `drop-parsing extract drop_dev.json --scheme syndep --workers 2`
    """
    chosen = Backend(backend, trust_archive, coref)
    folder = place(cache)
    stores = {name: open_store(folder, name, chosen) for name in chosen_schemes(scheme)}
    meter = Meter()
    with progress_bar("passages", meter.total) as advance:
        done = extract_tables(read_warned(inputs, meter), stores, chosen, workers, cluster, advance)
    result = {
        "passages": done.passages,
        "tables": done.tables,
        "rows": done.rows,
        "cached": done.cached,
        "failed": failures(done.failed),
        "seconds": round(done.seconds, 3),
    }

    def show() -> None:
        stdout.print(
            f"{done.passages} passages: {done.tables} tables with {done.rows} rows made, {done.cached} in "
            f"{cache} before, {len(done.failed)} failed; {done.seconds:.1f} s"
        )

    print_result(as_json, result, show)
    finish(done.failed)
