"""Seconds to score 9,536 predictions, and the ratio to the evaluator of allennlp-models in the same run.

    python benchmarks/metric_speed.py ../shared/data/drop/dev.json [--repeats 3]

Predictions are made from the references with a fixed seed: a third each right, perturbed and wrong. Both
evaluators score every prediction against all its references; caches are empty at the start of each repeat.
The best repeat counts. Without allennlp-models installed, only our own seconds are printed.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from drop_parsing.data import metric
from drop_parsing.data.drop_json import passages_to_json
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage, Question

PREDICTIONS = 9_536


def make_questions(path: Path) -> list[Passage]:
    """Passages with ``PREDICTIONS`` answered questions in all, those of the file over again under new ids."""
    passages = read_all([path])[0]
    answered = [(p, q) for p in passages for q in p.questions if q.references]
    made = []
    for number in range(PREDICTIONS):
        passage, question = answered[number % len(answered)]
        copy = Question(f"q{number}", question.text, question.answer, question.validated_answers)
        made.append(Passage(f"p{number}", passage.text, (copy,)))
    return made


def make_predictions(passages: list[Passage], seed: int = 0) -> dict[str, list[str]]:
    """About a third each: right, with a word dropped or added, and the answer to another question."""
    rng = random.Random(seed)
    questions = [question for passage in passages for question in passage.questions]
    predictions = {}
    for question in questions:
        source = rng.choice((question, question, rng.choice(questions)))
        texts = list(rng.choice(source.references).texts())
        if source is question and rng.random() < 0.5:
            index = rng.randrange(len(texts))
            words = texts[index].split()
            texts[index] = " ".join(rng.choice((words[1:], [*words, rng.choice(source.text.split())])))
            rng.shuffle(texts)
        predictions[question.id] = texts
    return predictions


def load_peer() -> ModuleType | None:
    """The evaluator's file alone: importing its package would bring in all of AllenNLP."""
    package = importlib.util.find_spec("allennlp_models")
    if package is None or not package.submodule_search_locations:
        return None
    path = Path(package.submodule_search_locations[0], "rc", "tools", "drop.py")
    spec = importlib.util.spec_from_file_location("allennlp_models_drop_evaluator", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best_seconds(run: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        metric._bag.cache_clear()
        metric._normalise_token.cache_clear()
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dev", type=Path, help="a DROP JSON file with answers")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    passages = make_questions(arguments.dev)
    predictions = make_predictions(passages)
    questions = [question for passage in passages for question in passage.questions]
    ours = best_seconds(lambda: metric.evaluate(predictions, questions), arguments.repeats)
    result = {"predictions": len(predictions), "seconds": round(ours, 4)}
    if peer := load_peer():
        annotations = passages_to_json(passages)
        theirs = best_seconds(lambda: peer.evaluate_json(annotations, predictions), arguments.repeats)
        result |= {"peer_seconds": round(theirs, 4), "times_faster": round(theirs / ours, 2)}
        scores = metric.evaluate(predictions, questions)
        with contextlib.redirect_stdout(io.StringIO()):
            em, f1 = peer.evaluate_json(annotations, predictions)
        if abs(100 * em - scores.em) > 1e-9 or abs(100 * f1 - scores.f1) > 1e-9:
            sys.exit(f"The evaluators disagree: {scores.em}, {scores.f1} against {100 * em}, {100 * f1}.")
        result |= {"em": round(scores.em, 4), "f1": round(scores.f1, 4)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
