"""Tables for a stream of passages: extracted where the cache has none, and kept there."""

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter

from drop_parsing.data.types import Fault, Passage
from drop_parsing.errors import InputError
from extractors.extractor import Extractor, extract_together
from extractors.jobs import Failure, Result, batched_by_cost, failure_of, keep_groups
from extractors.registry import DEFAULT_BACKEND, Backend, make_extractor, make_extractors
from extractors.remote import Place
from extractors.store import TableStore
from extractors.table import Paragraph, Table, text_hash

#: Characters in a batch that one worker takes at a time, and what each paragraph counts for at least.
BATCH_CHARACTERS = 50_000
LEAST_CHARACTERS = 100
#: Tables, and characters of their paragraphs, in a part of the cache: what a crash can lose.
PART_TABLES = 256
PART_CHARACTERS = 400_000

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


def open_store(cache: Place, scheme: str, backend: Backend) -> TableStore:
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
    part_tables: int = PART_TABLES,
) -> Extraction:
    """Extract the tables that the stores, one a scheme, lack of every passage; memory does not grow with the input.

    A passage is parsed once for all schemes. Faults of the input and passages that fail are listed; the others
    are kept, part by part. What makes a part depends on the input alone: a run that was stopped, by whatever,
    and started again leaves the very parts of one that was not. Where the input cannot be read to its end,
    what came before is kept and the exception raised then.
    """
    started = time.monotonic()
    job = _Job(stores, progress)
    reading = _Reading(items)
    least = PART_CHARACTERS // part_tables
    groups = batched_by_cost(
        job.passages(reading), lambda placed: max(len(placed[1].text), least), PART_CHARACTERS
    )
    keep_groups(job, partial(_extract, backend), groups, _cost, BATCH_CHARACTERS, workers, cluster, progress)
    if reading.stopped is not None:
        raise reading.stopped
    job.done.failed = [failed for _, failed in sorted(job.failed, key=itemgetter(0))]
    job.done.seconds = time.monotonic() - started
    return job.done


@contextmanager
def ordered_tables(
    items: Iterable[Passage | Fault],
    scheme: str,
    store: TableStore,
    backend: Backend = DEFAULT_BACKEND,
    workers: int = 0,
    cluster: str | None = None,
    progress: Progress = lambda done: None,
) -> Iterator[tuple[Extraction, Iterator[Table]]]:
    """Extract what the store lacks; then every table that there is, in the order of the passages and under their
    ids, for as long as the block lasts."""
    with tempfile.TemporaryFile("w+", encoding="ascii") as spool:

        def noted() -> Iterator[Passage | Fault]:
            for item in items:
                if isinstance(item, Passage):
                    spool.write(json.dumps([item.id, text_hash(item.text)]) + "\n")
                yield item

        done = extract_tables(noted(), {scheme: store}, backend, workers, cluster, progress)
        spool.seek(0)
        yield done, _stored(map(json.loads, spool), store)


def _stored(wanted: Iterator[tuple[str, str]], store: TableStore) -> Iterator[Table]:
    while some := list(islice(wanted, PART_TABLES)):
        tables = store.get_many(identity for _, identity in some)
        for id, identity in some:
            if identity in tables:
                yield replace(tables[identity], paragraph_id=id)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A paragraph, ``place`` in the input, with the schemes that it has no table of."""

    place: int
    paragraph: Paragraph
    schemes: tuple[str, ...]


def _cost(wanted: _Wanted) -> int:
    return max(len(wanted.paragraph.text), LEAST_CHARACTERS)


@dataclass(slots=True)
class _Reading:
    """The items up to their end, or up to the exception that ``stopped`` them."""

    items: Iterable[Passage | Fault]
    stopped: Exception | None = None

    def __iter__(self) -> Iterator[Passage | Fault]:
        try:
            yield from self.items
        except Exception as error:
            self.stopped = error


@dataclass(frozen=True, slots=True)
class _Job:
    """The tables to make and what was made.

    ``claimed`` are the (scheme, text hash) under way or failed, ``failed`` come with their place in the input.
    """

    stores: Mapping[str, TableStore]
    progress: Progress
    done: Extraction = field(default_factory=Extraction)
    claimed: set[tuple[str, str]] = field(default_factory=set)
    failed: list[tuple[int, Failed]] = field(default_factory=list)

    def passages(self, items: Iterable[Passage | Fault]) -> Iterator[tuple[int, Passage]]:
        """The passages with their places; faults are listed."""
        for place, item in enumerate(items):
            if isinstance(item, Passage):
                self.done.passages += 1
                yield place, item
            elif not item.kept:
                self.failed.append((place, Failed(f"{item.file}: {item.where}", item.message)))

    def unknown(self, group: Sequence[tuple[int, Passage]]) -> list[_Wanted]:
        """What there is no table of yet, each text once; the rest is counted."""
        hashes = [text_hash(passage.text) for _, passage in group]
        missing = {scheme: store.missing(hashes) for scheme, store in self.stores.items()}
        wanted = []
        for (place, passage), identity in zip(group, hashes, strict=True):
            schemes = tuple(
                scheme
                for scheme, lacking in missing.items()
                if identity in lacking and (scheme, identity) not in self.claimed
            )
            self.done.cached += len(self.stores) - len(schemes)
            self.claimed.update((scheme, identity) for scheme in schemes)
            if schemes:
                wanted.append(_Wanted(place, Paragraph(passage.id, passage.text), schemes))
        self.progress(len(group) - len(wanted))
        return wanted

    def keep(self, results: Sequence[Result[_Wanted, dict[str, Table | Failure]]]) -> None:
        """Write the tables of one group, a part for each scheme."""
        made: dict[str, list[Table]] = {scheme: [] for scheme in self.stores}
        for result in results:
            item = f"passage {result.item.paragraph.id}"
            if isinstance(result.outcome, Failure):
                self.failed.append((result.item.place, Failed(item, result.outcome.reason)))
                continue
            for scheme, table in result.outcome.items():
                if isinstance(table, Failure):
                    self.failed.append((result.item.place, Failed(f"{item}: {scheme}", table.reason)))
                else:
                    made[scheme].append(table)
        for scheme, tables in made.items():
            if tables:
                self.stores[scheme].add(tables)
                self.claimed.difference_update((scheme, table.hash) for table in tables)
                self.done.tables += len(tables)
                self.done.rows += sum(len(table.rows) for table in tables)


def _extract(backend: Backend, batch: Sequence[_Wanted]) -> list[dict[str, Table | Failure]]:
    made: list[dict[str, Table | Failure]] = []
    for wanted, group in groupby(batch, lambda wanted: wanted.schemes):
        extractors = make_extractors(wanted, backend)
        for tables in extract_together(extractors, (each.paragraph for each in group)):
            made.append({s: failure_of(t) if isinstance(t, Exception) else t for s, t in tables.items()})
    return made
