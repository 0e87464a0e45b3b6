"""Throughput of the schemes beside the bare spaCy pass that they share.

    python benchmarks/extract_speed.py PASSAGES.json [--passages 100] [--rounds 5]

PASSAGES.json is in DROP's form. All run in one process on the same passages with the same pipeline, in
alternation; figures are medians of processor time over the rounds. The bars: "syndep" at least 0.8 of bare
``nlp.pipe``; all schemes together less than 1.8 times the time of "syndep".
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from spacy.language import Language

from extractors.annotate import load_pipeline
from extractors.extractor import extract_together
from extractors.registry import make_extractors, schemes
from extractors.table import Paragraph


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the schemes against bare nlp.pipe.")
    parser.add_argument("file", type=Path, help="a DROP file")
    parser.add_argument("--passages", type=int, default=100, help="how many passages to run (default 100)")
    parser.add_argument("--rounds", type=int, default=5, help="how often to run each (default 5)")
    arguments = parser.parse_args()

    passages = json.loads(arguments.file.read_text(encoding="utf-8"))
    paragraphs = [Paragraph(name, entry["passage"]) for name, entry in passages.items()]
    paragraphs = paragraphs[: arguments.passages]
    nlp = load_pipeline()
    sentences = run_bare(nlp, paragraphs)

    runs: dict[str, Callable[[], object]] = {"bare nlp.pipe": lambda: run_bare(nlp, paragraphs)}
    runs |= {scheme: extraction([scheme], paragraphs) for scheme in schemes()}
    runs["all"] = extraction(schemes(), paragraphs)
    for run in runs.values():
        run()  # Warms caches and loads models.
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(arguments.rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"{name:14} {len(paragraphs) / median:7.1f} paragraphs/s {sentences / median:8.1f} sentences/s")
    print(f"syndep / bare throughput {medians['bare nlp.pipe'] / medians['syndep']:6.3f} (bar: at least 0.8)")
    print(f"all / syndep time        {medians['all'] / medians['syndep']:6.3f} (bar: under 1.8)")


def extraction(chosen: Sequence[str], paragraphs: Sequence[Paragraph]) -> Callable[[], object]:
    """What extracts the tables of some schemes, parsing once."""
    extractors = make_extractors(chosen)
    return lambda: sum(1 for _ in extract_together(extractors, paragraphs))


def run_bare(nlp: Language, paragraphs: Sequence[Paragraph]) -> int:
    """Run the pipeline alone and count sentences."""
    return sum(1 for doc in nlp.pipe(paragraph.text for paragraph in paragraphs) for _ in doc.sents)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
