"""A preset: everything that a training run depends on beside its data."""

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

import yaml

from drop_parsing.errors import InputError
from drop_parsing.reader.config import ReaderConfig
from drop_parsing.training.typed import from_plain


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
    folder = files("drop_parsing.training") / "presets"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_preset(name: str) -> Preset:
    """The preset of this name, or in the YAML file at this path.

    Raises InputError where there is none, and for a setting that is unknown or of the wrong type.
    """
    if name in preset_names():
        text = (files("drop_parsing.training") / "presets" / f"{name}.yaml").read_text("utf-8")
    elif Path(name).is_file():
        text = Path(name).read_text("utf-8")
    else:
        raise InputError(
            f"There is no preset {name} and no such file; the presets are: {', '.join(preset_names())}."
        )
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"The preset {name} is not YAML: {' '.join(str(error).split())}.") from error
    return from_plain(Preset, data, name)
