"""Forests as bytes and back.

The nodes that the answers reach are written once each, below before above: what two share is shared again when read.
The bytes are a version, a checksum, the texts (JSON) and 32-bit numbers: how long each thing is, then the things. A
forest is read as far as it is used: its counts at once, a form with what leads to it. Reading runs no code that the
bytes bring, and refuses bytes that were cut off or changed.
"""

import json
import struct
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from grammar.families import Aspect, Block, Family, Pool, See, width
from grammar.forest import Apply, Filtered, Found, Leaf, Node, Packed, Pairs, Rows
from grammar.forms import Form
from grammar.types import Date, Denotation, Number, Text

#: Changes whenever bytes are written or read otherwise.
VERSION = 1

# Magic, version, checksum of what follows, length of the texts, number of things and of their numbers.
_HEADER = struct.Struct("<4sHIIII")
_MAGIC = b"DPFF"
_KINDS = ("packed", "apply", "pairs", "filtered", "rows", "pool", "family")
_ASPECTS: tuple[Aspect, ...] = ("rows", "first", "last", "number")
_JOINS = ("", "union", "intersection")


class ForestError(ValueError):
    """Bytes that are no forest of this version: one sentence with the reason."""


def to_bytes(found: Found) -> bytes:
    writer = _Writer()
    answers = [
        (_denotation_to_json(denotation), writer.node(node)) for denotation, node in found.answers.items()
    ]
    texts = json.dumps([found.size, answers, list(writer.texts)], separators=(",", ":")).encode()
    numbers = _to_planes(writer.lengths) + _to_planes(writer.numbers)
    checksum = zlib.crc32(numbers, zlib.crc32(texts))
    sizes = (len(texts), len(writer.lengths), len(writer.numbers))
    return _HEADER.pack(_MAGIC, VERSION, checksum, *sizes) + texts + numbers


def from_bytes(data: bytes) -> Found:
    """The forest of ``to_bytes``. Raises ForestError."""
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise ForestError("These bytes are no forest: search again.")
    _, version, checksum, length, things, numbers = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ForestError(f"This forest is of version {version}, not {VERSION}: search again.")
    start = _HEADER.size + length
    if len(data) != start + 4 * (things + numbers) or zlib.crc32(data[_HEADER.size :]) != checksum:
        raise ForestError("This forest was cut off or changed: search again.")
    try:
        size, answers, texts = json.loads(data[_HEADER.size : start])
        middle = start + 4 * things
        reader = _Reader(texts, _from_planes(data[start:middle]), _from_planes(data[middle:]))
        return Found({_denotation_from_json(d): reader.thing(place) for d, place in answers}, size)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise ForestError(f"This forest is not well formed ({error}): search again.") from error


def _to_planes(numbers: Sequence[int]) -> bytes:
    """All lowest bytes, then all second ones, ...: most are small, so that this is compressed well."""
    return np.array(numbers, dtype="<u4").view(np.uint8).reshape(-1, 4).T.tobytes()


def _from_planes(data: bytes) -> npt.NDArray[np.uint32]:
    planes = np.frombuffer(data, np.uint8).reshape(4, -1)
    numbers: npt.NDArray[np.uint32] = np.ascontiguousarray(planes.T).view("<u4")[:, 0]
    return numbers


