"""A preset of the parser: everything that a training run depends on beside its data."""

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import yaml

from drop_parsing.errors import InputError
from drop_parsing.parser.model import ParserSizes
from drop_parsing.training.typed import from_plain


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """``vectors`` as for readers (``random``, ``glove:FILE``, ...). A question is trained on its ``forms`` best forms:
    the first of the cache, or with ``refresh`` from the second epoch on those that the parser finds most likely.
    ``size_prior`` is taken off a form's logarithm for each of its applications. A run ends after ``epochs``, after
    ``patience`` of them without a better dev F1, or after ``minutes``."""

    sizes: ParserSizes = field(default_factory=ParserSizes)
    vectors: str = "random"
    vector_dim: int = 100
    min_word_count: int = 2
    forms: int = 20
    size_prior: float = 0.0
    refresh: bool = True
    beam: int = 10
    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 1e-3
    gradient_norm: float = 5.0
    patience: int = 5
    minutes: float | None = None
    seed: int = 0


def preset_names() -> list[str]:
    folder = files("drop_parsing.parser") / "presets"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_config(name: str) -> ParserConfig:
    """The preset of this name, or in the YAML file at this path.

    Raises InputError where there is none, and for a setting that is unknown or of the wrong type.
    """
    if name in preset_names():
        text = (files("drop_parsing.parser") / "presets" / f"{name}.yaml").read_text("utf-8")
    elif Path(name).is_file():
        text = Path(name).read_text("utf-8")
    else:
        raise InputError(
            f"There is no preset {name} and no such file; those of the parser are: {', '.join(preset_names())}."
        )
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"The preset {name} is not YAML: {' '.join(str(error).split())}.") from error
    return from_plain(ParserConfig, data, name)
