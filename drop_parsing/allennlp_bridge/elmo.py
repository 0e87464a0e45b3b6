"""ELMo (Peters et al. 2018) from its own files, by AllenNLP's module."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from drop_parsing.errors import InputError


class Elmo:
    """ELMo's layers: 0 is its character CNN, the others the two directions of an LSTM beside each other.

    Raises InputError where AllenNLP is not installed, or the files are damaged or of another kind.
    """

    def __init__(self, options: Path, weights: Path) -> None:
        try:
            from allennlp.data.token_indexers.elmo_indexer import ELMoCharacterMapper
            from allennlp.modules.elmo import _ElmoBiLm
        except ImportError as error:
            raise InputError(
                f'ELMo needs the extra "allennlp" ({error.name} is missing): pip install "drop-parsing[allennlp]"'
            ) from error
        try:
            sizes = json.loads(options.read_text("utf-8"))["lstm"]
            self.dim = 2 * int(sizes["projection_dim"])
            self.last_layer = int(sizes["n_layers"])
            self._layers: Any = _ElmoBiLm(str(options), str(weights)).eval()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"The ELMo in {options.parent} cannot be loaded: {error}.") from error
        self._mapper = ELMoCharacterMapper()

    def layers(self, words: Sequence[str]) -> list[Tensor]:
        """Each layer of one text, (words, dim). What was read before makes no difference."""
        self._layers._elmo_lstm.reset_states()
        characters = torch.tensor([[self._mapper.convert_word_to_char_ids(word) for word in words]])
        with torch.inference_mode():
            activations = self._layers(characters)["activations"]
        # Its own marks stand at the beginning and the end.
        return [layer[0, 1:-1] for layer in activations]
