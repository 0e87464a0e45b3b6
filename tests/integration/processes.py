"""Commands as processes that a test can kill, and what they leave behind."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

psutil: Any = pytest.importorskip("psutil")
pytest.importorskip("distributed")

#: Seconds for what takes a few on a machine that does nothing else.
LONG = 120


def parts(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cache.rglob("part-*.parquet")}


def tables_in(parts: list[Path]) -> int:
    return sum(pq.read_metadata(path).num_rows for path in parts)


@contextmanager
def started(*command: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that ends with the block, whatever happens there."""
    with subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def family(process: "subprocess.Popen[str]") -> list[Any]:
    found: list[Any] = psutil.Process(process.pid).children(recursive=True)
    return found


def assert_ended(processes: list[Any]) -> None:
    assert processes
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[tuple[str, Any, list[Any]]]:
    """A scheduler and workers as processes of their own: the address, the scheduler, the workers."""
    where = folder / "scheduler.json"
    scheduler = started(
        *("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
        *("--scheduler-file", where),
    )
    with scheduler as main:
        wait_for(where.exists)
        wait_for(lambda: where.read_text().endswith("}"))
        address = json.loads(where.read_text())["address"]
        command = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        made = [started(*command) for _ in range(workers)]
        running = [worker.__enter__() for worker in made]
        try:
            yield address, main, running
        finally:
            for worker in made:
                worker.__exit__(None, None, None)
