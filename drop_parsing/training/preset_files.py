"""Presets as YAML files: those that lie in a package's folder ``presets``, and those of users."""

from importlib.resources import files
from pathlib import Path

import yaml

from drop_parsing.errors import InputError
from drop_parsing.training.typed import Config, from_plain


def preset_names(package: str) -> list[str]:
    folder = files(package) / "presets"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def read_preset(kind: type[Config], package: str, name: str) -> Config:
    """The preset of this name in ``package``, or in the YAML file at this path.

    Raises InputError where there is none, and for a setting that is unknown or of the wrong type.
    """
    names = preset_names(package)
    if name in names:
        text = (files(package) / "presets" / f"{name}.yaml").read_text("utf-8")
    elif Path(name).is_file():
        text = Path(name).read_text("utf-8")
    else:
        raise InputError(f"There is no preset {name} and no such file; the presets are: {', '.join(names)}.")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"The preset {name} is not YAML: {' '.join(str(error).split())}.") from error
    return from_plain(kind, data, name)
