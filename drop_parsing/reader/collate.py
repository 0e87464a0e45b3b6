"""Questions of a data set to the tensors of a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from drop_parsing.data.reader_columns import Ragged, ReaderColumns
from drop_parsing.reader.batch import Batch, Gold, Pieces, Words
from drop_parsing.reader.config import DataConfig
from drop_parsing.reader.gold import kept_numbers, within
from drop_parsing.reader.heads import HeadName
from drop_parsing.reader.pieces import PieceVocabulary
from drop_parsing.reader.vocabulary import UNKNOWN, Vocabulary

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens of a passage and of a question are read."""

    passage: int
    question: int


def training_limits(data: DataConfig) -> Limits:
    return Limits(data.passage_limit, data.question_limit)


def prediction_limits(data: DataConfig) -> Limits:
    return Limits(data.predict_passage_limit, data.predict_question_limit)


@dataclass(frozen=True, slots=True)
class ContextualVectors:
    """Vectors in context (words, width) of all words of a data set: see ``contextual``."""

    passages: Ragged[np.float16]
    questions: Ragged[np.float16]


class Collator:
    """Makes batches of the questions of ``columns``; the features of each distinct word are found once.

    ``passage_lengths`` and ``question_lengths`` say how many tokens of each are read. They depend on nothing
    else in the batch. A text without words is read as one unknown word. ``contextual`` are vectors of the words
    of ``columns`` in context, for a reader that takes them: 0 of a text that has none.
    """

    def __init__(
        self,
        columns: ReaderColumns,
        vocabulary: Vocabulary | PieceVocabulary,
        data: DataConfig,
        limits: Limits,
        heads: Sequence[HeadName],
        contextual: ContextualVectors | None = None,
    ) -> None:
        self.contextual = contextual
        self.columns = columns
        self.heads = heads
        self.blank = data.blank
        self.passage_lengths = columns.passage_words.lengths.clip(max=limits.passage)
        self.question_lengths = columns.question_words.lengths.clip(max=limits.question)
        self._blank_word = len(columns.words)
        self._pieces: _PieceTable | None = None
        if isinstance(vocabulary, PieceVocabulary):
            self._pieces = table = _PieceTable(vocabulary, columns.words)
            for passage, length in enumerate(self.passage_lengths):
                row = columns.passage_words[passage][:length]
                self.passage_lengths[passage] = table.fitting(row, table.passage_room)
            for question, length in enumerate(self.question_lengths):
                row = columns.question_words[question][:length]
                self.question_lengths[question] = table.fitting(row, table.question_room)
        else:
            ids, characters = vocabulary.features(columns.words)
            self._ids = np.append(ids, UNKNOWN)
            self._characters = np.pad(characters, ((0, 1), (0, 0)))

    def __call__(self, questions: Sequence[int] | Integers) -> Batch:
        """The batch of these questions, with their derivations."""
        columns = self.columns
        chosen = np.asarray(questions, dtype=np.int64)
        passages, passage_of = np.unique(columns.question_passages[chosen], return_inverse=True)
        lengths = self.passage_lengths[passages]
        passage_rows = [self._passage_row(passage) for passage in passages]
        question_rows = [self._question_row(question) for question in chosen]
        kept = [kept_numbers(columns, p, n) for p, n in zip(passages, lengths, strict=True)]
        numbers = [columns.number_tokens[p][keep] for p, keep in zip(passages, kept, strict=True)]
        values = [columns.number_values[p][keep] for p, keep in zip(passages, kept, strict=True)]
        words = pieces = None
        if self._pieces is None:
            words = self._words(passage_rows, question_rows)
            if self.contextual is not None:
                words = replace(
                    words,
                    passages_in_context=_in_context(self.contextual.passages, passages, passage_rows),
                    questions_in_context=_in_context(self.contextual.questions, chosen, question_rows),
                )
        else:
            pieces = self._pieces.tensors([passage_rows[row] for row in passage_of], question_rows)
        return Batch(
            passage_of=torch.from_numpy(passage_of.astype(np.int64)),
            passage_mask=_mask(passage_rows),
            question_mask=_mask(question_rows),
            number_tokens=_padded(numbers, 0),
            number_values=_padded(values, 0, np.float64),
            number_mask=_mask(numbers),
            words=words,
            pieces=pieces,
            gold=self._gold(chosen),
        )

    def _passage_row(self, passage: int) -> npt.NDArray[np.int32]:
        row = self.columns.passage_words[passage][: self.passage_lengths[passage]]
        return self._blanked(row, self.blank == "passage")

    def _question_row(self, question: int) -> npt.NDArray[np.int32]:
        row = self.columns.question_words[question][: self.question_lengths[question]]
        return self._blanked(row, self.blank == "question")

    def _blanked(self, row: npt.NDArray[np.int32], blank: bool) -> npt.NDArray[np.int32]:
        return row if len(row) and not blank else np.full(max(1, len(row)), self._blank_word, dtype=np.int32)

    def _words(self, passages: list[npt.NDArray[np.int32]], questions: list[npt.NDArray[np.int32]]) -> Words:
        distinct, places = np.unique(np.concatenate([*passages, *questions]), return_inverse=True)
        rows = np.split(places, np.cumsum([len(row) for row in (*passages, *questions)])[:-1])
        characters = self._characters[distinct]
        longest = max(1, int((characters > 0).sum(1).max()))
        return Words(
            ids=torch.from_numpy(self._ids[distinct]),
            characters=torch.from_numpy(characters[:, :longest]),
            passages=_padded(rows[: len(passages)], 0),
            questions=_padded(rows[len(passages) :], 0),
        )

    def _gold(self, questions: Integers) -> Gold:
        found = [
            within(
                self.columns,
                question,
                self.passage_lengths[self.columns.question_passages[question]],
                self.question_lengths[question],
                self.heads,
            )
            for question in questions
        ]
        return Gold(
            passage_spans=_padded([row.passage_spans for row in found], -1),
            question_spans=_padded([row.question_spans for row in found], -1),
            counts=_padded([row.counts for row in found], -1),
            signs=_padded([row.signs for row in found], 0),
            tags=_padded_twice([row.taggings for row in found]),
        )


