"""The parser as Lightning trains it: batches, the forms that each question is trained on, loss, optimizer, state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import lightning
import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from drop_parsing.parser.batch import Collator
from drop_parsing.parser.config import ParserConfig
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.likelihood import form_log_likelihoods
from drop_parsing.parser.model import Parser
from drop_parsing.parser.rules import END
from drop_parsing.parser.targets import Targets, targets_of


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of training, one of ``batches`` of its epoch. ``epoch`` and ``place`` count from 0."""

    questions: list[QuestionInput]
    epoch: int
    place: int
    batches: int

    @property
    def last(self) -> bool:
        """Whether it ends the epoch."""
        return self.place + 1 == self.batches


class TrainingStream(IterableDataset[Step]):
    """The endless stream of batches, from the beginning of ``epoch`` on."""

    def __init__(self, questions: Sequence[QuestionInput], size: int, seed: int, epoch: int) -> None:
        self.questions = questions
        self.size = size
        self.seed = seed
        self.epoch = epoch

    def __iter__(self) -> Iterator[Step]:
        for epoch in count(self.epoch):
            batches = batches_of(self.questions, self.size, self.seed, epoch)
            for place, batch in enumerate(batches):
                yield Step(batch, epoch, place, len(batches))


def batches_of(
    questions: Sequence[QuestionInput], size: int, seed: int, epoch: int
) -> list[list[QuestionInput]]:
    """The batches of an epoch in a random order: questions whose trees have about as many nodes are together."""
    draw = np.random.default_rng([seed, epoch])
    nodes = np.array([len(q.targets.levels) if q.targets else 0 for q in questions])
    order = np.argsort(nodes * draw.uniform(0.8, 1.25, len(nodes)), kind="stable")
    groups = [order[start : start + size] for start in range(0, len(order), size)]
    return [[questions[place] for place in groups[group]] for group in draw.permutation(len(groups))]


class ParserModule(lightning.LightningModule):
    """One long epoch of Lightning's: our own are told by the stream, which begins at one of them."""

    def __init__(
        self, parser: Parser, collate: Collator, config: ParserConfig, stream: TrainingStream
    ) -> None:
        super().__init__()
        self.parser = parser
        self.collate = collate
        self.config = config
        self.stream = stream
        self.adam = torch.optim.Adam(parser.parameters(), config.learning_rate)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return self.adam

    def train_dataloader(self) -> DataLoader[Step]:
        return DataLoader(self.stream, batch_size=None)

    def transfer_batch_to_device(self, batch: Step, device: torch.device, dataloader_idx: int) -> Step:
        return batch  # its tensors are made in the step

    def training_step(self, step: Step) -> Tensor:
        if step.place == 0:  # a resumed run draws what it would have drawn
            torch.manual_seed(self.config.seed + 1000 * step.epoch)
        if self.config.decay:
            done = (step.epoch + step.place / step.batches) / self.config.epochs
            self.adam.param_groups[0]["lr"] = self.config.learning_rate * max(1 - done, 0.0)
        if self.config.refresh and step.epoch:
            targets = best_targets(self.parser, self.collate, step.questions, self.config.forms)
        else:
            targets = [_first(question, self.config.forms) for question in step.questions]
        self.parser.train()
        questions = [replace(q, targets=t) for q, t in zip(step.questions, targets, strict=True)]
        return self.parser.loss(self.collate(questions).to(self.device))

    def state_tensors(self) -> dict[str, Tensor]:
        """All that training goes on from after an epoch."""
        tensors = {f"weights.{name}": value for name, value in self.parser.state_dict().items()}
        for place, values in self.adam.state_dict()["state"].items():
            tensors |= {f"adam.{place}.{name}": value for name, value in values.items()}
        return tensors

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of ``state_tensors``."""
        weights: dict[str, Tensor] = {}
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            part, _, rest = name.partition(".")
            if part == "weights":
                weights[rest] = value
            else:
                place, _, key = rest.partition(".")
                state.setdefault(int(place), {})[key] = value
        self.parser.load_state_dict(weights)
        self.adam.load_state_dict({"state": state, "param_groups": self.adam.state_dict()["param_groups"]})


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
        most_likely = sorted(range(len(question.targets.prior)), key=lambda place: -row[place])[:most]
        kept.append(_only(question, most_likely))
    return kept


def _first(question: QuestionInput, most: int) -> Targets:
    """The first forms of a question, which are the most plausible."""
    assert question.targets is not None
    return _only(question, range(min(most, len(question.targets.prior))))


def _only(question: QuestionInput, places: Sequence[int]) -> Targets:
    """The targets kept to some of their forms."""
    targets = question.targets
    assert targets is not None
    if list(places) == list(range(len(targets.prior))):
        return targets
    forms = [[choice for choice in targets.path_choices[i].tolist() if choice != END] for i in places]
    return targets_of(forms, targets.prior[list(places)].tolist(), question.shortest)
