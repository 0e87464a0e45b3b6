"""What the parser owes to its parts: trained on a sample as a run was, and with one thing changed.

    python benchmarks/parser_ablation.py RUN train.json dev.json --cache data_cache --out ablation.json

RUN is what ``drop-parsing train parser`` has left behind: its preset, the kind of its tables, and the forms that it
chose to learn from, so that nothing is searched or chosen again. All variants have the same passages, the same number
of epochs (with the learning rate falling to 0 over them) and one thread; nothing depends on the speed of the machine.
Each is evaluated once, when it ends, on all questions of the dev sample: as the decoder orders its beam, and as the
rescorer does. How far apart two seeds of the preset are says how small a difference means nothing. The last variants
are a learning curve: the preset on fewer and on more passages. Variants that ``--out`` has already are not run again.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.parser.choosing import Weighted
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.loading import load_data
from drop_parsing.parser.questions import QuestionSet, penalise_single_tables
from drop_parsing.parser.run_files import FORMS, METRICS, Setup, load_setup
from drop_parsing.parser.training import Data, train_parser
from drop_parsing.searching import SearchSettings
from drop_parsing.training.run import Options
from extractors.remote import place_of
from extractors.store import atomic_file


@dataclass(frozen=True)
class Variant:
    """One thing changed: settings of the training, settings for which the questions are read again (``reading``), the
    questions themselves, or how many passages there are."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Data], Data] = lambda data: data
    passages: int | None = None


def variants(weights: Path | None, transformer: bool, curve: Sequence[int]) -> list[Variant]:
    made = [
        Variant("the preset"),
        Variant("another seed", {"seed": 1}),
        Variant("no linking features", change=without_linking),
        Variant("k = 1", {"forms": 1}),
        Variant("k = 4", {"forms": 4}),
        Variant("the 4 likeliest, chosen again each epoch", {"forms": 4, "refresh": True}),
        Variant("all forms weigh the same", change=lambda data: weighed(data, lambda form: 0.0)),
        Variant("size prior 0.5", change=lambda data: weighed(data, smaller_first)),
        Variant("held-out-table penalty 0.5", change=with_penalty),
        Variant("no vectors in context", {"contextual": None}, change=without_context),
        Variant("no pretrained vectors", {"contextual": None, "vectors": "random"}, change=without_context),
    ]
    if weights:
        made.append(Variant("forms and weights of --weights", reading={"form_weights": str(weights)}))
    if transformer:
        tuned = {"transformer": "minilm", "contextual": None}
        made.append(Variant("a transformer, trained too", {"learning_rate": 3e-4}, tuned))
    return made + [Variant(f"{number} passages", passages=number) for number in curve]


def mapped(data: Data, change: Callable[[QuestionInput], QuestionInput]) -> Data:
    """With each question changed."""

    def of(questions: QuestionSet) -> QuestionSet:
        return replace(
            questions, questions=[(change(question), language) for question, language in questions.questions]
        )

    return replace(data, train=of(data.train), dev=of(data.dev))


def without_linking(data: Data) -> Data:
    """Entities are told apart by their types and names alone."""
    return mapped(data, lambda question: replace(question, features=np.zeros_like(question.features)))


def without_context(data: Data) -> Data:
    """Neither the encoder nor the rescorer has vectors of words in context."""
    return mapped(data, lambda question: replace(question, contextual=None, similar=None))


def weighed(data: Data, weigh: Callable[[Weighted], float]) -> Data:
    """Each form has another logarithm of its weight."""

    def change(question: QuestionInput) -> QuestionInput:
        if question.targets is None:
            return question
        prior = np.array([weigh(form) for form in question.learnt()], dtype=np.float32)
        return replace(question, targets=replace(question.targets, prior=prior))

    return mapped(data, change)


def smaller_first(form: Weighted) -> float:
    return form.log_weight - 0.5 * str(form.form).count("(")


def with_penalty(data: Data) -> Data:
    made = weighed(data, lambda form: form.log_weight)  # a copy: the penalty is added in place
    penalise_single_tables(made.train, data.train_passages, 0.5)
    return made


def first(data: Data, passages: int) -> Data:
    """The training questions of so many passages."""
    kept = data.train_passages[:passages]
    ids = {question.id for passage in kept for question in passage.questions}
    number = sum(question.id in ids for question, _ in data.train.questions)
    train = QuestionSet(
        data.train.questions[:number],
        [place for place in data.train.trained if place < number],
        [place for place in data.train.held_out if place < number],
    )
    return replace(data, train=train, train_passages=kept)


