"""On how many questions a reader can be trained, and why not on the rest."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drop_parsing.reader.collate import Collator
from drop_parsing.reader.gold import within
from drop_parsing.reader.heads import HEAD_NAMES

NO_ANSWER = "have no answer"
NO_DERIVATION = "have an answer that nothing in passage or question gives"
OTHER_HEAD = "have an answer that only other heads could give"
CUT_OFF = "have their answer beyond the length limits"


@dataclass(frozen=True, slots=True)
class Trainable:
    """The questions that can be learned from, and why the others cannot: reason -> how many."""

    questions: npt.NDArray[np.int64]
    total: int
    reasons: Counter[str]

    def __str__(self) -> str:
        why = "; ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        return f"{len(self.questions)} of {self.total} questions" + (f" (not the rest: {why})" if why else "")


def trainable(collator: Collator, answered: Sequence[bool]) -> Trainable:
    """Sort the questions of a data set. ``answered`` says which of them come with an answer."""
    columns, heads = collator.columns, collator.heads
    endless = np.iinfo(np.int32).max
    questions: list[int] = []
    reasons: Counter[str] = Counter()
    for question in range(columns.questions):
        passage_length = collator.passage_lengths[columns.question_passages[question]]
        if within(columns, question, passage_length, collator.question_lengths[question], heads):
            questions.append(question)
        elif not answered[question]:
            reasons[NO_ANSWER] += 1
        elif within(columns, question, endless, endless, heads):
            reasons[CUT_OFF] += 1
        elif within(columns, question, endless, endless, HEAD_NAMES):
            reasons[OTHER_HEAD] += 1
        else:
            reasons[NO_DERIVATION] += 1
    return Trainable(np.array(questions, dtype=np.int64), columns.questions, reasons)
