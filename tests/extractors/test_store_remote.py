"""The cache and exports on a file system that fsspec reaches: here its own one in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from extractors.export import export
from extractors.remote import RemoteError, RemotePath, place_of
from extractors.store import StoreError, TableStore
from extractors.table import Argument, Row, Table, text_hash

fsspec: Any = pytest.importorskip("fsspec")


def table(text: str) -> Table:
    row = Row(Argument("fell", 5, 9), 0, {"nsubj": (Argument("Rain", 0, 4),)})
    return Table("p", text_hash(text), "srl", "test", "1", (row,))


TABLES = [table(f"text {i}") for i in range(5)]


@pytest.fixture
def remote() -> Iterator[RemotePath]:
    place = place_of("memory://bucket/folder")
    assert isinstance(place, RemotePath)
    yield place
    place.filesystem.store.clear()


def test_a_remote_cache_is_as_a_local_one(remote: RemotePath, tmp_path: Path) -> None:
    local, far = (TableStore(root, "srl", "test", "1") for root in (tmp_path, remote))
    for part in (TABLES[:3], TABLES[3:]):
        assert far.add(part).name == local.add(part).name
    again = TableStore(remote, "srl", "test", "1")
    assert again.hashes() == {t.hash for t in TABLES}
    assert again.missing([TABLES[0].hash, "absent"]) == {"absent"}
    assert list(again.iter()) == list(local.iter())
    assert {path.name: path.read_bytes() for path in again.folder.iterdir()} == {
        path.name: path.read_bytes() for path in local.folder.iterdir()
    }


def test_damage_in_a_remote_cache_is_set_aside(remote: RemotePath) -> None:
    store = TableStore(remote, "srl", "test", "1")
    part = store.add(TABLES)
    assert isinstance(part, RemotePath)
    part.filesystem.pipe_file(part.path, part.read_bytes()[:-9])
    store = TableStore(remote, "srl", "test", "1")
    assert store.missing([TABLES[0].hash]) == {TABLES[0].hash}
    assert [path.name for path in store.folder.iterdir()] == [part.name + ".damaged"]
    assert store.add(TABLES).name == part.name
    assert store.get(TABLES[0].hash) == TABLES[0]


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv", "tagged"])
def test_exports_are_the_same_at_a_url(format: str, remote: RemotePath, tmp_path: Path) -> None:
    here, there = export(TABLES[:1], format, tmp_path), export(TABLES[:1], format, remote)
    assert [str(path) for path in there] == [f"memory://bucket/folder/{path.name}" for path in here]
    assert [path.read_bytes() for path in there] == [path.read_bytes() for path in here]


def test_a_failure_under_way_leaves_nothing_at_the_url(remote: RemotePath) -> None:
    with pytest.raises(ZeroDivisionError):
        export((table(str(1 // (2 - i))) for i in range(5)), "jsonl", remote)
    assert not (remote / "tables.jsonl").exists()


def test_what_the_client_library_raises_is_a_store_error(
    remote: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("no credentials")

    store = TableStore(remote, "srl", "test", "1")
    monkeypatch.setattr(type(remote.filesystem), "put_file", refuse)
    with pytest.raises(StoreError, match=r"Cannot write memory://bucket/.*no credentials"):
        store.add(TABLES)
    monkeypatch.setattr(type(remote.filesystem), "ls", refuse)
    with pytest.raises(StoreError, match=r"Cannot read memory://bucket/.*no credentials"):
        store.hashes()


def test_urls_and_paths(tmp_path: Path) -> None:
    assert place_of("a/b.json") == Path("a/b.json")
    assert place_of("s3:") == Path("s3:")
    assert place_of(f"file://{tmp_path}/x") == tmp_path / "x"
    assert str(place_of("memory://a/b") / "c") == "memory://a/b/c"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("simplecache::memory://a", "is a chain of URLs"),
        ("zip://x.txt::file:///y.zip", "is a chain of URLs"),
        ("memory://a::b", "is a chain of URLs"),
        ("nosuch://a", r"cannot be reached \(Protocol not known: nosuch\)"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str, message: str) -> None:
    with pytest.raises(RemoteError, match=message):
        place_of(url)


def test_a_remote_part_is_parquet_for_others(remote: RemotePath) -> None:
    part = TableStore(remote, "srl", "test", "1").add(TABLES)
    with fsspec.open(str(part), "rb") as file:
        assert pq.read_table(file).num_rows == len(TABLES)
