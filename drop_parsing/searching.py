"""The offline search: every question's consistent forms, found once and kept in the cache."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from spacy.language import Language as Pipeline

from drop_parsing.data.types import Kind, Passage, Question
from drop_parsing.extraction import Failed
from drop_parsing.goal import AnswerGoal
from drop_parsing.literals import literals_of
from extractors.annotate import load_pipeline
from extractors.jobs import Failure, batched_by_cost, run_jobs
from extractors.store import PartStore, TableStore, escape, unescape
from extractors.table import Table, text_hash
from grammar import LANGUAGE_VERSION
from grammar.executor import execute, texts_of
from grammar.forest import Found
from grammar.forms import Form
from grammar.language import Language
from grammar.search import collector_paused, search
from grammar.view import View

#: Questions whose forms make one part of the cache: what a crash can lose.
PART_QUESTIONS = 256
#: Questions that one worker takes at a time, as far as whole passages allow.
BATCH_QUESTIONS = 16

FORMS_SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("passage", pa.string(), nullable=False),
        pa.field("question", pa.string(), nullable=False),
        pa.field("size", pa.int32(), nullable=False),
        # Counts outgrow 64 bits.
        pa.field("count", pa.string(), nullable=False),
        pa.field(
            "forms",
            pa.list_(pa.struct([("logical_form", pa.string()), ("denotation", pa.list_(pa.string()))])),
            nullable=False,
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search depends on beside the table and the question.

    ``max_size`` is the size of forms (see ``grammar.search``), ``keep`` how many of a question's forms are
    kept, ``partial`` whether an F1 above 0 is enough to be consistent.
    """

    max_size: int = 2
    keep: int = 20
    partial: bool = False

    def __str__(self) -> str:
        return f"size{self.max_size}-keep{self.keep}-{'partial' if self.partial else 'exact'}"


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A consistent form with the texts of its denotation."""

    logical_form: str
    denotation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consistent:
    """The consistent forms of one question up to ``size``: how many there are, exactly, and the first few."""

    key: str
    passage: str
    question: str
    size: int
    count: int
    forms: tuple[KeptForm, ...]


@dataclass(slots=True)
class KindCoverage:
    questions: int = 0
    covered: int = 0

    @property
    def coverage(self) -> float:
        """The share of questions with a consistent form, in percent."""
        return 100 * self.covered / self.questions if self.questions else 0.0


@dataclass(slots=True)
class SearchReport:
    """What a search did. ``skipped`` counts questions without an answer; ``found`` is by question id."""

    by_kind: dict[Kind, KindCoverage] = field(default_factory=dict)
    forms: int = 0
    cached: int = 0
    skipped: int = 0
    failed: list[Failed] = field(default_factory=list)
    seconds: float = 0.0
    found: dict[str, Consistent] = field(default_factory=dict)

    def complete(self, size: int) -> int:
        """How many questions were searched up to that size."""
        return sum(consistent.size >= size for consistent in self.found.values())

    @property
    def total(self) -> KindCoverage:
        kinds = self.by_kind.values()
        return KindCoverage(sum(k.questions for k in kinds), sum(k.covered for k in kinds))


def language_of(question: str, view: View) -> Language:
    """The language of a question over a table."""
    return Language(view, literals_of(_pipeline()(question), view))


def search_question(
    question: str, goal: AnswerGoal, table: Table, settings: SearchSettings
) -> tuple[Found, Language]:
    """One question's search, and the language that it was made in."""
    language = language_of(question, View(table))
    return search(language, goal, settings.max_size), language


def preferred_forms(found: Found, keep: int) -> list[Form]:
    """The forms to show and keep: of the first hundred to a form kept, the most plausible ones."""
    with collector_paused():
        pool = list(dict.fromkeys(found.forms(100 * keep)))
    return sorted(pool, key=lambda form: (-_plausibility(form), len(str(form)), str(form)))[:keep]


def _plausibility(form: Form) -> int:
    """A rough preference, without learning: for short forms that look for the question's words and numbers."""
    subforms = list(form.subforms())
    sought = {sub.arguments[-1].name for sub in subforms if sub.name not in _EVASIVE and sub.arguments}
    named = sum(name.startswith("string:") or name.lstrip("-")[:1].isdigit() for name in sought)
    applications = sum(bool(sub.arguments) for sub in subforms)
    return 3 * named - 2 * applications - sum(sub.name in _EVASIVE for sub in subforms)


#: What a question rarely means: rows without a word, and whole clauses where an argument would do.
_EVASIVE = {"filter_not_in", "filter_number_not_equals", "filter_date_not_equals", "union", "relation:clause"}


def open_forms(cache_folder: Path, scheme: str, settings: SearchSettings) -> PartStore:
    """The forms cache of a scheme under these settings."""
    return PartStore(cache_folder / "forms" / f"{scheme}-{LANGUAGE_VERSION}-{settings}", FORMS_SCHEMA, "key")