def sample(path: Path, number: int) -> list[Passage]:
    """So many passages in a random order, the first ones the same for every number."""
    passages = read_all([path])[0]
    random.Random(0).shuffle(passages)
    return passages[:number]


class Bench:
    """The samples, and what each variant makes of them."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.setup: Setup = load_setup(chosen.run)
        self.train = sample(chosen.train, max([chosen.passages, *chosen.curve]))
        self.dev = sample(chosen.dev, chosen.dev_passages)
        self._preset: Data | None = None

    def data(self, variant: Variant) -> Data:
        """The data of the preset are read once, on as many passages as any variant has."""
        number = variant.passages or self.chosen.passages
        if variant.reading:
            return self._read(self.train[:number], variant.reading)
        if self._preset is None:
            self._preset = self._read(self.train, {})
        return variant.change(first(self._preset, number))

    def _read(self, train: list[Passage], reading: dict[str, Any]) -> Data:
        started = time.process_time()
        data, _ = load_data(
            replace(self.setup.config, **reading),
            self.setup.tables,
            train,
            self.dev,
            place_of(self.chosen.cache),
            SearchSettings(self.chosen.max_size),
            str(self.chosen.train),
            chosen=None if "form_weights" in reading else self.chosen.run / FORMS,
        )
        print(f"{len(train)} passages read in {time.process_time() - started:.0f} s of processor time")
        return data

    def run(self, variant: Variant) -> dict[str, Any]:
        started = time.process_time()
        data, epochs = self.data(variant), self.chosen.epochs
        config = replace(
            self.setup.config,
            epochs=epochs,
            decay=True,
            minutes=None,
            evaluate_every=epochs,
            evaluate_on=None,
            **variant.reading,
            **variant.settings,
        )
        with tempfile.TemporaryDirectory() as folder:
            train_parser(config, data, Path(folder), Options(torch.device("cpu"), torch.float32))
            lines = [json.loads(line) for line in (Path(folder) / METRICS).read_text().splitlines()]
        decoded, rescored = lines[0], lines[-1]
        return {
            "changed": variant.settings | variant.reading,
            "passages": len(data.train_passages),
            "trained_on": len(data.train.trained),
            "rescorer_fitted_to": len(data.train.held_out),
            "train_loss": decoded["train_loss"],
            "decoder_f1": decoded["dev_f1"],
            "dev_em": rescored["dev_em"],
            "dev_f1": rescored["dev_f1"],
            "dev_questions": rescored["dev_questions"],
            "by_type": rescored["by_type"],
            "processor_seconds": round(time.process_time() - started, 1),
        }


def show(runs: dict[str, Any]) -> None:
    print(f"{'':42}{'questions':>10}{'decoder F1':>12}{'EM':>8}{'F1':>8}{'minutes':>9}")
    for name, run in runs.items():
        print(
            f"{name:42}{run['trained_on']:10}{run['decoder_f1']:12.2f}{run['dev_em']:8.2f}{run['dev_f1']:8.2f}"
            f"{run['processor_seconds'] / 60:9.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--cache", default="data_cache")
    parser.add_argument("--max-size", type=int, default=3, help="of the search")
    parser.add_argument("--passages", type=int, default=150)
    parser.add_argument("--dev-passages", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--curve", type=int, nargs="*", default=[50, 400], help="numbers of passages")
    parser.add_argument("--weights", type=Path, help="form weights, as the option form_weights takes them")
    parser.add_argument("--transformer", action="store_true", help="train one too, which takes long")
    parser.add_argument("--only", nargs="*", help="the names of some variants")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    bench = Bench(chosen)
    measured_on = {
        "scheme": bench.setup.tables.scheme,
        "passages": chosen.passages,
        "dev_passages": chosen.dev_passages,
        "epochs": chosen.epochs,
    }
    made: dict[str, Any] = {"sample": measured_on, "runs": {}}
    if chosen.out.exists():
        made = json.loads(chosen.out.read_text())
        if made["sample"] != measured_on:
            parser.error(f"{chosen.out} was measured on {made['sample']}: choose another --out")
    for variant in variants(chosen.weights, chosen.transformer, chosen.curve):
        if variant.name in made["runs"] or (chosen.only and variant.name not in chosen.only):
            continue
        made["runs"][variant.name] = bench.run(variant)
        with atomic_file(chosen.out) as file:
            file.write(f"{json.dumps(made, indent=1)}\n".encode())
        show({variant.name: made["runs"][variant.name]})
    show(made["runs"])


if __name__ == "__main__":
    main()
