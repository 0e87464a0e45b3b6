"""Extraction with real processes that are killed: what is left is the tables of an undisturbed run."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.extraction import PART_TABLES
from tests.integration.processes import (
    LONG,
    assert_ended,
    dask_cluster,
    family,
    parts,
    psutil,
    started,
    tables_in,
    wait_for,
)

PARTS = 6


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short paragraphs that make several parts, the last of them not full."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    with path.open("w") as file:
        for i in range((PARTS - 1) * PART_TABLES + 10):
            file.write(json.dumps({"id": f"p{i}", "text": f"Ada sold {i} boats."}) + "\n")
    return path


@pytest.fixture(scope="module")
def undisturbed(corpus: Path) -> dict[str, bytes]:
    """The parts of a run in one process."""
    cache = corpus.parent / "undisturbed"
    with extraction(corpus, cache, "--workers", "0") as process:
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out)["tables"] == paragraphs(corpus)
    return parts(cache)


def paragraphs(corpus: Path) -> int:
    return len(corpus.read_text().splitlines())


def extraction(corpus: Path, cache: Path, *arguments: str) -> Any:
    return started("drop_parsing.cli.main", "extract", corpus, "--cache", cache, "--json", *arguments)


def wait_for_first_part(process: "subprocess.Popen[str]", cache: Path) -> list[Path]:
    """Wait until the job is under way: a part is there, and others are to come."""
    wait_for(lambda: process.poll() is not None or any(cache.rglob("part-*.parquet")))
    assert process.poll() is None
    return sorted(cache.rglob("part-*.parquet"))


def test_a_killed_worker_changes_nothing(corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with (
        dask_cluster(tmp_path, workers=2) as (address, _, workers),
        extraction(corpus, cache, "--cluster", address) as process,
    ):
        wait_for_first_part(process, cache)
        workers[0].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=LONG)
        assert process.returncode == 0, err
        assert workers[0].wait(LONG) == -signal.SIGKILL
    done = json.loads(out)
    assert (done["tables"], done["failed"]) == (paragraphs(corpus), [])
    assert parts(cache) == undisturbed


def test_a_killed_run_goes_on_where_it_was(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    with extraction(corpus, cache, "--workers", "2") as process:
        wait_for_first_part(process, cache)
        workers = family(process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LONG)
    assert_ended(workers)
    left = sorted(cache.rglob("part-*.parquet"))
    assert 1 <= len(left) < PARTS
    with extraction(corpus, cache, "--workers", "2") as process:
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (0, "")
    done = json.loads(out)
    assert (done["cached"], done["tables"]) == (tables_in(left), paragraphs(corpus) - tables_in(left))
    assert parts(cache) == undisturbed


@pytest.mark.parametrize("workers", ["0", "1"])
def test_an_interrupted_run_goes_on_where_it_was(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path, workers: str
) -> None:
    cache = tmp_path / "cache"
    with extraction(corpus, cache, "--workers", workers) as process:
        wait_for_first_part(process, cache)
        processes = family(process)
        for member in [psutil.Process(process.pid), *processes]:  # as a terminal does
            member.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (130, ""), err
    assert err.count("\n") == 1, err
    assert "what was finished is kept" in err
    if workers != "0":
        assert_ended(processes)
    left = tables_in(sorted(cache.rglob("part-*.parquet")))
    with extraction(corpus, cache) as process:
        out, err = process.communicate(timeout=LONG)
    done = json.loads(out)
    assert (done["cached"], done["tables"]) == (left, paragraphs(corpus) - left)
    assert parts(cache) == undisturbed


def test_a_lost_scheduler_is_told_in_one_sentence(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    with (
        dask_cluster(tmp_path, workers=1) as (address, scheduler, _),
        extraction(corpus, cache, "--cluster", address) as process,
    ):
        wait_for_first_part(process, cache)
        scheduler.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("drop-parsing: The connection to the workers was lost")
    assert err.count("\n") == 1, err
    left = parts(cache)
    assert left
    assert left.items() <= undisturbed.items()


PEAK = """
import re, sys
from pathlib import Path
from drop_parsing.cli.main import main
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from /proc")
def test_a_long_sentence_beside_short_ones_takes_little_more_memory(tmp_path: Path) -> None:
    """User report S24."""
    words = ("the crew rowed home while the cook sold boats and men " * 200).split()[:1200]
    long = {"id": "long", "text": " ".join(words)}
    short = [{"id": f"p{i}", "text": f"Ada sold {i} boats."} for i in range(49)]

    def peak(name: str, items: list[dict[str, str]]) -> int:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in items))
        command = [sys.executable, "-c", PEAK, "extract", path, "--cache", tmp_path / name, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
        result, kibibytes = done.stdout.splitlines()
        assert (json.loads(result)["tables"], json.loads(result)["failed"]) == (len(items), [])
        return int(kibibytes)

    alone = peak("alone", [long])
    assert peak("beside", [*short[:20], long, *short[20:]]) < 1.05 * alone
