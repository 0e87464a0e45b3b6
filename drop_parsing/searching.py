"""The offline search: every question's consistent forms, found once and kept in the cache."""

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
from extractors.jobs import Failure, Result, batched_by_cost, failure_of, keep_groups
from extractors.records import escape, unescape
from extractors.remote import Place
from extractors.store import PartStore, TableStore
from extractors.table import Table, text_hash
from grammar import LANGUAGE_VERSION
from grammar.executor import execute, texts_of
from grammar.forest import Found
from grammar.forms import Form
from grammar.language import Language
from grammar.packing import VERSION, from_bytes, to_bytes
from grammar.ranking import best
from grammar.search import collector_paused, search
from grammar.view import View

#: Questions whose forms make one part of the cache, as far as whole passages allow: what a crash can lose.
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
    kept, packed (see ``grammar.packing``): some 20 KB a question of DROP.
    """

    max_size: int = 3
    keep: int = 20
    partial: bool = False
    forests: bool = True

    def __str__(self) -> str:
        consistent = "partial" if self.partial else "exact"
        forests = f"-forests{VERSION}" if self.forests else ""
        return f"size{self.max_size}-keep{self.keep}-{consistent}{forests}"


@dataclass(frozen=True, slots=True)
class KeptForm:
    """A consistent form with the texts of its denotation."""

    logical_form: str
    denotation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consistent:
    """The consistent forms of one question up to ``size``: how many there are, exactly, the best few, and, where
    they are asked for, all of them packed."""

    key: str
    passage: str
    question: str
    size: int
    count: int
    forms: tuple[KeptForm, ...]
    forest: bytes | None = None

    def found(self) -> Found | None:
        """All forms, where they were kept. Raises ``grammar.packing.ForestError``."""
        return None if self.forest is None else from_bytes(self.forest)


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

    def note(self, question: Question, consistent: Consistent) -> None:
        kind = question.references[0].kind
        assert kind is not None  # references are never blank
        coverage = self.by_kind.setdefault(kind, KindCoverage())
        coverage.questions += 1
        coverage.covered += consistent.count > 0
        self.forms += consistent.count
        self.found[question.id] = consistent

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
        return [form for _, form in best(found, agenda(question), keep)]


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
    part_questions: int = PART_QUESTIONS,
) -> SearchReport:
    """Search every question that has an answer, but for those whose forms the cache has.

    The passages' tables must be in ``tables``; where one is missing, its questions are listed as failed. What makes a
    part of the cache depends on the input alone: a run that was stopped, by whatever, and started again leaves the
    very parts of one that was not. ``progress`` hears of passages.
    """
    started = time.monotonic()
    job = _Job(tables, forms, progress)
    groups = batched_by_cost(passages, lambda passage: len(passage.questions), part_questions)
    keep_groups(
        job, partial(_search_batch, settings), groups, _cost, BATCH_QUESTIONS, workers, cluster, progress
    )
    report = job.report()
    report.seconds = time.monotonic() - started
    return report


@dataclass(frozen=True, slots=True)
class _Item:
    """A passage with the questions to search, and its table; ``keys`` are the questions' in the cache."""

    passage: Passage
    table: Table
    keys: tuple[str, ...]


def _cost(item: _Item) -> int:
    return len(item.keys)


