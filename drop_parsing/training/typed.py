"""Plain values, as YAML and JSON have them, to configuration classes, with every type checked."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from drop_parsing.errors import InputError

Config = TypeVar("Config")

#: The key that tells which class of a union is meant; it is the start of the class's name in lower case.
KIND = "kind"


def from_plain(kind: type[Config], data: object, where: str) -> Config:
    """An instance of the dataclass ``kind``. Fields left out have their defaults.

    Raises InputError for an unknown key, a missing one, and a value of another type, by its place.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a mapping but is {data!r:.40}.")
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    unknown = [key for key in data if key not in known]
    if unknown:
        raise InputError(f"{where} has no setting {unknown[0]!r}; there are: {', '.join(known)}.")
    values = {key: _value(hints[key], value, f"{where}.{key}") for key, value in data.items()}
    for name, field in known.items():
        if name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where} lacks the setting {name!r}.")
    return kind(**values)


def to_plain(config: Any) -> dict[str, Any]:
    """The inverse of ``from_plain``."""
    plain: dict[str, Any] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            hint = get_type_hints(type(config))[field.name]
            choice = _is_union(hint) and type(None) not in get_args(hint)
            kind = {KIND: _name(type(value))} if choice else {}
            plain[field.name] = kind | to_plain(value)
        else:
            plain[field.name] = list(value) if isinstance(value, tuple) else value
    return plain


def _value(hint: Any, value: object, where: str) -> Any:
    if is_dataclass(hint):
        return from_plain(hint, value, where)  # type: ignore[arg-type]
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise InputError(f"{where} is {value!r}, not one of: {', '.join(map(str, get_args(hint)))}.")
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise InputError(f"{where} must be a list but is {value!r:.40}.")
        return tuple(_value(get_args(hint)[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if _is_union(hint):
        return _one_of(get_args(hint), value, where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise InputError(f"{where} must be of type {hint.__name__} but is {value!r:.40}.")
    return value


def _one_of(kinds: tuple[Any, ...], value: object, where: str) -> Any:
    if type(None) in kinds:
        (other,) = (kind for kind in kinds if kind is not type(None))
        return None if value is None else _value(other, value, where)
    by_name = {_name(kind): kind for kind in kinds}
    if not isinstance(value, Mapping) or value.get(KIND) not in by_name:
        raise InputError(f"{where} needs a {KIND!r}, one of: {', '.join(by_name)}.")
    rest = {key: item for key, item in value.items() if key != KIND}
    return from_plain(by_name[value[KIND]], rest, where)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _name(kind: type) -> str:
    return kind.__name__.removesuffix("Config").lower()
