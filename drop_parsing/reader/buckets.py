"""The order of questions: batches of about the same length, the same for the same seed and epoch."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from drop_parsing.reader.collate import Collator

Integers = npt.NDArray[np.int64]

#: Batches that are sorted by length together.
BUCKET = 32
#: Questions of one passage that stay together in training: a trade of speed for variety in a batch.
TOGETHER = 4


def training_batches(
    collator: Collator, questions: Integers, batch_size: int, seed: int, epoch: int
) -> list[Integers]:
    """Every question once, in batches of ``batch_size`` (the last may be smaller), shuffled.

    Groups of up to ``TOGETHER`` questions on one passage are shuffled; each run of ``BUCKET`` batches of
    them is sorted by length of passage and cut into batches, and these are shuffled again.
    """
    random = np.random.default_rng([seed, epoch])
    questions = random.permutation(questions)
    passages = collator.columns.question_passages[questions]
    order = np.argsort(passages, kind="stable")
    by_passage = np.split(questions[order], np.flatnonzero(np.diff(passages[order])) + 1)
    groups = [
        part for row in by_passage if len(row) for part in np.array_split(row, -(-len(row) // TOGETHER))
    ]
    shuffled = [groups[place] for place in random.permutation(len(groups))]
    batches: list[Integers] = []
    for bucket in _chunks(np.concatenate(shuffled) if shuffled else questions, BUCKET * batch_size):
        batches += _chunks(_by_length(collator, bucket), batch_size)
    return [batches[place] for place in random.permutation(len(batches))]


def prediction_batches(collator: Collator, batch_size: int) -> Iterator[Integers]:
    """Every question once, the shortest passages first, those on one passage together."""
    questions = np.arange(collator.columns.questions)
    yield from _chunks(_by_length(collator, questions), batch_size)


def _by_length(collator: Collator, questions: Integers) -> Integers:
    """By length of passage, then passage, then length of question."""
    passages = collator.columns.question_passages[questions]
    lengths = collator.passage_lengths[passages]
    return questions[np.lexsort((collator.question_lengths[questions], passages, lengths))]


def _chunks(questions: Integers, size: int) -> list[Integers]:
    return [questions[start : start + size] for start in range(0, len(questions), size)]
