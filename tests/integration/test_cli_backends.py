"""``--backend``, ``--trust-archive`` and ``--coref`` at the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TEXT = "Ada sold 3 boats in 1914. Hull had 40 ships."
COMMANDS = {
    "extract": ["extract", "small.json"],
    "show": ["show", "--text", TEXT],
    "export": ["export", "small.json", "--out", "out"],
    "execute": ["execute", "all_structures", "--text", TEXT],
    "search": ["search", "small.json", "--max-size", "0"],
}


def with_scheme(command: str, scheme: str) -> list[str]:
    return [*COMMANDS[command], "--scheme", scheme]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("scheme", "options", "told"),
    [
        (
            "syndep",
            ["--backend", "allennlp:x"],
            ["'syndep' has no backend 'allennlp:x'", "spacy:NAME", "stanza:FOLDER"],
        ),
        ("openie", ["--backend", "allennlp:absent.tar.gz"], ["no AllenNLP archive absent.tar.gz"]),
        ("openie", ["--backend", "allennlp"], ["allennlp:ARCHIVE"]),
        ("syndep", ["--trust-archive"], ["--trust-archive", "allennlp:ARCHIVE"]),
        ("syndep", ["--backend", "stanza:nowhere"], ["nowhere", "stanza.download"]),
        ("syndep", ["--coref", "magic"], ["'magic'", "stanza:FOLDER"]),
        ("syndep", ["--coref", "stanza:nowhere"], ["nowhere", "stanza.download"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value[0].startswith("--") else "",
)
def test_one_sentence_for_a_backend_that_cannot_be(
    run: Run, small: Path, command: str, scheme: str, options: list[str], told: list[str]
) -> None:
    if "stanza" in " ".join(options):
        pytest.importorskip("stanza")
    done = run(*with_scheme(command, scheme), *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("drop-parsing: ")
    assert done.err.count("\n") == 1
    assert all(piece in done.err for piece in told), done.err


@pytest.mark.parametrize("command", ["extract", "search"])
def test_all_schemes_are_not_an_archives(run: Run, small: Path, command: str) -> None:
    sentence = run(*with_scheme(command, "all"), "--backend", "allennlp:x").sentence
    assert "'syndep' has no backend 'allennlp:x'" in sentence


def test_an_archive_makes_tables_and_is_not_asked_again(run: Run, small: Path, srl_archive: Path) -> None:
    backend = ["--scheme", "openie", "--backend", f"allennlp:{srl_archive}"]
    first = run("extract", small, *backend, "--json").json
    assert (first["tables"], first["failed"]) == (2, [])
    again = run("extract", small, *backend, "--json").json
    assert (again["tables"], again["cached"]) == (0, 2)
    native = run("extract", small, "--scheme", "openie", "--json").json
    assert (native["tables"], native["cached"]) == (2, 0)
    (table,) = run("show", "--text", TEXT, *backend, "--json").json["tables"]
    assert table["extractor"].startswith("allennlp-")
    assert {relation for row in table["rows"] for relation in row["arguments"]} >= {
        "ARG0",
        "ARG1",
        "ARGM-TMP",
    }
    assert run("show", "--text", TEXT, *backend, "--trust-archive").code == 0


def test_workers_load_the_backend_themselves(run: Run, small: Path, srl_archive: Path) -> None:
    pytest.importorskip("distributed")
    backend = ["--scheme", "openie", "--backend", f"allennlp:{srl_archive}", "--json"]
    apart = run("extract", small, *backend, "--workers", "1", "--cache", "apart").json
    alone = run("extract", small, *backend, "--cache", "alone").json
    assert (apart["tables"], apart["failed"]) == (alone["tables"], alone["failed"]) == (2, [])
    found = [sorted((folder / "tables").rglob("*.parquet")) for folder in (Path("apart"), Path("alone"))]
    assert found[0]
    assert [path.read_bytes() for path in found[0]] == [path.read_bytes() for path in found[1]]


def test_stanza_parses(run: Run, small: Path, stanza_models: Path) -> None:
    done = run("extract", small, "--backend", f"stanza:{stanza_models}", "--json").json
    assert (done["tables"], done["failed"]) == (2, [])
    (table,) = run(
        "show", "--text", TEXT, "--scheme", "syndep", "--backend", f"stanza:{stanza_models}", "--json"
    ).json["tables"]
    assert table["extractor"] == "stanza-en"
