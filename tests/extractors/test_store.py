"""The table cache: nothing lost, nothing half written, damage noticed."""

import errno
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.records import TABLE_SCHEMA, escape, from_record, to_record, unescape
from extractors.store import PartStore, StoreError, TableStore, atomic_file
from extractors.table import Argument, Lost, Row, Span, Table, text_hash
from extractors.values import Date, Number

# Any text at all, lone surrogates and the escape character among it.
TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from("\ud800\udfff\ufdd0|a"), max_size=6)
INTEGER = st.integers(-(2**40), 2**40)
OPTIONAL = st.none() | INTEGER
NUMBER = st.builds(
    Number,
    st.floats(allow_nan=False),
    INTEGER,
    INTEGER,
    st.none() | TEXT,
    st.sampled_from(["cardinal", "ordinal", "money"]),
)
DATE = st.builds(Date, OPTIONAL, OPTIONAL, OPTIONAL, OPTIONAL, INTEGER, INTEGER, OPTIONAL)
SPAN = st.builds(Span, TEXT, INTEGER, INTEGER, TEXT)


def several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=2).map(tuple)


ARGUMENT = st.builds(
    Argument,
    TEXT,
    INTEGER,
    INTEGER,
    several(TEXT),
    TEXT,
    several(NUMBER),
    several(DATE),
    several(SPAN),
    several(SPAN),
)
ROW = st.builds(Row, ARGUMENT, INTEGER, st.dictionaries(TEXT, several(ARGUMENT), max_size=3))
LOST = st.builds(Lost, several(INTEGER), several(NUMBER), several(DATE))
TABLE = st.builds(
    Table,
    TEXT,
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.just("srl"),
    st.just("test"),
    st.just("1"),
    several(ROW),
    LOST,
)


def table(text: str, rows: int = 1) -> Table:
    number, date = Number(9.0, 4, 5, "m"), Date(1911, 6, None, None, 4, 5)
    cell = Argument("9 m", 4, 7, ("9", "m"), "m", (number,), (date,))
    made = tuple(Row(Argument("is", 0, 2), i, {"arg1": (cell, cell), "arg0": ()}) for i in range(rows))
    return Table("p", text_hash(text), "srl", "test", "1", made)


def store(root: Path) -> TableStore:
    return TableStore(root, "srl", "test", "1")


