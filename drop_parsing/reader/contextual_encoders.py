"""Pretrained encoders that give vectors of words in context: a transformer, or ELMo."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from drop_parsing.errors import InputError
from drop_parsing.reader.config import ContextualConfig
from drop_parsing.reader.pieces import load_pieces
from drop_parsing.reader.transformer import (
    load_transformer,
    longest_sequence,
    transformer_config,
    transformer_folder,
)

Halves = npt.NDArray[np.float16]


class Encoder(Protocol):
    """A pretrained encoder of one text. ``last_layer`` counts from 0, its input."""

    dim: int
    last_layer: int

    def layers(self, words: Sequence[str]) -> Sequence[Tensor]:
        """The vectors of the words in each layer, (words, dim)."""
        ...


class Transformer:
    """A transformer's layers, at each word the mean of its pieces.

    A text that is longer than the transformer takes is read in windows that overlap by half.
    Raises InputError where it is not there.
    """

    def __init__(self, folder: Path) -> None:
        sizes = transformer_config(folder)
        self.dim = int(sizes.hidden_size)
        self.last_layer = int(sizes.num_hidden_layers)
        self._pieces = load_pieces(folder, longest_sequence(folder))
        self._transformer = load_transformer(folder).transformer.eval()

    def layers(self, words: Sequence[str]) -> list[Tensor]:
        rows = self._pieces.features(words)
        counts = torch.tensor([len(row) for row in rows])
        pieces = self._encode([piece for row in rows for piece in row])
        sums = pieces.new_zeros(len(pieces), len(words), self.dim)
        sums.index_add_(1, torch.arange(len(words)).repeat_interleave(counts), pieces)
        return list(sums / counts.unsqueeze(1))

    def _encode(self, ids: list[int]) -> Tensor:
        """(layers, pieces, dim)."""
        start, end = list(self._pieces.start), list(self._pieces.end)
        room = self._pieces.longest - len(start) - len(end)
        found = torch.empty(self.last_layer + 1, len(ids), self.dim)
        for first in range(0, max(1, len(ids) - room // 2), room // 2):
            window = ids[first : first + room]
            with torch.inference_mode():
                hidden = self._transformer(
                    torch.tensor([start + window + end]), output_hidden_states=True
                ).hidden_states
            # Where two windows overlap, each half of it is from the window in which it is farther from an edge.
            skipped = room // 4 if first else 0
            read = torch.cat(hidden)[:, len(start) + skipped : len(start) + len(window)]
            found[:, first + skipped : first + len(window)] = read
        return found


class ContextualEncoder:
    """Some layers of a pretrained encoder beside each other.

    Each text is encoded by itself, so that its vectors do not depend on what else is in a data set.
    Raises InputError where the encoder, or one of its layers, is not there.
    """

    def __init__(self, config: ContextualConfig) -> None:
        self.folder = transformer_folder(config.model)
        self.encoder = _load(self.folder)
        self.layers, last = config.layers, self.encoder.last_layer
        if not self.layers or min(self.layers) < 0 or max(self.layers) > last:
            raise InputError(
                f"contextual.layers are {list(self.layers)}: {config.model} has the layers 0 (its input) to {last}."
            )
        self.width = len(self.layers) * self.encoder.dim

    def encode(self, words: Sequence[str]) -> Halves:
        """(words, width)."""
        if not words:
            return np.zeros((0, self.width), dtype=np.float16)
        layers = self.encoder.layers(words)
        vectors: Halves = torch.cat([layers[layer] for layer in self.layers], dim=-1).half().numpy()
        return vectors


def pretrained_files(model: str) -> list[Path]:
    """All that an encoder is made of. Raises InputError where a file of it is not there."""
    folder = transformer_folder(model)
    files = _elmo_files(folder) or [folder / name for name in _TRANSFORMER_FILES]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise InputError(
            f"There is no {missing[0]} in {folder}, which a transformer in Hugging Face form has."
        )
    return files


def _load(folder: Path) -> Encoder:
    files = _elmo_files(folder)
    if not files:
        return Transformer(folder)
    from drop_parsing.allennlp_bridge.elmo import Elmo

    return Elmo(*files)


def _elmo_files(folder: Path) -> list[Path]:
    """The options and the weights of ELMo; nothing where ``folder`` is not one of these."""
    found = [*folder.glob("*options.json"), *folder.glob("*.hdf5")]
    return found if [file.suffix for file in found] == [".json", ".hdf5"] else []


_TRANSFORMER_FILES = ("config.json", "tokenizer.json", "model.safetensors")
