"""Tables for others, read back with the tools that others have."""

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from extractors.export import CSV_COLUMNS, export, table_to_json
from extractors.records import TABLE_SCHEMA, from_record
from extractors.store import StoreError
from extractors.table import Argument, Lost, Row, Span, Table, text_hash
from extractors.tagged import read_tagged
from extractors.values import Date, Number


def table(identity: str, *arguments: Argument) -> Table:
    row = Row(Argument("had", 5, 8, ("have",), "have"), 3, {"arg1": arguments, "arg0": ()})
    return Table(identity, text_hash(identity), "syndep", "test", "1", (row,), Lost(sentences=(1,)))


SHIPS = Argument(
    "40 ships in Hull",
    9,
    25,
    ("40", "ship", "in", "hull"),
    "ship",
    (Number(40.0, 9, 11, "ship"), Number(-2.5, 9, 11)),
    (Date(1911, 6, 3, None, 9, 11), Date(None, 8, 11, None, 9, 11), Date(-44, None, None, None, 9, 11)),
    (Span("Hull", 21, 25, "GPE"), Span("Hull", 21, 25, "")),
)
TABLES = [table("a", SHIPS), table("b"), table("c", SHIPS, replace(SHIPS, text="\ud800 or \u00e9"))]
FORMATS = ("parquet", "jsonl", "csv", "tagged")


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_parquet_has_the_schema_of_the_cache(tmp_path: Path) -> None:
    [path] = export(iter(TABLES), "parquet", tmp_path)
    assert path == tmp_path / "tables.parquet"
    read = pq.read_table(path)
    assert read.schema.equals(TABLE_SCHEMA)
    assert [from_record(row) for row in read.to_pylist()] == TABLES


def test_a_long_parquet_file_keeps_every_table_in_order(tmp_path: Path) -> None:
    [path] = export((table(f"p{i}") for i in range(150)), "parquet", tmp_path)
    assert pq.read_table(path, columns=["paragraph_id"]).column(0).to_pylist() == [
        f"p{i}" for i in range(150)
    ]


def test_json_lines_hold_everything(tmp_path: Path) -> None:
    [path] = export(TABLES, "jsonl", tmp_path)
    lines = path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [json.loads(json.dumps(asdict(t))) for t in TABLES]
    assert table_to_json(TABLES[0])["rows"][0]["arguments"]["arg1"][0]["numbers"][0] == {
        "value": 40.0,
        "start": 9,
        "end": 11,
        "unit": "ship",
        "kind": "cardinal",
    }


def test_csv_has_a_cell_a_line(tmp_path: Path) -> None:
    [path] = export(TABLES, "csv", tmp_path)
    lines = cells(path)
    assert tuple(lines[0]) == CSV_COLUMNS
    assert [(line["paragraph_id"], line["relation"]) for line in lines] == [
        *(("a", "verb"), ("a", "arg1"), ("b", "verb"), ("c", "verb"), ("c", "arg1"), ("c", "arg1")),
    ]
    assert lines[1] == {
        "paragraph_id": "a",
        "row": "0",
        "sentence": "3",
        "confidence": "1.0",
        "relation": "arg1",
        "text": "40 ships in Hull",
        "start": "9",
        "end": "25",
        "head": "ship",
        "lemmas": "40|ship|in|hull",
        "numbers": "40 ship|-2.5",
        "dates": "1911-06-03|--08-11|-0044",
        "entities": "GPE Hull|Hull",
    }
    assert lines[-1]["text"] == "? or \u00e9"


@pytest.mark.parametrize(
    ("date", "written"),
    [
        (Date(1914, 5, None, None, 0, 1), "1914-05"),
        (Date(1920, None, None, None, 0, 1), "1920"),
        (Date(None, 8, None, None, 0, 1), "'--08"),
        (Date(None, None, None, 3, 0, 1), "Q3"),
        (Date(2008, None, None, 3, 0, 1), "2008-Q3"),
        (Date(1990, None, None, None, 0, 1, 1999), "1990/1999"),
    ],
)
def test_partial_dates_stay_partial_in_csv(tmp_path: Path, date: Date, written: str) -> None:
    [path] = export([table("a", Argument("x", 0, 1, dates=(date,)))], "csv", tmp_path)
    assert cells(path)[1]["dates"] == written


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("x","y")', "\n=1"])
def test_no_cell_is_a_formula(tmp_path: Path, text: str) -> None:
    [path] = export([table(text, Argument(text, 0, len(text), (text,), text))], "csv", tmp_path)
    line = cells(path)[1]
    assert {line[name] for name in ("paragraph_id", "text", "head", "lemmas")} == {"'" + text}


def test_tagged_gives_each_paragraph_its_file(tmp_path: Path) -> None:
    twin = replace(TABLES[0], hash=text_hash("another text"))
    paths = export([*TABLES, twin], "tagged", tmp_path)
    assert [path.name for path in paths[:3]] == ["a.tagged", "b.tagged", "c.tagged"]
    assert len({*paths}) == 4
    assert [read_tagged(path)[0].rows[0].predicate.text for path in paths] == ["had"] * 4


@pytest.mark.parametrize("format", FORMATS)
def test_same_tables_same_bytes(tmp_path: Path, format: str) -> None:
    one = export(TABLES, format, tmp_path / "one")
    two = export(iter(TABLES), format, tmp_path / "two")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@pytest.mark.parametrize("format", FORMATS)
def test_no_tables_are_no_error(tmp_path: Path, format: str) -> None:
    paths = export([], format, tmp_path)
    assert len(paths) == (0 if format == "tagged" else 1)
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, format: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Cannot write .*file"):
        export(TABLES, format, tmp_path / "file")


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_a_failure_under_way_leaves_the_old_file(tmp_path: Path, format: str) -> None:
    [path] = export(TABLES, format, tmp_path)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        export((table(str(1 // (2 - i))) for i in range(5)), format, tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'xml': choose one of parquet, jsonl, csv, tagged"):
        export(TABLES, "xml", tmp_path)
