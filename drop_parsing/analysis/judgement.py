"""What the judged sheet says: how many questions have a form that means them, and how far the score agrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drop_parsing.analysis.intervals import Proportion, proportion
from drop_parsing.analysis.judged import QuestionClasses
from drop_parsing.analysis.sheet import JudgedRow, judged_classes

#: The paper's own study: questions with a form that meant the question, of those sampled.
PAPER_STUDY = Proportion(8, 60)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The figures of a judged sheet.

    ``with_right`` has, for each scheme, the questions of which some judged form means the question, of those where
    this is decided; ``together`` counts a question that has one under any scheme. Only the classes on the sheet were
    judged, so both are lower bounds. Of the judged classes, ``precision`` is the right ones among the kept, ``recall``
    the kept among the right, ``dropped`` the dropped among the wrong. ``undecided`` are rows without a right form that
    are not judged to the end, ``unmatched`` judged forms that are no class's example in this analysis.
    """

    with_right: Mapping[str, Proportion]
    together: Proportion
    precision: Proportion
    recall: Proportion
    dropped: Proportion
    undecided: int
    unmatched: int


def judge(rows: Sequence[JudgedRow], questions: Sequence[QuestionClasses]) -> Judgement:
    """Add up a judged sheet against the analysis of the same questions."""
    schemes = dict.fromkeys(row.scheme for row in rows)
    with_right = {
        scheme: proportion(
            row.has_right for row in rows if row.scheme == scheme and row.has_right is not None
        )
        for scheme in schemes
    }
    by_question: dict[str, list[bool | None]] = {}
    for row in rows:
        by_question.setdefault(row.query_id, []).append(row.has_right)
    together = proportion(any(said) for said in by_question.values() if any(said) or None not in said)
    found = judged_classes(rows, questions)
    judged = sum(said is not None for row in rows for said in row.judgements.values())
    return Judgement(
        with_right,
        together,
        precision=proportion(right for _, each, right in found if each.kept),
        recall=proportion(each.kept for _, each, right in found if right),
        dropped=proportion(not each.kept for _, each, right in found if not right),
        undecided=sum(row.has_right is None for row in rows),
        unmatched=judged - len(found),
    )
