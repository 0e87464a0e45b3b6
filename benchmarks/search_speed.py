"""Time, memory and coverage of the complete search over the questions of a DROP file.

    python benchmarks/search_speed.py DEV.json [--scheme syndep] [--questions 500] [--size 3]

Each question's search is timed in processor time, alone and with what the batch job then does (the best 20 forms and
the forest as bytes), with the index of its passage's table made beforehand, as the job shares it. ``--questions``
takes a random sample (seed 0); 0 takes all. Coverage is by exact match. The bars: median under 60 ms, 99th percentile
under 1 s, peak memory under 1.5 GiB, 97% searched to the full size.
"""

import argparse
import random
import resource
import statistics
import time
from pathlib import Path

from drop_parsing.data.reading import read_passages
from drop_parsing.data.types import Passage, Question
from drop_parsing.goal import AnswerGoal
from drop_parsing.searching import SearchSettings, language_of, preferred_forms
from extractors.extractor import extract_together
from extractors.registry import make_extractors
from extractors.table import Paragraph, Table
from grammar.packing import to_bytes
from grammar.search import search
from grammar.view import View


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and coverage of the complete search.")
    parser.add_argument("file", type=Path, help="a DROP file with answers")
    parser.add_argument("--scheme", default="syndep", help="schemes, separated by commas (default syndep)")
    parser.add_argument("--questions", type=int, default=500, help="sample so many; 0 for all (default 500)")
    parser.add_argument("--size", type=int, default=3, help="row operations of a form (default 3)")
    arguments = parser.parse_args()

    asked = sample(arguments.file, arguments.questions)
    schemes = arguments.scheme.split(",")
    covered = {scheme: run(scheme, asked, tables_of(scheme, asked), arguments.size) for scheme in schemes}
    if len(schemes) > 1:
        reached = set[str]().union(*covered.values())
        print(f"any scheme: covered {100 * len(reached) / len(asked):.1f}% of {len(asked)} questions")


def sample(path: Path, number: int) -> list[tuple[Passage, Question]]:
    """Questions with answers, in the order of the file."""
    passages = [item for item in read_passages([str(path)]) if isinstance(item, Passage)]
    pairs = [(passage, q) for passage in passages for q in passage.questions if q.references]
    chosen = (
        random.Random(0).sample(range(len(pairs)), min(number, len(pairs))) if number else range(len(pairs))
    )
    return [pairs[i] for i in sorted(chosen)]


def tables_of(scheme: str, asked: list[tuple[Passage, Question]]) -> dict[str, Table]:
    paragraphs = list({p.id: Paragraph(p.id, p.text) for p, _ in asked}.values())
    tables: dict[str, Table] = {}
    for made in extract_together(make_extractors([scheme]), paragraphs):
        table = made[scheme]
        if isinstance(table, Exception):
            raise table
        tables[table.paragraph_id] = table
    return tables


def run(scheme: str, asked: list[tuple[Passage, Question]], tables: dict[str, Table], size: int) -> set[str]:
    """Search and print the figures; returns the ids of the questions covered."""
    times: list[float] = []
    whole: list[float] = []
    covered: set[str] = set()
    complete = 0
    view, indexed = View(next(iter(tables.values()))), ""
    for passage, question in asked:
        if indexed != passage.id:
            view, indexed = View(tables[passage.id]), passage.id
        language = language_of(question.text, view)
        goal = AnswerGoal(question.references)
        started = time.process_time()
        found = search(language, goal, size)
        times.append(time.process_time() - started)
        preferred_forms(found, question.text, SearchSettings().keep)
        to_bytes(found)
        whole.append(time.process_time() - started)
        complete += found.size == size
        if found.count:
            covered.add(question.id)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{scheme}: {len(asked)} questions, size {size}: "
        f"{spread(times)}; with the best forms and the bytes {spread(whole)}; peak memory {peak:.2f} GiB, "
        f"complete {100 * complete / len(asked):.1f}%, covered {100 * len(covered) / len(asked):.1f}%"
    )
    return covered


def spread(times: list[float]) -> str:
    """Of times in seconds."""
    ordered = sorted(times)
    return (
        f"median {1000 * statistics.median(ordered):.0f} ms, "
        f"99th percentile {ordered[int(0.99 * len(ordered))]:.2f} s, most {ordered[-1]:.2f} s"
    )


if __name__ == "__main__":
    main()
