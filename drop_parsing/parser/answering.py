"""From the forms of a beam to an answer: the best form that has a denotation, and why there is none.

Best is what the decoder finds most probable, or what a rescorer (``rescoring``) likes most.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from drop_parsing.parser.batch import Collator
from drop_parsing.parser.evidence import RowWords, evidence_of_beam
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.model import Parser
from drop_parsing.parser.rescoring import Rescorer
from drop_parsing.parser.rules import ANSWER, NEVER
from extractors.table import Span
from grammar.executor import cells_used, execute, texts_of
from grammar.forms import Form
from grammar.language import Language

#: Scores that differ by less are the same: a sum in another order, as in a batch of another size, moves them so far.
TIE = 1e-4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form of the beam with its log probability and the texts that it denotes, none where it is undefined.
    ``rank`` is what a beam is ordered by, the greatest first."""

    form: Form
    score: float
    denotation: tuple[str, ...]
    rank: float

    @property
    def probability(self) -> float:
        return math.exp(self.score)

    def to_json(self) -> dict[str, Any]:
        return {
            "logical_form": str(self.form),
            "probability": round(self.probability, 6),
            "denotation": list(self.denotation),
        }


@dataclass(frozen=True, slots=True)
class Parsed:
    """The answer to one question: ``answer`` are the texts that ``form`` denotes, ``cells`` what they rest on, ``beam``
    all the forms that were found, best first. Without a form the answer is empty, and ``reason`` says why."""

    id: str
    answer: tuple[str, ...]
    form: Form | None
    cells: tuple[Span, ...]
    beam: tuple[Candidate, ...]
    reason: str | None

    def summary(self) -> str:
        """One line for a person: the answer, its form, and the cells that it rests on."""
        if self.form is None:
            return f"no answer: {self.reason}"
        cells = ", ".join(f"{cell.label}[{cell.start}:{cell.end}]" for cell in self.cells)
        return f"{' | '.join(self.answer)} {self.form}{': at ' + cells if cells else ''}"

    def to_json(self) -> dict[str, Any]:
        """What ``predict --explain`` writes."""
        return {
            "question": self.id,
            "answer": list(self.answer),
            "logical_form": None if self.form is None else str(self.form),
            "cells": [
                {"relation": cell.label, "text": cell.text, "start": cell.start, "end": cell.end}
                for cell in self.cells
            ],
            "beam": [candidate.to_json() for candidate in self.beam],
            "reason": self.reason,
        }


def parse_questions(
    parser: Parser,
    collate: Collator,
    questions: Sequence[tuple[QuestionInput, Language]],
    width: int,
    batch_size: int = 64,
    max_length: int | None = None,
    dtype: torch.dtype = torch.float32,
    rescorer: Rescorer | None = None,
) -> Iterator[Parsed]:
    """The answer to each question, in their order; the parser is put into evaluation mode. In float32 the answers do
    not depend on the size of batches; in bfloat16 (``dtype``) they come sooner.
    """
    parser.eval()
    limit = parser.max_length if max_length is None else max_length
    device = next(parser.parameters()).device
    rows = None
    for start in range(0, len(questions), batch_size):
        batch = questions[start : start + batch_size]
        with torch.autocast(device.type, dtype) if dtype != torch.float32 else nullcontext():
            beams = parser.decode(collate([question for question, _ in batch]).to(device), width, limit)
        for (question, language), forms, scores in zip(
            batch, beams.productions.tolist(), beams.scores.tolist(), strict=True
        ):
            found = [
                (question.form(productions), score)
                for productions, score in zip(forms, scores, strict=True)
                if score > -math.inf
            ]
            if rescorer and (rows is None or rows.view is not language.view):
                rows = RowWords(language.view)  # the questions of a passage come together
            yield answer(question, language, found, limit, rescorer, rows)


def answer(
    question: QuestionInput,
    language: Language,
    forms: Sequence[tuple[Form, float]],
    limit: int,
    rescorer: Rescorer | None = None,
    rows: RowWords | None = None,
) -> Parsed:
    """The best of some forms with their log probabilities that denotes an answer. Of forms as good as each other the
    shorter comes first, then the first in the order of the alphabet. A rescorer reads ``rows``, those of the table."""
    denotations = [execute(form, language) for form, _ in forms]
    texts = [texts_of(denotation) for denotation in denotations]
    ranks = [score for _, score in forms]
    if rescorer and rows:
        judged = [i for i, text in enumerate(texts) if text]
        made = evidence_of_beam([(*forms[i], denotations[i]) for i in judged], question, language, rows)
        ranks = [-math.inf] * len(forms)
        for i, features in zip(judged, made, strict=True):
            ranks[i] = rescorer.score(features)
    beam = [
        Candidate(form, score, text, rank)
        for (form, score), text, rank in zip(forms, texts, ranks, strict=True)
    ]
    beam.sort(
        key=lambda c: (
            -round(c.rank / TIE) if c.rank > -math.inf else math.inf,
            len(str(c.form)),
            str(c.form),
        )
    )
    best = next((candidate for candidate in beam if candidate.denotation), None)
    if best is None:
        return Parsed(question.id, (), None, (), tuple(beam), _why_none(question, len(beam), limit))
    return Parsed(question.id, best.denotation, best.form, cells_used(best.form, language), tuple(beam), None)


def _why_none(question: QuestionInput, found: int, limit: int) -> str:
    if found:
        return f"none of the {found} forms that were found has a denotation"
    shortest = int(question.shortest[ANSWER])
    if shortest >= NEVER:
        return "the language of the table has no form that answers a question"
    return f"a form may have {limit} productions, but the shortest has {shortest}"
