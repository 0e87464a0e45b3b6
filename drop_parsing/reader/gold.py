"""The derivations that a reader can learn from: those of its heads, within the tokens that it reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drop_parsing.data.reader_columns import ReaderColumns
from drop_parsing.reader.heads import HeadName

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Within:
    """Derivations of one question, as in ``ReaderColumns``, ``taggings`` as one array (spans, 2) each."""

    passage_spans: Integers
    question_spans: Integers
    counts: Integers
    signs: Integers
    taggings: list[Integers]

    def __bool__(self) -> bool:
        rows = (self.passage_spans, self.question_spans, self.counts, self.signs, self.taggings)
        return any(len(row) > 0 for row in rows)


def kept_numbers(columns: ReaderColumns, passage: int, length: int) -> npt.NDArray[np.bool_]:
    """Which numbers of a passage stand in its first ``length`` tokens, or nowhere."""
    kept: npt.NDArray[np.bool_] = columns.number_tokens[passage] < length
    return kept


def within(
    columns: ReaderColumns,
    question: int,
    passage_length: int,
    question_length: int,
    heads: Sequence[HeadName],
) -> Within:
    """The derivations that are left. Where a tagging gives all spans of an answer, one span alone is no
    derivation any more."""
    taggings = _taggings(columns.taggings[question], passage_length) if "multi-span" in heads else []
    passage_spans = columns.passage_spans[question]
    question_spans = columns.question_spans[question]
    return Within(
        passage_spans=_if(
            "passage-span" in heads and not taggings, passage_spans[passage_spans[:, 1] < passage_length]
        ),
        question_spans=_if(
            "question-span" in heads and not taggings, question_spans[question_spans[:, 1] < question_length]
        ),
        counts=_if("count" in heads, columns.counts[question]),
        signs=_if("add-subtract" in heads, _signs(columns, question, passage_length)),
        taggings=taggings,
    )


def _if(condition: bool, rows: Integers) -> Integers:
    chosen: Integers = rows if condition else rows[:0]
    return chosen


def _taggings(rows: Integers, passage_length: int) -> list[Integers]:
    """The taggings whose spans are all left; ``rows`` are (number of the tagging, first, last)."""
    taggings = np.split(rows[:, 1:], np.flatnonzero(np.diff(rows[:, 0])) + 1) if len(rows) else []
    return [spans for spans in taggings if spans[:, 1].max() < passage_length]


def _signs(columns: ReaderColumns, question: int, passage_length: int) -> Integers:
    """The sign assignments of the numbers that are left, which are counted anew."""
    signs: Integers = columns.signs[question]
    kept = kept_numbers(columns, int(columns.question_passages[question]), passage_length)
    if kept.all():
        return signs
    places = np.concatenate([[0], np.where(kept, np.cumsum(kept), -1)])  # from 1; -1: gone
    renamed = places[np.abs(signs)]
    left = (renamed >= 0).all(axis=1)
    renumbered: Integers = (np.sign(signs) * renamed)[left].astype(np.int32)
    return renumbered
