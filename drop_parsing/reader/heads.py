"""What every answer head has in common."""

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor, nn

from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.encoding import Encoded

HeadName = Literal["passage-span", "question-span", "add-subtract", "count", "multi-span"]
HEAD_NAMES: tuple[HeadName, ...] = get_args(HeadName)

#: The log probability of what cannot be.
IMPOSSIBLE = -1e7


@dataclass(frozen=True, slots=True)
class DecodingConfig:
    """What counts as an answer. In the paper anything does; no answer of DROP is below 0 or a whole paragraph.

    ``longest_span`` is in tokens."""

    longest_span: int | None = None
    sums_below_zero: bool = True


@dataclass(frozen=True, slots=True)
class Pooled:
    """An encoded batch with one vector (batch, dim) each for its passages and its questions."""

    encoded: Encoded
    passage: Tensor
    question: Tensor


@dataclass(frozen=True, slots=True)
class Best:
    """The likeliest output of a head. ``log_probabilities`` is (batch,), within the head.

    ``choice`` is (batch, 2) for a span: first and last token; (batch,) for a count; (batch, numbers) for
    signs, 0, +1 or -1; (batch, n) for tags, 0 outside, 1 where a span begins, 2 inside one.
    """

    choice: Tensor
    log_probabilities: Tensor


class Head(Protocol):
    """One way to answer. Its logits are a tensor, or several stacked in one, that only it reads."""

    def __call__(self, pooled: Pooled, batch: Batch) -> Tensor: ...

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        """(batch,): of all its derivations together; about ``IMPOSSIBLE`` where there is none."""
        ...

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best: ...


def feedforward(inputs: int, hidden: int, outputs: int, dropout: float = 0.0) -> nn.Sequential:
    """Two layers with a ReLU between them."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, outputs)
    )


def total(log_likelihoods: Tensor, possible: Tensor) -> Tensor:
    """(batch, derivations) to (batch,): the log of the sum over the derivations that are ``possible``."""
    return torch.logsumexp(log_likelihoods.masked_fill(~possible, IMPOSSIBLE), dim=-1)
