"""Tables for a stream of passages: extracted where the cache has none, and kept there."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from drop_parsing.data.types import Fault, Passage
from drop_parsing.errors import InputError
from extractors.jobs import Failure, batched_by_cost, run_jobs
from extractors.registry import make_extractor
from extractors.store import TableStore
from extractors.table import Extractor, Paragraph, Table, text_hash

#: Characters in a batch that one worker takes at a time.
BATCH_CHARACTERS = 50_000
#: Tables in a part of the cache: what a crash can lose.
PART_TABLES = 256

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Failed:
    """An item that has no result: ``item`` says which, ``reason`` why."""

    item: str
    reason: str


@dataclass(slots=True)
class Extraction:
    """What an extraction did. ``tables`` and ``rows`` count what was made now, ``cached`` what was there."""

    passages: int = 0
    tables: int = 0
    rows: int = 0
    cached: int = 0
    failed: list[Failed] = field(default_factory=list)
    seconds: float = 0.0


def extractor_of(scheme: str, backend: str | None) -> Extractor:
    """The extractor that a user names. Raises InputError where there is none, or its model is not installed."""
    try:
        return make_extractor(scheme, backend)
    except ValueError as error:
        raise InputError(str(error)) from error


def open_store(cache: Path, scheme: str, backend: str | None) -> TableStore:
    """The table cache of a scheme's extractor. Raises InputError as ``extractor_of`` does."""
    extractor = extractor_of(scheme, backend)
    return TableStore(cache, extractor.scheme, extractor.name, extractor.version)


def extract_tables(
    items: Iterable[Passage | Fault],
    store: TableStore,
    scheme: str,
    backend: str | None = None,
    workers: int = 0,
    cluster: str | None = None,
    progress: Progress = lambda done: None,
) -> Extraction:
    """Extract a table for every passage whose text the store does not know; memory does not grow with the input.

    Faults of the input and passages that fail are listed; the others are kept, part by part, so that a run
    that is stopped goes on where it was.
    """
    started = time.monotonic()
    done = Extraction()
    known = store.hashes()
    finished: list[Table] = []
    batches = batched_by_cost(_unknown(items, known, done, progress), lambda p: len(p.text), BATCH_CHARACTERS)
    try:
        for result in run_jobs(partial(_extract, scheme, backend), batches, workers, cluster):
            progress(1)
            if isinstance(result.outcome, Failure):
                done.failed.append(Failed(f"passage {result.item.id}", result.outcome.reason))
                continue
            done.tables += 1
            done.rows += len(result.outcome.rows)
            finished.append(result.outcome)
            if len(finished) == PART_TABLES:
                store.add(finished)
                finished = []
    finally:
        if finished:
            store.add(finished)
    done.seconds = time.monotonic() - started
    return done


def _unknown(
    items: Iterable[Passage | Fault], known: set[str], done: Extraction, progress: Progress
) -> Iterator[Paragraph]:
    """The paragraphs to extract, each text once; the others are counted."""
    for item in items:
        if isinstance(item, Fault):
            if not item.kept:
                done.failed.append(Failed(f"{item.file}: {item.where}", item.message))
            continue
        done.passages += 1
        identity = text_hash(item.text)
        if identity in known:
            done.cached += 1
            progress(1)
            continue
        known.add(identity)
        yield Paragraph(item.id, item.text)


def _extract(scheme: str, backend: str | None, paragraphs: Sequence[Paragraph]) -> list[Table | Failure]:
    return list(make_extractor(scheme, backend).pipe(iter(paragraphs)))
