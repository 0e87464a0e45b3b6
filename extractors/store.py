"""The table cache: content-addressed Parquet parts, written atomically, found again by key.

A part is named by the hash of its own bytes. So the same rows give the same name, a part that was cut off or
changed no longer agrees with its name, and two processes may write to one folder without a lock.
"""

import hashlib
import logging
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from extractors.table import Argument, Lost, Row, Span, Table
from extractors.values import Date, Number

logger = logging.getLogger(__name__)

#: Rows that Parquet compresses and reads together.
ROW_GROUP = 64
#: A temporary file this old (seconds) has no living writer.
STALE = 3600.0

_PART = re.compile(r"part-([0-9a-f]{32})\.parquet")


class StoreError(ValueError):
    """A file or folder could not be read or written: one sentence with the path and the remedy."""


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` whole, when the block ends, or not at all.

    Raises:
        StoreError: the file cannot be written; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise StoreError(
                f"Cannot write {path} ({error.strerror or error}): check its permissions and the free space, "
                "or choose another folder."
            ) from error
        raise


class PartStore:
    """A folder of ``part-*.parquet`` files with one schema; rows are found by the string column ``key``.

    Rows are plain Python values as Arrow takes them; strings must be UTF-8 encodable (see ``escape``).
    One ``add`` makes one part, which is what a crash can lose and what a look-up reads: some hundred rows are
    a good size. A part that is damaged or has another schema is logged, renamed to ``*.damaged`` and listed
    in ``damaged``; its keys are then missing. Any method raises ``StoreError`` where the folder fails.
    """

    def __init__(self, folder: Path, schema: pa.Schema, key: str) -> None:
        self.folder = folder
        self.schema = schema
        self.key = key
        self.damaged: list[Path] = []
        self._keys: dict[Path, list[str]] = {}

    def keys(self) -> set[str]:
        """Every key in the folder now. Each part is checked, but of its columns only the key is decoded."""
        self._index()
        return {key for keys in self._keys.values() for key in keys}

    def get_many(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The rows under ``keys``, without those that are not there. Each part is read at most once."""
        wanted = set(keys)
        self._index()
        found: dict[str, dict[str, Any]] = {}
        for path, present in sorted(self._keys.items()):
            here = wanted.difference(found).intersection(present)
            if here:
                found |= {row[self.key]: row for row in self._rows(path, here)}
        return found

    def iter(self) -> Iterator[dict[str, Any]]:
        """Every row once, part by part in order of name, inside a part in order of key."""
        self._index()
        seen: set[str] = set()
        for path, present in sorted(self._keys.items()):
            fresh = set(present) - seen
            for row in self._rows(path, fresh):
                seen.add(row[self.key])
                yield row

    def add(self, rows: Iterable[Mapping[str, Any]]) -> Path:
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
        self._keys[path] = sorted(unique)
        self._remove_stale()
        return path

    def _index(self) -> None:
        """Bring the keys of each part up to date with the folder."""
        paths = {self.folder / name for name in self._names() if _PART.fullmatch(name)}
        for path in self._keys.keys() - paths:
            del self._keys[path]
        for path in sorted(paths - self._keys.keys()):
            with self._opened(path) as part:
                if part is not None:
                    self._keys[path] = part.read(columns=[self.key]).column(0).to_pylist()

    def _rows(self, path: Path, keys: set[str]) -> list[dict[str, Any]]:
        """The rows of one part under ``keys``: empty where the part has gone or is found damaged."""
        rows: list[dict[str, Any]] = []
        first = 0
        with self._opened(path) as part:
            for group in range(part.num_row_groups if part is not None else 0):
                last = first + part.metadata.row_group(group).num_rows
                wanted = [i for i, key in enumerate(self._keys[path][first:last]) if key in keys]
                if wanted:
                    rows += part.read_row_group(group).take(wanted).to_pylist()
                first = last
        return rows

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Any]:
        """The checked ``ParquetFile`` at ``path``; ``None`` where it has gone or is set aside as damaged."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        problem = _problem(path, data, self.schema)
        if problem is None:
            with pq.ParquetFile(pa.BufferReader(data)) as part:
                yield part
        else:
            self._set_aside(path, problem)
            yield None

    def _set_aside(self, path: Path, problem: str) -> None:
        aside = path.with_name(path.name + ".damaged")
        logger.warning("%s is damaged (%s): set aside as %s, to be made again", path, problem, aside.name)
        try:
            path.rename(aside)
        except OSError:  # a folder that is read-only, or another process that was quicker
            self._keys[path] = []
        self.damaged.append(aside)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unreadable(self.folder, error) from error

    def _remove_stale(self) -> None:
        """Remove what writers that were killed left behind."""
        oldest = time.time() - STALE
        for name in self._names():
            temporary = self.folder / name
            if name.startswith(".part-") and name.endswith(".tmp"):
                with suppress(OSError):
                    if temporary.stat().st_mtime < oldest:
                        temporary.unlink()


def parquet_writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """The writer of every Parquet file here: the same rows give the same bytes."""
    return pq.ParquetWriter(sink, schema, compression="zstd")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _problem(path: Path, data: bytes, schema: pa.Schema) -> str | None:
    if _digest(data) not in path.name:
        return "its bytes do not agree with its name"
    try:
        found = pq.read_schema(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        return f"not Parquet: {error}"
    return None if found.equals(schema) else "another schema"


def _unreadable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"Cannot read {path} ({error.strerror or error}): check its permissions, or choose another folder."
    )


_NUMBER = pa.struct(
    [
        ("value", pa.float64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("unit", pa.string()),
        ("kind", pa.string()),
    ]
)
_DATE = pa.struct(
    [(name, pa.int64()) for name in ("year", "month", "day", "quarter", "start", "end", "last_year")]
)
_SPAN = pa.struct([("text", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("label", pa.string())])
_ARGUMENT = pa.struct(
    [
        ("text", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("lemmas", pa.list_(pa.string())),
        ("head", pa.string()),
        ("numbers", pa.list_(_NUMBER)),
        ("dates", pa.list_(_DATE)),
        ("entities", pa.list_(_SPAN)),
        ("phrases", pa.list_(_SPAN)),
    ]
)
_ROW = pa.struct(
    [
        ("predicate", _ARGUMENT),
        ("sentence", pa.int64()),
        ("arguments", pa.map_(pa.string(), pa.list_(_ARGUMENT))),
        ("confidence", pa.float64()),
    ]
)
_LOST = pa.struct(
    [("sentences", pa.list_(pa.int64())), ("numbers", pa.list_(_NUMBER)), ("dates", pa.list_(_DATE))]
)

#: ``Table`` in Arrow: the fields of the dataclasses in their order, a row's arguments as a map in row order.
TABLE_SCHEMA = pa.schema(
    [
        ("paragraph_id", pa.string()),
        ("hash", pa.string()),
        ("scheme", pa.string()),
        ("extractor", pa.string()),
        ("version", pa.string()),
        ("rows", pa.list_(_ROW)),
        ("lost", _LOST),
    ]
)


class TableStore:
    """The tables of one extractor under ``root/tables/<scheme>-<extractor>-<version>``, by paragraph hash.

    One text may occur under several paragraph ids: it is kept once, under the id of its first extraction.

    Raises:
        ValueError: a name that cannot be part of a folder's name.
    """

    def __init__(self, root: Path, scheme: str, extractor: str, version: str) -> None:
        name = f"{scheme}-{extractor}-{version}"
        if not re.fullmatch(r"[\w.+-]+", name, re.ASCII):
            raise ValueError(
                f"The cache folder name {name!r} holds other characters than letters, digits and '._+-': "
                "rename the scheme, extractor or version."
            )
        self._identity = (scheme, extractor, version)
        self._parts = PartStore(root / "tables" / name, TABLE_SCHEMA, "hash")

    @property
    def folder(self) -> Path:
        return self._parts.folder

    @property
    def damaged(self) -> list[Path]:
        """Parts set aside so far, under the names they have now."""
        return self._parts.damaged

    def hashes(self) -> set[str]:
        """Paragraph hashes whose tables are here."""
        return self._parts.keys()

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

    def add(self, tables: Iterable[Table]) -> Path:
        """Write the tables as one part.

        Raises:
            ValueError: a table of another extractor.
            StoreError: the part cannot be written; nothing of it is left.
        """
        return self._parts.add(self._checked(table) for table in tables)

    def _checked(self, table: Table) -> dict[str, Any]:
        if (table.scheme, table.extractor, table.version) != self._identity:
            raise ValueError(
                f"The table of paragraph {table.paragraph_id!r} is by {table.scheme}-{table.extractor}-"
                f"{table.version}: it does not belong in {self.folder}."
            )
        return to_record(table)


_ESCAPED = re.compile("[\ud800-\udfff\ufdd0]")
_ESCAPE = re.compile("\ufdd0([0-9a-f]{4})")


def escape(text: str) -> str:
    """``text`` as valid UTF-8: a lone surrogate, or U+FDD0 itself, becomes U+FDD0 and four hex digits."""
    return _ESCAPED.sub(lambda match: f"\ufdd0{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """The inverse of ``escape``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\ufdd0" in text else text


def to_record(table: Table) -> dict[str, Any]:
    """``table`` as a row of ``TABLE_SCHEMA``."""
    return {name: _plain(getattr(table, name)) for name in TABLE_SCHEMA.names}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [(escape(name), _plain(item)) for name, item in value.items()]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def from_record(row: Mapping[str, Any]) -> Table:
    """The inverse of ``to_record``, from a row as Arrow gives it back."""
    lost = row["lost"]
    return Table(
        unescape(row["paragraph_id"]),
        row["hash"],
        row["scheme"],
        row["extractor"],
        row["version"],
        tuple(map(_row, row["rows"])),
        Lost(tuple(lost["sentences"]), _numbers(lost["numbers"]), _dates(lost["dates"])),
    )


def _row(row: Mapping[str, Any]) -> Row:
    arguments = {unescape(name): tuple(map(_argument, cell)) for name, cell in row["arguments"]}
    return Row(_argument(row["predicate"]), row["sentence"], arguments, row["confidence"])


def _argument(value: Mapping[str, Any]) -> Argument:
    return Argument(
        unescape(value["text"]),
        value["start"],
        value["end"],
        tuple(map(unescape, value["lemmas"])),
        unescape(value["head"]),
        _numbers(value["numbers"]),
        _dates(value["dates"]),
        _spans(value["entities"]),
        _spans(value["phrases"]),
    )


def _numbers(values: list[dict[str, Any]]) -> tuple[Number, ...]:
    return tuple(
        Number(
            value["value"],
            value["start"],
            value["end"],
            None if value["unit"] is None else unescape(value["unit"]),
            value["kind"],
        )
        for value in values
    )


def _dates(values: list[dict[str, Any]]) -> tuple[Date, ...]:
    return tuple(Date(**value) for value in values)


def _spans(values: list[dict[str, Any]]) -> tuple[Span, ...]:
    return tuple(
        Span(unescape(value["text"]), value["start"], value["end"], unescape(value["label"]))
        for value in values
    )
