"""What every command promises: help with an example, one JSON object, results apart from the rest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("demo", "extract", "show", "export", "search", "execute", "spuriousness", "evaluate")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(run: Callable[..., Any], command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"drop-parsing {command}" in done.out.split("Example", 1)[1]
    assert "--json" in done.out
    assert done.err == ""


def test_help_names_every_command(run: Callable[..., Any]) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(command in done.out for command in COMMANDS)


def test_version(run: Callable[..., Any]) -> None:
    from drop_parsing import __version__

    assert run("--version").out == __version__ + "\n"


def arguments_of(command: str, small: Path) -> list[str | Path]:
    predictions = small.with_name("predictions.json")
    predictions.write_text('{"q-number": "15"}')
    text: list[str | Path] = ["--text", "Ada sold 3 boats. Bram sold 4."]
    arguments: dict[str, list[str | Path]] = {
        "extract": [small],
        "show": [small, "--passage", "crew"],
        "show text": text,
        "export": [small, "--out", "tables"],
        "search": [small, "--max-size", "1"],
        "search text": [*text, "--question", "Who sold 4?", "--answer", "Bram", "--max-size", "1"],
        "execute": ["(count_structures all_structures)", small, "--passage", "boats"],
        "execute text": ["(count_structures all_structures)", *text],
        "evaluate": [predictions, small],
    }
    return arguments[command]


CONTRACT = {
    "extract": {"passages", "tables", "rows", "cached", "failed", "seconds"},
    "show": {"tables"},
    "show text": {"tables"},
    "export": {"files"},
    "search": {"questions", "covered", "coverage", "forms", "failed", "seconds"},
    "search text": {"count", "forms"},
    "execute": {"denotation", "answer", "steps"},
    "execute text": {"denotation", "answer", "steps"},
    "evaluate": {"em", "f1", "by_type"},
}


@pytest.mark.parametrize("command", CONTRACT)
def test_json_is_one_object_with_the_keys(run: Callable[..., Any], small: Path, command: str) -> None:
    done = run(command.split()[0], *arguments_of(command, small), "--json")
    assert done.code == 0
    assert CONTRACT[command] <= done.json.keys()


@pytest.mark.parametrize("command", CONTRACT)
def test_results_are_on_standard_output_alone(run: Callable[..., Any], small: Path, command: str) -> None:
    done = run(command.split()[0], *arguments_of(command, small))
    assert done.code == 0
    assert done.out.strip()
    if command != "evaluate":  # which tells of questions without a prediction
        assert done.err == ""


def test_search_names_what_follows(run: Callable[..., Any], small: Path) -> None:
    done = run("search", small, "--max-size", "1")
    assert "of 7 questions covered" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["extract"],
        ["extract", "x.json", "--workers", "-1"],
        ["extract", "x.json", "--workers", "two"],
        ["search", "x.json", "--max-size", "9"],
        ["search", "x.json", "--keep", "0"],
        ["nonsense"],
        ["show", "--nonsense"],
        ["export", "x.json"],
        ["evaluate", "x.json"],
    ],
)
def test_bad_usage_exits_2(run: Callable[..., Any], arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Usage: drop-parsing" in done.err
    assert "Error" in done.err


def test_user_text_is_printed_as_it_stands(run: Callable[..., Any]) -> None:
    text = "The [red]crew[/red] sold 3 boats :bomb: to [/nobody]."
    done = run("execute", "(count_structures all_structures)", "--text", text)
    assert done.code == 0
    shown = run("show", "--text", text)
    assert shown.code == 0
    assert "[red]crew[/red]" in shown.out.replace("\n", "")


def test_long_paths_are_not_broken(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    out = tmp_path / ("deep" * 20) / ("deeper" * 20)
    done = run("export", small, "--out", out)
    assert done.out == f"{out / 'tables.jsonl'}\n"
