"""Questions as tensors: words and leaves by number, padded, and the trees of their forms side by side."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.pieces import PieceBatch, collate_pieces
from drop_parsing.parser.rules import NEVER
from drop_parsing.parser.targets import Targets

#: The types of entities, in the order of their numbers; 0 is padding.
ENTITY_TYPES = ("", "Relation", "Part", "String", "Number", "Date")
#: The words of one entity's name that are read.
MAX_NAME_WORDS = 6
#: The bytes of one word that are read; they are numbered from 1.
MAX_BYTES = 16


class Vocabulary:
    """Names by number: 0 is padding, 1 any name that is not here."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._numbers = {name: i for i, name in enumerate(self.names, 2)}

    @classmethod
    def of(cls, names: Iterable[str], at_least: int = 1) -> "Vocabulary":
        """The names that occur at least so often, the commonest first."""
        counts = Counter(names)
        kept = (name for name, count in counts.items() if count >= at_least)
        return cls(sorted(kept, key=lambda name: (-counts[name], name)))

    def __len__(self) -> int:
        return len(self.names) + 2

    def number(self, name: str) -> int:
        return self._numbers.get(name, 1)


def words_of(question: QuestionInput) -> list[str]:
    """The words that a parser reads: the tokens of the question and the words of the entities' names."""
    names = [word for entity in question.entities for word in entity.words[:MAX_NAME_WORDS]]
    return [token.text.lower() for token in question.tokens] + names


def leaves_of(question: QuestionInput) -> list[str]:
    """The leaves that other questions share: relations and parts."""
    return [entity.name for entity in question.entities if entity.type in ("Relation", "Part")]


@dataclass(frozen=True, slots=True)
class Level:
    """Which nodes are on one level of all trees, the most of one question, and their places among as many for each
    question (see ``recurrence.Grid``)."""

    nodes: slice
    width: int
    places: Tensor


@dataclass(frozen=True, slots=True)
class Trees:
    """The targets of B questions: N nodes in all, level by level, in a level question by question; F forms (padded) of
    at most T productions. The roots are the first B nodes.

    ``owners`` (N,) are the questions of the nodes, ``depths`` their levels; ``parents`` (N,) are places within the
    level before, those of the roots their own; ``choices``, ``tops`` and ``later`` (N,) are as in ``Targets``.
    ``width`` is the most nodes of one question, ``places`` (N,) are among as many for each. ``path_nodes`` and
    ``path_choices`` (B, F, T) are as in ``Targets``; ``prior`` (B, F) is -inf for padding.
    """

    levels: tuple[Level, ...]
    width: int
    owners: Tensor
    depths: Tensor
    parents: Tensor
    choices: Tensor
    tops: Tensor
    later: Tensor
    places: Tensor
    path_nodes: Tensor
    path_choices: Tensor
    prior: Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """B questions of L tokens (padded) with E entities (padded), V distinct words; S symbols, F features. Place 0
    among the distinct words and names is padding."""

    lengths: Tensor  # (B,) long
    words: Tensor  # (V,) long, numbers of a vocabulary
    characters: Tensor  # (V, C) long, bytes from 1 on
    tokens: Tensor  # (B, L) long, places among the words
    names: Tensor  # (M, W) long, the words of the distinct names of entities, as places among the words
    named: Tensor  # (B, E) long, the entities' names, 0 is padding
    types: Tensor  # (B, E) long, see ENTITY_TYPES
    leaves: Tensor  # (B, E) long, numbers of a vocabulary
    features: Tensor  # (B, E, L, F) float
    neighbours: Tensor  # (B, E, E) bool
    expands: Tensor  # (B, S, E) bool
    shortest: Tensor  # (B, S) long
    trees: Trees | None
    pieces: PieceBatch | None = None
    contextual: Tensor | None = None  # (B, L, C) float

    def __len__(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device | str) -> "Batch":
        """The batch on a device, floats as wide as they are."""
        moved: Batch = _moved(self, device)
        return moved


def _moved(holder: Any, device: torch.device | str) -> Any:
    """A value, or what it holds, on a device."""
    if isinstance(holder, Tensor):
        return holder.to(device, non_blocking=True)
    if isinstance(holder, tuple):
        return tuple(_moved(value, device) for value in holder)
    if isinstance(holder, Batch | Trees | Level | PieceBatch):
        return type(holder)(*(_moved(getattr(holder, field.name), device) for field in fields(holder)))
    return holder


