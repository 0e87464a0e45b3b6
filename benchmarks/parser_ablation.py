"""What the parser owes to its parts: trained on a sample as a preset has it, and with one thing changed.

    python benchmarks/parser_ablation.py train.json dev.json --cache data_cache --minutes 10 --out ablation.json

The forms of the training questions must be in the cache (drop-parsing search). Every run has the same passages, the
same time of training and one thread; dev F1 is over all questions of the dev sample, after rescoring where there is
one. Runs that ``--out`` has already are not made again.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.parser.config import ParserConfig, load_config
from drop_parsing.parser.loading import load_data
from drop_parsing.parser.questions import QuestionSet
from drop_parsing.parser.run_files import METRICS, Tables
from drop_parsing.parser.training import Data, train_parser
from drop_parsing.searching import SearchSettings
from drop_parsing.training.run import Options
from extractors.remote import place_of


@dataclass(frozen=True)
class Variant:
    """One thing changed: settings of the preset, or the questions as they are read."""

    name: str
    settings: dict[str, Any]
    change: Callable[[Data], Data] = lambda data: data


def without_linking(data: Data) -> Data:
    """The questions without linking features: entities are told apart by their names alone."""

    def blank(questions: QuestionSet) -> QuestionSet:
        asked = [
            (replace(question, features=np.zeros_like(question.features)), language)
            for question, language in questions.questions
        ]
        return replace(questions, questions=asked)

    return replace(data, train=blank(data.train), dev=blank(data.dev))


def variants(votes: Path | None) -> list[Variant]:
    made = [
        Variant("the preset", {}),
        Variant("no linking features", {}, without_linking),
        Variant("k = 1", {"forms": 1, "refresh": False}),
        Variant("k = 5", {"forms": 5}),
        Variant("k = 40", {"forms": 40, "candidates": 40}),
        Variant("the same forms in every epoch", {"refresh": False}),
        Variant("all forms weigh the same", {"prior": 0.0}),
        Variant("size prior 0.5", {"size_prior": 0.5}),
        Variant("held-out-table penalty 0.5", {"held_out_penalty": 0.5}),
        Variant("no rescoring", {"rescoring": 0.0}),
        Variant("word pieces of MiniLM for vectors", {"vectors": "pieces:minilm"}),
    ]
    return made + ([Variant("votes", {"form_weights": str(votes)})] if votes else [])


def sample(path: Path, number: int) -> list[Passage]:
    """So many passages, the same ones each time."""
    passages = read_all([path])[0]
    random.Random(0).shuffle(passages)
    return passages[:number]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--cache", default="data_cache")
    parser.add_argument("--scheme", default="syndep")
    parser.add_argument("--max-size", type=int, default=3)
    parser.add_argument("--config", default="kdg-small")
    parser.add_argument("--passages", type=int, default=150)
    parser.add_argument("--dev-passages", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--votes", type=Path, help="form weights, as the option form_weights takes them")
    parser.add_argument("--only", nargs="*", help="the names of some variants")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    train, dev = sample(chosen.train, chosen.passages), sample(chosen.dev, chosen.dev_passages)
    done: dict[str, Any] = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    for variant in variants(chosen.votes):
        if variant.name in done or (chosen.only and variant.name not in chosen.only):
            continue
        config = replace(load_config(chosen.config), minutes=chosen.minutes, **variant.settings)
        done[variant.name] = run(variant, config, train, dev, chosen)
        chosen.out.write_text(json.dumps(done, indent=1) + "\n")
        print(variant.name, {name: done[variant.name][name] for name in ("epochs", "dev_em", "dev_f1")})


def run(
    variant: Variant,
    config: ParserConfig,
    train: list[Passage],
    dev: list[Passage],
    chosen: argparse.Namespace,
) -> dict[str, Any]:
    settings = SearchSettings(chosen.max_size)
    cache = place_of(chosen.cache)
    data, _ = load_data(config, Tables(chosen.scheme), train, dev, cache, settings, str(chosen.train))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        options = Options(torch.device("cpu"), torch.float32, say=print)
        progress = train_parser(config, variant.change(data), place, options)
        lines = [json.loads(line) for line in (place / METRICS).read_text().splitlines()]
    return {
        "epochs": progress.epoch,
        "seconds": round(progress.seconds, 1),
        "dev_em": progress.best_em,
        "dev_f1": progress.best_f1,
        "dev_questions": lines[-1]["dev_questions"],
        "trained_on": len(data.train.trained),
        "train_questions": data.train.total,
        "curve": [[line["epoch"], round(line["dev_f1"], 2)] for line in lines if "epoch" in line],
        "settings": asdict(config),
    }


if __name__ == "__main__":
    main()
