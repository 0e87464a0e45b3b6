"""The weights of the combined score, fitted on a sheet that a person judged; and how far they carry over: precision and
recall on each half of the questions by the weights that the other half gives.

    python benchmarks/qdmr_subset.py drop_dev.json qdmr_dev.csv qdmr.json
    python benchmarks/spuriousness_calibrate.py qdmr.json --qdmr qdmr_dev.csv [--cache DIR] [--workers 2]

Each class counts twice, once without its decomposition: most questions have none.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from drop_parsing.analysis.combined import KEPT, calibrate, combined
from drop_parsing.analysis.qdmr import read_decompositions
from drop_parsing.analysis.sheet import read_sheet
from drop_parsing.analysis.spuriousness import SpuriousnessSettings
from drop_parsing.analysis.spuriousness_job import analyse_passages, open_analyses
from drop_parsing.data.reading import read_all
from drop_parsing.extraction import extract_tables, open_store
from extractors.registry import DEFAULT_BACKEND, schemes

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class JudgedClass:
    question: str
    scores: Scores
    right: bool

    @property
    def without(self) -> Scores:
        return {**self.scores, "qdmr": None}


def judged_classes(given: argparse.Namespace, cache: Path) -> list[JudgedClass]:
    """The classes of the sheet that the analysis finds too. Only passages with a question of the sheet are analysed."""
    rows = read_sheet(given.judged)
    asked = {row.query_id for row in rows}
    passages = [p for p in read_all([given.input])[0] if any(q.id in asked for q in p.questions)]
    settings, decompositions = SpuriousnessSettings(), read_decompositions(given.qdmr)
    found = []
    for name in schemes():
        store = open_store(cache, name, DEFAULT_BACKEND)
        extract_tables(passages, {name: store})
        analyses = open_analyses(cache, name, settings)
        report = analyse_passages(passages, store, analyses, settings, decompositions, given.workers)
        scores = {(one.query_id, c.form): c.scores for one in report.questions for c in one.classes}
        for row in rows:
            for form, right in row.judgements.items():
                if row.scheme == name and right is not None and (row.query_id, form) in scores:
                    found.append(JudgedClass(row.query_id, scores[row.query_id, form], right))
    return found


def fit(classes: Sequence[JudgedClass]) -> tuple[float, dict[str, float]]:
    pairs = [(scores, one.right) for one in classes for scores in (one.scores, one.without)]
    return calibrate(pairs)


def report(pairs: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Shares in percent."""
    kept = [right for score, right in pairs if score >= KEPT]
    right, wrong = sum(r for _, r in pairs), sum(not r for _, r in pairs)
    return {
        "precision": round(100 * sum(kept) / max(len(kept), 1), 1),
        "recall": round(100 * sum(kept) / right, 1),
        "wrong_dropped": round(100 * (1 - (len(kept) - sum(kept)) / wrong), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", type=Path)
    parser.add_argument("--qdmr", type=Path, required=True)
    parser.add_argument("--judged", type=Path, default=Path(__file__).with_name("spuriousness_judged.csv"))
    parser.add_argument("--cache", type=Path, help="kept and used again; otherwise a temporary folder")
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        classes = judged_classes(given, given.cache or Path(folder))
    print(json.dumps({"classes": len(classes), "right": sum(one.right for one in classes)}))
    bias, weights = fit(classes)
    print(json.dumps({"bias": bias, **weights}))
    questions = sorted({one.question for one in classes})
    Random(0).shuffle(questions)
    scored: dict[str, list[tuple[float, bool]]] = {"with decompositions": [], "without": []}
    for half in (set(questions[::2]), set(questions[1::2])):
        bias, weights = fit([one for one in classes if one.question not in half])
        for one in classes:
            if one.question in half:
                scored["with decompositions"].append((combined(one.scores, bias, weights), one.right))
                scored["without"].append((combined(one.without, bias, weights), one.right))
    for name, pairs in scored.items():
        print(json.dumps({name: report(pairs)}))


if __name__ == "__main__":
    main()