class Collator:
    """Makes batches of questions, with the words and leaves of two vocabularies."""

    def __init__(self, words: Vocabulary, leaves: Vocabulary) -> None:
        self.words = words
        self.leaves = leaves

    def __call__(self, questions: Sequence[QuestionInput]) -> Batch:
        """A batch; its trees are there if every question has targets, its pieces and its vectors in context if every
        question has them."""
        places: dict[str, int] = {"": 0}

        def place(word: str) -> int:
            return places.setdefault(word, len(places))

        tokens = [[place(token.text.lower()) for token in question.tokens] or [0] for question in questions]
        names: dict[tuple[str, ...], int] = {(): 0}
        named = [[names.setdefault(e.words, len(names)) for e in question.entities] for question in questions]
        spelt = [[place(word) for word in name[:MAX_NAME_WORDS]] for name in names]
        types = [[ENTITY_TYPES.index(e.type) for e in question.entities] for question in questions]
        leaves = [[self.leaves.number(e.name) for e in question.entities] for question in questions]
        targets = [question.targets for question in questions if question.targets is not None]
        pieces = [question.pieces for question in questions if question.pieces is not None]
        contextual = [question.contextual for question in questions if question.contextual is not None]
        return Batch(
            torch.tensor([len(row) for row in tokens]),
            torch.tensor([0, *(self.words.number(word) for word in list(places)[1:])]),
            _pad_ints([[byte + 1 for byte in word.encode()[:MAX_BYTES]] for word in places]),
            _pad_ints(tokens),
            _pad_ints(spelt),
            _pad_ints(named),
            _pad_ints(types),
            _pad_ints(leaves),
            _pad([question.features for question in questions]).float(),
            _pad([question.neighbours for question in questions]),
            _pad([question.expands for question in questions]),
            _pad([question.shortest for question in questions], NEVER),
            _trees(targets) if len(targets) == len(questions) else None,
            collate_pieces(pieces, max([1, *map(len, types)])) if len(pieces) == len(questions) else None,
            _pad(contextual).float() if len(contextual) == len(questions) else None,
        )


def _pad(arrays: Sequence[npt.NDArray[Any]], fill: float = 0) -> Tensor:
    """Arrays of the same number of dimensions, one after another along a new first one; none of size 0."""
    shape = tuple(max(1, *sizes) for sizes in zip(*(array.shape for array in arrays), strict=True))
    made = np.full((len(arrays), *shape), fill, dtype=arrays[0].dtype)
    for whole, array in zip(made, arrays, strict=True):
        whole[tuple(slice(size) for size in array.shape)] = array
    return torch.from_numpy(made)


def _pad_ints(rows: Sequence[Sequence[int]]) -> Tensor:
    made = np.zeros((len(rows), max([1, *map(len, rows)])), dtype=np.int64)
    for i, row in enumerate(rows):
        made[i, : len(row)] = row
    return torch.from_numpy(made)


def _trees(targets: Sequence[Targets]) -> Trees:
    owners = np.repeat(np.arange(len(targets)), [len(target.levels) for target in targets])
    depths = np.concatenate([target.levels for target in targets])
    # Nodes by level; ``rank`` says where each node of the questions one after another has gone.
    order = np.argsort(depths, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    starts = np.cumsum([0, *(len(target.levels) for target in targets)])[:-1]
    width = max(len(target.levels) for target in targets)

    def nodes(values: Callable[[Targets], npt.NDArray[np.int64]]) -> Tensor:
        return torch.from_numpy(np.concatenate([values(target) for target in targets])[order])

    levels: list[Level] = []
    for depth in range(int(depths.max()) + 1):
        owned = owners[depths == depth]
        counts = np.bincount(owned, minlength=len(targets))
        within = np.arange(len(owned)) - np.repeat(np.cumsum(counts) - counts, counts)
        most = int(counts.max())
        start = levels[-1].nodes.stop if levels else 0
        levels.append(Level(slice(start, start + len(owned)), most, torch.from_numpy(owned * most + within)))
    before = np.repeat(
        [0, *(level.nodes.start for level in levels[:-1])],
        [level.nodes.stop - level.nodes.start for level in levels],
    )
    parents = np.concatenate([target.parents + start for target, start in zip(targets, starts, strict=True)])
    return Trees(
        tuple(levels),
        width,
        torch.from_numpy(owners[order]),
        torch.from_numpy(depths[order]),
        torch.from_numpy(rank[parents][order] - before),
        nodes(lambda target: target.choices),
        nodes(lambda target: target.tops),
        nodes(lambda target: target.later),
        torch.from_numpy((owners * width + np.arange(len(owners)) - starts[owners])[order]),
        _pad([rank[target.path_nodes + start] for target, start in zip(targets, starts, strict=True)]),
        _pad([target.path_choices for target in targets]),
        _pad([target.prior for target in targets], -np.inf),
    )
