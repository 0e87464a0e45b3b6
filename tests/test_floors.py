"""The three floors: imports go down only, the lower two stay light, and git holds no large file."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

#: Lowest first.
FLOORS = ("extractors", "grammar", "drop_parsing")
LARGEST_FILE = 20_000_000  # bytes


def imported(source: str, package: str) -> Iterator[str]:
    """Absolute names of all modules that a module of ``package`` imports, at any depth of its code."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_of(floor: str) -> Iterator[tuple[str, str]]:
    """Pairs: a module's file on this floor, and the top-level package it imports."""
    for file in sorted((REPOSITORY / floor).rglob("*.py")):
        place = file.relative_to(REPOSITORY)
        for name in imported(file.read_text("utf-8"), ".".join(place.parts[:-1])):
            yield str(place), name.split(".")[0]


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_go_down_only(floor: str) -> None:
    above = {*FLOORS[FLOORS.index(floor) + 1 :], "tests", "benchmarks"}
    found = list(imports_of(floor))
    assert found, f"no module imports anything in {floor}: is the folder there?"
    assert [pair for pair in found if pair[1] in above] == []


@pytest.mark.parametrize("floor", FLOORS[:2])
def test_lower_floors_import_neither_torch_nor_pickle(floor: str) -> None:
    """But for the backends, each behind an extra, which run the models of others."""
    found = [
        (file, package)
        for file, package in imports_of(floor)
        if package == "pickle" or (package == "torch" and "backends" not in Path(file).parts)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a import b", {"a", "a.b"}),
        ("def f():\n    if g:\n        import pickle", {"pickle"}),
        ("from . import b", {"p.q", "p.q.b"}),
        ("from ..r import b", {"p.r", "p.r.b"}),
    ],
)
def test_every_form_of_import_is_seen(source: str, names: set[str]) -> None:
    assert set(imported(source, "p.q")) == names


def test_no_large_file_is_tracked() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=REPOSITORY)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    assert files
    assert [str(file) for file in files if file.exists() and file.stat().st_size > LARGEST_FILE] == []
