"""One training run of a parser, from questions to its folder, begun or gone on with."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lightning
import torch
from torch import Tensor

from drop_parsing.data import metric
from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.parser.answering import parse_questions
from drop_parsing.parser.batch import Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.config import ParserConfig
from drop_parsing.parser.evidence import RowWords, evidence_of_beam
from drop_parsing.parser.model import Parser
from drop_parsing.parser.module import ParserModule, Step, TrainingStream
from drop_parsing.parser.questions import QuestionSet
from drop_parsing.parser.rescoring import Rescorer
from drop_parsing.parser.rescoring import fit as fit_weights
from drop_parsing.parser.run_files import (
    CONFIG,
    CURVE,
    METRICS,
    RESCORER,
    STATE,
    WEIGHTS,
    Setup,
    Tables,
    empty_parser,
    load_parser,
    load_rescorer,
    load_setup,
    new_parser,
    save_setup,
)
from drop_parsing.reader.vectors import load_vectors
from drop_parsing.training.checkpoint import load_state, save_state, save_tensors
from drop_parsing.training.curve import draw_curve
from drop_parsing.training.fit import fit, log_metrics
from drop_parsing.training.run import Options
from grammar.executor import execute


@dataclass(slots=True)
class Progress:
    """Where a run is after ``epoch`` epochs; EM and F1 in percent."""

    epoch: int = 0
    seconds: float = 0.0
    best_em: float = 0.0
    best_f1: float = -1.0
    best_epoch: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """Training and dev questions as the parser reads them, over tables of one make; all questions of ``dev_passages``
    are evaluated. The answers of the questions held out of training are in ``train_passages``."""

    train: QuestionSet
    train_passages: Sequence[Passage]
    dev: QuestionSet
    dev_passages: Sequence[Passage]
    tables: Tables


def train_parser(config: ParserConfig, data: Data, run: Path, options: Options) -> Progress:
    """Train into the folder ``run``, and evaluate on dev after each epoch.

    With ``options.resume`` a run goes on after its last whole epoch; on a CPU to the very weights that it would have
    had without the stop. Raises InputError where ``run`` has a run already and is not to be resumed, or was begun with
    another configuration.
    """
    train = data.train
    questions = [train.questions[place][0] for place in train.trained]
    resuming = options.resume and (run / STATE).exists()
    torch.manual_seed(config.seed)
    if resuming:
        setup = load_setup(run)
        if (setup.config, setup.tables) != (config, data.tables):
            raise InputError(
                f"{run} was begun with another preset: resume with that one, or choose another --out."
            )
        parser = empty_parser(run, setup)
    elif (run / CONFIG).exists():
        raise InputError(
            f"{run} holds a run already: give --resume to go on with it, or choose another --out."
        )
    else:
        read = () if config.transformer else (word for q in questions for word in words_of(q))
        words = Vocabulary.of(read, config.min_word_count)
        vectors = _vectors(config, words)
        leaves = Vocabulary.of(leaf for q in questions for leaf in leaves_of(q))
        setup = Setup(config, words, leaves, vectors.shape[1], data.tables)
        parser = new_parser(run, setup, vectors)
        save_setup(run, setup)
    collate = setup.collator()
    progress = Progress()
    stream = TrainingStream(questions, config.batch_size, config.seed, 0)
    module = ParserModule(parser, collate, config, stream)
    if resuming:
        tensors, saved = load_state(run)
        progress = Progress(**saved)
        stream.epoch = progress.epoch
        module.load_tensors(tensors)
    options.say(f"trains on {train}; {train.forms} forms, {train.lost} others can not be learnt")
    if not progress.finished:
        keeper = _Keeper(run, config, data, options, progress)
        fit(module, keeper, run, options.device, options.dtype, config.gradient_norm)
    to_fit = bool(train.held_out) and not (run / RESCORER).exists()
    if to_fit or config.evaluate_on:
        _, best = load_parser(run)
        best.to(options.device)
        if to_fit:
            _fit_rescorer(run, setup, best, data, options)
        _evaluate_all(run, setup, best, data, options, progress)
    return progress


def _fit_rescorer(run: Path, setup: Setup, parser: Parser, data: Data, options: Options) -> None:
    asked = [data.train.questions[place] for place in data.train.held_out]
    references = {q.id: q.references for passage in data.train_passages for q in passage.questions}
    examples = []
    rows = None
    parses = parse_questions(parser, setup.collator(), asked, setup.config.beam, dtype=options.dtype)
    for (question, language), parsed in zip(asked, parses, strict=True):
        if rows is None or rows.view is not language.view:
            rows = RowWords(language.view)
        beam = [candidate for candidate in parsed.beam if candidate.denotation]
        forms = [(c.form, c.score, execute(c.form, language)) for c in beam]
        right = [metric.score(list(c.denotation), references[question.id])[1] for c in beam]
        examples.append(list(zip(evidence_of_beam(forms, question, language, rows), right, strict=True)))
    rescorer = fit_weights(examples)
    rescorer.save(run / RESCORER)
    options.say(f"rescorer: {len(rescorer.weights)} features fitted to {len(examples)} questions")


def _evaluate_all(
    run: Path, setup: Setup, parser: Parser, data: Data, options: Options, progress: Progress
) -> None:
    """Evaluate what ``predict`` would answer, on all of dev."""
    rescorer = load_rescorer(run)
    scores = evaluate(
        parser,
        setup.collator(),
        data.dev,
        data.dev_passages,
        setup.config.beam,
        options.dtype,
        rescorer,
    )
    progress.best_em, progress.best_f1 = scores.em, scores.f1
    tensors, _ = load_state(run)
    save_state(run, tensors, asdict(progress))
    log_metrics(run / METRICS, {"rescored": rescorer is not None} | _scores_to_json(scores))
    how = "rescored" if rescorer else "in the end"
    options.say(f"{how}: dev EM {scores.em:.2f}, F1 {scores.f1:.2f} over all {scores.questions} questions")


def _sample(data: Data, number: int | None) -> tuple[QuestionSet, Sequence[Passage]]:
    """The dev questions of every so many-th passage, about ``number``; all of them for None."""
    total = sum(len(passage.questions) for passage in data.dev_passages)
    if number is None or number >= total:
        return data.dev, data.dev_passages
    passages = data.dev_passages[:: round(total / number)]
    chosen = {question.id for passage in passages for question in passage.questions}
    asked = [(question, language) for question, language in data.dev.questions if question.id in chosen]
    return QuestionSet(asked), passages


def evaluate(
    parser: Parser,
    collate: Collator,
    dev: QuestionSet,
    passages: Sequence[Passage],
    width: int,
    dtype: torch.dtype = torch.float32,
    rescorer: Rescorer | None = None,
) -> metric.Evaluation:
    """The score over all questions of the passages; one that has no table has no answer."""
    found = parse_questions(parser, collate, dev.questions, width, dtype=dtype, rescorer=rescorer)
    answers = {parsed.id: list(parsed.answer) for parsed in found}
    questions = [question for passage in passages for question in passage.questions]
    return metric.evaluate({q.id: answers.get(q.id, "") or "" for q in questions}, questions)


class _Keeper(lightning.Callback):
    """Evaluates after each epoch, keeps the best weights and the state, and ends the run."""

    def __init__(
        self, run: Path, config: ParserConfig, data: Data, options: Options, progress: Progress
    ) -> None:
        self.run = run
        self.config = config
        self.data = data
        self.options = options
        self.progress = progress
        self.dev, self.dev_passages = _sample(data, config.evaluate_on)
        self._clock = time.perf_counter()
        self._losses: list[tuple[float, int]] = []

    def on_train_start(self, trainer: lightning.Trainer, module: Any) -> None:
        self._clock = time.perf_counter()

    def on_train_batch_end(
        self, trainer: lightning.Trainer, module: Any, outputs: Any, batch: Step, batch_idx: int
    ) -> None:
        self._losses.append((float(outputs["loss"]), len(batch.questions)))
        self.options.advance(len(batch.questions))
        if batch.last:
            progress, config = self.progress, self.config
            progress.seconds += time.perf_counter() - self._clock
            progress.epoch += 1
            late = config.minutes is not None and progress.seconds > 60 * config.minutes
            ends = late or progress.epoch >= config.epochs
            if ends or progress.epoch % config.evaluate_every == 0:
                self._evaluate(module)
            stale = progress.epoch - progress.best_epoch >= config.patience * config.evaluate_every
            trainer.should_stop = progress.finished = ends or stale
            save_state(self.run, module.state_tensors(), asdict(progress))
            self._clock = time.perf_counter()

    def _evaluate(self, module: ParserModule) -> None:
        progress, data = self.progress, self.data
        scores = evaluate(
            module.parser, module.collate, self.dev, self.dev_passages, self.config.beam, self.options.dtype
        )
        if scores.f1 > progress.best_f1:
            progress.best_em, progress.best_f1, progress.best_epoch = scores.em, scores.f1, progress.epoch
            save_tensors(self.run / WEIGHTS, module.parser.state_dict())
        loss = sum(loss * size for loss, size in self._losses) / sum(size for _, size in self._losses)
        self._losses.clear()
        speed = len(data.train.trained) * progress.epoch / progress.seconds
        line = {
            "epoch": progress.epoch,
            "seconds": round(progress.seconds, 3),
            "questions_per_second": round(speed, 3),
            "trained_on": len(data.train.trained),
            "of": data.train.total,
            "not": dict(data.train.reasons),
            "train_loss": loss,
        }
        log_metrics(self.run / METRICS, line | _scores_to_json(scores))
        draw_curve(self.run / METRICS, self.run / CURVE)
        self.options.say(
            f"epoch {progress.epoch}: loss {loss:.3f}, dev EM {scores.em:.2f}, F1 {scores.f1:.2f} over "
            f"{scores.questions} questions, {speed:.1f} questions/s"
        )


def _scores_to_json(scores: metric.Evaluation) -> dict[str, Any]:
    return {
        "dev_em": scores.em,
        "dev_f1": scores.f1,
        "dev_questions": scores.questions,
        "by_type": {kind: asdict(score) for kind, score in scores.by_type.items()},
    }


def _vectors(config: ParserConfig, words: Vocabulary) -> Tensor:
    """(words, dim): random where the source has none, 0 for padding."""
    found = {} if config.vectors == "random" else load_vectors(config.vectors, words.names)
    dim = len(next(iter(found.values()))) if found else config.vector_dim
    vectors = torch.randn(len(words), dim) * 0.1
    for name, vector in found.items():
        vectors[words.number(name)] = torch.from_numpy(vector)
    vectors[0] = 0
    return vectors
