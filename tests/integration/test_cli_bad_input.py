"""Inputs and places that go wrong: one sentence that says what and where, and nothing good is lost."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extractors.table import text_hash

Write = Callable[[str, Any], Path]
GOOD = {"id": "good", "text": "Ada sold 3 boats."}
COMMANDS = {
    "extract": ["extract", "INPUT"],
    "search": ["search", "INPUT", "--max-size", "1"],
    "show": ["show", "INPUT", "--passage", "boats"],
    "export": ["export", "INPUT", "--out", "out"],
    "evaluate": ["evaluate", "predictions.json", "INPUT"],
}


def with_input(command: str, path: Path) -> list[str]:
    path.with_name("predictions.json").write_text("{}")
    return [str(path) if argument == "INPUT" else argument for argument in COMMANDS[command]]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.json", ""),
        ("empty.txt", ""),
        ("blank.txt", " \n\n\t\n"),
        ("cut.json", json.dumps({"boats": {"passage": "Ada sold.", "qa_pairs": []}})[:-20]),
        ("list.json", "[1, 2]"),
        ("number.json", "7"),
        ("null.json", "null"),
        ("string.json", '"Ada sold."'),
        ("other.json", '{"a": 1}'),
        ("deep.json", "[" * 100_000),
        ("words.json", "Ada sold 3 boats."),
        ("latin.txt", "Caf\xe9.".encode("latin-1")),
        ("damaged.json.gz", b"\x1f\x8b\x08\x00damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith((".json", ".txt", ".gz")) else "",
)
def test_unreadable_input(
    run: Callable[..., Any], write: Write, command: str, name: str, content: str | bytes
) -> None:
    sentence = run(*with_input(command, write(name, content))).sentence
    assert name in sentence


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["extract", "a.txt", "--cache", ""], "empty path"),
        (["extract", ""], "empty path"),
        (["show", ""], "empty path"),
        (["export", "a.txt", "--out", ""], "empty path"),
        (["export", "a.txt", "--out", "memory://out"], "gone when the command ends"),
        (["extract", "a.txt", "--backend", "spacy:folder"], "The folder folder holds no spaCy pipeline"),
        (["extract", "a.txt", "--backend", "spacy:no/folder"], "There is no folder no/folder"),
        (["extract", "a.txt", "--backend", "spacy:no_such_model"], "spacy download no_such_model"),
    ],
)
def test_places_that_are_none(
    run: Callable[..., Any], write: Write, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    (tmp_path / "folder").mkdir()
    write("a.txt", "Ada sold 3 boats.")
    before = sorted(tmp_path.iterdir())
    assert expected in run(*arguments).sentence
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_input_that_is_not_there(run: Callable[..., Any], tmp_path: Path, command: str) -> None:
    assert "absent.json" in run(*with_input(command, tmp_path / "absent.json")).sentence


def test_an_empty_folder(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "folder" in run("extract", "folder").sentence


def test_a_folder_of_inputs(run: Callable[..., Any], tmp_path: Path, write: Write) -> None:
    (tmp_path / "folder").mkdir()
    write("folder/a.txt", "Ada sold 3 boats.\n\nBram sold 4.")
    write("folder/b.jsonl", [{"id": "x", "text": "Cora rowed home."}])
    write("folder/notes.md", "not an input")
    assert run("extract", "folder", "--json").json["tables"] == 3


def test_a_cut_jsonl_keeps_the_lines_before(run: Callable[..., Any], write: Write) -> None:
    path = write("cut.jsonl", json.dumps(GOOD) + '\n{"id": "b", "te')
    done = run("extract", path, "--json")
    assert (done.code, done.json["tables"]) == (1, 1)
    (failure,) = done.json["failed"]
    assert "line 2" in failure["item"]
    assert "cut" in failure["reason"]


def test_repeated_ids_keep_the_first(run: Callable[..., Any], write: Write) -> None:
    path = write(
        "twice.jsonl", [GOOD, {"id": "good", "text": "Bram sold 4."}, {"id": "c", "text": "Cora rowed."}]
    )
    done = run("extract", path, "--json")
    assert (done.code, done.json["passages"], done.json["tables"]) == (1, 2, 2)
    (failure,) = done.json["failed"]
    assert "good" in failure["item"]


def test_many_failures_are_all_in_the_json(run: Callable[..., Any], write: Write) -> None:
    path = write("many.jsonl", [GOOD, *({"id": f"bad{i}", "text": i} for i in range(30))])
    done = run("extract", path, "--json")
    assert done.code == 1
    assert [f"bad{i}" in failure["item"] for i, failure in enumerate(done.json["failed"])] == [True] * 30
    assert "20 more" in done.err
    assert len(done.err.splitlines()) == 11


@pytest.mark.parametrize(
    "text",
    [
        "...",
        "7",
        "\N{EM DASH} \N{BULLET} \N{BULLET}",
        "!!! ??? ...",
        "\x00\x01\x02 Ada\x07 sold\x1b[31m 3\x7f boats\x85.",
        "Ada sold\u200b 3\u2028boats\ufeff.",
        "\u0634\u0631\u0627\u0621 \u0663 \u0642\u0648\u0627\u0631\u0628 \u202eAda sold 3 boats\u202c.",
        "\u05d0\u05d3\u05d4 \u05de\u05db\u05e8\u05d4 3.",
        "\U0001f6a3\U0001f3fd\u200d\u2640\ufe0f sold 3 boats e\u0301.",
        "Ada sold 3 boats.\r\nBram sold 4.\r\n",
        "=cmd|' /C calc'!A0 sold 3 boats.",
    ],
)
def test_odd_text_goes_through_every_command(
    run: Callable[..., Any], write: Write, tmp_path: Path, text: str
) -> None:
    pairs = [{"query_id": "q", "question": f"What of {text}?", "answer": {"spans": [text]}}]
    path = write("odd.json", {"odd": {"passage": text, "qa_pairs": pairs}})
    done = run("extract", path, "--json")
    assert (done.code, done.json["tables"], done.json["failed"]) == (0, 1, [])
    for table in run("show", path, "--passage", "odd", "--json").json["tables"]:
        assert table["hash"] == text_hash(text)
        for row in table["rows"]:
            for cell in [row["predicate"], *(c for cells in row["arguments"].values() for c in cells)]:
                assert text[cell["start"] : cell["end"]] == cell["text"]
    assert run("show", path, "--passage", "odd").code == 0
    assert run("search", path, "--max-size", "1", "--report", "page.html", "--json").code == 0
    assert run("execute", "(count_structures all_structures)", path, "--passage", "odd").code == 0
    for format in ("csv", "jsonl", "parquet", "tagged"):
        assert run("export", path, "--format", format, "--out", "out").code == 0


def test_an_empty_passage(run: Callable[..., Any], write: Write) -> None:
    done = run(
        "extract", write("empty.jsonl", [{"id": "a", "text": ""}, {"id": "b", "text": " "}, GOOD]), "--json"
    )
    assert done.code in (0, 1)
    assert done.json["tables"] + len(done.json["failed"]) == 3
    assert run("show", "--text", "").code == 0


def test_windows_line_ends_are_line_ends(run: Callable[..., Any], write: Write) -> None:
    unix = json.dumps(GOOD) + "\n" + json.dumps({"id": "b", "text": "Bram sold 4."}) + "\n"
    run("extract", write("unix.jsonl", unix))
    done = run("extract", write("windows.jsonl", "\ufeff" + unix.replace("\n", "\r\n")), "--json").json
    assert (done["passages"], done["cached"], done["failed"]) == (2, 2, [])
    blocks = run("extract", write("windows.txt", "Ada sold 3 boats.\r\n\r\nBram sold 4.\r\n"), "--json").json
    assert (blocks["passages"], blocks["cached"]) == (2, 2)


def test_lone_surrogates_are_mended_and_told(run: Callable[..., Any], write: Write) -> None:
    line = '{"id": "s", "text": "Ada \\ud800 sold 3 boats."}\n'
    done = run("extract", write("surrogate.jsonl", line), "--json")
    assert (done.code, done.json["tables"], done.json["failed"]) == (0, 1, [])
    assert "surrogate" in done.err
    shown = run("show", "--text", "Ada \ud800 sold 3 boats.", "--json")
    assert shown.code == 0
    assert run("show", "--text", "Ada \ud800 sold 3 boats.").code == 0
    assert run("execute", "(count_structures all_structures)", "--text", "Ada \ud800 sold 3.").code == 0
    asked = ["--question", "Who \ud800?", "--answer", "Ada \ud800", "--max-size", "1"]
    assert run("search", "--text", "Ada \ud800 sold 3.", *asked).code == 0


def test_a_very_long_passage(run: Callable[..., Any], write: Write) -> None:
    words = 60_000
    sentence = "The crew of 12 men rowed home in 3 days . "
    text = sentence * (words // len(sentence.split()))
    done = run("extract", write("long.jsonl", [{"id": "long", "text": text}, GOOD]), "--json").json
    assert (done["tables"], done["failed"]) == (2, [])
    assert done["rows"] > words // 20


@pytest.mark.parametrize("command", ["extract", "search"])
def test_a_cache_below_a_file(run: Callable[..., Any], small: Path, write: Write, command: str) -> None:
    write("file", "in the way")
    sentence = run(command, small, "--cache", "file/cache").sentence
    assert "file/cache" in sentence


@pytest.mark.parametrize("command", ["extract", "search"])
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_cache(run: Callable[..., Any], small: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    assert "cache" in run(command, small, "--cache", "cache").sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["extract", "small.json"],
        ["search", "small.json", "--max-size", "1"],
        ["export", "small.json", "--out", "out"],
        ["export", "small.json", "--out", "out", "--format", "tagged"],
    ],
    ids=" ".join,
)
def test_a_full_disk(
    run: Callable[..., Any],
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    sentence = run(*arguments).sentence
    assert "No space left on device" in sentence
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [small]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert run(*arguments).code == 0


def test_a_full_disk_leaves_the_old_report(
    run: Callable[..., Any], small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("search", small, "--max-size", "1", "--report", "page.html")
    before = (tmp_path / "page.html").read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run("search", small, "--max-size", "1", "--report", "page.html")
    assert "page.html" in done.sentence
    assert (tmp_path / "page.html").read_bytes() == before


@pytest.mark.parametrize("option", [["--report", "file/page.html"], ["--report", "folder"]])
def test_a_report_that_cannot_be_written(
    run: Callable[..., Any], small: Path, tmp_path: Path, write: Write, option: list[str]
) -> None:
    write("file", "in the way")
    (tmp_path / "folder").mkdir()
    assert option[1] in run("search", small, "--max-size", "1", *option).sentence


def test_no_cluster_at_the_address(
    run: Callable[..., Any], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extractors.jobs.PATIENCE", 1)
    assert "nowhere" in run("extract", small, "--cluster", "nowhere").sentence
