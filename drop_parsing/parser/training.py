"""Training a parser: epochs over the questions, evaluation by execution, the best weights kept, stops made good.

A run's folder holds config.json and vocabulary.json (what makes the model), weights.safetensors (the best by dev F1),
state.safetensors (where training stopped, after each epoch) and metrics.jsonl.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from drop_parsing.data import metric
from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.parser.answering import parse_questions
from drop_parsing.parser.batch import Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.config import ParserConfig
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.likelihood import form_log_likelihoods
from drop_parsing.parser.model import Parser, make_parser
from drop_parsing.parser.questions import QuestionSet
from drop_parsing.parser.rules import END
from drop_parsing.parser.targets import Targets, targets_of
from drop_parsing.reader.vectors import load_vectors
from drop_parsing.training.checkpoint import load_state, load_tensors, save_state, save_tensors
from drop_parsing.training.typed import from_plain, to_plain
from extractors.store import atomic_file

#: Of the files of a run; another one is refused.
VERSION = 1
CONFIG, VOCABULARY, WEIGHTS, STATE, METRICS = (
    "config.json",
    "vocabulary.json",
    "weights.safetensors",
    "state.safetensors",
    "metrics.jsonl",
)
Say = Callable[[str], None]


@dataclass(slots=True)
class Progress:
    """Where a run is; EM and F1 in percent."""

    epoch: int = 0
    seconds: float = 0.0
    best_em: float = 0.0
    best_f1: float = -1.0
    best_epoch: int = 0
    finished: bool = False


def train_parser(
    config: ParserConfig,
    train: QuestionSet,
    dev: QuestionSet,
    dev_passages: Sequence[Passage],
    run: Path,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    resume: bool = False,
    say: Say = lambda text: None,
) -> Progress:
    """Train into the folder ``run``, and evaluate on all questions of ``dev_passages`` after each epoch.

    With ``resume`` a run goes on after its last whole epoch; on a CPU to the very weights that it would have had
    without the stop. Raises InputError where ``run`` has a run already and is not to be resumed, or was begun with
    another configuration.
    """
    questions = [train.questions[place][0] for place in train.trained]
    resuming = resume and (run / STATE).exists()
    torch.manual_seed(config.seed)
    if resuming:
        begun, parser, collate = _made(run)
        if begun != config:
            raise InputError(
                f"{run} was begun with another preset: resume with that one, or choose another --out."
            )
    elif (run / CONFIG).exists():
        raise InputError(
            f"{run} holds a run already: give --resume to go on with it, or choose another --out."
        )
    else:
        parser, collate = _new(config, questions, run)
    parser.to(device)
    optimizer = torch.optim.Adam(parser.parameters(), config.learning_rate)
    progress = Progress()
    if resuming:
        tensors, saved = load_state(run)
        progress = Progress(**saved)
        _load(parser, optimizer, tensors)
    say(f"trains on {train}; {train.forms} forms, {train.lost} others can not be learnt")
    while not progress.finished:
        started = time.perf_counter()
        loss = _epoch(config, parser, optimizer, collate, questions, progress.epoch, device, dtype)
        progress.seconds += time.perf_counter() - started
        progress.epoch += 1
        scores = evaluate(parser, collate, dev, dev_passages, config.beam, dtype)
        if scores.f1 > progress.best_f1:
            progress.best_em, progress.best_f1, progress.best_epoch = scores.em, scores.f1, progress.epoch
            save_tensors(run / WEIGHTS, parser.state_dict())
        late = config.minutes is not None and progress.seconds > 60 * config.minutes
        stale = progress.epoch - progress.best_epoch >= config.patience
        progress.finished = late or stale or progress.epoch >= config.epochs
        save_state(run, _state(parser, optimizer), asdict(progress))
        _log(run, progress, loss, scores, train)
        say(
            f"epoch {progress.epoch}: loss {loss:.3f}, dev EM {scores.em:.2f}, F1 {scores.f1:.2f} over all "
            f"{scores.questions} questions, {len(questions) * progress.epoch / progress.seconds:.1f} questions/s"
        )
    return progress


def load_parser(run: Path) -> tuple[ParserConfig, Parser, Collator]:
    """The parser of a run with its best weights, ready to parse. Raises InputError where there is none."""
    config, parser, collate = _made(run)
    try:
        parser.load_state_dict(load_tensors(run / WEIGHTS))
    except RuntimeError as error:
        raise InputError(f"{run / WEIGHTS} does not fit the run's configuration: train it again.") from error
    return config, parser.eval(), collate


def evaluate(
    parser: Parser,
    collate: Collator,
    dev: QuestionSet,
    passages: Sequence[Passage],
    width: int,
    dtype: torch.dtype = torch.float32,
) -> metric.Evaluation:
    """The score over all questions of the passages; one that has no table has no answer."""
    found = parse_questions(parser, collate, dev.questions, width, dtype=dtype)
    answers = {parsed.id: list(parsed.answer) for parsed in found}
    questions = [question for passage in passages for question in passage.questions]
    return metric.evaluate({q.id: answers.get(q.id, "") or "" for q in questions}, questions)


def batches_of(
    questions: Sequence[QuestionInput], size: int, seed: int, epoch: int
) -> list[list[QuestionInput]]:
    """The batches of an epoch in a random order: questions whose trees have about as many nodes are together."""
    draw = np.random.default_rng([seed, epoch])
    nodes = np.array([len(q.targets.levels) if q.targets else 0 for q in questions])
    order = np.argsort(nodes * draw.uniform(0.8, 1.25, len(nodes)), kind="stable")
    groups = [order[start : start + size] for start in range(0, len(order), size)]
    return [[questions[place] for place in groups[group]] for group in draw.permutation(len(groups))]


def best_targets(
    parser: Parser, collate: Collator, questions: Sequence[QuestionInput], most: int
) -> list[Targets]:
    """The targets of each question, kept to the ``most`` forms that are most likely by the parser and their weights."""
    parser.eval()
    batch = collate(questions).to(next(parser.parameters()).device)
    assert batch.trees is not None, "every question has forms"
    with torch.no_grad():
        problem = parser.decoder.problem(batch, parser.encoder(batch), parser.max_length)
        scores = form_log_likelihoods(parser.decoder, problem, batch.trees) + batch.trees.prior
    kept = []
    for question, row in zip(questions, scores.tolist(), strict=True):
        assert question.targets is not None
        forms = [[c for c in form if c != END] for form in question.targets.path_choices.tolist()]
        best = sorted(range(len(forms)), key=lambda place: -row[place])[:most]
        prior = question.targets.prior.tolist()
        kept.append(targets_of([forms[i] for i in best], [prior[i] for i in best], question.shortest))
    return kept


def _epoch(
    config: ParserConfig,
    parser: Parser,
    optimizer: torch.optim.Optimizer,
    collate: Collator,
    questions: Sequence[QuestionInput],
    epoch: int,
    device: torch.device,
    dtype: torch.dtype,
) -> float:
    """The mean loss of one epoch."""
    torch.manual_seed(config.seed + 1000 * epoch)  # a resumed run draws what it would have drawn
    total = 0.0
    for batch in batches_of(questions, config.batch_size, config.seed, epoch):
        if config.refresh and epoch:
            targets = best_targets(parser, collate, batch, config.forms)
        else:
            targets = [_first(question, config.forms) for question in batch]
        parser.train()
        tensors = collate([replace(q, targets=t) for q, t in zip(batch, targets, strict=True)]).to(device)
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype) if dtype != torch.float32 else nullcontext():
            loss = parser.loss(tensors)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parser.parameters(), config.gradient_norm)
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(questions)


def _first(question: QuestionInput, most: int) -> Targets:
    """The first forms of a question: the cache has the most plausible ones first."""
    targets = question.targets
    assert targets is not None
    if len(targets.path_choices) <= most:
        return targets
    forms = [[c for c in form if c != END] for form in targets.path_choices[:most].tolist()]
    return targets_of(forms, targets.prior[:most].tolist(), question.shortest)


def _new(config: ParserConfig, questions: Sequence[QuestionInput], run: Path) -> tuple[Parser, Collator]:
    words = Vocabulary.of((word for q in questions for word in words_of(q)), config.min_word_count)
    leaves = Vocabulary.of(leaf for q in questions for leaf in leaves_of(q))
    vectors = _vectors(config, words)
    run.mkdir(parents=True, exist_ok=True)
    _write(run / VOCABULARY, {"words": words.names, "leaves": leaves.names, "vector_dim": vectors.shape[1]})
    _write(run / CONFIG, {"version": VERSION, "kind": "parser", "preset": to_plain(config)})
    return make_parser(config.sizes, vectors, len(leaves)), Collator(words, leaves)


def _vectors(config: ParserConfig, words: Vocabulary) -> Tensor:
    """(words, dim): random where the source has none, 0 for padding."""
    found = {} if config.vectors == "random" else load_vectors(config.vectors, words.names)
    dim = len(next(iter(found.values()))) if found else config.vector_dim
    vectors = torch.randn(len(words), dim) * 0.1
    for name, vector in found.items():
        vectors[words.number(name)] = torch.from_numpy(vector)
    vectors[0] = 0
    return vectors


def _made(run: Path) -> tuple[ParserConfig, Parser, Collator]:
    """The parser that a run's files describe, with random weights."""
    setup, vocabulary = _read(run / CONFIG), _read(run / VOCABULARY)
    if setup.get("version") != VERSION or setup.get("kind") != "parser":
        raise InputError(
            f"{run} is a {setup.get('kind')} run of version {setup.get('version')}; this program reads version "
            f"{VERSION} of parsers: train it again."
        )
    config = from_plain(ParserConfig, setup.get("preset"), f"{run / CONFIG}: preset")
    try:
        words, leaves = Vocabulary(vocabulary["words"]), Vocabulary(vocabulary["leaves"])
        vectors = torch.empty(len(words), int(vocabulary["vector_dim"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{run / VOCABULARY} is damaged: train the run again.") from error
    return config, make_parser(config.sizes, vectors, len(leaves)), Collator(words, leaves)


def _state(parser: Parser, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    tensors = {f"weights.{name}": value for name, value in parser.state_dict().items()}
    for place, values in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{place}.{name}": value for name, value in values.items()}
    return tensors


def _load(parser: Parser, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """The inverse of ``_state``."""
    parts = {name: name.split(".", 1) for name in tensors}
    parser.load_state_dict({rest: tensors[name] for name, (part, rest) in parts.items() if part == "weights"})
    state: dict[int, dict[str, Tensor]] = {}
    for name, (part, rest) in parts.items():
        if part == "adam":
            place, key = rest.split(".", 1)
            state.setdefault(int(place), {})[key] = tensors[name]
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _log(run: Path, progress: Progress, loss: float, scores: metric.Evaluation, train: QuestionSet) -> None:
    line = {
        "epoch": progress.epoch,
        "seconds": round(progress.seconds, 3),
        "trained_on": len(train.trained),
        "of": train.total,
        "not": dict(train.reasons),
        "train_loss": loss,
        "dev_em": scores.em,
        "dev_f1": scores.f1,
        "dev_questions": scores.questions,
        "by_type": {kind: asdict(score) for kind, score in scores.by_type.items()},
    }
    path = run / METRICS
    before = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = [text for text in before if json.loads(text)["epoch"] < progress.epoch]
    with atomic_file(path) as file:
        file.write(("\n".join([*kept, json.dumps(line)]) + "\n").encode())


def _write(path: Path, data: dict[str, Any]) -> None:
    with atomic_file(path) as file:
        file.write(json.dumps(data, indent=1).encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"{path.parent} is no run of a parser: it has no {path.name} that can be read."
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): train the run again.") from error
    if not isinstance(data, dict):
        raise InputError(f"{path} is damaged: train the run again.")
    return data
