"""Tables for others: Parquet, JSON lines, CSV, and the original baseline's ``.tagged``.

Every file appears whole or not at all, and the same tables in the same order give the same bytes.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from extractors.records import TABLE_SCHEMA, to_record
from extractors.remote import Place
from extractors.store import ROW_GROUP, atomic_file, parquet_writer
from extractors.table import Argument, Table
from extractors.tagged import write_tagged
from extractors.values import Date, Number

CSV_COLUMNS = (
    *("paragraph_id", "row", "sentence", "confidence", "relation", "text", "start", "end"),
    *("head", "lemmas", "numbers", "dates", "entities"),
)


def export(tables: Iterable[Table], format: str, out: Place) -> list[Place]:
    """Write ``tables`` into the folder ``out`` and return the files written.

    - ``parquet``: ``tables.parquet``, the schema of the table cache (``extractors.records.TABLE_SCHEMA``).
    - ``jsonl``: ``tables.jsonl``, a ``table_to_json`` a line. Lossless.
    - ``csv``: ``tables.csv``, a cell a line, the predicate's under the relation ``verb``. Several lemmas,
      numbers, dates or entities are joined by ``|``: ``9 m|40 ship``, ``1911-06-03|1914-05``, ``GPE Hull``.
      A year alone is ``1920``, a day without a year ``--08-11``, a quarter ``Q3``, a range ``1990/1999``.
      A field that begins with ``= + - @``, a tab or a line end gets a ``'`` before it, so that no spreadsheet
      runs it as a formula. Lone surrogates become ``?``.
    - ``tagged``: one file a paragraph (``extractors.tagged``).

    Raises:
        ValueError: an unknown format.
        StoreError: a file cannot be written.
    """
    if format not in _WRITERS:
        raise ValueError(f"Unknown export format {format!r}: choose one of {', '.join(_WRITERS)}.")
    return _WRITERS[format](tables, out)


def table_to_json(table: Table) -> dict[str, Any]:
    """The dataclasses of ``table`` as nested dictionaries and lists that ``json`` takes."""
    return {name: _plain(value) for name, value in _items(table)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if is_dataclass(value):
        return {name: _plain(item) for name, item in _items(value)}
    return value


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    return ((field.name, getattr(value, field.name)) for field in fields(value))


def _write_parquet(tables: Iterable[Table], out: Place) -> list[Place]:
    path = out / "tables.parquet"
    rest = iter(tables)
    with atomic_file(path) as file, parquet_writer(file, TABLE_SCHEMA) as writer:
        while group := [to_record(table) for table in islice(rest, ROW_GROUP)]:
            writer.write_table(pa.Table.from_pylist(group, schema=TABLE_SCHEMA))
    return [path]


def _write_jsonl(tables: Iterable[Table], out: Place) -> list[Place]:
    path = out / "tables.jsonl"
    with atomic_file(path) as file:
        for table in tables:
            # In ASCII, because a lone surrogate has no UTF-8.
            file.write(json.dumps(table_to_json(table)).encode("ascii") + b"\n")
    return [path]


def _write_csv(tables: Iterable[Table], out: Place) -> list[Place]:
    path = out / "tables.csv"
    with atomic_file(path) as file:
        text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for table in tables:
            for number, row in enumerate(table.rows):
                for relation, cell in row.cells():
                    place = (table.paragraph_id, number, row.sentence, row.confidence, relation)
                    writer.writerow(map(_defused, (*place, *_csv_cell(cell))))
        text.detach()
    return [path]


def _csv_cell(cell: Argument) -> tuple[str | int, ...]:
    return (
        cell.text,
        cell.start,
        cell.end,
        cell.head,
        "|".join(cell.lemmas),
        "|".join(map(_number, cell.numbers)),
        "|".join(map(_date, cell.dates)),
        "|".join(f"{entity.label} {entity.text}".strip() for entity in cell.entities),
    )


def _number(number: Number) -> str:
    value = f"{number.value:.15g}"
    return value if number.unit is None else f"{value} {number.unit}"


def _date(date: Date) -> str:
    year = "" if date.year is None else _year(date.year)
    if date.quarter is not None:
        return f"{year}-Q{date.quarter}".removeprefix("-")
    if date.last_year is not None:
        return f"{year}/{_year(date.last_year)}"
    month = "" if date.month is None else f"{date.month:02d}"
    day = "" if date.day is None else f"{date.day:02d}"
    return f"{year or '-'}-{month or '-'}-{day}".rstrip("-") if month or day else year


def _year(year: int) -> str:
    return f"{year:04d}" if year >= 0 else f"-{-year:04d}"


def _defused(field: str | float) -> str | float:
    return (
        f"'{field}"
        if isinstance(field, str) and field.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        else field
    )


def _write_tagged(tables: Iterable[Table], out: Place) -> list[Place]:
    paths: dict[Place, None] = {}
    ids: set[str] = set()
    for table in tables:
        if table.paragraph_id in ids:
            table = replace(table, paragraph_id=f"{table.paragraph_id}-{table.hash[:8]}")
        ids.add(table.paragraph_id)
        paths[write_tagged(table, out)] = None
    return list(paths)


_WRITERS: dict[str, Callable[[Iterable[Table], Place], list[Place]]] = {
    "parquet": _write_parquet,
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "tagged": _write_tagged,
}

#: The formats of :func:`export`.
FORMATS = tuple(_WRITERS)