@given(st.lists(TABLE, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_table_comes_back_from_arrow_as_it_was(tables: list[Table]) -> None:
    arrow = pa.Table.from_pylist([to_record(t) for t in tables], schema=TABLE_SCHEMA)
    back = [from_record(row) for row in arrow.to_pylist()]
    assert back == tables
    for old, new in zip(tables, back, strict=True):
        assert new.relations == old.relations
        assert [list(row.arguments) for row in new.rows] == [list(row.arguments) for row in old.rows]


@given(TEXT)
def test_escaped_text_is_utf8_and_comes_back(text: str) -> None:
    assert unescape(escape(text).encode().decode()) == text


def test_tables_are_found_by_hash_in_a_new_process_view(tmp_path: Path) -> None:
    tables = [table(f"text {i}", rows=i % 7) for i in range(150)]
    first = store(tmp_path)
    assert first.hashes() == set()
    assert first.add(tables[:100]).parent == tmp_path / "tables" / "srl-test-1"
    second = store(tmp_path)
    first.add(tables[100:])
    assert second.hashes() == {t.hash for t in tables}
    assert [second.get(t.hash) for t in tables] == tables
    assert second.get_many([tables[3].hash, tables[120].hash, "absent"]) == {
        tables[3].hash: tables[3],
        tables[120].hash: tables[120],
    }
    assert second.get("absent") is None


def test_one_text_under_two_ids_is_kept_once(tmp_path: Path) -> None:
    cache = store(tmp_path)
    mine = table("same")
    cache.add([mine, replace(mine, paragraph_id="q")])
    cache.add([replace(mine, paragraph_id="r"), table("other")])
    assert sorted(t.hash for t in cache.iter()) == sorted([mine.hash, text_hash("other")])
    assert cache.get(mine.hash, paragraph_id="s") == replace(mine, paragraph_id="s")


def test_a_table_of_another_extractor_is_refused(tmp_path: Path) -> None:
    cache = store(tmp_path)
    with pytest.raises(ValueError, match="srl-test-2: it does not belong"):
        cache.add([table("a"), replace(table("b"), version="2")])
    assert cache.hashes() == set()
    with pytest.raises(ValueError, match="'srl-a/b-1' holds other characters"):
        TableStore(tmp_path, "srl", "a/b", "1")


def test_same_tables_same_name_and_bytes_in_any_order(tmp_path: Path) -> None:
    tables = [table(f"text {i}") for i in range(5)]
    one = store(tmp_path / "one").add(tables)
    other = store(tmp_path / "other").add(reversed(tables))
    assert (one.name, one.read_bytes()) == (other.name, other.read_bytes())
    changed = store(tmp_path / "one").add(tables[:4])
    assert changed.name != one.name


def test_every_part_has_the_one_schema(tmp_path: Path) -> None:
    cache = store(tmp_path)
    bare = Table("p", text_hash("bare"), "srl", "test", "1", ())
    for tables in ([], [bare], [table("full")]):
        assert pq.read_schema(cache.add(tables)).equals(TABLE_SCHEMA)
    assert store(tmp_path).hashes() == {bare.hash, text_hash("full")}


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_one_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def other_schema(path: Path) -> None:
    other = PartStore(path.parent, pa.schema([("hash", pa.string())]), "hash").add([{"hash": "x"}])
    path.unlink()
    assert other.exists()


def with_nulls(path: Path) -> None:
    """A part from elsewhere that has the fields of ours, but nothing in one that is never empty."""
    nullable = pa.schema([field.with_nullable(True) for field in TABLE_SCHEMA])
    PartStore(path.parent, nullable, "hash").add([to_record(table("lost")) | {"rows": None}])
    path.unlink()


@pytest.mark.parametrize("damage", [truncate, empty, flip_one_byte, other_schema, with_nulls])
@pytest.mark.parametrize("opened_before", [False, True])
def test_damage_is_named_set_aside_and_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Any, opened_before: bool
) -> None:
    cache = store(tmp_path)
    lost = cache.add([table("lost")])
    cache.add([table("kept")])
    if not opened_before:
        cache = store(tmp_path)
    damage(lost)
    with caplog.at_level(logging.WARNING):
        assert cache.get(text_hash("lost")) is None
    assert cache.hashes() == {text_hash("kept")}
    [aside] = cache.damaged
    assert aside.exists()
    assert aside.name.endswith(".parquet.damaged")
    assert aside.name.removesuffix(".damaged") in caplog.text
    assert cache.add([table("lost")]) == lost
    assert store(tmp_path).get(text_hash("lost")) == table("lost")


def test_a_copy_in_another_part_replaces_a_damaged_one(tmp_path: Path) -> None:
    cache = store(tmp_path)
    parts = [cache.add([table("a")]), cache.add([table("a"), table("b")])]
    truncate(min(parts))
    assert cache.get(text_hash("a")) == table("a")


def test_a_part_that_cannot_be_set_aside_is_still_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    truncate(store(tmp_path).add([table("a")]))

    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    cache = store(tmp_path)
    assert cache.hashes() == set()
    assert cache.get(text_hash("a")) is None
    assert caplog.text.count("is damaged") == 1


def test_a_cache_deleted_under_way_is_empty(tmp_path: Path) -> None:
    cache = store(tmp_path)
    cache.add([table("a")]).unlink()
    assert cache.get(text_hash("a")) is None
    assert cache.damaged == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "tables").write_text("a file")
    cache = store(tmp_path)
    with pytest.raises(StoreError, match=r"Cannot read .*srl-test-1 \(Not a directory\): check"):
        cache.hashes()
    with pytest.raises(StoreError, match=r"Cannot write .*part-\w+.parquet \(.*\): check"):
        cache.add([table("a")])


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    cache = store(tmp_path)
    with pytest.raises(StoreError, match="No space left on device"):
        cache.add([table("a")])
    assert os.listdir(cache.folder) == []


def test_an_interrupted_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write() -> None:
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_sigkill_in_the_middle_of_writing(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from extractors.store import TableStore, atomic_file
        from extractors.table import Table, text_hash
        store = TableStore(Path(sys.argv[1]), "srl", "test", "1")
        store.add([Table("p", text_hash("done"), "srl", "test", "1", ())])
        with atomic_file(store.folder / ("part-" + 32 * "0" + ".parquet")) as file:
            file.write(b"PAR1")
            file.flush()
            print("half", flush=True)
            sys.stdin.read()
        """
    )
    repository = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "half\n"
        writer.send_signal(signal.SIGKILL)
    cache = store(tmp_path)
    [left] = cache.folder.glob("*.tmp")
    assert cache.hashes() == {text_hash("done")}
    assert cache.damaged == []

    cache.add([table("next")])
    assert left.exists(), "its writer may be alive"
    hours_ago = time.time() - 7200
    os.utime(left, (hours_ago, hours_ago))
    cache.add([table("after")])
    assert not left.exists()


def test_a_process_that_has_read_a_store_ends_quietly(tmp_path: Path) -> None:
    """Arrow's threads free their buffers late: where they outlive the interpreter, it aborts."""
    TableStore(tmp_path, "syndep", "x", "1").add(
        [Table(str(i), text_hash(str(i)), "syndep", "x", "1", ()) for i in range(300)]
    )
    code = (
        "import sys; from pathlib import Path; from extractors.store import TableStore; "
        "print(len(TableStore(Path(sys.argv[1]), 'syndep', 'x', '1').hashes()))"
    )
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "300", "")
