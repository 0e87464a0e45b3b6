"""``drop-parsing execute``, ``show`` and ``export``."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from extractors.registry import schemes

TEXT = "Ada sold 3 boats in 1914. Bram sold 4 boats."


def test_execute_says_why(run: Callable[..., Any]) -> None:
    done = run("execute", "(sum all_structures relation:obj)", "--text", TEXT, "--json").json
    assert done["denotation"] == 7
    assert done["answer"] == ["7"]
    assert done["steps"][-1]["form"] == "(sum all_structures relation:obj)"
    cells = [cell for step in done["steps"] for cell in step["cells"]]
    assert {cell["text"] for cell in cells} == {"3 boats", "4 boats"}
    for cell in cells:
        assert TEXT[cell["start"] : cell["end"]] == cell["text"]
        assert cell["relation"] == "obj"


def test_execute_prints_every_step(run: Callable[..., Any]) -> None:
    out = run("execute", "(sum all_structures relation:obj)", "--text", TEXT).out
    assert "all_structures  =  2 rows: 0 sold, 1 sold" in out
    assert "(sum all_structures relation:obj)  =  7" in out
    assert "obj 9-16: 3 boats" in out


def test_rows_and_texts_as_denotations(run: Callable[..., Any]) -> None:
    rows = run("execute", "(first all_structures)", "--text", TEXT, "--json").json
    assert rows["denotation"] == [{"row": 0, "predicate": "sold"}]
    texts = run("execute", "(select (last all_structures) relation:nsubj)", "--text", TEXT, "--json").json
    assert texts["denotation"] == texts["answer"] == ["Bram"]


def test_an_undefined_value(run: Callable[..., Any]) -> None:
    form = "(max (filter_number_greater all_structures relation:obj 50) relation:obj)"
    done = run("execute", form, "--text", TEXT, "--json")
    assert done.code == 0
    assert done.json["denotation"] is None
    assert done.json["answer"] == []
    assert "undefined" in run("execute", form, "--text", TEXT).out


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ("(count_structures all_structures", "character 1"),
        ("(count_structures", "character 1"),
        ("(nonsense all_structures)", "nonsense"),
        ("(count_structures 3)", "3"),
        ("(sum all_structures relation:nowhere)", "relation:nowhere"),
        ("(sum all_structures)", "sum"),
        (")", ")"),
        ("", ""),
        ("(" * 5000, ""),
    ],
)
def test_a_bad_form_is_refused_with_its_place(run: Callable[..., Any], form: str, place: str) -> None:
    done = run("execute", form, "--text", TEXT)
    assert done.code == 2
    assert done.err.startswith("drop-parsing: ")
    assert place in done.err
    assert done.out == ""


@pytest.mark.parametrize("command", ["show", "execute"])
@pytest.mark.parametrize(
    "arguments",
    [[], ["small.json", "--text", "Ada."], ["small.json", "--passage", "ship"], ["absent.json"]],
    ids=["nothing", "both", "unknown passage", "no file"],
)
def test_which_paragraph(run: Callable[..., Any], small: Path, command: str, arguments: list[str]) -> None:
    form = ["(count_structures all_structures)"] if command == "execute" else []
    sentence = run(command, *form, *arguments).sentence
    if "ship" in arguments:
        assert "boats, crew" in sentence


def test_show_gives_the_table_of_the_passage(run: Callable[..., Any], small: Path) -> None:
    tables = run("show", small, "--passage", "crew", "--json").json["tables"]
    assert tuple(table["scheme"] for table in tables) == schemes()
    text = json.loads(small.read_text())["crew"]["passage"]
    for table in tables:
        assert table["paragraph_id"] == "crew"
        predicates = [row["predicate"] for row in table["rows"]]
        assert [p["text"] for p in predicates] == ["rowed"]
        assert all(text[p["start"] : p["end"]] == p["text"] for p in predicates)
    shown = run("show", small, "--passage", "crew").out
    assert "rowed" in shown
    assert "12 man" in shown or "12" in shown


def test_show_tells_how_sure_a_scheme_is(run: Callable[..., Any]) -> None:
    arguments = ("show", "--text", "Ada, a miller, sold 3 boats.", "--scheme")
    (table,) = run(*arguments, "openie", "--json").json["tables"]
    shown = run(*arguments, "openie").out
    assert len(table["rows"]) == 2
    for row in table["rows"]:
        assert f"{row['predicate']['text']} ({row['confidence']:.2f})" in shown
    assert "(1.00)" not in run(*arguments, "syndep").out


def test_show_reads_a_tagged_table_at_a_url(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    fsspec: Any = pytest.importorskip("fsspec")
    run("export", small, "--format", "tagged", "--out", "out")
    with fsspec.open("memory://tables/crew.tagged", "wb") as file:
        file.write((tmp_path / "out" / "crew.tagged").read_bytes())
    (table,) = run("show", "memory://tables/crew.tagged", "--json").json["tables"]
    assert table["paragraph_id"] == "crew"
    assert "memory://tables/absent.tagged" in run("show", "memory://tables/absent.tagged").sentence


@pytest.mark.parametrize(
    ("format", "files"),
    [
        ("parquet", ["tables.parquet"]),
        ("jsonl", ["tables.jsonl"]),
        ("csv", ["tables.csv"]),
        ("tagged", None),
    ],
)
def test_export_writes_every_format(
    run: Callable[..., Any], small: Path, tmp_path: Path, format: str, files: list[str] | None
) -> None:
    done = run("export", small, "--format", format, "--out", "out", "--json")
    assert done.code == 0
    written = [tmp_path / path for path in done.json["files"]]
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    assert all(path.stat().st_size for path in written)
    assert len(written) == 2 if files is None else [path.name for path in written] == files
    if format == "parquet":
        assert pq.read_table(written[0]).column("paragraph_id").to_pylist() == ["boats", "crew"]
    elif format == "jsonl":
        assert [json.loads(line)["paragraph_id"] for line in written[0].read_text().splitlines()] == [
            "boats",
            "crew",
        ]
    elif format == "csv":
        with written[0].open(newline="") as file:
            assert {row["paragraph_id"] for row in csv.DictReader(file)} == {"boats", "crew"}
    else:
        assert all(path.read_text().startswith("row\t") for path in written)


def test_export_twice_gives_the_same_bytes(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert run("export", small, "--format", "parquet", "--out", name).code == 0
    assert (tmp_path / "a/tables.parquet").read_bytes() == (tmp_path / "b/tables.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["export", "small.json", "--out", "o", "--format", "xlsx"], ["xlsx", "parquet, jsonl, csv, tagged"]),
        (["export", "small.json", "--out", "o", "--scheme", "amr"], ["amr", "syndep"]),
        (["extract", "small.json", "--scheme", "amr"], ["amr", "syndep"]),
        (["search", "small.json", "--scheme", "amr"], ["amr", "syndep"]),
        (["show", "--text", "Ada.", "--scheme", "amr"], ["amr", "syndep"]),
        (["execute", "all_structures", "--text", "Ada.", "--scheme", "amr"], ["amr", "syndep"]),
        (["extract", "small.json", "--backend", "magic"], ["magic", "spacy"]),
        (["search", "small.json", "--backend", "magic:1"], ["magic:1", "spacy"]),
        (["show", "--text", "Ada.", "--backend", "magic"], ["magic", "spacy"]),
        (["export", "small.json", "--out", "o", "--backend", "magic"], ["magic", "spacy"]),
        (["execute", "all_structures", "--text", "Ada.", "--backend", "magic"], ["magic", "spacy"]),
        (["evaluate", "small.json", "small.json", "--metric", "bleu"], ["bleu", "official, strict"]),
    ],
)
def test_an_unknown_name_lists_the_known(
    run: Callable[..., Any], small: Path, arguments: list[str], says: list[str]
) -> None:
    sentence = run(*arguments).sentence
    assert all(word in sentence for word in says)


@pytest.mark.parametrize("command", [["extract", "small.json"], ["show", "--text", "Ada."]])
def test_a_missing_model_says_how_to_install_it(
    run: Callable[..., Any], small: Path, command: list[str]
) -> None:
    sentence = run(*command, "--backend", "spacy:en_core_web_huge").sentence
    assert "python -m spacy download en_core_web_huge" in sentence
