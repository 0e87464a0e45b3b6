"""What the readers learn from, in flat columns: words, numbers and derivations of many passages.

A passage is tokenised and its numbers are found once, however many questions it has. Words are numbered over
the whole set, so that a vocabulary is applied with one look-up a distinct word. The columns are kept as one
Arrow file, found again by the hash of what they were made from.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from drop_parsing.data.derivations import Derivations, DerivationSearch
from drop_parsing.data.reader_numbers import NumberRule, numbers_of
from drop_parsing.data.reader_tokens import Tokens, tokenise
from drop_parsing.data.types import Passage
from extractors.records import escape, unescape
from extractors.store import StoreError, atomic_file

logger = logging.getLogger(__name__)

#: Changes whenever the same input gives other columns.
VERSION = "1"

Integers = npt.NDArray[np.int32]
Value = TypeVar("Value", np.int32, np.float64, np.float16)


@dataclass(frozen=True, slots=True)
class Ragged(Generic[Value]):
    """Rows of different length over one flat array: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``."""

    offsets: npt.NDArray[np.int32]
    values: npt.NDArray[Value]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> npt.NDArray[Value]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int32]:
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True)
class ReaderColumns:
    """The columns; passages and questions in the order of the passages they were made from.

    Token columns hold places in ``words``, ``*_starts`` and ``*_ends`` character offsets. ``number_tokens``
    and ``number_values`` are as in ``Numbers``. Of the derivations, spans are (first token, last token),
    signs rows of ``most_numbers`` entries padded with 0, taggings (number of the tagging, first, last).
    """

    words: tuple[str, ...]
    passage_words: Ragged[np.int32]
    passage_starts: Ragged[np.int32]
    passage_ends: Ragged[np.int32]
    number_tokens: Ragged[np.int32]
    number_values: Ragged[np.float64]
    question_passages: Integers
    question_words: Ragged[np.int32]
    question_starts: Ragged[np.int32]
    question_ends: Ragged[np.int32]
    passage_spans: Ragged[np.int32]
    question_spans: Ragged[np.int32]
    counts: Ragged[np.int32]
    signs: Ragged[np.int32]
    taggings: Ragged[np.int32]

    @property
    def questions(self) -> int:
        return len(self.question_passages)


def build_columns(passages: Iterable[Passage], rule: NumberRule, most_numbers: int) -> ReaderColumns:
    """The columns of ``passages``. ``most_numbers`` (1 to 3) get a sign in one derivation."""
    builder = _Builder(most_numbers)
    for passage in passages:
        tokens = tokenise(passage.text)
        numbers = numbers_of(passage.text, tokens, rule)
        place = builder.add_tokens("passage", tokens)
        builder.add("number_tokens", numbers.tokens)
        builder.add("number_values", numbers.values)
        search = DerivationSearch(tokens, numbers, most_numbers)
        for question in passage.questions:
            question_tokens = tokenise(question.text)
            builder.add_tokens("question", question_tokens)
            builder.question_passages.append(place)
            builder.add_derivations(search.find(question_tokens, question.answer))
    return builder.columns()


class _Builder:
    def __init__(self, most_numbers: int) -> None:
        self.most_numbers = most_numbers
        self.words: dict[str, int] = {}
        self.question_passages: list[int] = []
        self.rows: dict[str, list[Sequence[float]]] = {field.name: [] for field in fields(ReaderColumns)}

    def add(self, name: str, row: Sequence[float]) -> None:
        self.rows[name].append(row)

    def add_tokens(self, of: str, tokens: Tokens) -> int:
        words = self.words
        self.add(f"{of}_words", [words.setdefault(word, len(words)) for word in tokens.words])
        self.add(f"{of}_starts", tokens.starts)
        self.add(f"{of}_ends", tokens.ends)
        return len(self.rows[f"{of}_words"]) - 1

    def add_derivations(self, found: Derivations) -> None:
        width = self.most_numbers
        self.add("passage_spans", [place for span in found.passage_spans for place in span])
        self.add("question_spans", [place for span in found.question_spans for place in span])
        self.add("counts", found.counts)
        self.add("signs", [s for signs in found.signs for s in (*signs, *(0,) * (width - len(signs)))])
        self.add(
            "taggings", [v for i, spans in enumerate(found.taggings) for span in spans for v in (i, *span)]
        )

    def columns(self) -> ReaderColumns:
        ragged = {
            name: _ragged(
                rows, np.float64 if name == "number_values" else np.int32, _width(name, self.most_numbers)
            )
            for name, rows in self.rows.items()
            if name not in ("words", "question_passages")
        }
        return ReaderColumns(
            words=tuple(self.words),
            question_passages=np.array(self.question_passages, dtype=np.int32),
            **ragged,
        )


def _width(name: str, most_numbers: int) -> int:
    """How many numbers make one entry of a column."""
    return {"passage_spans": 2, "question_spans": 2, "signs": most_numbers, "taggings": 3}.get(name, 1)


def _ragged(rows: Sequence[Sequence[float]], kind: type, width: int) -> Ragged[Any]:
    lengths = [len(row) // width for row in rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values: npt.NDArray[Any] = np.array([value for row in rows for value in row], dtype=kind)
    return Ragged(offsets, values.reshape(-1, width) if width > 1 else values)


def cached_columns(
    passages: Sequence[Passage], root: Path, rule: NumberRule, most_numbers: int
) -> ReaderColumns:
    """The columns from ``root/reader``, made and kept there if they are not there yet.

    A file that is damaged is logged, renamed to ``*.damaged`` and made again. Raises StoreError where the
    folder cannot be read or written.
    """
    folder = root / "reader"
    key = _key(passages, rule, most_numbers)
    for path in sorted(folder.glob(f"{key}-*.arrow")):
        found = _read(path, most_numbers)
        if found is not None:
            return found
    columns = build_columns(passages, rule, most_numbers)
    data = _to_arrow(columns)
    with atomic_file(folder / f"{key}-{_digest(data)}.arrow") as file:
        file.write(data)
    return columns


def _key(passages: Sequence[Passage], rule: NumberRule, most_numbers: int) -> str:
    hash = hashlib.blake2b(f"{VERSION} {rule} {most_numbers}".encode(), digest_size=16)
    for passage in passages:
        questions = [(q.text, q.answer.to_json() if q.answer else None) for q in passage.questions]
        hash.update(json.dumps([passage.text, questions]).encode())
    return hash.hexdigest()


def _digest(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _to_arrow(columns: ReaderColumns) -> memoryview:
    """One record batch with one row: each column a list."""
    arrays: dict[str, pa.Array] = {"words": pa.array([escape(word) for word in columns.words], pa.string())}
    for field in fields(columns):
        column = getattr(columns, field.name)
        if isinstance(column, Ragged):
            arrays[f"{field.name}.offsets"] = pa.array(column.offsets)
            arrays[field.name] = pa.array(column.values.reshape(-1))
        elif field.name == "question_passages":
            arrays[field.name] = pa.array(column)
    row = {name: pa.LargeListArray.from_arrays(pa.array([0, len(a)]), a) for name, a in arrays.items()}
    batch = pa.record_batch(row)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue())


def _read(path: Path, most_numbers: int) -> ReaderColumns | None:
    """The columns at ``path``; ``None`` where the file has gone or is set aside as damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(
            f"Cannot read {path} ({error.strerror or error}): check its permissions, or choose another folder."
        ) from error
    if _digest(data) not in path.name:
        logger.warning(
            "%s is damaged (its bytes do not agree with its name): set aside, to be made again", path
        )
        path.rename(path.with_name(path.name + ".damaged"))
        return None
    batch = pa.ipc.open_file(data).get_batch(0)
    flat = {name: batch.column(name).values for name in batch.schema.names}

    def ragged(name: str) -> Ragged[Any]:
        values = flat[name].to_numpy()
        width = _width(name, most_numbers)
        return Ragged(flat[f"{name}.offsets"].to_numpy(), values.reshape(-1, width) if width > 1 else values)

    return ReaderColumns(
        words=tuple(unescape(word) for word in flat["words"].to_pylist()),
        question_passages=flat["question_passages"].to_numpy(),
        **{
            field.name: ragged(field.name)
            for field in fields(ReaderColumns)
            if field.name not in ("words", "question_passages")
        },
    )
