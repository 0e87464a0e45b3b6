"""The tensors of one batch. Token and number places count from 0; padding is given by the masks."""

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Gold:
    """All derivations of a batch, padded; a place below 0 is padding.

    ``passage_spans`` and ``question_spans`` (batch, spans, 2): first and last token. ``counts`` (batch,
    counts). ``signs`` (batch, assignments, terms): places of numbers from 1 with their signs, 0 for no
    number; an assignment without any number is padding. ``tags`` (batch, taggings, spans, 2).
    """

    passage_spans: Tensor
    question_spans: Tensor
    counts: Tensor
    signs: Tensor
    tags: Tensor


@dataclass(frozen=True, slots=True)
class Words:
    """Distinct words of a batch, for encoders that embed words: ``ids`` (words,), ``characters`` (words,
    length). ``passages`` (passages, n) and ``questions`` (batch, m) hold places among them.

    The vectors in context, where a reader takes them, are (passages, n, width) and (batch, m, width), 0 at padding.
    """

    ids: Tensor
    characters: Tensor
    passages: Tensor
    questions: Tensor
    passages_in_context: Tensor | None = None
    questions_in_context: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Pieces:
    """Question and passage as one sequence of word pieces, for pretrained encoders.

    ``ids``, ``segments`` and ``mask`` are (batch, pieces); ``passages`` (batch, n) and ``questions``
    (batch, m) hold the place of each token's first piece.
    """

    ids: Tensor
    segments: Tensor
    mask: Tensor
    passages: Tensor
    questions: Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """Several questions. ``passage_of`` (batch,) names each one's row among the distinct passages.

    ``passage_mask`` is (passages, n), ``question_mask`` (batch, m), ``number_tokens``, ``number_values``
    and ``number_mask`` (passages, k); a constant stands at token -1. One of ``words`` and ``pieces`` is there.
    """

    passage_of: Tensor
    passage_mask: Tensor
    question_mask: Tensor
    number_tokens: Tensor
    number_mask: Tensor
    words: Words | None = None
    pieces: Pieces | None = None
    number_values: Tensor | None = None
    gold: Gold | None = None

    def to(self, device: torch.device) -> "Batch":
        return moved(self, device)


Tensors = TypeVar("Tensors", Batch, Words, Pieces, Gold)


def moved(tensors: Tensors, device: torch.device) -> Tensors:
    """``tensors`` with everything inside on ``device``."""
    values: dict[str, Any] = {}
    for field in fields(tensors):
        value = getattr(tensors, field.name)
        if value is not None:
            values[field.name] = value.to(device) if isinstance(value, Tensor) else moved(value, device)
    return replace(tensors, **values)
