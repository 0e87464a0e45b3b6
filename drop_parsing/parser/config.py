"""A preset of the parser: everything that a training run depends on beside its data."""

from dataclasses import dataclass, field

from drop_parsing.parser.model import ParserSizes
from drop_parsing.training import preset_files


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
    return preset_files.preset_names("drop_parsing.parser")


def load_config(name: str) -> ParserConfig:
    """As ``preset_files.read_preset``."""
    return preset_files.read_preset(ParserConfig, "drop_parsing.parser", name)
