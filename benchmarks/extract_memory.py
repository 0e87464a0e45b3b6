"""Peak memory and speed of ``drop-parsing extract`` over a large corpus of short paragraphs.

    python benchmarks/extract_memory.py [--paragraphs 200000] [--workers 2] [--scheme syndep]

Writes the corpus (made-up sentences, each paragraph its own text) and the cache to a temporary folder, runs the
command as a process of its own, and looks at the resident memory of that process and of its workers ten times a
second. The bar is a driver under 1 GiB at 200,000 paragraphs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]

NAMES = ("Ada", "Bram", "Cora", "Dirk", "Eyre", "Fenn", "Gorm", "Hale")
THINGS = ("boats", "carts", "nets", "sheep", "barrels", "lamps", "ropes", "stones")
PLACES = ("Carn", "Hull", "Norway", "Ural", "Leeds", "Malta", "Brook", "Marsh")
MIB = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description="Peak memory of a large extraction.")
    parser.add_argument("--paragraphs", type=int, default=200_000, help="how many (default 200,000)")
    parser.add_argument("--workers", type=int, default=2, help="as for drop-parsing extract (default 2)")
    parser.add_argument("--scheme", default="syndep", help="as for drop-parsing extract (default syndep)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.jsonl"
        write_corpus(corpus, arguments.paragraphs)
        for name in ("extract", "again, all cached"):
            report(name, corpus, arguments.workers, arguments.scheme)


def write_corpus(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for i in range(count):
            file.write(json.dumps({"id": f"paragraph-{i}", "text": paragraph(i)}) + "\n")


def paragraph(number: int) -> str:
    """Two short sentences that no other number gives."""
    name, other = NAMES[number % 8], NAMES[number // 8 % 8]
    thing, place = THINGS[number // 64 % 8], PLACES[number // 512 % 8]
    bought, year = number % 97 + 2, 1800 + number % 200
    return f"{name} sold {number} {thing} in {place}. {other} bought {bought} of them in {year}."


def report(name: str, corpus: Path, workers: int, scheme: str) -> None:
    command = [sys.executable, "-m", "drop_parsing.cli.main", "extract", str(corpus), "--json"]
    command += ["--scheme", scheme, "--workers", str(workers), "--cache", str(corpus.with_name("cache"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        driver_peak, worker_peak = watch(process)
        assert process.stdout is not None
        done = json.loads(process.stdout.read())
    speed = done["passages"] / done["seconds"]
    print(
        f"{name:18} {done['passages']} passages, {done['tables']} tables made, {len(done['failed'])} failed, "
        f"{done['seconds']:.0f} s, {speed:.0f} paragraphs/s; peak of the driver {driver_peak / MIB:.0f} MiB "
        f"(bar: 1024), of a worker {worker_peak / MIB:.0f} MiB"
    )


def watch(process: "subprocess.Popen[str]") -> tuple[int, int]:
    """The peak resident memory, in bytes, of the process and of its largest descendant, until it ends."""
    driver = psutil.Process(process.pid)
    driver_peak = worker_peak = 0
    while process.poll() is None:
        try:
            driver_peak = max(driver_peak, driver.memory_info().rss)
            for child in driver.children(recursive=True):
                worker_peak = max(worker_peak, child.memory_info().rss)
        except psutil.Error:
            pass
        time.sleep(0.1)
    return driver_peak, worker_peak


if __name__ == "__main__":
    main()
