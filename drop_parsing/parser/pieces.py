"""Question and paragraph as word pieces of a pretrained transformer, and which pieces tokens and entities stand at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Encoding
from torch import Tensor

from drop_parsing.parser.entities import Entity, Place
from drop_parsing.parser.linking import Token
from drop_parsing.reader.pieces import PieceVocabulary

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PieceInput:
    """One sequence: start, question, middle, paragraph (cut off at the longest sequence), end.

    ``ids`` (P,); the question's part are the first ``question`` pieces. ``tokens`` (L,) is the place of each token's
    first piece. Entity ``pooled[0, i]`` stands at piece ``pooled[1, i]``, for each i; one beyond the cut at none.
    """

    ids: Ints
    question: int
    tokens: Ints
    pooled: Ints


@dataclass(frozen=True, slots=True)
class PieceBatch:
    """B sequences of P pieces (padded). ``pooled`` (2, M): entity ``pooled[0, i]``, counted through the padded entities
    of the batch, stands at piece ``pooled[1, i]``, counted likewise."""

    ids: Tensor  # (B, P) long
    segments: Tensor  # (B, P) long
    mask: Tensor  # (B, P) long
    tokens: Tensor  # (B, L) long
    pooled: Tensor  # (2, M) long


def encode_paragraph(text: str, vocabulary: PieceVocabulary) -> Encoding:
    """The pieces of a paragraph with their character offsets, to be made once for all its questions."""
    return vocabulary.tokenizer.encode(text, add_special_tokens=False)


def read_pieces(
    question: str,
    tokens: Sequence[Token],
    entities: Sequence[Entity],
    paragraph: Encoding,
    vocabulary: PieceVocabulary,
) -> PieceInput:
    """The sequence of a question and its paragraph."""
    asked = vocabulary.tokenizer.encode(question, add_special_tokens=False)
    before = [*vocabulary.start, *asked.ids, *vocabulary.middle]
    left = vocabulary.longest - len(before) - len(vocabulary.end)
    kept = paragraph.ids[: max(left, 0)]
    starts, ends = (
        np.array([offset[i] for offset in paragraph.offsets[: len(kept)]], dtype=np.int64) for i in (0, 1)
    )
    pooled = [
        (e, len(before) + piece) for e, entity in enumerate(entities) for piece in _at(entity, starts, ends)
    ]
    return PieceInput(
        np.array([*before, *kept, *vocabulary.end], dtype=np.int64),
        len(before),
        np.array(
            [len(vocabulary.start) + _first_piece(token, asked.offsets) for token in tokens], dtype=np.int64
        ),
        np.array(pooled, dtype=np.int64).reshape(-1, 2).T,
    )


def collate_pieces(inputs: Sequence[PieceInput], entities: int) -> PieceBatch:
    """A batch; ``entities`` is the padded number of one question's."""
    longest = max(len(each.ids) for each in inputs)
    ids, segments, mask = (np.zeros((len(inputs), longest), dtype=np.int64) for _ in range(3))
    tokens = np.zeros((len(inputs), max([1, *(len(each.tokens) for each in inputs)])), dtype=np.int64)
    for b, each in enumerate(inputs):
        ids[b, : len(each.ids)] = each.ids
        segments[b, each.question : len(each.ids)] = 1
        mask[b, : len(each.ids)] = 1
        tokens[b, : len(each.tokens)] = each.tokens
    pooled = np.concatenate(
        [np.add(each.pooled, [[b * entities], [b * longest]]) for b, each in enumerate(inputs)], axis=1
    )
    return PieceBatch(*map(torch.from_numpy, (ids, segments, mask, tokens, pooled)))


def _at(entity: Entity, starts: Ints, ends: Ints) -> list[int]:
    """The pieces of the paragraph that an entity stands at, each once."""
    found = np.zeros(len(starts), dtype=bool)
    for start, end in entity.places:
        found |= (starts < end) & (start < ends)
    places: list[int] = np.flatnonzero(found).tolist()
    return places


def _first_piece(token: Token, offsets: Sequence[Place]) -> int:
    """The place of the first piece that ends within or after a token; the last one if there is none."""
    return next((i for i, (_, end) in enumerate(offsets) if end > token.start), max(len(offsets) - 1, 0))