@dataclass(slots=True)
class _Job:
    """The questions asked so far, in order, each with its key and the id of its passage; and by key, what was found
    or why nothing was. What is under way is None."""

    tables: TableStore
    forms: PartStore
    progress: Callable[[int], None]
    asked: list[tuple[str, Question, str]] = field(default_factory=list)
    found: dict[str, Consistent | Failure | None] = field(default_factory=dict)
    cached: int = 0
    skipped: int = 0

    def unknown(self, group: Sequence[Passage]) -> list[_Item]:
        """What is to be searched of some passages: each question once, however often it is asked."""
        asked = [
            (passage, question, _key(self.tables.folder.name, passage, question))
            for passage in group
            for question in passage.questions
            if question.references
        ]
        self.asked += [(passage.id, question, key) for passage, question, key in asked]
        rows = self.forms.get_many({key for _, _, key in asked}.difference(self.found))
        tables = self.tables.get_many({text_hash(p.text) for p, _, key in asked if key not in rows})
        todo: dict[int, tuple[Passage, list[Question], list[str]]] = {}
        missing = 0
        for passage, question, key in asked:
            if key in self.found:
                continue
            if key in rows:
                self.found[key] = replace(_from_row(rows[key], passage, question), forest=None)
            elif text_hash(passage.text) not in tables:
                missing += 1
                self.found[key] = Failure(f"passage {passage.id} has no table: extract it first")
            else:
                self.found[key] = None
                _, questions, keys = todo.setdefault(id(passage), (passage, [], []))
                questions.append(question)
                keys.append(key)
        items = []
        for passage, questions, keys in todo.values():
            table = replace(tables[text_hash(passage.text)], paragraph_id=passage.id)
            items.append(_Item(Passage(passage.id, passage.text, tuple(questions)), table, tuple(keys)))
        self.skipped += sum(len(passage.questions) for passage in group) - len(asked)
        self.cached += len(asked) - missing - sum(map(_cost, items))
        self.progress(len(group) - len(items))
        return items

    def keep(self, results: Sequence[Result[_Item, list[Consistent | Failure]]]) -> None:
        """Write what was found of one group as a part."""
        made: list[Consistent] = []
        for result in results:
            keys = result.item.keys
            outcomes = [result.outcome] * len(keys) if isinstance(result.outcome, Failure) else result.outcome
            for key, outcome in zip(keys, outcomes, strict=True):
                self.found[key] = outcome if isinstance(outcome, Failure) else replace(outcome, forest=None)
                if not isinstance(outcome, Failure):
                    made.append(outcome)
        if made:
            self.forms.add(map(_to_row, made))

    def report(self) -> SearchReport:
        report = SearchReport(cached=self.cached, skipped=self.skipped)
        for passage, question, key in self.asked:
            outcome = self.found[key]
            if isinstance(outcome, Failure):
                report.failed.append(Failed(f"question {question.id}", outcome.reason))
            elif outcome is not None:
                report.note(question, replace(outcome, passage=passage, question=question.id))
        return report


def cached_forms(
    passages: Iterable[Passage], tables: TableStore, forms: PartStore, forests: bool = False
) -> dict[str, Consistent]:
    """What the cache has, by question id; with ``forests`` all their forms too, which takes memory. Nothing is
    searched; a question that was not searched is left out."""
    asked = [
        (passage, question, _key(tables.folder.name, passage, question))
        for passage in passages
        for question in passage.questions
        if question.references
    ]
    rows = forms.get_many(key for _, _, key in asked)
    held = {}
    for passage, question, key in asked:
        if key in rows:
            consistent = _from_row(rows[key], passage, question)
            held[question.id] = consistent if forests else replace(consistent, forest=None)
    return held


def _key(extractor: str, passage: Passage, question: Question) -> str:
    """The identity of a search in the cache of its settings: extractor, paragraph, question and answers."""
    references = [answer.to_json() for answer in question.references]
    made_of = json.dumps([extractor, text_hash(passage.text), question.text, references])
    return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()


def _search_batch(settings: SearchSettings, items: Sequence[_Item]) -> list[list[Consistent | Failure]]:
    return [list(_search_item(settings, item)) for item in items]


def _search_item(settings: SearchSettings, item: _Item) -> Iterator[Consistent | Failure]:
    """The consistent forms of one passage's questions."""
    view = View(item.table)
    for question, key in zip(item.passage.questions, item.keys, strict=True):
        try:
            yield _consistent(settings, view, item.passage.id, question, key)
        except Exception as error:
            yield failure_of(error)


def _consistent(
    settings: SearchSettings, view: View, passage: str, question: Question, key: str
) -> Consistent:
    language = language_of(question.text, view)
    found = search(language, AnswerGoal(question.references, settings.partial), settings.max_size)
    kept = tuple(
        KeptForm(str(form), texts_of(execute(form, language)))
        for form in preferred_forms(found, question.text, settings.keep)
    )
    forest = to_bytes(found) if settings.forests else None
    return Consistent(key, passage, question.id, found.size, found.count, kept, forest)


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
