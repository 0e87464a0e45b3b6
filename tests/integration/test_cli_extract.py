"""``drop-parsing extract``: kept, resumed, and the same whatever the batch, the order and the workers."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.cli import common
from drop_parsing.data.reading import read_passages
from drop_parsing.data.sources import Meter
from drop_parsing.extraction import open_store
from extractors.registry import Backend, schemes
from extractors.table import text_hash

Write = Callable[[str, Any], Path]


def parts(cache: Path) -> list[Path]:
    return sorted(cache.rglob("part-*.parquet"))


def lines(texts: list[str]) -> list[dict[str, str]]:
    return [{"id": f"p{i}", "text": text} for i, text in enumerate(texts)]


def test_a_second_run_extracts_nothing(run: Callable[..., Any], small: Path) -> None:
    first = run("extract", small, "--json").json
    assert (first["passages"], first["tables"], first["cached"], first["failed"]) == (2, 2, 0, [])
    assert first["rows"] >= 4
    second = run("extract", small, "--json").json
    assert (second["passages"], second["tables"], second["rows"], second["cached"]) == (2, 0, 0, 2)


def test_only_new_passages_are_extracted(run: Callable[..., Any], small: Path, write: Write) -> None:
    run("extract", small)
    more = write("more.txt", "The crew of 12 men rowed home in 3 days.\n\nThe cook stayed.\n")
    done = run("extract", small, more, "--json").json
    assert (done["passages"], done["tables"], done["cached"]) == (4, 1, 3)


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: data[:-1] + b"x", lambda data: b""])
def test_a_damaged_part_is_made_again(
    run: Callable[..., Any], small: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    run("extract", small, "--cache", "kept")
    (part,) = parts(tmp_path / "kept")
    whole = part.read_bytes()
    part.write_bytes(damage(whole))
    done = run("extract", small, "--cache", "kept", "--json")
    assert (done.code, done.json["tables"], done.json["cached"]) == (0, 2, 0)
    assert [p.read_bytes() for p in parts(tmp_path / "kept")] == [whole]
    assert len(list((tmp_path / "kept").rglob("*.damaged"))) == 1


def test_one_bad_item_loses_nothing_else(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    """User report S12."""
    good = [{"id": "p1", "text": "Champions once more!"}, {"id": "p2", "text": "The crew rowed home."}]
    path = write("three.jsonl", [*good, {"id": "p3", "text": 7}])
    done = run("extract", path, "--json")
    assert done.code == 1
    result = done.json
    assert (result["passages"], result["tables"]) == (2, 2)
    (failure,) = result["failed"]
    assert "p3" in failure["item"]
    assert "text must be a string but is the number 7" in failure["reason"]
    assert "p3" in done.err
    again = run("extract", path, "--json")
    assert (again.code, again.json["cached"]) == (1, 2)
    store = open_store(tmp_path / "data_cache", "syndep", Backend())
    table = store.get(text_hash("The crew rowed home."))
    assert table is not None
    assert [row.predicate.text for row in table.rows] == ["rowed"]


def test_batch_and_order_change_nothing(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    """User report S14."""
    short = "Ada sold 3 boats."
    long = [f"In {1900 + i}, the crew of {i} men rowed home, and Bram sold the boat. " * 3 for i in range(63)]
    orders = {"alone": [short], "first": [short, *long], "last": [*reversed(long), short]}
    tables = []
    for name, texts in orders.items():
        path = write(f"{name}.jsonl", lines(texts))
        assert run("extract", path, "--cache", name).code == 0
        tables.append(open_store(tmp_path / name, "syndep", Backend()).get(text_hash(short), "p"))
    assert tables[0] is not None
    assert tables[0] == tables[1] == tables[2]


def test_ids_alone_tell_two_orders_apart(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    """The same passages under the same ids give the same bytes in any order."""
    items = lines([f"Ada sold {i} boats." for i in range(20)])
    run("extract", write("a.jsonl", items), "--cache", "a")
    run("extract", write("b.jsonl", items[::-1]), "--cache", "b")
    (a,), (b,) = parts(tmp_path / "a"), parts(tmp_path / "b")
    assert a.name == b.name
    assert a.read_bytes() == b.read_bytes()


def test_a_long_sentence_beside_short_ones(run: Callable[..., Any], write: Write) -> None:
    """User report S24."""
    words = "the crew rowed home while the cook sold boats and men "
    long = (words * 200).split()[:1200]
    texts = [f"Ada sold {i} boats." for i in range(49)]
    texts.insert(20, " ".join(long))
    done = run("extract", write("fifty.jsonl", lines(texts)), "--json").json
    assert (done["passages"], done["tables"], done["failed"]) == (50, 50, [])


def test_one_text_under_two_ids(run: Callable[..., Any], write: Write) -> None:
    path = write("twice.jsonl", lines(["Ada sold 3 boats."] * 2))
    first = run("extract", path, "--json").json
    assert (first["passages"], first["tables"] + first["cached"]) == (2, 2)
    assert run("extract", path, "--json").json["cached"] == 2
    for id in ("p0", "p1"):
        (table,) = run("show", path, "--passage", id, "--scheme", "syndep", "--json").json["tables"]
        assert table["paragraph_id"] == id


def test_every_form_of_input_is_read_by_content(run: Callable[..., Any], small: Path, write: Write) -> None:
    """User report S25."""
    documents = json.loads(small.read_text())
    pretty = write("x.jsonl", json.dumps(documents, indent=2))
    paragraphs = write("y.jsonl", [{"id": i, "text": d["passage"]} for i, d in documents.items()])
    blocks = write("z.txt", "\n\n".join(d["passage"] for d in documents.values()))
    assert run("extract", small, "--json").json["tables"] == 2
    for path in (pretty, paragraphs, blocks):
        done = run("extract", path, "--json").json
        assert (done["passages"], done["cached"], done["failed"]) == (2, 2, [])


def test_standard_input_is_read_once_for_all_schemes(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"Ada sold 3 boats.\n\nBram sold 4.\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    done = run("extract", "-", "--scheme", "all", "--json").json
    assert (done["passages"], done["tables"], done["failed"]) == (2, 2 * len(schemes()), [])


def test_what_comes_before_damage_is_kept(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    path = write("cut.txt.gz", gzip.compress(b"Ada sold 3 boats.\n\nBram sold 4.\n\n" + bytes(10**5))[:-20])
    assert "the gzip data is damaged" in run("extract", path, "--json").sentence
    whole = write("whole.txt", "Ada sold 3 boats.\n\nBram sold 4.\n")
    assert run("extract", whole, "--json").json["cached"] == 2


def test_inputs_and_caches_at_urls(run: Callable[..., Any], small: Path) -> None:
    fsspec: Any = pytest.importorskip("fsspec")
    with fsspec.open("memory://corpus/small.json.gz", "wb") as file:
        file.write(gzip.compress(small.read_bytes()))
    for url in ("memory://corpus/small.json.gz", "memory://corpus", f"file://{small}"):
        arguments = (url, "--cache", "memory://cache", "--json")
        assert run("extract", *arguments).json["passages"] == 2
    assert run("extract", small, "--cache", "memory://cache", "--json").json["cached"] == 2
    assert "memory://corpus/absent" in run("extract", "memory://corpus/absent").sentence
    assert "chain" in run("extract", "simplecache::memory://corpus").sentence
    assert "nosuch" in run("extract", small, "--cache", "nosuch://cache").sentence


def test_failures_are_listed_in_the_order_of_the_input(run: Callable[..., Any], write: Write) -> None:
    items: list[dict[str, Any]] = [{"id": f"p{i}", "text": f"Ada sold {i} boats."} for i in range(12)]
    for bad in (2, 5, 11):
        items[bad]["text"] = bad
    failed = run("extract", write("bad.jsonl", items), "--json").json["failed"]
    assert [failure["item"].rpartition(" ")[2] for failure in failed] == ["p2", "p5", "p11"]


@pytest.mark.parametrize("compressed", [False, True])
def test_the_total_is_estimated_from_what_is_read(
    write: Write, documents: dict[str, Any], compressed: bool
) -> None:
    def file(name: str, text: str) -> Path:
        data = text.encode()
        return write(f"{name}.gz", gzip.compress(data)) if compressed else write(name, data)

    many = "".join(f"Ada sold {i} boats to {i * i * 7919} men.\n\n" for i in range(30_000))
    for path, count in (
        (file("many.txt", many), 30_000),
        (file("small.json", json.dumps(documents)), len(documents)),
    ):
        meter = Meter()
        assert meter.total() is None
        totals = [meter.total() for _ in read_passages([path], meter)]
        assert totals[-1] == count
        half = totals[len(totals) // 2]
        assert half is not None
        assert abs(half - count) <= 0.1 * count


def test_progress_in_a_log(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    monkeypatch.setattr(common.time, "monotonic", lambda: now)
    with common.progress_bar("passages", lambda: 400) as advance:
        for _ in range(3):
            now += 40
            advance(40)
    assert capsys.readouterr().err == "passages: 80 of 400, 0:05:20 left, 1.0/s\n"
