"""A preset: everything that a training run depends on beside its data."""

from dataclasses import dataclass, field
from typing import Literal

from drop_parsing.reader.config import ReaderConfig
from drop_parsing.training import preset_files


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How a reader is trained.

    The learning rate rises over ``warmup_steps`` and then stays, or falls to 0 (``decay: linear``). A run
    ends after ``epochs``, after ``patience`` of them without a better dev F1, or after ``minutes``. Weights
    are evaluated and kept as their moving average with ``average_decay`` (0: as they are). Checkpoints are
    ``checkpoint_steps`` apart.
    """

    epochs: int = 50
    batch_size: int = 16
    learning_rate: float = 5e-4
    beta1: float = 0.8
    beta2: float = 0.999
    epsilon: float = 1e-7
    weight_decay: float = 0.0
    warmup_steps: int = 0
    decay: Literal["none", "linear"] = "none"
    gradient_norm: float = 5.0
    average_decay: float = 0.9999
    patience: int = 10
    minutes: float | None = None
    checkpoint_steps: int = 200
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Preset:
    """The two halves of a preset's file."""

    reader: ReaderConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)


def preset_names() -> list[str]:
    return preset_files.preset_names("drop_parsing.training")


def load_preset(name: str) -> Preset:
    """As ``preset_files.read_preset``."""
    return preset_files.read_preset(Preset, "drop_parsing.training", name)
