"""The endless stream of training batches, which can begin anywhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import IterableDataset

from drop_parsing.reader.batch import Batch
from drop_parsing.reader.buckets import training_batches
from drop_parsing.reader.collate import Collator


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of training. ``epoch`` and ``place`` count from 0; ``last`` ends the epoch."""

    batch: Batch
    questions: int
    epoch: int
    place: int
    last: bool

    def to(self, device: torch.device) -> "Step":
        return Step(self.batch.to(device), self.questions, self.epoch, self.place, self.last)


class TrainingStream(IterableDataset[Step]):
    """Batches from ``place`` of ``epoch`` on. With several processes, each takes its share of every epoch, of
    the same length; what does not divide is left out of that epoch."""

    def __init__(
        self,
        collator: Collator,
        questions: npt.NDArray[np.int64],
        batch_size: int,
        seed: int,
        *,
        epoch: int = 0,
        place: int = 0,
        rank: int = 0,
        processes: int = 1,
    ) -> None:
        self.collator = collator
        self.questions = questions
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = epoch
        self.place = place
        self.rank = rank
        self.processes = processes

    def batches(self, epoch: int) -> list[npt.NDArray[np.int64]]:
        """The batches of this process in an epoch."""
        every = training_batches(self.collator, self.questions, self.batch_size, self.seed, epoch)
        share = len(every) // self.processes or 1
        return every[self.rank :: self.processes][:share]

    def __iter__(self) -> Iterator[Step]:
        for epoch in count(self.epoch):
            batches = self.batches(epoch)
            for place in range(self.place if epoch == self.epoch else 0, len(batches)):
                questions = batches[place]
                batch = self.collator(questions)
                yield Step(batch, len(questions), epoch, place, place + 1 == len(batches))
