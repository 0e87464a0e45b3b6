"""The offline search: every question's consistent forms, found once and kept in the cache."""

import gc
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import pyarrow as pa
from spacy.language import Language as Pipeline

from drop_parsing.data.types import Kind, Passage, Question
from drop_parsing.extraction import Failed
from drop_parsing.goal import AnswerGoal
from drop_parsing.literals import literals_of
from drop_parsing.ordering import agenda
from extractors.annotate import load_pipeline
from extractors.jobs import Failure, batched_by_cost, run_jobs
from extractors.records import escape, unescape
from extractors.remote import Place
from extractors.store import PartStore, TableStore
from extractors.table import Table, text_hash
from grammar import LANGUAGE_VERSION
from grammar.executor import execute, texts_of
from grammar.forest import Found
from grammar.forms import Form
from grammar.language import Language
from grammar.packing import to_bytes
from grammar.ranking import best
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
        # All forms, packed; null where the settings do not ask for them.
        pa.field("forest", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search depends on beside the table and the question.

    ``max_size`` is the size of forms (see ``grammar.search``), ``keep`` how many of a question's forms are
    kept written out, ``partial`` whether an F1 above 0 is enough to be consistent. With ``forests`` all forms are
    kept, packed (see ``grammar.packing``): some 70 KB a question of DROP.
    """

    max_size: int = 3
    keep: int = 20
    partial: bool = False
    forests: bool = False

    def __str__(self) -> str:
        consistent = "partial" if self.partial else "exact"
        return f"size{self.max_size}-keep{self.keep}-{consistent}" + ("-forests" if self.forests else "")


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A consistent form with the texts of its denotation."""

    logical_form: str
    denotation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consistent:
    """The consistent forms of one question up to ``size``: how many there are, exactly, the first few, and, where
    they are asked for, all of them packed."""

    key: str
    passage: str
    question: str
    size: int
    count: int
    forms: tuple[KeptForm, ...]
    forest: bytes | None = None


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


def preferred_forms(found: Found, question: str, keep: int) -> list[Form]:
    """The forms to show and keep: those that suit the question best."""
    with collector_paused():
        return [form for _, form in best(found.root, agenda(question), keep)]


def open_forms(cache_folder: Place, scheme: str, settings: SearchSettings) -> PartStore:
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


def cached_forms(passages: Iterable[Passage], tables: TableStore, forms: PartStore) -> dict[str, Consistent]:
    """What the cache has, by question id. Nothing is searched; a question that was not searched is left out."""
    asked = {
        _key(tables.folder.name, passage, question): (passage, question)
        for passage in passages
        for question in passage.questions
        if question.references
    }
    rows = forms.get_many(asked.keys())
    return {asked[key][1].id: _from_row(row, *asked[key]) for key, row in rows.items()}


def _key(extractor: str, passage: Passage, question: Question) -> str:
    """The identity of a search in the cache of its settings: extractor, paragraph, question and answers."""
    references = [answer.to_json() for answer in question.references]
    made_of = json.dumps([extractor, text_hash(passage.text), question.text, references])
    return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()


def _search_batch(settings: SearchSettings, items: Sequence[_Item]) -> list[list[Consistent]]:
    results = []
    for item in items:
        results.append(_search_item(settings, item))
        gc.collect()  # What a search found is freed by no other means.
    return results


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
            for form in preferred_forms(found, question.text, settings.keep)
        )
        forest = to_bytes(found) if settings.forests else None
        results.append(Consistent(key, item.passage.id, question.id, found.size, found.count, kept, forest))
    return results


def _count(report: SearchReport, question: Question, consistent: Consistent) -> None:
    kind = question.references[0].kind
    assert kind is not None  # references are never blank
    coverage = report.by_kind.setdefault(kind, KindCoverage())
    coverage.questions += 1
    coverage.covered += consistent.count > 0
    report.forms += consistent.count
    report.found[question.id] = replace(consistent, forest=None)  # too much to hold for every question


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
        "forest": consistent.forest,
    }


def _from_row(row: dict[str, Any], passage: Passage, question: Question) -> Consistent:
    """A cached search, under the ids that it is asked for by now."""
    forms = tuple(
        KeptForm(unescape(form["logical_form"]), tuple(unescape(text) for text in form["denotation"]))
        for form in row["forms"]
    )
    return Consistent(
        row["key"], passage.id, question.id, row["size"], int(row["count"]), forms, row["forest"]
    )


@cache
def _pipeline() -> Pipeline:
    """What parses questions, loaded once a process."""
    return load_pipeline()
