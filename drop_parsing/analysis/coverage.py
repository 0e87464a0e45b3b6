"""Coverage: for how many questions a table holds a consistent form, and what the forms look like."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drop_parsing.analysis.retention import Retention, retention
from drop_parsing.data.types import Passage, Question
from drop_parsing.searching import Consistent, SearchReport, language_of
from extractors.store import TableStore
from extractors.table import Span, Table, text_hash
from grammar.executor import cells_used
from grammar.view import View


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its forms and, for each form, the cells its answer rests on."""

    passage: Passage
    question: Question
    consistent: Consistent
    cells: tuple[tuple[Span, ...], ...]
    table: Table


@dataclass(frozen=True, slots=True)
class SchemeCoverage:
    """One scheme's search over a data set."""

    scheme: str
    report: SearchReport
    retention: Retention
    examples: tuple[Example, ...]
    uncovered: tuple[tuple[Passage, Question], ...]


def analyse(
    scheme: str, passages: Sequence[Passage], tables: TableStore, report: SearchReport, examples: int = 40
) -> SchemeCoverage:
    """Retention over all passages; examples spread evenly over them, as many questions without a form."""
    held = tables.get_many(text_hash(p.text) for p in passages)
    pairs = [(p, held[text_hash(p.text)]) for p in passages if text_hash(p.text) in held]
    covered = [(p, q) for p, _ in pairs for q in p.questions if _reached(report, q)]
    uncovered = [
        (p, q) for p, _ in pairs for q in p.questions if q.id in report.found and not _reached(report, q)
    ]
    return SchemeCoverage(
        scheme,
        report,
        retention((passage, [table]) for passage, table in pairs),
        tuple(_examples(_spread(covered, examples), held, report)),
        tuple(_spread(uncovered, examples)),
    )


def _reached(report: SearchReport, question: Question) -> bool:
    return question.id in report.found and report.found[question.id].count > 0


def _spread(items: list[tuple[Passage, Question]], number: int) -> list[tuple[Passage, Question]]:
    """At most ``number`` items, evenly spaced."""
    step = max(1, len(items) / number) if number else 1
    return [items[int(i * step)] for i in range(min(number, len(items)))]


def _examples(
    questions: list[tuple[Passage, Question]], tables: dict[str, Table], report: SearchReport
) -> Iterator[Example]:
    for passage, question in questions:
        table = tables[text_hash(passage.text)]
        language = language_of(question.text, View(table))
        consistent = report.found[question.id]
        cells = tuple(cells_used(language.check(form.logical_form), language) for form in consistent.forms)
        yield Example(passage, question, consistent, cells, table)