def search_passages(
    passages: Iterable[Passage],
    tables: TableStore,
    forms: PartStore,
    settings: SearchSettings,
    workers: int = 0,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> SearchReport:
    """Search every question that has an answer, but for those whose forms the cache has.

    The passages' tables must be in ``tables``; where one is missing, its questions are listed as failed. What
    is found is kept part by part, so that a run that is stopped goes on where it was.
    """
    started = time.monotonic()
    report = SearchReport()
    pending: list[Consistent] = []
    todo = _todo(passages, tables, forms, report, progress)
    batches = batched_by_cost(todo, lambda item: len(item.passage.questions), BATCH_QUESTIONS)
    try:
        for result in run_jobs(partial(_search_batch, settings), batches, workers, cluster):
            questions = result.item.passage.questions
            progress(len(questions))
            if isinstance(result.outcome, Failure):
                report.failed += [Failed(f"question {q.id}", result.outcome.reason) for q in questions]
                continue
            for question, consistent in zip(questions, result.outcome, strict=True):
                _count(report, question, consistent)
            pending += result.outcome
            if len(pending) >= PART_QUESTIONS:
                forms.add(map(_to_row, pending))
                pending = []
    finally:
        if pending:
            forms.add(map(_to_row, pending))
    report.seconds = time.monotonic() - started
    return report


@dataclass(frozen=True, slots=True)
class _Item:
    """A passage with the questions to search, and its table; ``keys`` are the questions' in the cache."""

    passage: Passage
    table: Table
    keys: tuple[str, ...]


def _todo(
    passages: Iterable[Passage],
    tables: TableStore,
    forms: PartStore,
    report: SearchReport,
    progress: Callable[[int], None],
) -> Iterator[_Item]:
    """What the cache does not have, passage by passage; what it has is counted at once."""
    known = forms.keys()
    for passage in passages:
        asked = [question for question in passage.questions if question.references]
        report.skipped += len(passage.questions) - len(asked)
        keys = {question.id: _key(tables.folder.name, passage, question) for question in asked}
        cached = forms.get_many(known.intersection(keys.values()))
        for question in asked:
            if keys[question.id] in cached:
                report.cached += 1
                _count(report, question, _from_row(cached[keys[question.id]], passage, question))
        progress(len(passage.questions) - len(asked) + len(cached))
        todo = tuple(question for question in asked if keys[question.id] not in cached)
        if not todo:
            continue
        table = tables.get(text_hash(passage.text), passage.id)
        if table is None:
            reason = f"passage {passage.id} has no table: extract it first"
            report.failed += [Failed(f"question {question.id}", reason) for question in todo]
            continue
        yield _Item(Passage(passage.id, passage.text, todo), table, tuple(keys[q.id] for q in todo))


def _key(extractor: str, passage: Passage, question: Question) -> str:
    """The identity of a search in the cache of its settings: extractor, paragraph, question and answers."""
    references = [answer.to_json() for answer in question.references]
    made_of = json.dumps([extractor, text_hash(passage.text), question.text, references])
    return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()


def _search_batch(settings: SearchSettings, items: Sequence[_Item]) -> list[list[Consistent]]:
    return [_search_item(settings, item) for item in items]


def _search_item(settings: SearchSettings, item: _Item) -> list[Consistent]:
    """The consistent forms of one passage's questions."""
    view = View(item.table)
    results = []
    for question, key in zip(item.passage.questions, item.keys, strict=True):
        goal = AnswerGoal(question.references, settings.partial)
        language = language_of(question.text, view)
        found = search(language, goal, settings.max_size)
        kept = tuple(
            KeptForm(str(form), texts_of(execute(form, language)))
            for form in preferred_forms(found, settings.keep)
        )
        results.append(Consistent(key, item.passage.id, question.id, found.size, found.count, kept))
    return results


def _count(report: SearchReport, question: Question, consistent: Consistent) -> None:
    kind = question.references[0].kind
    assert kind is not None  # references are never blank
    coverage = report.by_kind.setdefault(kind, KindCoverage())
    coverage.questions += 1
    coverage.covered += consistent.count > 0
    report.forms += consistent.count
    report.found[question.id] = consistent


def _to_row(consistent: Consistent) -> dict[str, object]:
    return {
        "key": consistent.key,
        "passage": escape(consistent.passage),
        "question": escape(consistent.question),
        "size": consistent.size,
        "count": str(consistent.count),
        "forms": [
            {
                "logical_form": escape(form.logical_form),
                "denotation": [escape(text) for text in form.denotation],
            }
            for form in consistent.forms
        ],
    }


def _from_row(row: dict[str, Any], passage: Passage, question: Question) -> Consistent:
    """A cached search, under the ids that it is asked for by now."""
    forms = tuple(
        KeptForm(unescape(form["logical_form"]), tuple(unescape(text) for text in form["denotation"]))
        for form in row["forms"]
    )
    return Consistent(row["key"], passage.id, question.id, row["size"], int(row["count"]), forms)


@cache
def _pipeline() -> Pipeline:
    """What parses questions, loaded once a process."""
    return load_pipeline()
