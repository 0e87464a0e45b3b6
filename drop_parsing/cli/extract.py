"""``drop-parsing extract``: tables for many paragraphs, kept in the cache."""

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    Backend,
    Cache,
    Cluster,
    Inputs,
    Json,
    Scheme,
    Workers,
    chosen_schemes,
    failures,
    finish,
    print_result,
    progress_bar,
    read_warned,
    stdout,
)
from drop_parsing.extraction import Extraction, extract_tables, open_store


def extract(
    inputs: Inputs,
    scheme: Scheme = "syndep",
    cache: Cache = DEFAULT_CACHE,
    backend: Backend = None,
    workers: Workers = 0,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Extract the tables of every paragraph; those that the cache has are not made again.

    Example: `drop-parsing extract drop_dev.json --scheme syndep --workers 2`
    """
    total = Extraction()
    for name in chosen_schemes(scheme):
        store = open_store(cache, name, backend)
        with progress_bar(f"{name} tables") as advance:
            done = extract_tables(read_warned(inputs), store, name, backend, workers, cluster, advance)
        total.passages = done.passages
        total.tables += done.tables
        total.rows += done.rows
        total.cached += done.cached
        total.seconds += done.seconds
        total.failed += [failure for failure in done.failed if failure not in total.failed]
    result = {
        "passages": total.passages,
        "tables": total.tables,
        "rows": total.rows,
        "cached": total.cached,
        "failed": failures(total.failed),
        "seconds": round(total.seconds, 3),
    }

    def show() -> None:
        stdout.print(
            f"{total.passages} passages: {total.tables} tables with {total.rows} rows made, {total.cached} in "
            f"{cache} before, {len(total.failed)} failed; {total.seconds:.1f} s"
        )

    print_result(as_json, result, show)
    finish(total.failed)
