"""The command as a process of its own: exit status, worker processes, interrupts and broken pipes."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "drop_parsing.cli.main"]
Write = Callable[[str, Any], Path]


def process(*arguments: str | Path, cwd: Path, input: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, input=input, capture_output=True, text=True, timeout=120
    )


def test_standard_input_and_success(tmp_path: Path) -> None:
    done = process("extract", "-", "--json", cwd=tmp_path, input="Ada sold 3 boats.\n\nBram sold 4.\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["tables"] == 2


def test_refusal(tmp_path: Path) -> None:
    done = process("extract", "absent.json", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "absent.json" in done.stderr
    assert done.stderr.count("\n") == 1


def test_worker_processes_change_nothing(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    bad = {"id": "bad", "text": 7}
    items = [{"id": f"p{i}", "text": f"Ada sold {i} boats in {1900 + i}."} for i in range(30)]
    path = write("items.jsonl", [*items[:10], bad, *items[10:]])
    one = run("extract", path, "--cache", "one", "--json")
    two = process("extract", path, "--cache", "two", "--workers", "1", "--json", cwd=tmp_path)
    assert (one.code, two.returncode) == (1, 1), two.stderr
    assert "Traceback" not in two.stderr
    result = json.loads(two.stdout)
    for name in ("passages", "tables", "rows", "cached", "failed"):
        assert result[name] == one.json[name]
    (a,), (b,) = (tmp_path / "one").rglob("*.parquet"), (tmp_path / "two").rglob("*.parquet")
    assert a.read_bytes() == b.read_bytes()


def test_an_interrupt_keeps_what_is_done(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    items = [
        {"id": f"p{i}", "text": f"Ada sold {i} boats in {1000 + i} and rowed home."} for i in range(3000)
    ]
    path = write("items.jsonl", items)
    with subprocess.Popen(
        [*COMMAND, "extract", str(path), "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        deadline = time.monotonic() + 60
        while not list(tmp_path.rglob("part-*.parquet")) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "kept" in err
    assert out == ""
    done = run("extract", write("first.jsonl", items[:100]), "--json").json
    assert done["cached"] == 100


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_broken_pipe_is_no_traceback(small: Path, flags: list[str]) -> None:
    with subprocess.Popen(
        [*COMMAND, "show", str(small), "--passage", "boats", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        err = running.stderr.read()
    assert err == ""
    assert running.returncode in (0, 1)
