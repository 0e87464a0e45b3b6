"""The analysis of spuriousness over many passages: every question once, kept in the cache, resumable."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from drop_parsing.analysis.contrast import contrasts
from drop_parsing.analysis.judged import JUDGES, Copy, QuestionClasses, SchemeSummary
from drop_parsing.analysis.qdmr import Decomposition, question_key
from drop_parsing.analysis.spuriousness import VERSION, SpuriousnessSettings, analyse_passage
from drop_parsing.data.types import Passage, Question
from drop_parsing.extraction import Failed
from extractors.jobs import Failure, Result, batched_by_cost, keep_groups
from extractors.remote import Place
from extractors.store import PartStore, TableStore
from extractors.table import Table, text_hash
from grammar import LANGUAGE_VERSION

#: Questions whose analyses make one part of the cache, as far as whole passages allow: what a crash can lose.
PART_QUESTIONS = 256
#: Questions that one worker takes at a time, as far as whole passages allow.
BATCH_QUESTIONS = 8

SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        # A QuestionClasses as JSON.
        pa.field("analysis", pa.string(), nullable=False),
    ]
)


def open_analyses(cache: Place, scheme: str, settings: SpuriousnessSettings) -> PartStore:
    """The cache of a scheme's analyses under these settings."""
    return PartStore(
        cache / "spuriousness" / f"{scheme}-{LANGUAGE_VERSION}-{VERSION}-{settings}", SCHEMA, "key"
    )


@dataclass(slots=True)
class AnalysisReport:
    """What an analysis did: every question that has an answer, in the order of the input, those that failed, how many
    were ``cached`` and how many, having no answer, were ``skipped``."""

    questions: list[QuestionClasses] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    cached: int = 0
    skipped: int = 0


def analyse_passages(
    passages: Iterable[Passage],
    tables: TableStore,
    analyses: PartStore,
    settings: SpuriousnessSettings,
    decompositions: Mapping[str, Decomposition],
    workers: int = 0,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda passages: None,
    part_questions: int = PART_QUESTIONS,
) -> AnalysisReport:
    """Analyse every question that has an answer, but for those that the cache has.

    The passages' tables must be in ``tables``; where one is missing, its questions are listed as failed. What makes a
    part of the cache depends on the input alone. ``decompositions`` are by ``qdmr.question_key``; ``progress`` hears
    of passages.
    """
    job = _Job(tables, analyses, decompositions, progress)
    groups = batched_by_cost(passages, lambda passage: len(passage.questions), part_questions)
    keep_groups(job, partial(_analyse, settings), groups, _cost, BATCH_QUESTIONS, workers, cluster, progress)
    return job.report()


@dataclass(frozen=True, slots=True)
class _Item:
    """A passage with all its questions, its table, and the decompositions that there are of these; ``keys`` are the
    questions' in the cache."""

    passage: Passage
    table: Table
    decompositions: Mapping[str, Decomposition]
    keys: tuple[str, ...]


def _cost(item: _Item) -> int:
    return len(item.keys)


def _analyse(settings: SpuriousnessSettings, items: Sequence[_Item]) -> list[list[QuestionClasses]]:
    return [analyse_passage(each.passage, each.table, settings, each.decompositions) for each in items]