class _PieceTable:
    """The pieces of every word of a data set."""

    def __init__(self, vocabulary: PieceVocabulary, words: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self.pieces = [*vocabulary.features(words), [vocabulary.unknown]]
        self.counts = np.array([len(pieces) for pieces in self.pieces], dtype=np.int64)
        room = vocabulary.longest - len(vocabulary.start) - len(vocabulary.middle) - len(vocabulary.end)
        #: A fifth for the question, whatever its length: what is read of a passage is the same for all.
        self.question_room = room // 5
        self.passage_room = room - self.question_room

    def fitting(self, row: npt.NDArray[np.int32], room: int) -> int:
        """How many of the words of ``row`` fit into ``room`` pieces."""
        return int(np.searchsorted(np.cumsum(self.counts[row]), room, side="right"))

    def tensors(
        self, passages: list[npt.NDArray[np.int32]], questions: list[npt.NDArray[np.int32]]
    ) -> Pieces:
        """Both lists have a row for each question of the batch."""
        ids, segments, at_passage, at_question = [], [], [], []
        vocabulary = self.vocabulary
        for passage, question in zip(passages, questions, strict=True):
            sequence = list(vocabulary.start)
            at_question.append(self._append(sequence, question))
            sequence += vocabulary.middle
            first = len(sequence)
            at_passage.append(self._append(sequence, passage))
            sequence += vocabulary.end
            ids.append(np.array(sequence))
            segments.append(np.arange(len(sequence)) >= first)
        return Pieces(
            ids=_padded(ids, 0),
            segments=_padded(segments, 0),
            mask=_mask(ids).long(),
            passages=_padded(at_passage, 0),
            questions=_padded(at_question, 0),
        )

    def _append(self, sequence: list[int], row: npt.NDArray[np.int32]) -> Integers:
        """Append the pieces of a row of words and return the place of each word's first piece."""
        places = len(sequence) + np.cumsum(self.counts[row]) - self.counts[row]
        for word in row:
            sequence += self.pieces[word]
        return places


def _in_context(
    vectors: Ragged[np.float16],
    texts: npt.NDArray[np.int32] | Integers,
    rows: Sequence[npt.NDArray[np.int32]],
) -> Tensor:
    """(texts, longest, width): the vectors of the first words of each text, as many as its row has."""
    filled = np.zeros((len(rows), max(map(len, rows)), vectors.values.shape[1]), dtype=np.float16)
    for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
        read = vectors[text][: len(row)]
        filled[place, : len(read)] = read
    return torch.from_numpy(filled)


def _mask(rows: Sequence[npt.NDArray[np.generic]]) -> Tensor:
    lengths = np.array([len(row) for row in rows])
    return torch.from_numpy(np.arange(lengths.max(initial=0)) < lengths[:, None])


def _padded(rows: Sequence[npt.NDArray[np.generic]], fill: int, kind: type = np.int64) -> Tensor:
    """(rows, longest, ...) of rows that differ in their first dimension."""
    longest = max(len(row) for row in rows)
    filled = np.full((len(rows), longest, *rows[0].shape[1:]), fill, dtype=kind)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return torch.from_numpy(filled)


def _padded_twice(rows: Sequence[Sequence[npt.NDArray[np.int32]]]) -> Tensor:
    """(rows, most taggings, most spans, 2) of spans (spans, 2), filled with -1."""
    taggings = max(len(row) for row in rows)
    spans = max((len(tagging) for row in rows for tagging in row), default=0)
    filled = np.full((len(rows), taggings, spans, 2), -1, dtype=np.int64)
    for place, row in enumerate(rows):
        for number, tagging in enumerate(row):
            filled[place, number, : len(tagging)] = tagging
    return torch.from_numpy(filled)
