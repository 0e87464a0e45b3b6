"""One training run of a reader, from passages to its folder, begun or gone on with."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import lightning
import torch

from drop_parsing.data import metric
from drop_parsing.data.reader_columns import cached_columns
from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.reader.build import build_reader, new_vocabulary
from drop_parsing.reader.collate import Collator, prediction_limits, training_limits
from drop_parsing.reader.contextual import cached_vectors
from drop_parsing.reader.decoding import predict
from drop_parsing.reader.trainable import Trainable, trainable
from drop_parsing.reader.vocabulary import count_words
from drop_parsing.training import checkpoint
from drop_parsing.training.curve import draw_curve
from drop_parsing.training.fit import fit, log_metrics
from drop_parsing.training.module import ReaderModule
from drop_parsing.training.preset import Preset
from drop_parsing.training.stream import Step, TrainingStream

METRICS, CURVE = "metrics.jsonl", "curve.svg"


@dataclass(frozen=True, slots=True)
class Options:
    """How to run, which changes nothing in what is learned but rounding. ``devices`` is for CUDA."""

    device: torch.device
    dtype: torch.dtype
    devices: int = 1
    resume: bool = False
    advance: Callable[[int], None] = lambda questions: None
    say: Callable[[str], None] = lambda text: None


@dataclass(slots=True)
class Progress:
    """Where a run is. ``epoch`` and ``place`` are those of the next batch; F1 and EM in percent."""

    steps: int = 0
    epoch: int = 0
    place: int = 0
    seconds: float = 0.0
    best_em: float = 0.0
    best_f1: float = -1.0
    best_epoch: int = 0
    loss_sum: float = 0.0
    loss_questions: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to. ``epochs`` counts those that were evaluated."""

    epochs: int
    dev_em: float
    dev_f1: float
    trained_on: Trainable
    questions_per_second: float


@dataclass(frozen=True, slots=True)
class Data:
    """Training and dev questions as the reader takes them; all dev questions are evaluated."""

    train: Collator
    dev: Collator
    dev_passages: Sequence[Passage]
    usable: Trainable = field(repr=False)


