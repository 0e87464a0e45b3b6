"""The figures of a scheme that the page of spuriousness shows: coverage and retention by answer type, distributions,
and the spurious rate with its interval."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import get_args

from drop_parsing.analysis.contrast import contrast_sets, family
from drop_parsing.analysis.intervals import Proportion, mean_interval, proportion
from drop_parsing.analysis.judged import QuestionClasses, SchemeSummary, Spuriousness
from drop_parsing.analysis.retention import Retention, Share, retention
from drop_parsing.data.types import Kind, Passage, Question
from extractors.table import Table
from grammar.forms import parse


@dataclass(frozen=True, slots=True)
class KindFigures:
    """Questions with one type of answer: those covered, those with a kept class, and the gold values in the paragraph
    that the tables keep (numbers or spans; None for dates, which are not measured)."""

    covered: Proportion
    kept: Proportion
    retention: Share | None


#: From which agreement with its decomposition on a kept class is taken to do what the question asks.
AGREES = 0.6


@dataclass(frozen=True, slots=True)
class Decomposed:
    """The questions that have a decomposition: those with a kept class, and those with one that agrees with it."""

    kept: Proportion
    agreeing: Proportion


@dataclass(frozen=True, slots=True)
class Overview:
    """One scheme's figures. ``forms`` and ``classes`` count those of each question; ``interval`` is that of the
    summary's spurious rate, None where no question is covered; ``kept`` are the questions with a kept class.
    ``contrast_sets`` are those for which one family has a kept form that answers each of the questions."""

    summary: SchemeSummary
    interval: tuple[float, float] | None
    kept: Proportion
    decomposed: Decomposed
    contrast_sets: Proportion
    kinds: Mapping[Kind, KindFigures]
    forms: Sequence[int]
    classes: Sequence[int]

    @property
    def median_forms(self) -> int:
        """Of a covered question; 0 where none is covered."""
        return _median(self.forms)

    @property
    def median_classes(self) -> int:
        return _median(self.classes)


def _median(counts: Sequence[int]) -> int:
    return median_low([count for count in counts if count] or [0])


def overview(
    found: Spuriousness, passages: Sequence[Passage], tables: Mapping[tuple[str, str], Table]
) -> list[Overview]:
    """The figures of every scheme of an analysis of these passages; ``tables`` are by scheme and passage id."""
    return [_of_scheme(summary, found, passages, tables) for summary in found.summaries]


@dataclass(frozen=True, slots=True)
class Together:
    """The questions of all schemes: those covered under some scheme, and those with a kept class under some."""

    covered: Proportion
    kept: Proportion
    decomposed: Decomposed
    contrast_sets: Proportion


def together(found: Spuriousness) -> Together:
    """Count every question once, whatever the schemes that it was analysed under."""
    questions: dict[tuple[str, str], list[QuestionClasses]] = {}
    for one in found.questions:
        questions.setdefault((one.passage_id, one.query_id), []).append(one)
    return Together(
        proportion(any(one.covered for one in analysed) for analysed in questions.values()),
        proportion(any(one.kept for one in analysed) for analysed in questions.values()),
        _decomposed(found, questions.values()),
        _answered_sets(found.questions),
    )


def _decomposed(found: Spuriousness, questions: Iterable[Sequence[QuestionClasses]]) -> Decomposed:
    """Of questions, each as analysed under some schemes."""
    kept = [
        [each for one in analysed for each in one.kept]
        for analysed in questions
        if analysed[0].query_id in found.decomposed
    ]
    return Decomposed(
        proportion(map(bool, kept)),
        proportion(any((one.scores["qdmr"] or 0) >= AGREES for one in classes) for classes in kept),
    )


def _answered_sets(questions: Sequence[QuestionClasses]) -> Proportion:
    """Of the contrast sets among the questions of each passage, which may be analysed under some schemes."""
    passages: dict[str, dict[str, dict[str, QuestionClasses]]] = {}
    for one in questions:
        passages.setdefault(one.passage_id, {}).setdefault(one.query_id, {})[one.scheme] = one
    sets = [[asked[id] for id in ids] for asked in passages.values() for ids in contrast_sets(asked)]
    return proportion(any(_answered(one, scheme) for scheme in one[0]) for one in sets)


def _answered(questions: Sequence[Mapping[str, QuestionClasses]], scheme: str) -> bool:
    """Whether one family has a kept form for each of some questions, under a scheme."""
    families = [
        {family(parse(each.form).form) for each in one[scheme].kept} for one in questions if scheme in one
    ]
    return len(families) == len(questions) and bool(set.intersection(*families))


def _of_scheme(
    summary: SchemeSummary,
    found: Spuriousness,
    passages: Sequence[Passage],
    tables: Mapping[tuple[str, str], Table],
) -> Overview:
    questions = [one for one in found.questions if one.scheme == summary.scheme]
    pairs = [(p, tables[summary.scheme, p.id]) for p in passages if (summary.scheme, p.id) in tables]
    kinds: dict[Kind, KindFigures] = {}
    for kind in get_args(Kind):
        of_kind = [one for one in questions if one.kind == kind]
        if of_kind:
            kinds[kind] = KindFigures(
                proportion(one.covered for one in of_kind),
                proportion(bool(one.kept) for one in of_kind),
                _kept_values(kind, pairs),
            )
    shares = [(one.passage_id, one.dropped) for one in questions if one.dropped is not None]
    return Overview(
        summary,
        mean_interval(shares, seed=found.seed),
        proportion(bool(one.kept) for one in questions),
        _decomposed(found, ([one] for one in questions)),
        _answered_sets(questions),
        kinds,
        [one.forms for one in questions],
        [one.met for one in questions],
    )


def _kept_values(kind: Kind, pairs: Sequence[tuple[Passage, Table]]) -> Share | None:
    if kind == "date":
        return None
    found: Retention = retention(
        (replace(passage, questions=_of_kind(passage, kind)), [table]) for passage, table in pairs
    )
    return found.numbers if kind == "number" else found.spans


def _of_kind(passage: Passage, kind: Kind) -> tuple[Question, ...]:
    return tuple(q for q in passage.questions if q.references and q.references[0].kind == kind)
