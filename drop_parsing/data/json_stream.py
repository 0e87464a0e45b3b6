"""Lines to JSON values: JSON lines as they come, or one document over many lines."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from drop_parsing.data.sources import ACCEPTED
from drop_parsing.data.types import Fault, json_type
from drop_parsing.errors import InputError

Numbered = tuple[int, str]

_START = re.compile(r'\s*(\{\s*(["}]|$)|\[\s*([{["\]]|$))')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Value(NamedTuple):
    """A JSON value, the line on which it starts, and how many lone surrogates in it were replaced."""

    line: int
    data: object
    surrogates: int


class Repeated(dict[str, Any]):
    """An object with keys that occur twice: it holds the first value of each, ``keys_twice`` names them."""

    keys_twice: tuple[str, ...] = ()


def looks_like_json(line: str) -> bool:
    """Whether the first line that is not blank opens an object, or a list of strings, lists or objects."""
    return _START.match(line) is not None


def read_values(lines: Iterator[Numbered], file: str) -> Iterator[Value | Fault]:
    """The JSON values in ``lines``.

    The file is taken as JSON lines if its first two lines that are not blank say so: then each line is held
    alone in memory, and a line that is not JSON is a :class:`Fault`. Otherwise it is one document.
    Raises :class:`InputError` where that document is not JSON.
    """
    head: list[Numbered] = []
    filled: list[str] = []
    for number, line in lines:
        head.append((number, line))
        filled += [line] if line.strip() else []
        if len(filled) == 2:
            break
    if _is_object(filled[0]) or (len(filled) == 2 and _is_object(filled[1])):
        yield from _by_line(chain(head, lines), file)
        return
    everything = [*head, *lines]
    first = everything[0][0]
    try:
        yield Value(first, *_parse("\n".join(line for _, line in everything)))
    except ValueError as error:
        if filled[0].rstrip().endswith("}"):  # JSON lines of which the first two are broken
            yield from _by_line(iter(everything), file)
            return
        where, why = _explain(error, first)
        raise InputError(f"{file}, {where}: {why}; give {ACCEPTED}.") from error


def _parse(text: str) -> tuple[object, int]:
    """One JSON value, mended, with the number of replacements. Control characters in strings are let
    through. Raises :class:`ValueError`, also for nesting too deep to read."""
    try:
        return _mend(json.loads(text, object_pairs_hook=_object, strict=False))
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _mend(value: object) -> tuple[object, int]:
    """``value`` with each lone surrogate (which no UTF-8 file can hold) replaced by U+FFFD, and their number.

    One character takes the place of one, so that character offsets stay as they were.
    """
    if isinstance(value, str):
        return _LONE_SURROGATE.subn("\ufffd", value)
    if isinstance(value, list):
        mended = [_mend(item) for item in value]
        return [item for item, _ in mended], sum(count for _, count in mended)
    if isinstance(value, dict):
        pairs = [(_LONE_SURROGATE.subn("\ufffd", key), _mend(item)) for key, item in value.items()]
        value.clear()  # filled again in place: a Repeated stays one
        value.update((key, item) for (key, _), (item, _) in pairs)
        return value, sum(in_key + in_item for (_, in_key), (_, in_item) in pairs)
    return value, 0


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    keys = [key for key, _ in pairs]
    first = Repeated(plain)
    first.update(reversed(pairs))
    first.keys_twice = tuple(key for key in plain if keys.count(key) > 1)
    return first


def _is_object(line: str) -> bool:
    try:
        return isinstance(_parse(line)[0], dict)
    except ValueError:
        return False


def _by_line(lines: Iterator[Numbered], file: str) -> Iterator[Value | Fault]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield Value(number, *_parse(line))
        except ValueError as error:
            where, why = _explain(error, number)
            yield Fault(file, where, why)


def _explain(error: ValueError, first: int) -> tuple[str, str]:
    if not isinstance(error, json.JSONDecodeError):
        return f"line {first}", f"this is not JSON that can be read ({error})"
    where = f"line {first + error.lineno - 1}, column {error.colno}"
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated string"):
        return where, "the JSON breaks off here (is it cut short?)"
    return where, f"this is not JSON ({error.msg})"


def unaccepted(value: object) -> str:
    """Why a JSON value is none of the accepted forms."""
    if isinstance(value, dict):
        keys = ", ".join(map(repr, list(value)[:5])) or "no keys"
        return f"an object with {keys} is none of the accepted forms; give {ACCEPTED}"
    return f"this is {json_type(value)} where an object is needed; give {ACCEPTED}"
