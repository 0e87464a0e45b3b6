"""Forests as bytes and back.

The bytes are a version, a checksum and what Zstandard makes of the texts (JSON) and of the columns of the forest
(``grammar.columns``), each in as few bytes a number as its greatest takes. A forest is read as far as it is used: its
columns at once, a form with what leads to it. Reading runs no code that the bytes bring, and refuses bytes that were
cut off or changed.
"""

import json
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from grammar.columns import ROWS, Columns, Ints, Lists, Things, things_of
from grammar.families import Aspect, See
from grammar.forest import Found
from grammar.types import Date, Denotation, Number, Text

#: Changes whenever bytes are written or read otherwise.
VERSION = 2

# Magic, version, checksum of what follows, length of the texts, and of texts and columns.
_HEADER = struct.Struct("<4sHIII")
_COLUMN = struct.Struct("<IB")
_MAGIC = b"DPFF"
#: No forest takes as many bytes, whatever its header says.
_MAX_BYTES = 2**28
_CODEC = pa.Codec("zstd", 9)
_ASPECTS: tuple[Aspect, ...] = ("rows", "first", "last", "number")


class ForestError(ValueError):
    """Bytes that are no forest of this version: one sentence with the reason."""


def to_bytes(found: Found) -> bytes:
    things, answers = things_of(found)
    columns = things.columns
    sees = [[_ASPECTS.index(see.aspect), see.mask] for see in columns.sees]
    named = [
        [_denotation_to_json(value), number] for value, number in zip(found.answers, answers, strict=True)
    ]
    texts = json.dumps([found.size, named, list(columns.texts), sees], separators=(",", ":")).encode()
    data = texts + b"".join(map(_to_planes, _taken_apart(columns)))
    packed: bytes = _CODEC.compress(data, asbytes=True)
    return _HEADER.pack(_MAGIC, VERSION, zlib.crc32(packed), len(texts), len(data)) + packed


def from_bytes(data: bytes) -> Found:
    """The forest of ``to_bytes``. Raises ForestError."""
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise ForestError("These bytes are no forest: search again.")
    _, version, checksum, length, size = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ForestError(f"This forest is of version {version}, not {VERSION}: search again.")
    packed = data[_HEADER.size :]
    if zlib.crc32(packed) != checksum or not length <= size <= _MAX_BYTES:
        raise ForestError("This forest was cut off or changed: search again.")
    try:
        unpacked = _CODEC.decompress(packed, size, asbytes=True)
        reached, answers, texts, sees = json.loads(unpacked[:length])
        seen = [See(int(mask), _ASPECTS[aspect]) for aspect, mask in sees]
        columns = _put_together([str(text) for text in texts], seen, _from_planes(unpacked[length:]))
        things = Things(columns, {})
        found = Found(
            {_denotation_from_json(value): things.node(number) for value, number in answers}, reached
        )
        found.things = things, [number for _, number in answers]
        return found
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OSError) as error:
        raise ForestError(f"This forest is not well formed ({error}): search again.") from error


def _taken_apart(columns: Columns) -> list[Ints]:
    """The columns as numbers that are mostly small, and not below 0."""
    below, rest = columns.below, columns.rest
    inner = below.values >= 0
    steps = np.diff(below.values[inner], prepend=0)
    within = _within(columns.kinds, rest)
    counts = [count.to_bytes(-(-count.bit_length() // 8), "little") for count in columns.counts]
    return [
        columns.kinds,
        np.diff(columns.depths, prepend=0),
        columns.tags,
        np.diff(below.ends, prepend=0),
        inner.astype(np.int64),
        -1 - below.values[~inner],
        steps << 1 ^ steps >> 63,
        np.diff(rest.ends, prepend=0),
        np.where(within, np.diff(rest.values, prepend=0), rest.values),
        np.array([len(count) for count in counts], np.int64),
        np.frombuffer(b"".join(counts), np.uint8).astype(np.int64),
    ]


def _put_together(texts: Sequence[str], sees: Sequence[See], parts: Sequence[Ints]) -> Columns:
    """Raises ValueError where a thing is not made of others before it."""
    kinds, depths, tags, arities, inner, leaves, steps, lengths, rest, sizes, counted = parts
    below = np.empty(len(inner), np.int64)
    below[inner == 1] = np.cumsum(steps >> 1 ^ -(steps & 1))
    below[inner == 0] = -1 - leaves
    if (below >= np.repeat(np.arange(len(kinds)), arities)).any() or (below < -len(texts)).any():
        raise ValueError("a thing is made of others after it")
    ends = np.cumsum(lengths)
    within = _within(kinds, Lists(rest, ends))
    total = np.cumsum(rest * within)
    starts = np.maximum.accumulate(np.where(within, 0, np.arange(len(rest))))
    rest = rest[starts] + total - total[starts]
    digits, stops = counted.astype(np.uint8).tobytes(), np.cumsum(sizes).tolist()
    counts = [int.from_bytes(digits[i:j], "little") for i, j in pairwise([0, *stops])]
    return Columns(
        texts,
        sees,
        kinds,
        np.cumsum(depths),
        tags,
        Lists(below, np.cumsum(arities)),
        Lists(rest, ends),
        counts,
    )


def _within(kinds: Ints, rest: Lists) -> npt.NDArray[np.bool_]:
    """Where ``rest`` is kept as a step from the number before: the places of rows rise."""
    lengths = np.diff(rest.ends, prepend=0)
    within: npt.NDArray[np.bool_] = np.repeat(kinds == ROWS, lengths)
    within[(rest.ends - lengths)[lengths > 0]] = False
    return within


def _to_planes(numbers: Ints) -> bytes:
    """How many numbers and bytes each, all lowest bytes, then all second ones, ...: this is compressed well."""
    size = -(-int(numbers.max(initial=0)).bit_length() // 8)
    planes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size].T
    return _COLUMN.pack(len(numbers), size) + planes.tobytes()


def _from_planes(data: bytes) -> list[Ints]:
    columns, at = [], 0
    while at < len(data):
        length, size = _COLUMN.unpack_from(data, at)
        at += _COLUMN.size
        planes = np.frombuffer(data, np.uint8, length * size, at).reshape(size, length)
        numbers = np.zeros((length, 8), np.uint8)
        numbers[:, :size] = planes.T
        columns.append(numbers.view("<i8")[:, 0].astype(np.int64))
        at += length * size
    return columns


def _denotation_to_json(denotation: Denotation) -> Any:
    return {"date": denotation} if isinstance(denotation, Date) else denotation


def _denotation_from_json(value: Any) -> Denotation:
    if isinstance(value, dict):
        return Date(*value["date"])
    if isinstance(value, list):
        return tuple(Text(str(surface), str(key)) for surface, key in value)
    return Number(float(value))
