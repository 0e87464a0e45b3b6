"""The table cache: content-addressed Parquet parts, written atomically, found again by key.

A part is named by the hash of its own bytes. So the same rows give the same name, a part that was cut off or
changed no longer agrees with its name, and two processes may write to one folder without a lock.
"""

import hashlib
import itertools
import logging
import os
import re
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from extractors.key_index import KeyIndex
from extractors.records import TABLE_SCHEMA, from_record, to_record
from extractors.remote import Place
from extractors.table import Table

logger = logging.getLogger(__name__)

#: Rows that Parquet compresses and reads together.
ROW_GROUP = 64
#: A temporary file this old (seconds) has no living writer.
STALE = 3600.0

_PART = re.compile(r"part-([0-9a-f]{32})\.parquet")


class StoreError(ValueError):
    """A file or folder could not be read or written: one sentence with the path and the remedy."""


@contextmanager
def atomic_file(path: Place) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` whole, when the block ends, or not at all.

    Raises:
        StoreError: the file cannot be written; nothing is left behind.
    """
    try:
        if isinstance(path, Path):
            with _renamed(path) as file:
                yield file
        else:
            with tempfile.TemporaryDirectory() as folder:
                local = Path(folder) / "file"
                with local.open("xb") as file:
                    yield file
                path.upload(local)
    except OSError as error:
        raise StoreError(
            f"Cannot write {path} ({error.strerror or error}): check its permissions and the free space, "
            "or choose another folder."
        ) from error


@contextmanager
def _renamed(path: Path) -> Iterator[BinaryIO]:
    """A temporary file beside ``path`` that is renamed to it at the end."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


class PartStore:
    """A folder of ``part-*.parquet`` files with one schema; rows are found by the string column ``key``.

    Rows are plain Python values as Arrow takes them; strings must be UTF-8 encodable (see ``records.escape``).
    One ``add`` makes one part, which is what a crash can lose and what a look-up reads: some hundred rows are
    a good size. A part that is damaged or has another schema is logged, renamed to ``*.damaged`` and listed
    in ``damaged``; its keys are then missing. Any method raises ``StoreError`` where the folder fails.
    Memory is bounded whatever the number of rows, but for ``keys``.
    """

    def __init__(self, folder: Place, schema: pa.Schema, key: str) -> None:
        self.folder = folder
        self.schema = schema
        self.key = key
        self.damaged: list[Place] = []
        self._index = KeyIndex()
        #: The parts in the index by their number there, their numbers, and the names of those not to be used.
        self._parts: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._unusable: set[str] = set()
        self._count = itertools.count()

    def keys(self) -> set[str]:
        """Every key in the folder now. Each part is checked, but of its columns only the key is decoded."""
        self._refresh()
        return set(self._index)

    def missing(self, keys: Iterable[str]) -> set[str]:
        """Those of ``keys`` that are not in the folder now."""
        self._refresh()
        wanted = set(keys)
        return wanted.difference(self._index.places(wanted))

    def get_many(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The rows under ``keys``, without those that are not there. Each part is read at most once."""
        wanted = set(keys)
        found = self._find(wanted)
        if len(found) < len(wanted):
            self._refresh()
            found |= self._find(wanted.difference(found))
        return found

    def iter(self) -> Iterator[dict[str, Any]]:
        """Every row once, part by part in order of name, inside a part in order of key."""
        self._refresh()
        for _, number in sorted(self._numbers.items()):
            for rows in self._groups(number):
                places = self._index.places(row[self.key] for row in rows)
                for row in rows:
                    copies = places.get(row[self.key], ())
                    if number == min(copies, key=self._parts.__getitem__, default=None):
                        yield row

    def add(self, rows: Iterable[Mapping[str, Any]]) -> Place:
        """Write ``rows`` as one part and return its path. Of rows with the same key the first is kept."""
        unique: dict[str, Mapping[str, Any]] = {}
        for row in rows:
            unique.setdefault(row[self.key], row)
        sink = pa.BufferOutputStream()
        with parquet_writer(sink, self.schema) as writer:
            ordered = [unique[key] for key in sorted(unique)]
            writer.write_table(pa.Table.from_pylist(ordered, schema=self.schema), row_group_size=ROW_GROUP)
        data = sink.getvalue()
        path = self.folder / f"part-{_digest(data)}.parquet"
        with atomic_file(path) as file:
            file.write(data)
        self._note(path.name, unique)
        self._remove_stale()
        return path

    def _find(self, wanted: set[str]) -> dict[str, dict[str, Any]]:
        """The rows under ``wanted`` in the parts of the index. A part that is found unusable leaves the index,
        and a copy of its row in another part takes its place."""
        found: dict[str, dict[str, Any]] = {}
        while places := self._index.places(wanted.difference(found)):
            by_part: dict[int, set[str]] = {}
            for key, copies in places.items():
                by_part.setdefault(copies[0], set()).add(key)
            for number, keys in by_part.items():
                for rows in self._groups(number, keys):
                    found |= {row[self.key]: row for row in rows}
        return found

    def _refresh(self) -> None:
        """Bring the index up to date with the folder.

        Nothing here reads with Arrow's threads: one that frees a buffer while the interpreter ends aborts it.
        """
        names = {name for name in self._names() if _PART.fullmatch(name)}
        for gone in self._numbers.keys() - names:
            self._forget(self._numbers[gone])
        for name in sorted(names.difference(self._numbers, self._unusable)):
            with self._opened(name) as part:
                if part is not None:
                    self._note(name, part.read(columns=[self.key], use_threads=False).column(0).to_pylist())

    def _note(self, name: str, keys: Iterable[str]) -> None:
        if name not in self._numbers:
            number = self._numbers[name] = next(self._count)
            self._parts[number] = name
            self._index.add(keys, number)

    def _forget(self, number: int) -> None:
        del self._numbers[self._parts.pop(number)]
        self._index.remove(number)

    def _groups(self, number: int, keys: set[str] | None = None) -> Iterator[list[dict[str, Any]]]:
        """The rows of one part, or those under ``keys``, row group by row group. A part that has gone or is
        found damaged is forgotten and has none."""
        with self._opened(self._parts[number]) as part:
            if part is None:
                self._forget(number)
                return
            for group in range(part.num_row_groups):
                if keys is None:
                    yield part.read_row_group(group, use_threads=False).to_pylist()
                    continue
                present = (
                    part.read_row_group(group, columns=[self.key], use_threads=False).column(0).to_pylist()
                )
                wanted = [i for i, key in enumerate(present) if key in keys]
                if wanted:
                    yield part.read_row_group(group, use_threads=False).take(wanted).to_pylist()

    @contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        """The checked ``ParquetFile`` of that name; ``None`` where it has gone or is set aside as damaged."""
        path = self.folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        problem = _problem(name, data, self.schema)
        if problem is None:
            with pq.ParquetFile(pa.BufferReader(data)) as part:
                yield part
        else:
            self._set_aside(path, problem)
            yield None

    def _set_aside(self, path: Place, problem: str) -> None:
        aside = path.with_name(path.name + ".damaged")
        logger.warning("%s is damaged (%s): set aside as %s, to be made again", path, problem, aside.name)
        try:
            path.rename(aside)  # type: ignore[arg-type]  # of the same kind
        except OSError:  # a folder that is read-only, or another process that was quicker
            self._unusable.add(path.name)
        self.damaged.append(aside)

    def _names(self) -> list[str]:
        try:
            return [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unreadable(self.folder, error) from error

    def _remove_stale(self) -> None:
        """Remove what writers that were killed left behind."""
        if not isinstance(self.folder, Path):
            return
        oldest = time.time() - STALE
        for temporary in self.folder.glob(".part-*.tmp"):
            with suppress(OSError):
                if temporary.stat().st_mtime < oldest:
                    temporary.unlink()


def parquet_writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """The writer of every Parquet file here: the same rows give the same bytes."""
    return pq.ParquetWriter(sink, schema, compression="zstd")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _problem(name: str, data: bytes, schema: pa.Schema) -> str | None:
    if _digest(data) not in name:
        return "its bytes do not agree with its name"
    try:
        found = pq.read_schema(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        return f"not Parquet: {error}"
    return None if found.equals(schema) else "another schema"


def _unreadable(path: Place, error: OSError) -> StoreError:
    return StoreError(
        f"Cannot read {path} ({error.strerror or error}): check its permissions, or choose another folder."
    )


class TableStore:
    """The tables of one extractor under ``root/tables/<scheme>-<extractor>-<version>``, by paragraph hash.

    One text may occur under several paragraph ids: it is kept once, under the id of its first extraction.

    Raises:
        ValueError: a name that cannot be part of a folder's name.
    """

    def __init__(self, root: Place, scheme: str, extractor: str, version: str) -> None:
        name = f"{scheme}-{extractor}-{version}"
        if not re.fullmatch(r"[\w.+-]+", name, re.ASCII):
            raise ValueError(
                f"The cache folder name {name!r} holds other characters than letters, digits and '._+-': "
                "rename the scheme, extractor or version."
            )
        self._identity = (scheme, extractor, version)
        self._parts = PartStore(root / "tables" / name, TABLE_SCHEMA, "hash")

    @property
    def folder(self) -> Place:
        return self._parts.folder

    @property
    def damaged(self) -> list[Place]:
        """Parts set aside so far, under the names they have now."""
        return self._parts.damaged

    def hashes(self) -> set[str]:
        """Paragraph hashes whose tables are here."""
        return self._parts.keys()

    def missing(self, hashes: Iterable[str]) -> set[str]:
        """Those paragraph hashes whose tables are not here."""
        return self._parts.missing(hashes)

    def get(self, hash: str, paragraph_id: str | None = None) -> Table | None:
        """The table of the paragraph with this hash, under ``paragraph_id`` if given; ``None`` if missing."""
        table = self.get_many([hash]).get(hash)
        return replace(table, paragraph_id=paragraph_id) if table and paragraph_id is not None else table

    def get_many(self, hashes: Iterable[str]) -> dict[str, Table]:
        """Hash -> table, without those missing. Much quicker than as many ``get``."""
        return {hash: from_record(row) for hash, row in self._parts.get_many(hashes).items()}

    def iter(self) -> Iterator[Table]:
        """Every table once, in an order that depends on the content of the parts alone."""
        return map(from_record, self._parts.iter())

    def add(self, tables: Iterable[Table]) -> Place:
        """Write the tables as one part.

        Raises:
            StoreError: a table of another extractor; the part cannot be written, and nothing of it is left.
        """
        return self._parts.add(self._checked(table) for table in tables)

    def _checked(self, table: Table) -> dict[str, Any]:
        if (table.scheme, table.extractor, table.version) != self._identity:
            raise StoreError(
                f"The table of paragraph {table.paragraph_id!r} is by {table.scheme}-{table.extractor}-"
                f"{table.version}: it does not belong in {self.folder}; install the same versions on all workers."
            )
        return to_record(table)
