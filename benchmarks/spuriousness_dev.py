"""Spuriousness on DROP: coverage, classes and spurious rate of each scheme, and how many questions have a form that is
taken to mean them, under each scheme and under any.

    python benchmarks/spuriousness_dev.py drop_dev.json --qdmr qdmr_dev.csv [--questions 200] [--decomposed]

``--decomposed`` asks only the questions that have a decomposition; ``--questions 0`` all. Passages are drawn by the
seed, whole, until there are enough questions. With ``--workers 0`` the processor seconds a question are told.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from drop_parsing.analysis.qdmr import Decomposition, question_key, read_decompositions
from drop_parsing.analysis.spuriousness import SpuriousnessSettings
from drop_parsing.analysis.spuriousness_job import analyse_passages, open_analyses, summary
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.extraction import extract_tables, open_store
from extractors.registry import DEFAULT_BACKEND, schemes

#: From which agreement with the decomposition on a kept class is taken to mean its question.
AGREES = 0.6


def drawn(
    passages: Sequence[Passage], wanted: dict[str, Decomposition] | None, number: int, seed: int
) -> Iterator[Passage]:
    """Whole passages in random order, with the wanted questions alone, until there are enough questions."""
    asked = 0
    for passage in Random(seed).sample(passages, len(passages)):
        if number and asked >= number:
            return
        questions = [q for q in passage.questions if q.references]
        if wanted is not None:
            questions = [q for q in questions if question_key(q.text) in wanted]
        if questions:
            asked += len(questions)
            yield replace(passage, questions=tuple(questions))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", type=Path)
    parser.add_argument("--qdmr", type=Path, required=True)
    parser.add_argument("--scheme", default="all")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--decomposed", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="kept and used again; otherwise a temporary folder")
    given = parser.parse_args()
    decompositions = read_decompositions(given.qdmr)
    wanted = decompositions if given.decomposed else None
    passages = list(drawn(read_all([given.input])[0], wanted, given.questions, given.seed))
    names = schemes() if given.scheme == "all" else given.scheme.split(",")
    settings = SpuriousnessSettings(seed=given.seed)
    kept: dict[str, set[str]] = {}
    agreeing: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or Path(folder)
        stores = {name: open_store(cache, name, DEFAULT_BACKEND) for name in names}
        extract_tables(passages, stores)
        for name, store in stores.items():
            started = time.process_time()
            analyses = open_analyses(cache, name, settings)
            report = analyse_passages(passages, store, analyses, settings, decompositions, given.workers)
            seconds = (time.process_time() - started) / len(report.questions) if not given.workers else None
            kept[name] = {one.query_id for one in report.questions if one.kept}
            agreeing |= {
                one.query_id
                for one in report.questions
                if any((each.scores["qdmr"] or 0) >= AGREES for each in one.kept)
            }
            found = summary(name, report.questions)
            figures = {field: getattr(found, field) for field in found.__slots__ if field != "forms"}
            print(
                json.dumps({**figures, "kept": len(kept[name]), "seconds_a_question": seconds}),
                flush=True,
            )
    questions = sum(len(passage.questions) for passage in passages)
    together = set().union(*kept.values())
    print(
        json.dumps(
            {"questions": questions, "kept_any": len(together), "kept_and_agreeing_any": len(agreeing)}
        )
    )


if __name__ == "__main__":
    main()
