"""What a parser's run leaves behind, and the parser made of it again. Plain values and safetensors only.

config.json            version, preset, and what tables the parser was trained on
vocabulary.json        its words and leaves
transformer/           a transformer's configuration and tokenizer, if it has one
weights.safetensors    the best weights by dev F1: what ``predict`` uses
rescorer.json          the weights that order beams once they are executed (``rescoring``), if fitted
state.safetensors      where training stopped
forms.jsonl            the forms that it is trained on, with their weights, as ``form_weights`` takes them
metrics.jsonl          one line for each evaluation
curve.svg              the learning curve
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from drop_parsing.errors import InputError
from drop_parsing.parser.batch import Collator, Vocabulary
from drop_parsing.parser.config import ParserConfig
from drop_parsing.parser.model import Parser, make_parser, make_transformer_parser
from drop_parsing.parser.rescoring import Rescorer
from drop_parsing.reader.contextual_encoders import ContextualEncoder
from drop_parsing.reader.pieces import PieceVocabulary, load_pieces
from drop_parsing.reader.transformer import (
    empty_transformer,
    load_transformer,
    longest_sequence,
    transformer_folder,
)
from drop_parsing.training.checkpoint import load_tensors
from drop_parsing.training.typed import from_plain, to_plain
from extractors.store import atomic_file

#: Of the files of a run; another one is refused.
VERSION = 2
KIND = "parser"
CONFIG, VOCABULARY, METRICS, CURVE = "config.json", "vocabulary.json", "metrics.jsonl", "curve.svg"
TRANSFORMER, FORMS = "transformer", "forms.jsonl"
WEIGHTS, STATE, RESCORER = "weights.safetensors", "state.safetensors", "rescorer.json"


@dataclass(frozen=True, slots=True)
class Tables:
    """What makes the tables that a parser reads: ``backend`` as the option of that name, None for the default."""

    scheme: str = "syndep"
    backend: str | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run's parser is made of. ``vector_dim`` is the width of its word vectors."""

    config: ParserConfig
    words: Vocabulary
    leaves: Vocabulary
    vector_dim: int
    tables: Tables

    def collator(self) -> Collator:
        return Collator(self.words, self.leaves)


def is_parser_run(run: Path) -> bool:
    """Whether a folder holds the run of a parser, rather than that of a reader or none."""
    try:
        data = json.loads((run / CONFIG).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("kind") == KIND


def save_setup(run: Path, setup: Setup) -> None:
    run.mkdir(parents=True, exist_ok=True)
    vocabulary = {"words": setup.words.names, "leaves": setup.leaves.names, "vector_dim": setup.vector_dim}
    _write(run / VOCABULARY, vocabulary)
    plain = {"preset": to_plain(setup.config), "tables": to_plain(setup.tables)}
    _write(run / CONFIG, {"version": VERSION, "kind": KIND, **plain})


def load_setup(run: Path) -> Setup:
    """Raises InputError where ``run`` is no run of a parser, is damaged, or is of another version."""
    data, vocabulary = _read(run / CONFIG), _read(run / VOCABULARY)
    if data.get("version") != VERSION or data.get("kind") != KIND:
        raise InputError(
            f"{run} is a {data.get('kind')} run of version {data.get('version')}; this program reads version "
            f"{VERSION} of parsers: train it again."
        )
    config = from_plain(ParserConfig, data.get("preset"), f"{run / CONFIG}: preset")
    tables = from_plain(Tables, data.get("tables"), f"{run / CONFIG}: tables")
    try:
        words, leaves = Vocabulary(vocabulary["words"]), Vocabulary(vocabulary["leaves"])
        return Setup(config, words, leaves, int(vocabulary["vector_dim"]), tables)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{run / VOCABULARY} is damaged: train the run again.") from error


def new_parser(run: Path, setup: Setup, vectors: Tensor) -> Parser:
    """A parser to train, over word vectors or the transformer that its preset names, which is copied into the run."""
    config = setup.config
    if config.transformer is None:
        return _lstm_parser(setup, vectors)
    source, target = transformer_folder(config.transformer), run / TRANSFORMER
    transformer = load_transformer(source).transformer
    target.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(source / name, target / name)
    return make_transformer_parser(config.sizes, transformer, len(setup.leaves))


def empty_parser(run: Path, setup: Setup) -> Parser:
    """The parser of a run, with weights that mean nothing yet."""
    config = setup.config
    if config.transformer is None:
        return _lstm_parser(setup, torch.empty(len(setup.words), setup.vector_dim))
    transformer = empty_transformer(run / TRANSFORMER).transformer
    return make_transformer_parser(config.sizes, transformer, len(setup.leaves))


def _lstm_parser(setup: Setup, vectors: Tensor) -> Parser:
    encoder = encoder_of(setup.config)
    return make_parser(
        setup.config.sizes, vectors, len(setup.leaves), contextual_dim=encoder.width if encoder else 0
    )


def encoder_of(config: ParserConfig) -> ContextualEncoder | None:
    """What makes a preset's vectors in context, if it has them."""
    return _encoder(config.contextual) if config.contextual else None


#: A pretrained encoder is read from disk once, however often a run asks for it or for its width.
_encoder = cache(ContextualEncoder)


def pieces_of(transformer: str | Path | None) -> PieceVocabulary | None:
    """The word pieces of a preset's transformer, or of a run's (its folder), if it has one."""
    if transformer is None:
        return None
    folder = transformer_folder(str(transformer))
    return load_pieces(folder, longest_sequence(folder))


def load_parser(run: Path) -> tuple[Setup, Parser]:
    """The parser of a run with its best weights, ready to parse. Raises InputError as ``load_setup``."""
    setup = load_setup(run)
    parser = empty_parser(run, setup)
    try:
        parser.load_state_dict(load_tensors(run / WEIGHTS))
    except RuntimeError as error:
        raise InputError(f"{run / WEIGHTS} does not fit the run's configuration: train it again.") from error
    return setup, parser.eval()


def load_rescorer(run: Path) -> Rescorer | None:
    """That of a run, if it has one."""
    return Rescorer.load(run / RESCORER) if (run / RESCORER).exists() else None


def _write(path: Path, data: Mapping[str, Any]) -> None:
    with atomic_file(path) as file:
        file.write(json.dumps(data, indent=1).encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"{path.parent} is no run of a parser: it has no {path.name} that can be read."
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): train the run again.") from error
    if not isinstance(data, dict):
        raise InputError(f"{path} is damaged: train the run again.")
    return data
