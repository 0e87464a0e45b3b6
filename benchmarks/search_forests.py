"""What keeping every form of a question costs: bytes, time to write, to read back, and for the best 20 of them.

    python benchmarks/search_forests.py TRAIN.json [--scheme syndep,openie,srl] [--questions 300]

A random sample of questions (seed 0), each searched and timed alone in processor time. Reading back gives the number
of forms and their answers; the best are those of the question's agenda. The bars: read back in under 5 ms, and
17,901 questions under three schemes in 2 GB, 37 KB a question.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from search_speed import sample, tables_of

from drop_parsing.goal import AnswerGoal
from drop_parsing.ordering import agenda
from drop_parsing.searching import language_of
from grammar.packing import from_bytes, to_bytes
from grammar.ranking import best
from grammar.search import collector_paused, search
from grammar.view import View

P = ParamSpec("P")
T = TypeVar("T")
STEPS = ("search", "write", "read", "best 20", "best 20 of what was read")


def main() -> None:
    parser = argparse.ArgumentParser(description="Bytes and time of packed forests.")
    parser.add_argument("file", type=Path, help="a DROP file with answers")
    parser.add_argument(
        "--scheme", default="syndep,openie,srl", help="schemes, separated by commas (default all)"
    )
    parser.add_argument("--questions", type=int, default=300, help="sample so many; 0 for all (default 300)")
    arguments = parser.parse_args()
    asked = sample(arguments.file, arguments.questions)
    for scheme in arguments.scheme.split(","):
        tables = tables_of(scheme, asked)
        sizes: list[int] = []
        times: dict[str, list[float]] = {step: [] for step in STEPS}
        for passage, question in asked:
            language = language_of(question.text, View(tables[passage.id]))
            goal, scorer = AnswerGoal(question.references), agenda(question.text)
            found = timed(times["search"], search, language, goal)
            ranked = timed(times["best 20"], best, found, scorer, 20)
            data = timed(times["write"], to_bytes, found)
            back = timed(times["read"], from_bytes, data)
            again = timed(times["best 20 of what was read"], best, back, scorer, 20)
            assert (back.count, again) == (found.count, ranked)
            sizes.append(len(data))
        print(f"{scheme}: {len(asked)} questions, {statistics.mean(sizes) / 1000:.1f} KB each on average")
        for step, taken in times.items():
            taken.sort()
            print(
                f"  {step}: median {statistics.median(taken):.1f} ms, mean {statistics.mean(taken):.1f} ms, "
                f"99th percentile {taken[int(0.99 * len(taken))]:.1f} ms"
            )


def timed(times: list[float], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Note the milliseconds that a call takes."""
    started = time.process_time()
    with collector_paused():
        result = function(*args, **kwargs)
    times.append(1000 * (time.process_time() - started))
    return result


if __name__ == "__main__":
    main()
