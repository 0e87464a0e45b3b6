"""The spuriousness of one passage's questions: classes of forms on fictitious tables, judged and weighed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum

from spacy.language import Language as Pipeline

from drop_parsing.analysis.candidates import brevity, candidates
from drop_parsing.analysis.combined import KEPT, combined
from drop_parsing.analysis.contrast import consistency, contrasts, family
from drop_parsing.analysis.grounding import Asked
from drop_parsing.analysis.judged import ChangedCell, Copy, FormClass, QuestionClasses
from drop_parsing.analysis.qdmr import Decomposition, agreement, question_key
from drop_parsing.analysis.votes import prior_weights, vote
from drop_parsing.data.types import Passage, Question
from drop_parsing.goal import AnswerGoal
from drop_parsing.literals import literals_of
from extractors.annotate import load_pipeline
from extractors.table import Table
from grammar.classes import EquivalenceClass, Meanings, Partition, meaning, partition, told_apart
from grammar.executor import cells_used, texts_of
from grammar.forest import Found
from grammar.forms import Form
from grammar.language import Language
from grammar.perturb import ChangedTable, changed_tables, chosen, differences
from grammar.search import collector_paused, search
from grammar.view import View
from grammar.worlds import Worlds

#: Changes whenever the analysis may find otherwise: it names the cache.
VERSION = 2


@dataclass(frozen=True, slots=True)
class SpuriousnessSettings:
    """What the analysis of a question depends on beside the question, its table and its decomposition.

    ``max_size`` as in the search; ``tables`` fictitious tables a question, chosen among ``candidates``; ``sample``
    forms drawn where they are too many to look at all; ``classes`` of a question kept, the best; ``weights`` forms
    weighed for a learner.
    """

    max_size: int = 3
    tables: int = 8
    candidates: int = 16
    sample: int = 20
    classes: int = 30
    weights: int = 200
    seed: int = 0

    def __str__(self) -> str:
        numbers = (
            self.max_size,
            self.tables,
            self.candidates,
            self.sample,
            self.classes,
            self.weights,
            self.seed,
        )
        return "-".join(map(str, numbers))


# What the search pauses the collector for holds for all that is done with its forests: there are no cycles.
@collector_paused()
def analyse_passage(
    passage: Passage,
    table: Table,
    settings: SpuriousnessSettings,
    decompositions: Mapping[str, Decomposition],
) -> list[QuestionClasses]:
    """The questions of a passage that have an answer, in order. ``decompositions`` are by ``qdmr.question_key``."""
    changed, worlds = _worlds(table, settings)
    copies = [_copy(table, each) for each in changed]
    drafts = []
    for question in passage.questions:
        if question.references:
            decomposition = decompositions.get(question_key(question.text))
            drafts.append(_draft(question, copies, worlds, settings, decomposition))
    _judge_contrasts(drafts)
    return [_finished(draft, passage, table.scheme, settings) for draft in drafts]


def form_scores(
    passage: Passage, table: Table, forms: Mapping[str, Sequence[str]], settings: SpuriousnessSettings
) -> dict[str, dict[str, float]]:
    """How likely given forms mean their questions: by question id and form, the combined score of the form's class,
    told apart among the given ones alone. Nothing is searched.

    ``forms`` are by question id. Raises ``grammar.forms.FormError`` for what is no form of a question's language.
    """
    _, worlds = _worlds(table, settings)
    view = worlds.views[0]
    found = {}
    for question in passage.questions:
        document = _pipeline()(question.text)
        language = Language(view, literals_of(document, view))
        given = [language.check(form) for form in forms.get(question.id, ())]
        meanings = _telling(given, worlds, language, settings.tables)
        classes = list(told_apart(given, meanings).values())
        scored, _ = _scored(classes, given, Asked(document, view), meanings, None)
        found[question.id] = {
            str(form): combined(judged.scores) for judged in scored for form in judged.found.examples
        }
    return found


def _worlds(table: Table, settings: SpuriousnessSettings) -> tuple[list[ChangedTable], Worlds]:
    """The fictitious tables to choose from, and the real one with them."""
    changed = changed_tables(table, settings.candidates, settings.seed)
    return changed, Worlds([View(table), *(View(each.table) for each in changed)])


@dataclass(frozen=True, slots=True)
class _Suited:
    """How well a form suits its question by words and length."""

    grounding: float
    calls: float
    brevity: float

    @classmethod
    def of(cls, form: Form, asked: Asked, meanings: Meanings) -> "_Suited":
        return cls(asked.grounding(form, meanings.rows_read(form)), asked.calls(form), brevity(form))

    @property
    def prior(self) -> float:
        """The log-odds that the form means the question, before any table is looked at."""
        return 4 * self.grounding + 3 * self.calls + 3 * self.brevity


@dataclass(slots=True)
class _Class:
    """A class under judgement: its example is the best of its forms."""

    found: EquivalenceClass
    example: Form
    scores: dict[str, float | None]
    prior: float
    combined: float = 0.0


@dataclass(slots=True)
class _Draft:
    """A question with its classes, before contrasts are compared and the scores combined. ``priors`` are the forms
    that may mean it with their weights."""

    question: Question
    language: Language
    found: Found
    partition: Partition
    copies: tuple[Copy, ...]
    classes: list[_Class]
    priors: Mapping[Form, float]


def _draft(
    question: Question,
    candidate_copies: Sequence[Copy],
    worlds: Worlds,
    settings: SpuriousnessSettings,
    decomposition: Decomposition | None,
) -> _Draft:
    document, view = _pipeline()(question.text), worlds.views[0]
    language = Language(view, literals_of(document, view))
    asked = Asked(document, view)
    found = search(language, AnswerGoal(question.references), settings.max_size)
    likely = candidates(found, asked)
    meanings = _telling(likely, worlds, language, settings.tables)
    parts = partition(found, likely, meanings, settings.sample, settings.seed)
    copies = tuple(candidate_copies[table - 1] for table in meanings.tables[1:])
    classes, priors = _scored(parts.classes, likely, asked, meanings, decomposition)
    return _Draft(question, language, found, parts, copies, classes, priors)


def _telling(forms: Sequence[Form], worlds: Worlds, language: Language, number: int) -> Meanings:
    """On the real table and so many fictitious ones, which tell the forms apart best."""
    on_all = Meanings(worlds, language, range(len(worlds.views)))
    told = [meaning(on_all.vector(form)) for form in forms]
    picked = chosen(list(zip(*told, strict=True))[1:], number, [each[0] for each in told])
    return on_all.on([0, *(1 + place for place in picked)])


def _scored(
    classes: Sequence[EquivalenceClass],
    likely: Sequence[Form],
    asked: Asked,
    meanings: Meanings,
    decomposition: Decomposition | None,
) -> tuple[list[_Class], dict[Form, float]]:
    """The classes with what the judges say, but for contrasts; and the prior weights of the likely forms, or of all
    where none is likely."""
    suited = {form: _Suited.of(form, asked, meanings) for each in classes for form in each.examples}
    weighed = likely or list(suited)
    priors = dict(zip(weighed, prior_weights([suited[form].prior for form in weighed]), strict=True))
    scored = []
    for each in classes:
        example = max(each.examples, key=lambda form: suited[form].prior)
        words = suited[example]
        scores: dict[str, float | None] = {
            "qdmr": None if decomposition is None else agreement(example, decomposition),
            "grounding": words.grounding,
            "contrast": None,
            "calls": words.calls,
        }
        prior = sum(priors.get(form, 0.0) for form in each.examples)
        scored.append(_Class(each, example, scores, prior))
    votes = vote([meaning(c.found.vector)[1:] for c in scored], [c.prior for c in scored])
    for judged, share in zip(scored, votes, strict=True):
        judged.scores = {"vote": share if meanings.tables[1:] else None, **judged.scores}
    return scored, priors


def _copy(table: Table, changed: ChangedTable) -> Copy:
    cells = [ChangedCell(each.row, each.relation, each.old, each.new) for each in differences(table, changed)]
    return Copy(changed.changed, tuple(cells))


def _judge_contrasts(drafts: Sequence[_Draft]) -> None:
    sets = contrasts(draft.question.id for draft in drafts)
    answering = {
        draft.question.id: frozenset(map(family, draft.priors))
        for draft in drafts
        if draft.question.id in sets
    }
    for draft in drafts:
        others = [answering[id] for id in sets.get(draft.question.id, ())]
        if others:
            for judged in draft.classes:
                judged.scores["contrast"] = consistency(judged.found.examples, others)


def _finished(
    draft: _Draft, passage: Passage, scheme: str, settings: SpuriousnessSettings
) -> QuestionClasses:
    for judged in draft.classes:
        judged.combined = combined(judged.scores)
    ordered = sorted(draft.classes, key=lambda judged: (-judged.combined, -judged.prior))
    reference = draft.question.references[0]
    assert reference.kind is not None  # references are never blank
    return QuestionClasses(
        draft.question.id,
        passage.id,
        scheme,
        draft.question.text,
        reference.texts(),
        reference.kind,
        draft.found.count,
        draft.found.size >= settings.max_size,
        draft.partition.exact,
        draft.copies,
        tuple(_form_class(judged, draft.language) for judged in ordered[: settings.classes]),
        _weights(draft, settings.weights),
        met=len(ordered),
        dropped=fsum(j.found.share for j in ordered if j.combined < KEPT) if ordered else None,
    )


def _form_class(judged: _Class, language: Language) -> FormClass:
    real, *copies = judged.found.vector
    spans = {(span.start, span.end) for span in cells_used(judged.example, language)}
    kept = judged.combined >= KEPT
    return FormClass(
        str(judged.example),
        judged.found.forms,
        judged.found.low,
        judged.found.high,
        texts_of(real),
        tuple(map(texts_of, copies)),
        tuple(sorted(spans)),
        judged.scores,
        judged.combined,
        kept,
        _why(judged.scores, kept),
    )


#: Judge -> what is said of a class that it speaks for, and of one that it speaks against.
_SAID: Mapping[str, tuple[str, str]] = {
    "vote": (
        "most forms agree with it on the fictitious tables",
        "other forms disagree with it on the fictitious tables",
    ),
    "qdmr": (
        "it agrees with the question's decomposition",
        "it does not do what the question's decomposition says",
    ),
    "grounding": (
        "it accounts for most words of the question",
        "it leaves words of the question unaccounted for",
    ),
    "contrast": (
        "its kind of form answers the contrast questions",
        "its kind of form fails on the contrast questions",
    ),
    "calls": ("the question calls for what it does", "it does what the question does not call for"),
}
_FOR, _AGAINST = 0.6, 0.5


def _why(scores: Mapping[str, float | None], kept: bool) -> str:
    """One sentence with the judges that decided."""
    speaking = [(name, score) for name, score in scores.items() if name in _SAID and score is not None]
    if kept:
        reasons = [_SAID[name][0] for name, score in speaking if score >= _FOR]
    else:
        reasons = [_SAID[name][1] for name, score in speaking if score < _AGAINST]
    listed = " and ".join([", ".join(reasons[:-1]), reasons[-1]] if len(reasons) > 1 else reasons)
    listed = listed or ("no judge speaks against it" if kept else "no judge speaks clearly for it")
    return f"{'Kept' if kept else 'Dropped'}: {listed}."


def _weights(draft: _Draft, number: int) -> dict[str, float]:
    """The likeliest forms with weights that add up to 1: each class's score, shared out by the forms' priors."""
    of = {form: judged for judged in draft.classes for form in judged.found.examples}
    weighed = {form: of[form].combined * prior / of[form].prior for form, prior in draft.priors.items()}
    best = sorted(weighed, key=lambda form: -weighed[form])[:number]
    total = sum(weighed[form] for form in best)
    return {str(form): weighed[form] / total for form in best}


def language_for(question: str, view: View) -> Language:
    """The language in which the forms of a question stand."""
    return Language(view, literals_of(_pipeline()(question), view))


@cache
def _pipeline() -> Pipeline:
    """What parses questions, loaded once a process."""
    return load_pipeline()
