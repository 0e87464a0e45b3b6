"""The product of this floor: a table of predicate-argument structures that points back into its paragraph.

Everything a table holds carries character offsets, so that ``text[start:end]`` is always the very text
of the cell, and an answer can be shown with the cells it rests on.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from extractors.values import Date, Number

#: The relation under which a row's own predicate is found: the name it has in the original baseline.
PREDICATE = "verb"


def text_hash(text: str) -> str:
    """The identity of a paragraph in every cache: 32 hex digits of the BLAKE2b hash of its text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the paragraph, ``text == paragraph[start:end]``, with what it is.

    ``label`` is the entity type (``PERSON``, ``GPE``, ...) for an entity, and for a phrase inside a cell
    the relation by which the phrase hangs on its head there (``conj``, ``nmod:from``, ``core``, ...).
    """

    text: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Argument:
    """One cell entry: a contiguous stretch of the paragraph and what was found in it.

    ``lemmas`` has one lower-case lemma a token; ``head`` is the lemma of the syntactic head;
    ``numbers``, ``dates``, ``entities`` and ``phrases`` lie inside ``[start, end)``, in text order. With
    coreference, ``entities`` also has those that the cell's pronouns stand for, at their own places outside it.
    """

    text: str
    start: int
    end: int
    lemmas: tuple[str, ...] = ()
    head: str = ""
    numbers: tuple[Number, ...] = ()
    dates: tuple[Date, ...] = ()
    entities: tuple[Span, ...] = ()
    phrases: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One predicate with its arguments. ``sentence`` counts sentences of the paragraph from 0.

    A relation may hold several arguments ("in Paris in 1900" is twice ``obl:in``): none is dropped.
    ``confidence``, between 0 and 1, is how sure a scheme that can tell is of the row.
    """

    predicate: Argument
    sentence: int
    arguments: Mapping[str, tuple[Argument, ...]]
    confidence: float = 1.0

    def cell(self, relation: str) -> tuple[Argument, ...]:
        """The arguments under ``relation``, in text order; empty where the row has none."""
        if relation == PREDICATE:
            return (self.predicate,)
        return self.arguments.get(relation, ())

    def cells(self) -> Iterator[tuple[str, Argument]]:
        """Every (relation, argument) of the row, the predicate first."""
        yield PREDICATE, self.predicate
        for relation, arguments in self.arguments.items():
            for argument in arguments:
                yield relation, argument


@dataclass(frozen=True, slots=True)
class Lost:
    """What a table failed to keep: sentences without a row, numbers and dates that reached no cell."""

    sentences: tuple[int, ...] = ()
    numbers: tuple[Number, ...] = ()
    dates: tuple[Date, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The predicate-argument structures of one paragraph under one scheme.

    ``extractor`` names what made it, with its version: together with ``hash`` the identity of the table.
    """

    paragraph_id: str
    hash: str
    scheme: str
    extractor: str
    version: str
    rows: tuple[Row, ...]
    lost: Lost = field(default_factory=Lost)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that occur, the predicate's first, then in order of first appearance."""
        seen = {PREDICATE: None} if self.rows else {}
        for row in self.rows:
            seen.update(dict.fromkeys(row.arguments))
        return tuple(seen)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text to extract from. ``id`` is whatever its source calls it."""

    id: str
    text: str

    @property
    def hash(self) -> str:
        return text_hash(self.text)