@dataclass(slots=True)
class _Job:
    """The questions asked so far, in order, each with its key; and by key, what was found or why nothing was. What is
    under way is None."""

    tables: TableStore
    analyses: PartStore
    decompositions: Mapping[str, Decomposition]
    progress: Callable[[int], None]
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    found: dict[str, QuestionClasses | Failure | None] = field(default_factory=dict)
    #: The fictitious tables met: questions of a passage share them, which a cache does not know.
    copies: dict[Copy, Copy] = field(default_factory=dict)
    cached: int = 0
    skipped: int = 0

    def unknown(self, group: Sequence[Passage]) -> list[_Item]:
        """What is to be analysed of some passages. Contrasts are compared within a passage, so that it is analysed
        whole where one of its questions is not known."""
        with_answers = [replace(p, questions=tuple(q for q in p.questions if q.references)) for p in group]
        self.skipped += sum(len(p.questions) for p in group) - sum(len(p.questions) for p in with_answers)
        keys = {id(passage): self._keys(passage) for passage in with_answers}
        rows = self.analyses.get_many({key for each in keys.values() for key in each}.difference(self.found))
        tables = self.tables.get_many(text_hash(passage.text) for passage in with_answers)
        items = []
        for passage in with_answers:
            own = keys[id(passage)]
            self.asked += [(passage.id, q.id, key) for q, key in zip(passage.questions, own, strict=True)]
            table = tables.get(text_hash(passage.text))
            if all(key in rows or key in self.found for key in own):
                self.cached += sum(key in rows for key in own)
                self.found.update((key, self._shared(_from_row(rows[key]))) for key in own if key in rows)
            elif table is None:
                failure = Failure(f"passage {passage.id} has no table: extract it first")
                self.found.update((key, failure) for key in own)
            else:
                self.found.update((key, None) for key in own)
                items.append(_Item(passage, replace(table, paragraph_id=passage.id), self._of(passage), own))
        self.progress(len(group) - len(items))
        return items

    def keep(self, results: Sequence[Result[_Item, list[QuestionClasses]]]) -> None:
        """Write the analyses of one group as a part."""
        rows = []
        for result in results:
            keys, outcome = result.item.keys, result.outcome
            if isinstance(outcome, Failure):
                self.found.update((key, outcome) for key in keys)
                continue
            for key, analysed in zip(keys, outcome, strict=True):
                self.found[key] = self._shared(analysed)
                rows.append({"key": key, "analysis": json.dumps(analysed.to_json())})
        if rows:
            self.analyses.add(rows)

    def report(self) -> AnalysisReport:
        report = AnalysisReport(cached=self.cached, skipped=self.skipped)
        for passage, question, key in self.asked:
            outcome = self.found[key]
            if isinstance(outcome, Failure):
                report.failed.append(Failed(f"question {question}", outcome.reason))
            elif outcome is not None:
                report.questions.append(replace(outcome, passage_id=passage, query_id=question))
        return report

    def _shared(self, one: QuestionClasses) -> QuestionClasses:
        return replace(one, copies=tuple(self.copies.setdefault(copy, copy) for copy in one.copies))

    def _of(self, passage: Passage) -> dict[str, Decomposition]:
        keys = (question_key(question.text) for question in passage.questions)
        return {key: self.decompositions[key] for key in keys if key in self.decompositions}

    def _keys(self, passage: Passage) -> tuple[str, ...]:
        """The identity of each analysis in the cache of its settings: extractor, paragraph, question, answers,
        decomposition and the questions that it is contrasted with."""
        sets = contrasts(question.id for question in passage.questions)
        asked = {question.id: [question.text, _answers(question)] for question in passage.questions}
        identity = text_hash(passage.text)
        keys = []
        for question in passage.questions:
            decomposition = self.decompositions.get(question_key(question.text))
            steps = None if decomposition is None else decomposition.steps
            others = [asked[id] for id in sets.get(question.id, ())]
            made_of = json.dumps([self.tables.folder.name, identity, *asked[question.id], steps, others])
            keys.append(hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest())
        return tuple(keys)


def _answers(question: Question) -> list[dict[str, Any]]:
    return [answer.to_json() for answer in question.references]


def _from_row(row: Mapping[str, Any]) -> QuestionClasses:
    return QuestionClasses.from_json(json.loads(row["analysis"]))


def summary(scheme: str, questions: Sequence[QuestionClasses]) -> SchemeSummary:
    """The figures of one scheme's questions."""
    covered = [one for one in questions if one.covered]
    return SchemeSummary(
        scheme,
        len(questions),
        len(covered),
        sum(one.complete for one in questions),
        sum(one.exact for one in covered),
        sum(one.forms for one in questions),
        sum(one.met for one in covered),
        _mean(one.dropped for one in covered) or 0.0,
        {judge: _mean(_dropped_by(judge, one) for one in covered) for judge in JUDGES},
        sum(not one.kept for one in covered) / len(covered) if covered else 0.0,
    )


def _dropped_by(judge: str, one: QuestionClasses) -> float | None:
    """The share of a question's shown classes that a judge alone would drop; None where it does not judge them."""
    scores = [score for each in one.classes if (score := each.scores[judge]) is not None]
    return sum(score < ALONE[judge] for score in scores) / len(scores) if scores else None


#: From which score on a judge alone keeps a class.
ALONE: Mapping[str, float] = {"vote": 0.5, "qdmr": 0.6, "grounding": 0.6, "contrast": 0.5, "calls": 1.0}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def weights_lines(questions: Iterable[QuestionClasses]) -> Iterator[str]:
    """For a learner, a JSON line for each question that has consistent forms: the likeliest with their weights."""
    for one in questions:
        if one.weights:
            yield json.dumps({"query_id": one.query_id, "scheme": one.scheme, "forms": dict(one.weights)})
