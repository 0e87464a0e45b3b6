"""What the analysis of spuriousness finds: for each question the classes of its consistent forms, judged.

These are plain values: they are kept as JSON in the cache of the analysis, and the report is made of nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from drop_parsing.data.types import Kind

#: The judges, in the order in which they are shown, with what each asks.
JUDGES: Mapping[str, str] = {
    "vote": "How much of the question's forms gives the class's denotation on the fictitious tables?",
    "qdmr": "Do its operations and literals agree with the question's decomposition?",
    "grounding": "What share of the question's content words does it account for?",
    "contrast": "Does a form of the same kind also answer the contrast questions?",
    "calls": "Does the question call for what it does?",
}

#: A denotation as the texts of an answer; none where the form is undefined there.
Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A cell of a fictitious table that differs from the real one. ``row`` counts the real table's rows from 0; a
    row that was dropped, doubled or moved has no relation, and says so in ``new``."""

    row: int
    relation: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Copy:
    """One fictitious table: ``changed`` says in words what is different from the real one."""

    changed: str
    cells: tuple[ChangedCell, ...]


@dataclass(frozen=True, slots=True)
class FormClass:
    """The forms of one question that denote the same on the real table and on every copy.

    ``form`` is the best ranked of them. ``forms`` is how many there are: counted where ``low == high``, else an
    estimate with the bounds of a 95% interval. ``cells`` are the stretches of the paragraph (characters, start to end)
    that the example rests on; ``on_copies`` is empty texts where it is undefined. ``scores`` has each judge (see
    ``JUDGES``) between 0 and 1, or None where it has nothing to say.
    """

    form: str
    forms: int
    low: int
    high: int
    denotation: Texts
    on_copies: tuple[Texts, ...]
    cells: tuple[tuple[int, int], ...]
    scores: Mapping[str, float | None]
    combined: float
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class QuestionClasses:
    """One question under one scheme. Without a consistent form there are no classes.

    ``forms`` is the exact number of consistent forms; ``complete`` whether every form up to the size asked for was
    searched; ``exact`` whether the classes are all that there are, counted exactly, or those met in a sample.
    ``classes`` stand in order of their combined score, the best first: the best of the ``met`` ones that were told
    apart. ``dropped`` is the share of the forms that stand in dropped classes, of all or of a sample; None without
    forms.
    """

    query_id: str
    passage_id: str
    scheme: str
    question: str
    answer: Texts
    kind: Kind
    forms: int
    complete: bool
    exact: bool
    copies: tuple[Copy, ...] = ()
    classes: tuple[FormClass, ...] = ()
    #: The best ranked forms with their weights for a learner, which add up to 1: the class's combined score shared
    #: out among its forms. Empty without consistent forms.
    weights: Mapping[str, float] = field(default_factory=dict)
    met: int = 0
    dropped: float | None = None

    @property
    def covered(self) -> bool:
        return self.forms > 0

    @property
    def kept(self) -> tuple[FormClass, ...]:
        return tuple(one for one in self.classes if one.kept)

    def to_json(self) -> dict[str, Any]:
        """Numbers of forms are written as texts: they outgrow 64 bits."""
        data = asdict(self)
        data["forms"] = str(self.forms)
        for one in data["classes"]:
            for name in ("forms", "low", "high"):
                one[name] = str(one[name])
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "QuestionClasses":
        """The inverse of :meth:`to_json`. Raises KeyError, TypeError or ValueError on anything else."""
        copies = tuple(
            Copy(copy["changed"], tuple(ChangedCell(**cell) for cell in copy["cells"]))
            for copy in data["copies"]
        )
        classes = tuple(_class_from_json(one) for one in data["classes"])
        plain = {**data, "answer": tuple(data["answer"]), "forms": int(data["forms"])}
        return cls(**{**plain, "copies": copies, "classes": classes})


def _class_from_json(data: Mapping[str, Any]) -> FormClass:
    return FormClass(
        **{
            **data,
            "forms": int(data["forms"]),
            "low": int(data["low"]),
            "high": int(data["high"]),
            "denotation": tuple(data["denotation"]),
            "on_copies": tuple(map(tuple, data["on_copies"])),
            "cells": tuple((start, end) for start, end in data["cells"]),
        }
    )


@dataclass(frozen=True, slots=True)
class SchemeSummary:
    """One scheme's questions in numbers; all rates are shares between 0 and 1.

    ``spurious_rate`` is the mean, over covered questions, of the share of their forms that stand in classes which the
    combined score drops; ``by_judge`` the mean share of their shown classes that one judge alone would drop, over the
    questions that it judges (None where it judges none). ``without_right`` is the share of covered questions none of
    whose classes is kept.
    """

    scheme: str
    questions: int
    covered: int
    complete: int
    exact: int
    forms: int
    classes: int
    spurious_rate: float
    by_judge: Mapping[str, float | None]
    without_right: float


@dataclass(frozen=True, slots=True)
class Spuriousness:
    """A whole analysis: every question, the paragraphs by passage id, and the summary of each scheme. ``decomposed``
    are the ids of the questions that have a decomposition."""

    questions: Sequence[QuestionClasses]
    paragraphs: Mapping[str, str]
    summaries: Sequence[SchemeSummary]
    seed: int
    decomposed: frozenset[str] = frozenset()