class _Writer:
    """The things of a forest: nodes, pools and families, one after another. A thing is known by its place in that
    order, and names another by twice how many places that stands before it; a leaf by an odd number."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.lengths: list[int] = []
        self.numbers: list[int] = []
        self._places: dict[int, tuple[object, int]] = {}

    def node(self, node: Node) -> int:
        """The place of a node; it is written if it is new. A leaf is -1 less the place of its text."""
        match node:
            case Leaf():
                return -1 - self._text(node.form().name)
            case Packed():
                below = node.alternatives
                rest = [*_counted(node.count), *node.sizes]
                return self._once(node, "packed", lambda: ([self.node(one) for one in below], rest))
            case Apply():
                name = self._text(node.name)
                return self._once(node, "apply", lambda: ([self.node(one) for one in node.arguments], [name]))
            case Pairs():
                name = self._text(node.name)
                return self._once(node, "pairs", lambda: ([self.node(node.argument)], [name]))
            case Filtered():
                return self._once(
                    node, "filtered", lambda: ([self.node(node.rows), self.node(node.filters)], [])
                )
            case Rows():
                see = [_ASPECTS.index(node.see.aspect), *_words(node.see.mask, node.family.rows)]
                places = sorted(node.places)
                steps = [place - before for before, place in pairwise([0, *places])]
                rest = [*see, *_counted(node.count), *steps]
                return self._once(node, "rows", lambda: ([self._family(node.family)], rest))
            case _:
                raise TypeError(f"no node of a forest: {node!r}")

    def _family(self, family: Family) -> int:
        rest = [family.rows]
        for block in family.blocks:
            rest += [_JOINS.index(block.join), len(block.pools)]
        return self._once(
            family, "family", lambda: ([self._pool(p) for block in family.blocks for p in block.pools], rest)
        )

    def _pool(self, pool: Pool) -> int:
        rest = [pool.rows, len(pool.families)]
        rest += [word for mask, _ in pool.members for word in _words(mask, pool.rows)]

        def below() -> list[int]:
            families = [self._family(family) for family in pool.families]
            return families + [self.node(node) for _, node in pool.members]

        return self._once(pool, "pool", lambda: (below(), rest))

    def _once(self, thing: object, kind: str, content: Callable[[], tuple[list[int], list[int]]]) -> int:
        if id(thing) not in self._places:
            below, rest = content()
            place = len(self._places)
            steps = [2 * (place - other) if other >= 0 else -1 - 2 * other for other in below]
            numbers = [_KINDS.index(kind), len(below), *steps, *rest]
            self.lengths.append(len(numbers))
            self.numbers += numbers
            self._places[id(thing)] = (thing, place)
        return self._places[id(thing)][1]

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


class _Stored(Packed):
    """A union whose alternatives are read when they are asked for."""

    __slots__ = ("_below", "_reader")

    def __init__(self, reader: "_Reader", below: Sequence[int], count: int, sizes: Sequence[int]) -> None:
        self._reader = reader
        self._below = below
        self._alternatives = []
        self._ends = []
        self.count = count
        self.sizes = list(sizes)

    @property
    def alternatives(self) -> list[Node]:
        if len(self._alternatives) < len(self._below):
            self._alternatives = [self._reader.thing(place) for place in self._below]
        return self._alternatives


class _Reader:
    def __init__(
        self, texts: list[str], lengths: npt.NDArray[np.uint32], numbers: npt.NDArray[np.uint32]
    ) -> None:
        self._texts = texts
        self._ends = np.cumsum(lengths)
        self._numbers = numbers
        self._made: dict[int, Any] = {}

    def thing(self, place: int) -> Any:
        if place not in self._made and place < 0:
            self._made[place] = Leaf(Form(self._texts[-1 - place]))
        if place not in self._made:
            start = self._ends[place - 1] if place else 0
            kind, size, *numbers = self._numbers[start : self._ends[place]].tolist()
            below = [-1 - step // 2 if step % 2 else place - step // 2 for step in numbers[:size]]
            steps = numbers[:size]
            if len(steps) < size or any(step % 2 == 0 and not 0 < step // 2 <= place for step in steps):
                raise ForestError("This forest names what it does not hold: search again.")
            self._made[place] = getattr(self, f"_{_KINDS[kind]}")(below, numbers[size:])
        return self._made[place]

    def _packed(self, below: list[int], rest: list[int]) -> Packed:
        words = 1 + rest[0]
        return _Stored(self, below, _number(rest[1:words]), rest[words:])

    def _apply(self, below: list[int], rest: list[int]) -> Apply:
        return Apply(self._texts[rest[0]], *map(self.thing, below))

    def _pairs(self, below: list[int], rest: list[int]) -> Pairs:
        return Pairs(self._texts[rest[0]], self.thing(below[0]))

    def _filtered(self, below: list[int], rest: list[int]) -> Filtered:
        return Filtered(*map(self.thing, below))

    def _rows(self, below: list[int], rest: list[int]) -> Rows:
        family: Family = self.thing(below[0])
        words = 1 + 2 * width(family.rows)
        see = See(_number(rest[1:words]), _ASPECTS[rest[0]])
        counted = words + 1 + rest[words]
        places = list(accumulate(rest[counted:]))
        return Rows(family, see, places, _number(rest[words + 1 : counted]))

    def _pool(self, below: list[int], rest: list[int]) -> Pool:
        rows, families, *words = rest
        step = 2 * width(rows)
        nodes = map(self.thing, below[families:])
        members = [(_number(words[step * i : step * (i + 1)]), node) for i, node in enumerate(nodes)]
        return Pool(members, rows, [self.thing(place) for place in below[:families]])

    def _family(self, below: list[int], rest: list[int]) -> Family:
        rows, *joins = rest
        pools = iter(map(self.thing, below))
        blocks = []
        for join, size in zip(joins[::2], joins[1::2], strict=True):
            blocks.append(Block(tuple(next(pools) for _ in range(size)), _JOINS[join]))
        return Family(blocks, rows)


def _counted(number: int) -> list[int]:
    """A number of any length: how many words it takes, and these."""
    words = []
    while number:
        words.append(number & 0xFFFFFFFF)
        number >>= 32
    return [len(words), *words]


def _number(words: Sequence[int]) -> int:
    return sum(word << 32 * place for place, word in enumerate(words))


def _words(mask: int, rows: int) -> list[int]:
    return [mask >> 32 * place & 0xFFFFFFFF for place in range(2 * width(rows))]


def _denotation_to_json(denotation: Denotation) -> Any:
    return {"date": denotation} if isinstance(denotation, Date) else denotation


def _denotation_from_json(value: Any) -> Denotation:
    if isinstance(value, dict):
        return Date(*value["date"])
    if isinstance(value, list):
        return tuple(Text(str(surface), str(key)) for surface, key in value)
    return Number(float(value))