def train_reader(
    preset: Preset, train: Sequence[Passage], dev: Sequence[Passage], run: Path, cache: Path, options: Options
) -> Result:
    """Train into the folder ``run``, and evaluate on ``dev`` after each epoch.

    With ``options.resume`` a run goes on from its last checkpoint; on a CPU, with the same data and number of
    threads, to the very weights that it would have had without the stop.

    Raises InputError where ``run`` has one already and is not to be resumed, or was begun with another
    preset; where no question can be trained on; and where dev has no answers.
    """
    resuming = options.resume and (run / checkpoint.STATE).exists()
    if resuming:
        begun = checkpoint.load_setup(run)
        if not checkpoint.same_preset(begun.preset, preset):
            raise InputError(
                f"{run} was begun with another preset: resume with that one, or choose another --out."
            )
    elif (run / checkpoint.CONFIG).exists() and not options.resume:
        raise InputError(
            f"{run} holds a run already: give --resume to go on with it, or choose another --out."
        )
    reader_config = preset.reader
    numbers = reader_config.data.numbers, reader_config.data.most_numbers
    train_columns = cached_columns(train, cache, *numbers)
    dev_columns = cached_columns(dev, cache, *numbers)
    torch.manual_seed(preset.training.seed)
    if resuming:
        vocabulary = begun.vocabulary
        reader_config = begun.preset.reader
        tensors, saved = checkpoint.load_state(run)
        vectors = tensors.get("weights.encoder.embedding.words.weight", torch.empty(0, 0))
        reader = build_reader(reader_config, vocabulary, vectors.clone(), pretrained=False)
    else:
        vocabulary, vectors = new_vocabulary(reader_config, count_words(train_columns))
        reader = build_reader(reader_config, vocabulary, vectors, pretrained=True)
        checkpoint.save_setup(run, preset, vocabulary)
        (run / METRICS).unlink(missing_ok=True)  # of a run that was stopped before its first checkpoint
    data_config, heads = reader_config.data, reader_config.heads
    in_context = [
        cached_vectors(columns, reader_config, cache, options.say) for columns in (train_columns, dev_columns)
    ]
    train_limits, dev_limits = training_limits(data_config), prediction_limits(data_config)
    train_collator = Collator(train_columns, vocabulary, data_config, train_limits, heads, in_context[0])
    dev_collator = Collator(dev_columns, vocabulary, data_config, dev_limits, heads, in_context[1])
    usable = _usable(train_collator, train)
    options.say(f"trains on {usable}")
    data = Data(train_collator, dev_collator, dev, usable)
    training = preset.training
    stream = TrainingStream(train_collator, usable.questions, training.batch_size, training.seed)
    steps_an_epoch = -(-len(usable.questions) // training.batch_size)
    module = ReaderModule(reader, training, stream, training.epochs * steps_an_epoch)
    progress = Progress()
    if resuming:
        progress = Progress(**saved)
        module.load_tensors(tensors, progress.steps)
        stream.epoch, stream.place = progress.epoch, progress.place
    else:
        log_metrics(
            run / METRICS,
            {"trained_on": len(usable.questions), "of": usable.total, "not": dict(usable.reasons)},
        )
    keeper = _Keeper(run, preset, data, options, progress)
    if not progress.finished:
        fit(module, keeper, run, options.device, options.dtype, training.gradient_norm, options.devices)
    speed = progress.steps * training.batch_size / max(progress.seconds, 1e-9)
    return Result(progress.epoch, progress.best_em, max(progress.best_f1, 0.0), usable, speed)


def _usable(collator: Collator, passages: Sequence[Passage]) -> Trainable:
    answered = [bool(q.answer and q.answer.kind) for passage in passages for q in passage.questions]
    usable = trainable(collator, answered)
    if not len(usable.questions):
        raise InputError(f"There is nothing to train on: {usable}.")
    return usable


class _Keeper(lightning.Callback):
    """Counts, evaluates after each epoch, keeps the best weights and the state, and ends the run."""

    def __init__(self, run: Path, preset: Preset, data: Data, options: Options, progress: Progress) -> None:
        self.run = run
        self.config = preset.training
        self.data = data
        self.options = options
        self.progress = progress
        self._clock = time.perf_counter()

    def on_train_start(self, trainer: lightning.Trainer, module: Any) -> None:
        self._clock = time.perf_counter()

    def on_train_batch_end(
        self, trainer: lightning.Trainer, module: Any, outputs: Any, batch: Step, batch_idx: int
    ) -> None:
        module.finish_step()
        progress = self.progress
        progress.steps = module.steps_done
        progress.epoch, progress.place = (
            (batch.epoch + 1, 0) if batch.last else (batch.epoch, batch.place + 1)
        )
        progress.loss_sum += float(outputs["loss"]) * batch.questions
        progress.loss_questions += batch.questions
        now = time.perf_counter()
        progress.seconds += now - self._clock
        self._clock = now
        self.options.advance(batch.questions)
        minutes = self.config.minutes
        # With several processes all must stop together, and know what the first has measured.
        late = trainer.strategy.reduce_boolean_decision(
            minutes is not None and progress.seconds > 60 * minutes, all=False
        )
        if batch.last or late:
            if trainer.is_global_zero:
                self._evaluate(module, whole=batch.last)
            progress.best_em, progress.best_f1, progress.best_epoch = trainer.strategy.broadcast(
                (progress.best_em, progress.best_f1, progress.best_epoch)
            )
            stale = progress.epoch - progress.best_epoch >= self.config.patience
            progress.finished = late or stale or progress.epoch >= self.config.epochs
            trainer.should_stop = progress.finished
            self._clock = time.perf_counter()
        if trainer.is_global_zero and (
            progress.finished or progress.steps % self.config.checkpoint_steps == 0
        ):
            checkpoint.save_state(self.run, module.state_tensors(), asdict(progress))

    def _evaluate(self, module: ReaderModule, whole: bool) -> None:
        progress = self.progress
        epoch = progress.epoch if whole else progress.epoch + 1
        reader = module.reader
        dtype = self.options.dtype
        mixed = torch.autocast(module.device.type, dtype) if dtype != torch.float32 else nullcontext()
        with module.average.applied(), mixed:
            reader.eval()
            found = predict(reader, self.data.dev, self.data.dev_passages, 32, module.device)
            answers = {one.question: one.answer for row in found for one in row}
            questions = [question for passage in self.data.dev_passages for question in passage.questions]
            scores = metric.evaluate(answers, questions)
            reader.train()
            if scores.f1 > progress.best_f1:
                progress.best_em, progress.best_f1, progress.best_epoch = scores.em, scores.f1, epoch
                checkpoint.save_weights(self.run, reader)
        line = {
            "epoch": epoch,
            "whole": whole,
            "steps": progress.steps,
            "seconds": round(progress.seconds, 3),
            "questions_per_second": round(progress.steps * self.config.batch_size / progress.seconds, 3),
            "learning_rate": module.learning_rate(),
            "train_loss": progress.loss_sum / max(1, progress.loss_questions),
            "dev_em": scores.em,
            "dev_f1": scores.f1,
            "dev_questions": scores.questions,
            "by_type": {kind: asdict(score) for kind, score in scores.by_type.items()},
        }
        progress.loss_sum, progress.loss_questions = 0.0, 0
        log_metrics(self.run / METRICS, line)
        draw_curve(self.run / METRICS, self.run / CURVE)
        self.options.say(
            f"epoch {epoch}{'' if whole else ' (cut short)'}: loss {line['train_loss']:.3f}, "
            f"dev EM {scores.em:.2f}, F1 {scores.f1:.2f} over all {scores.questions} questions, "
            f"{line['questions_per_second']:.1f} questions/s"
        )
