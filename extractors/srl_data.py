"""Sentences with PropBank roles, as the treebanks give them: read, and said in spans.

One JSON object a line: ``words``, ``pos`` (Penn tags) and ``props``, each with ``i`` (the predicate's word),
``sense`` ("open.01") and ``tags`` (BIO, one a word).
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Senses of verbs that only help another verb: no predicates here.
AUXILIARY_SENSES = frozenset({"be.03", "do.01", "have.01"})

#: The predicate itself and the rest of it ("set ... up"): no arguments.
_OWN = frozenset({"V", "C-V"})


class DataError(ValueError):
    """A file of role-labelled sentences that cannot be used, with the place."""


@dataclass(frozen=True, slots=True)
class GoldArgument:
    """The words ``first`` to ``last``, both included. ``C-`` and ``R-`` labels stand as they are."""

    label: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class GoldFrame:
    predicate: int
    sense: str
    verbal: bool
    arguments: tuple[GoldArgument, ...]

    @property
    def auxiliary(self) -> bool:
        return self.sense in AUXILIARY_SENSES


@dataclass(frozen=True, slots=True)
class GoldSentence:
    words: tuple[str, ...]
    frames: tuple[GoldFrame, ...]


def read_sentences(path: Path) -> Iterator[GoldSentence]:
    """The sentences of a ``.jsonl`` or ``.jsonl.gz`` file. Raises ``DataError`` at the first that is damaged."""
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield _sentence(json.loads(line))
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError(
            f"{path}, line {number}, is no sentence with roles ({error}); "
            'a line is {"words": [...], "pos": [...], "props": [{"i", "sense", "tags"}]}.'
        ) from error


def _sentence(entry: dict[str, Any]) -> GoldSentence:
    words = tuple(entry["words"])
    if not words or any(not word or word.split() != [word] for word in words):
        raise ValueError("a word is empty or holds a space")
    frames = []
    for prop in entry["props"]:
        i, tags = int(prop["i"]), prop["tags"]
        if len(tags) != len(words) or not 0 <= i < len(words):
            raise ValueError("tags and words differ in number")
        verbal = entry["pos"][i].startswith("V")
        frames.append(GoldFrame(i, prop["sense"], verbal, tuple(_arguments(tags))))
    return GoldSentence(words, tuple(frames))


def _arguments(tags: Sequence[str]) -> Iterator[GoldArgument]:
    first, label = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        if not label or tag != f"I-{label}":
            if label and label not in _OWN:
                yield GoldArgument(label, first, i - 1)
            first, label = i, tag.partition("-")[2]
