"""Fits the weights of ``extractors/openie_confidence.py`` on CaRB's development half and prints them.

    python benchmarks/carb_confidence.py ../shared/data/openie/carb_dev.tsv.gz

A logistic regression with an L2 penalty. The target of a proposition is the mean precision of its
extractions in the one-to-one matching of a sentence (see ``carb.py``).
"""

import argparse
from pathlib import Path

import numpy as np
from carb import Extraction, Sentence, extractions_of, half, match, one_to_one, read_gold

from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.dependencies import collapsed_tree
from extractors.openie import propositions
from extractors.openie_confidence import features

PENALTY = 2.0
STEPS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the confidence of the openie scheme.")
    parser.add_argument("file", type=Path, help="sentence, relation, arguments: carb_dev.tsv.gz")
    gold = {s: g for s, g in read_gold(parser.parse_args().file).items() if half(s) == "development"}
    sentences = [Sentence(text) for text in gold]
    seen: list[list[str]] = []
    targets: list[float] = []
    annotator = SpacyAnnotator(load_pipeline())
    annotations = annotator.annotate(sentence.paragraph for sentence in sentences)
    for sentence, golds, annotation in zip(sentences, gold.values(), annotations, strict=True):
        made = [
            (list(features(proposition)), list(extractions_of(sentence, row)))
            for proposition, row in propositions(annotation, collapsed_tree(annotation))
        ]
        guesses: list[Extraction] = [extraction for _, found in made for extraction in found]
        scores = one_to_one([[match(one, guess)[0] for guess in guesses] for one in golds])
        place = 0
        for names, found in made:
            seen.append(names)
            targets.append(sum(scores.get(place + i, 0.0) for i in range(len(found))) / len(found))
            place += len(found)
    for name, weight in fit(seen, targets).items():
        print(f'    "{name}": {weight:.2f},')


def fit(seen: list[list[str]], targets: list[float]) -> dict[str, float]:
    """The weight of each feature, by Newton's method."""
    names = sorted({name for one in seen for name in one})
    x = np.array([[name in one for name in names] for one in seen], dtype=float)
    y = np.array(targets)
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        predicted = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (predicted - y) + PENALTY * weights
        hessian = (x.T * (predicted * (1 - predicted))) @ x + PENALTY * np.eye(len(names))
        weights -= np.linalg.solve(hessian, gradient)
    return dict(zip(names, weights.tolist(), strict=True))


if __name__ == "__main__":
    main()
