"""``export`` through the cache and the job runner, and the original baseline's files on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], Path]


def test_a_failing_passage_does_not_stop_an_export(run: Run, write: Write, tmp_path: Path) -> None:
    path = write(
        "three.jsonl",
        [{"id": "a", "text": "Ada sold 3."}, {"id": "b", "text": 7}, {"id": "c", "text": "It rained."}],
    )
    done = run("export", path, "--out", "out", "--json")
    assert done.code == 1
    (failure,) = done.json["failed"]
    assert "b" in failure["item"]
    tables = [json.loads(line) for line in (tmp_path / "out/tables.jsonl").read_text().splitlines()]
    assert [table["paragraph_id"] for table in tables] == ["a", "c"]


def test_exports_come_from_the_cache_in_the_order_of_the_input(
    run: Run, write: Write, tmp_path: Path
) -> None:
    items = [{"id": f"p{i}", "text": f"Ada sold {i // 2} boats."} for i in range(600)]
    path = write("items.jsonl", items)
    assert run("extract", write("some.jsonl", items[300:]), "--json").json["tables"] == 150
    for name, workers in (("one", "0"), ("two", "1")):
        assert run("export", path, "--out", name, "--workers", workers).code == 0
    one, two = ((tmp_path / name / "tables.jsonl").read_text() for name in ("one", "two"))
    assert one == two
    tables = [json.loads(line) for line in one.splitlines()]
    assert [table["paragraph_id"] for table in tables] == [item["id"] for item in items]
    assert run("extract", path, "--json").json["cached"] == len(items)


def test_the_original_s_files_run_and_show(run: Run, shared_data: Path) -> None:
    sample = shared_data / "reference_language/sample_paragraph.tagged"
    done = run("execute", "(count_structures all_structures)", sample, "--json")
    assert (done.code, done.json["answer"]) == (0, ["16"])
    (table,) = run("show", sample, "--json").json["tables"]
    assert (table["paragraph_id"], table["scheme"], len(table["rows"])) == ("sample_paragraph", "tagged", 16)


def test_an_exported_table_runs_as_its_paragraph_does(run: Run, small: Path, tmp_path: Path) -> None:
    run("export", small, "--format", "tagged", "--out", "out")
    form = "(sum all_structures relation:obj)"
    paragraph = run("execute", form, small, "--passage", "boats", "--json").json
    assert run("execute", form, tmp_path / "out/boats.tagged", "--json").json["answer"] == paragraph["answer"]


@pytest.mark.parametrize("command", [["execute", "all_structures"], ["show"]])
def test_a_bad_tagged_file_is_refused(run: Run, write: Write, command: list[str]) -> None:
    bad = write("bad.tagged", "row\tcol\n")
    assert "bad.tagged, line 1: the header" in run(*command, bad).sentence
    assert "--passage" in run(*command, bad, "--passage", "p").sentence
