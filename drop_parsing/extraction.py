"""Tables for a stream of passages: extracted where the cache has none, and kept there."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

from drop_parsing.data.types import Fault, Passage
from drop_parsing.errors import InputError
from extractors.extractor import Extractor, extract_together
from extractors.jobs import Failure, batched_by_cost, failure_of, run_jobs
from extractors.registry import DEFAULT_BACKEND, Backend, make_extractor, make_extractors
from extractors.store import TableStore
from extractors.table import Paragraph, Table, text_hash

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


def extractor_of(scheme: str, backend: Backend) -> Extractor:
    """The extractor that a user names. Raises InputError where there is none, or its model is not installed."""
    try:
        return make_extractor(scheme, backend)
    except ValueError as error:
        raise InputError(str(error)) from error


def open_store(cache: Path, scheme: str, backend: Backend) -> TableStore:
    """The table cache of a scheme's extractor. Raises InputError as ``extractor_of`` does."""
    extractor = extractor_of(scheme, backend)
    return TableStore(cache, extractor.scheme, extractor.name, extractor.version)


def extract_tables(
    items: Iterable[Passage | Fault],
    stores: Mapping[str, TableStore],
    backend: Backend = DEFAULT_BACKEND,
    workers: int = 0,
    cluster: str | None = None,
    progress: Progress = lambda done: None,
) -> Extraction:
    """Extract the tables that the stores, one a scheme, lack of every passage; memory does not grow with the input.

    A passage is parsed once for all schemes. Faults of the input and passages that fail are listed; the others
    are kept, part by part, so that a run that is stopped goes on where it was.
    """
    started = time.monotonic()
    done = Extraction()
    known = {scheme: store.hashes() for scheme, store in stores.items()}
    finished: dict[str, list[Table]] = {scheme: [] for scheme in stores}
    batches = batched_by_cost(_unknown(items, known, done, progress), _cost, BATCH_CHARACTERS)
    try:
        for result in run_jobs(partial(_extract, backend), batches, workers, cluster):
            progress(1)
            paragraph = result.item.paragraph
            if isinstance(result.outcome, Failure):
                done.failed.append(Failed(f"passage {paragraph.id}", result.outcome.reason))
                continue
            for scheme, table in result.outcome.items():
                if isinstance(table, Failure):
                    done.failed.append(Failed(f"passage {paragraph.id}: {scheme}", table.reason))
                    continue
                done.tables += 1
                done.rows += len(table.rows)
                finished[scheme].append(table)
                if len(finished[scheme]) == PART_TABLES:
                    stores[scheme].add(finished[scheme])
                    finished[scheme] = []
    finally:
        for scheme, tables in finished.items():
            if tables:
                stores[scheme].add(tables)
    done.seconds = time.monotonic() - started
    return done


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A paragraph with the schemes that it has no table of."""

    paragraph: Paragraph
    schemes: tuple[str, ...]


def _cost(wanted: _Wanted) -> int:
    return len(wanted.paragraph.text)


def _unknown(
    items: Iterable[Passage | Fault], known: Mapping[str, set[str]], done: Extraction, progress: Progress
) -> Iterator[_Wanted]:
    """The paragraphs to extract, each text once; the others are counted."""
    for item in items:
        if isinstance(item, Fault):
            if not item.kept:
                done.failed.append(Failed(f"{item.file}: {item.where}", item.message))
            continue
        done.passages += 1
        identity = text_hash(item.text)
        missing = tuple(scheme for scheme, hashes in known.items() if identity not in hashes)
        done.cached += len(known) - len(missing)
        if not missing:
            progress(1)
            continue
        for scheme in missing:
            known[scheme].add(identity)
        yield _Wanted(Paragraph(item.id, item.text), missing)


def _extract(backend: Backend, batch: Sequence[_Wanted]) -> list[dict[str, Table | Failure]]:
    made: list[dict[str, Table | Failure]] = []
    for wanted, group in groupby(batch, lambda wanted: wanted.schemes):
        extractors = make_extractors(wanted, backend)
        for tables in extract_together(extractors, (each.paragraph for each in group)):
            made.append({s: failure_of(t) if isinstance(t, Exception) else t for s, t in tables.items()})
    return made
