"""Throughput of the "syndep" scheme beside the bare spaCy pass it is built on.

    python benchmarks/extract_speed.py PASSAGES.json [--passages 100] [--rounds 5]

PASSAGES.json is in DROP's form. Both run in one process on the same passages with the same pipeline, in
alternation; figures are medians over the rounds. The bar is a ratio of at least 0.8.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from spacy.language import Language

from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.extractor import Extractor
from extractors.syndep import SynDep
from extractors.table import Paragraph


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of syndep extraction against bare nlp.pipe.")
    parser.add_argument("file", type=Path, help="a DROP file")
    parser.add_argument("--passages", type=int, default=100, help="how many passages to run (default 100)")
    parser.add_argument("--rounds", type=int, default=5, help="how often to run each (default 5)")
    arguments = parser.parse_args()

    passages = json.loads(arguments.file.read_text(encoding="utf-8"))
    paragraphs = [Paragraph(name, entry["passage"]) for name, entry in passages.items()]
    paragraphs = paragraphs[: arguments.passages]
    nlp = load_pipeline()
    extractor = Extractor(SpacyAnnotator(nlp), SynDep())
    sentences = run_bare(nlp, paragraphs[:10]) and run_bare(nlp, paragraphs)

    bare, full = [], []
    for _ in range(arguments.rounds):
        bare.append(seconds(lambda: run_bare(nlp, paragraphs)))
        full.append(seconds(lambda: sum(1 for _ in extractor.pipe(iter(paragraphs)))))
    for name, times in (("bare nlp.pipe", bare), ("syndep", full)):
        median = statistics.median(times)
        print(f"{name:14} {len(paragraphs) / median:7.1f} paragraphs/s {sentences / median:8.1f} sentences/s")
    print(f"ratio          {statistics.median(bare) / statistics.median(full):7.3f} (bar: 0.8)")


def run_bare(nlp: Language, paragraphs: Sequence[Paragraph]) -> int:
    """Run the pipeline alone and count sentences."""
    return sum(1 for doc in nlp.pipe(paragraph.text for paragraph in paragraphs) for _ in doc.sents)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
