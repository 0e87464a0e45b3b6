"""What a run leaves behind: safetensors and JSON only. No pickle is ever loaded.

config.json               version, preset, the heads' order; what makes the model
vocabulary.json           words and characters (not for a transformer)
transformer/              configuration and tokenizer of a transformer that is trained
contextual/               all of a pretrained encoder that is not
weights.safetensors       the best weights by dev F1: what ``predict`` uses
state.safetensors/.json   where training stopped: weights, average, optimizer, random generator
metrics.jsonl             one line for each evaluation
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from drop_parsing.errors import InputError
from drop_parsing.reader.build import build_reader, piece_vocabulary
from drop_parsing.reader.config import TransformerConfig
from drop_parsing.reader.contextual_encoders import pretrained_files
from drop_parsing.reader.model import Reader
from drop_parsing.reader.pieces import PieceVocabulary
from drop_parsing.reader.transformer import transformer_folder
from drop_parsing.reader.vocabulary import Vocabulary
from drop_parsing.training.preset import Preset
from drop_parsing.training.typed import from_plain, to_plain
from extractors.store import atomic_file

#: Of the files of a run; another one is refused.
VERSION = 1

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.json", "weights.safetensors"
STATE, STATE_JSON = "state.safetensors", "state.json"
TRANSFORMER, CONTEXTUAL = "transformer", "contextual"


def save_setup(run: Path, preset: Preset, vocabulary: Vocabulary | PieceVocabulary) -> None:
    """Write what makes the model, so that the run needs nothing outside its folder to predict."""
    encoder = preset.reader.encoder
    if isinstance(encoder, TransformerConfig):
        source = transformer_folder(encoder.model)
        _copy([source / "config.json", source / "tokenizer.json"], run / TRANSFORMER)
    elif encoder.embedding.contextual is not None:
        _copy(pretrained_files(encoder.embedding.contextual.model), run / CONTEXTUAL)
    if isinstance(vocabulary, Vocabulary):
        _write_json(run / VOCABULARY, vocabulary.to_json())
    _write_json(run / CONFIG, {"version": VERSION, "kind": "reader", "preset": to_plain(preset)})


def _copy(files: Sequence[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run's model is made of."""

    preset: Preset
    vocabulary: Vocabulary | PieceVocabulary


def load_setup(run: Path) -> Setup:
    """Raises InputError where ``run`` is no run of a reader, is damaged, or is of another version."""
    if run.is_file():
        raise InputError(f"{run} is a file: give the folder of a run. Pickled checkpoints are never loaded.")
    data = _read_json(run / CONFIG, "no run of a reader")
    if data.get("version") != VERSION or data.get("kind") != "reader":
        raise InputError(
            f"{run} is a {data.get('kind')} run of version {data.get('version')}; this program reads version "
            f"{VERSION} of readers: train it again."
        )
    preset = from_plain(Preset, data.get("preset"), f"{run / CONFIG}: preset")
    preset = _with_pretrained(preset, run / TRANSFORMER, run / CONTEXTUAL)
    encoder = preset.reader.encoder
    if isinstance(encoder, TransformerConfig):
        return Setup(preset, piece_vocabulary(encoder))
    try:
        return Setup(preset, Vocabulary.from_json(_read_json(run / VOCABULARY, "without its vocabulary")))
    except (KeyError, TypeError) as error:
        raise InputError(f"{run / VOCABULARY} is damaged: train the run again.") from error


def _with_pretrained(preset: Preset, transformer: Path, contextual: Path) -> Preset:
    """The preset with what it has of pretrained encoders at these places."""
    encoder = preset.reader.encoder
    if isinstance(encoder, TransformerConfig):
        encoder = replace(encoder, model=str(transformer))
    elif encoder.embedding.contextual is not None:
        moved = replace(encoder.embedding.contextual, model=str(contextual))
        encoder = replace(encoder, embedding=replace(encoder.embedding, contextual=moved))
    return replace(preset, reader=replace(preset.reader, encoder=encoder))


def same_preset(one: Preset, other: Preset) -> bool:
    """Whether two presets are the same but for where pretrained encoders are: their copies are in the run."""
    nowhere = Path()
    return _with_pretrained(one, nowhere, nowhere) == _with_pretrained(other, nowhere, nowhere)


def load_reader(run: Path) -> tuple[Setup, Reader]:
    """The reader of a run with its best weights, ready to predict. Raises InputError as ``load_setup``."""
    setup = load_setup(run)
    weights = load_tensors(run / WEIGHTS)
    vectors = weights.get("encoder.embedding.words.weight", torch.empty(0, 0))
    reader = build_reader(setup.preset.reader, setup.vocabulary, torch.empty_like(vectors), pretrained=False)
    try:
        reader.load_state_dict(weights)
    except RuntimeError as error:
        raise InputError(f"{run / WEIGHTS} does not fit the run's configuration: train it again.") from error
    return setup, reader.eval()


def save_weights(run: Path, reader: Reader) -> None:
    save_tensors(run / WEIGHTS, reader.state_dict())


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    with atomic_file(path) as file:
        file.write(save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}))


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Raises InputError where the file is missing, damaged, or something else, such as a pickle."""
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise InputError(f"There is no {path}: the run has no checkpoint yet; train it first.") from error
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{path} is not in safetensors form ({error}); it may be damaged, or a pickle, which is never loaded."
        ) from error


def save_state(run: Path, tensors: Mapping[str, Tensor], progress: Mapping[str, Any]) -> None:
    """Both files, of which either pair is whole: the progress is also in the tensors' file."""
    whole = {
        **tensors,
        "progress": torch.frombuffer(bytearray(json.dumps(progress).encode()), dtype=torch.uint8),
    }
    save_tensors(run / STATE, whole)
    _write_json(run / STATE_JSON, progress)


def load_state(run: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors = load_tensors(run / STATE)
    progress = json.loads(bytes(tensors.pop("progress").tolist()))
    return tensors, progress


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    with atomic_file(path) as file:
        file.write(json.dumps(data, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _read_json(path: Path, otherwise: str) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path.parent} is {otherwise}: it has no {path.name} that can be read.") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): train the run again.") from error
    if not isinstance(data, dict):
        raise InputError(f"{path} is damaged: train the run again.")
    return data
