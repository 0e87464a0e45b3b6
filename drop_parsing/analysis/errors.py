"""Why a parser's answers are wrong: a sample of them, each with a reason that is found without a person."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from drop_parsing.analysis.retention import numbers_held, numbers_written, occurrences
from drop_parsing.data.metric import score
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.parser.answering import Parsed
from extractors.table import Table, text_hash

Reason = Literal[
    "not in table", "no consistent form", "in the beam, not first", "value error", "not in the beam"
]
REASONS: tuple[Reason, ...] = get_args(Reason)
#: What each reason says of a wrong answer; the first that holds, in the order of ``reason_of``, is given.
MEANINGS: Mapping[Reason, str] = {
    "in the beam, not first": "a form of the beam denotes the answer, and another one came before it",
    "value error": "the form reads a cell that holds the answer, but takes another value or stretch of it",
    "not in table": "the answer stands in the paragraph or question, but in no cell of the table",
    "no consistent form": "no form of the search denotes the answer",
    "not in the beam": "a form denotes the answer, but the parser did not find it",
}

#: How many consistent forms a search finds for a question over a table.
CountForms = Callable[[Question, Table], int]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A question whose answer is not exactly right; ``f1`` is 0 to 1."""

    passage: Passage
    question: Question
    parsed: Parsed
    table: Table | None
    f1: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """``sample`` of the ``wrong`` answers to ``questions``."""

    sample: tuple[Wrong, ...]
    wrong: int
    questions: int

    def shares(self) -> dict[Reason, float]:
        """The share of each reason in the sample, in percent."""
        counts = Counter(wrong.reason for wrong in self.sample)
        return {reason: 100 * counts[reason] / max(len(self.sample), 1) for reason in REASONS}


def analyse_errors(
    passages: Sequence[Passage],
    parses: Mapping[str, Parsed],
    tables: Mapping[str, Table],
    count_forms: CountForms,
    number: int = 50,
    seed: int = 0,
) -> ErrorAnalysis:
    """A random ``number`` of the wrong answers. ``parses`` are by question id, ``tables`` by the hash of the text.

    Raises InputError where no question has an answer to compare with.
    """
    asked = [(p, q) for p in passages for q in p.questions if q.references]
    if not asked:
        raise InputError(
            "No question has an answer, so that none can be called wrong; give a file with answers."
        )
    scores = {q.id: score(list(parses[q.id].answer), q.references) for _, q in asked}
    wrong = [(p, q) for p, q in asked if scores[q.id][0] < 1]
    drawn = Random(seed).sample(range(len(wrong)), min(number, len(wrong)))
    sample = []
    for passage, question in (wrong[place] for place in sorted(drawn)):
        table, parsed = tables.get(text_hash(passage.text)), parses[question.id]
        reason = reason_of(question, parsed, table, passage.text, count_forms)
        sample.append(Wrong(passage, question, parsed, table, scores[question.id][1], reason))
    return ErrorAnalysis(tuple(sample), len(wrong), len(asked))


def reason_of(
    question: Question, parsed: Parsed, table: Table | None, text: str, count_forms: CountForms
) -> Reason:
    """Why an answer that is not exactly right is wrong."""
    if table is None:
        return "not in table"
    references = question.references
    if any(
        candidate.denotation and score(list(candidate.denotation), references)[0] == 1
        for candidate in parsed.beam
    ):
        return "in the beam, not first"
    if any(_stands_in(answer, cell.text) for answer in references for cell in parsed.cells):
        return "value error"
    if count_forms(question, table):
        return "not in the beam"
    stands = [answer for answer in references if _stands_in(answer, text)]
    if stands and not any(_is_held(answer, table) for answer in stands):
        return "not in table"
    return "no consistent form"


def _stands_in(answer: Answer, text: str) -> bool:
    """Whether a text has the number, or each of the spans, of an answer."""
    if answer.kind == "number":
        return answer.value in numbers_written(text)
    return all(occurrences(part, text) for part in answer.texts())


def _is_held(answer: Answer, table: Table) -> bool:
    if answer.kind == "number":
        return answer.value in numbers_held(table)
    cells = [cell.text for row in table.rows for _, cell in row.cells()]
    return all(any(occurrences(part, cell) for cell in cells) for part in answer.texts())
