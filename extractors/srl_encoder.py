"""Words in their context, by a small transformer in plain numpy.

Its layers are BERT's, but for their size, for rectifiers in place of Gaussian error units, and for standing on words,
not on pieces of words. ``drop_parsing.training.srl_encoder`` makes one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

#: Words of one sequence and the marks at its ends; a longer sentence is read in parts.
LONGEST = 256

#: What keeps the division of a layer's norm from zero, as in BERT.
TINY = 1e-12


def sequences(sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The sentences, the long ones in parts: first and end of each."""
    for first, end in sentences:
        for start in range(first, end, LONGEST - 2):
            yield start, min(start + LONGEST - 2, end)


def marked_rows(count: int, edges: list[tuple[int, int]]) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """Rows of ``count`` words and two marks, a mark at either end of each sequence; and the new edges."""
    rows = np.concatenate([[count, *range(first, end), count + 1] for first, end in edges])
    return rows, [(first + 2 * k, end + 2 * k + 2) for k, (first, end) in enumerate(edges)]


@dataclass(frozen=True)
class Encoder:
    """``weights`` are named as below, matrices (in, out); a head of attention is ``head_size`` wide."""

    weights: Mapping[str, Floats]
    head_size: int

    def __call__(self, vectors: Floats, sentences: Iterable[tuple[int, int]]) -> Floats:
        """(T, size): the states of words, of their static ``vectors`` (T, size). ``sentences`` cover them in order."""
        weights, count = self.weights, len(vectors)
        rows, edges = marked_rows(count, list(sequences(sentences)))
        places = np.concatenate([np.arange(end - first) for first, end in edges])
        state = np.concatenate([vectors, weights["marks"]])[rows]
        state += weights["places"][places]
        state = _normal(state, weights, "norm")
        depth = 0
        while f"{depth}.down.weight" in weights:
            mixed = self._attended(layer(state, weights, f"{depth}.attention"), edges)
            state += layer(mixed, weights, f"{depth}.mixed")
            state = _normal(state, weights, f"{depth}.mixed_norm")
            hidden = layer(state, weights, f"{depth}.up")
            state += layer(np.maximum(hidden, 0, out=hidden), weights, f"{depth}.down")
            state = _normal(state, weights, f"{depth}.down_norm")
            depth += 1
        return state[rows < count]

    def _attended(self, projected: Floats, edges: Iterable[tuple[int, int]]) -> Floats:
        """(T, heads * head size) of (T, 3 * heads * head size): queries, keys and values, each sequence by itself."""
        count, size = len(projected), self.head_size
        parts = projected.reshape(count, 3, -1, size)
        mixed = np.empty((count, projected.shape[1] // 3), np.float32)
        for first, end in edges:
            query, key, value = parts[first:end].transpose(1, 2, 0, 3)
            scores = query @ key.transpose(0, 2, 1)
            scores *= np.float32(size**-0.5)
            scores -= scores.max(axis=2, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=2, keepdims=True)
            mixed[first:end] = (scores @ value).transpose(1, 0, 2).reshape(end - first, -1)
        return mixed


def layer(inputs: Floats, weights: Mapping[str, Floats], name: str) -> Floats:
    """The inputs through a linear layer."""
    result: Floats = inputs @ weights[f"{name}.weight"]
    result += weights[f"{name}.bias"]
    return result


def _normal(state: Floats, weights: Mapping[str, Floats], name: str) -> Floats:
    state -= state.mean(axis=1, keepdims=True)
    state *= 1 / np.sqrt(np.einsum("ij,ij->i", state, state)[:, None] / state.shape[1] + TINY)
    state *= weights[f"{name}.weight"]
    state += weights[f"{name}.bias"]
    return state
