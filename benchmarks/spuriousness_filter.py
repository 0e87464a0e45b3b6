"""A parser's forms without those that are taken to be spurious, for a second parser to learn from.

    python benchmarks/spuriousness_filter.py RUN/forms.jsonl TRAIN.json --scheme syndep --out filtered.jsonl [--mode M]

``RUN/forms.jsonl`` is left behind by ``drop-parsing train parser``. Its forms are told apart on fictitious tables and
judged as in ``drop-parsing spuriousness``, but nothing is searched, which takes a fraction of the time. What is done:

- ``lenient``: where a question has a form in a kept class, those in dropped ones are left out;
- ``strict``: these are always left out, so that a question may have no form left;
- ``weighted``: the weight of each form is multiplied by the score of its class.

A parser is then trained with ``form_weights: filtered.jsonl`` in its configuration, on the same questions: what differs
is the filter alone.
"""

import argparse
import json
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from drop_parsing.analysis.combined import KEPT
from drop_parsing.analysis.spuriousness import SpuriousnessSettings, form_scores
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.extraction import extract_tables, open_store
from drop_parsing.parser.choosing import read_weights
from extractors.registry import DEFAULT_BACKEND
from extractors.store import atomic_file
from extractors.table import Table, text_hash

#: Question id -> form -> weight.
Weights = Mapping[str, Mapping[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("forms", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--scheme", default="syndep")
    parser.add_argument("--cache", type=Path, default=Path("data_cache"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mode", choices=("lenient", "strict", "weighted"), default="lenient")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    weights = read_weights(given.forms, given.scheme)
    passages = read_all([given.input])[0]
    store = open_store(given.cache, given.scheme, DEFAULT_BACKEND)
    extract_tables(passages, {given.scheme: store})
    tables = store.get_many(text_hash(passage.text) for passage in passages)
    judged = [
        (p, tables[text_hash(p.text)], _of(p, weights)) for p in passages if text_hash(p.text) in tables
    ]
    judge = partial(_scores, SpuriousnessSettings(seed=given.seed))
    questions = with_kept = before = after = 0
    with ProcessPoolExecutor(given.workers) as pool, atomic_file(given.out) as file:
        for (_, _, own), scores in zip(judged, pool.map(judge, judged, chunksize=4), strict=True):
            for id, forms in own.items():
                left = filtered(forms, scores[id], given.mode)
                row = {"query_id": id, "scheme": given.scheme, "forms": left}
                file.write(f"{json.dumps(row)}\n".encode())
                questions += 1
                with_kept += max(scores[id].values(), default=0.0) >= KEPT
                before += len(forms)
                after += len(left)
    print(json.dumps({"questions": questions, "with_kept": with_kept, "forms": before, "forms_left": after}))


def filtered(forms: Mapping[str, float], scores: Mapping[str, float], mode: str) -> dict[str, float]:
    """What is left of the forms of one question, with their weights."""
    if mode == "weighted":
        return {form: weight * scores[form] for form, weight in forms.items()}
    kept = {form: weight for form, weight in forms.items() if scores[form] >= KEPT}
    return kept if kept or mode == "strict" else dict(forms)


def _of(passage: Passage, weights: Weights) -> Weights:
    return {question.id: weights[question.id] for question in passage.questions if question.id in weights}


def _scores(
    settings: SpuriousnessSettings, judged: tuple[Passage, Table, Weights]
) -> dict[str, dict[str, float]]:
    passage, table, weights = judged
    return form_scores(passage, table, {id: list(forms) for id, forms in weights.items()}, settings)


if __name__ == "__main__":
    main()
