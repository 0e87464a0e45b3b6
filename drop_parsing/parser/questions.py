"""The questions of passages as the parser takes them, and on how many it can be trained."""

import gc
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from spacy.language import Language as Pipeline

from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.literals import literals_of
from drop_parsing.parser.choosing import Weighted, choose, skeleton, units_of, weighted
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import MAX_LENGTH, QuestionInput, read_question
from drop_parsing.parser.pieces import encode_paragraph, read_pieces
from drop_parsing.parser.similarity import RowVectors
from drop_parsing.reader.contextual_encoders import ContextualEncoder
from drop_parsing.reader.pieces import PieceVocabulary
from drop_parsing.searching import Consistent
from extractors.table import Table, text_hash
from grammar.language import Language
from grammar.view import View

NO_TABLE = "are on a passage without a table"
NO_ANSWER = "have no answer"
NOT_SEARCHED = "were not searched"
NO_FORM = "have an answer that no form reaches"
HELD_OUT = "are held out to fit the rescorer to"
UNUSABLE = "have only forms that are too long or point at what the parser does not see"


@dataclass(slots=True)
class QuestionSet:
    """Questions with their languages. ``trained`` are the places of those that are learnt from; ``reasons`` says why
    not the others; ``held_out`` are the places of those that the decoder must not see; ``forms`` and ``lost`` count the
    forms that can be learnt and those that can not."""

    questions: list[tuple[QuestionInput, Language]] = field(default_factory=list)
    trained: list[int] = field(default_factory=list)
    held_out: list[int] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    forms: int = 0
    lost: int = 0

    @property
    def total(self) -> int:
        return len(self.trained) + sum(self.reasons.values())

    def __str__(self) -> str:
        why = "; ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        return f"{len(self.trained)} of {self.total} questions" + (f" (not the rest: {why})" if why else "")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the forms to learn from come from. ``consistent`` gives what a search has found for the questions of some
    passages, by question id: no entry for a question that was not searched. Of each question ``candidates`` forms are
    taken; the logarithm of a form's weight is ``prior`` times its plausibility, less ``size_prior`` for each of its
    applications. A question in ``votes`` (see ``choosing.read_weights``) has the forms and weights given there."""

    consistent: Callable[[Sequence[Passage]], Mapping[str, Consistent]]
    candidates: int = 40
    prior: float = 1.0
    size_prior: float = 0.0
    votes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def forms(self, found: Consistent, question: str, language: Language) -> list[Weighted]:
        votes = self.votes.get(found.question)
        if votes is not None:
            made = weighted(votes, language, self.candidates)
        else:
            units = units_of(language.view)
            made = [
                Weighted(form, round(self.prior * weight - self.size_prior * str(form).count("("), 4))
                for form, weight in choose(found, question, language, self.candidates, units)
            ]
        # In the same order when they are read again from where they were saved.
        return sorted(made, key=lambda one: (-one.log_weight, str(one.form)))


#: Passages whose forests are in memory at a time.
_TOGETHER = 8


def read_questions(
    passages: Sequence[Passage],
    tables: Mapping[str, Table],
    pipeline: Pipeline,
    source: Source | None = None,
    max_length: int = MAX_LENGTH,
    pieces: PieceVocabulary | None = None,
    encoder: ContextualEncoder | None = None,
    advance: Callable[[int], None] = lambda passages: None,
) -> QuestionSet:
    """Every question over the table of its passage (``tables`` are by ``text_hash``), to learn from with a ``source``
    of forms; with its ``pieces`` for a transformer, with vectors in context by an ``encoder``. Without a table, a
    question is left out: its answer is empty."""
    made = QuestionSet()
    left = iter(passages)
    while some := list(islice(left, _TOGETHER)):
        found = source.consistent(some) if source else {}
        for passage in some:
            table = tables.get(text_hash(passage.text))
            if table is None:
                made.reasons[NO_TABLE] += len(passage.questions)
                advance(1)
                continue
            entities = TableEntities(View(table))
            paragraph = encode_paragraph(passage.text, pieces) if pieces else None
            rows = RowVectors(passage.text, table, encoder) if encoder else None
            documents = pipeline.pipe(question.text for question in passage.questions)
            for question, document in zip(passage.questions, documents, strict=True):
                language = Language(entities.view, literals_of(document, entities.view))
                consistent = found.get(question.id) if question.references else None
                forms = source.forms(consistent, question.text, language) if source and consistent else []
                read = read_question(question.id, document, entities, language, forms, max_length)
                if pieces and paragraph:
                    placed = read_pieces(question.text, read.tokens, read.entities, paragraph, pieces)
                    read = replace(read, pieces=placed)
                if encoder and rows:
                    vectors = encoder.encode([token.text for token in read.tokens])
                    read = replace(read, contextual=vectors, similar=rows.similar(vectors))
                if read.targets is not None:
                    made.trained.append(len(made.questions))
                    made.forms += len(read.targets.path_choices)
                elif not question.references:
                    made.reasons[NO_ANSWER] += 1
                elif consistent is None:
                    made.reasons[NOT_SEARCHED] += 1
                else:
                    made.reasons[UNUSABLE if forms else NO_FORM] += 1
                made.lost += sum(read.unusable)
                made.questions.append((read, language))
            advance(1)
        if found:
            gc.collect()  # forests are full of cycles, and a paused collector counts what it then finds as old
    return made


def hold_out(questions: QuestionSet, passages: Sequence[Passage], share: float) -> None:
    """Hold the questions of every so many-th passage out of training, about that share of all."""
    every = max(round(1 / share), 2)
    chosen = {question.id for passage in passages[every - 1 :: every] for question in passage.questions}
    questions.held_out = [i for i, (question, _) in enumerate(questions.questions) if question.id in chosen]
    left = set(questions.held_out)
    kept = [place for place in questions.trained if place not in left]
    questions.reasons[HELD_OUT] += len(questions.trained) - len(kept)
    questions.trained = kept


def penalise_single_tables(questions: QuestionSet, passages: Sequence[Passage], strength: float) -> None:
    """The held-out-table penalty: to the logarithm of each form's weight, add ``strength`` times that of the share of
    the *other* passages with a consistent form of the same skeleton. What is right on one table by accident is rarely
    right on others."""
    passage_of = {question.id: passage.id for passage in passages for question in passage.questions}
    kinds: dict[str, set[str]] = {}
    skeletons = []
    for place in questions.trained:
        question, _ = questions.questions[place]
        own = [skeleton(str(form)) for form, _ in question.learnt()]
        skeletons.append(own)
        for kind in own:
            kinds.setdefault(kind, set()).add(passage_of[question.id])
    others = max(len(set().union(*kinds.values())) - 1, 1) if kinds else 1
    for place, own in zip(questions.trained, skeletons, strict=True):
        targets = questions.questions[place][0].targets
        assert targets is not None
        shares = [max(len(kinds[kind]) - 1, 0.5) / others for kind in own]
        targets.prior[:] += [strength * math.log(share) for share in shares]


def check_trainable(questions: QuestionSet, scheme: str, inputs: str) -> None:
    """Raise InputError where nothing can be learnt from, naming the step that is missing."""
    if questions.trained:
        return
    reasons = questions.reasons
    if reasons[NO_TABLE] or reasons[NOT_SEARCHED]:
        step = "find the forms first"
    else:
        step = "search for larger forms, with a greater --max-size"
    raise InputError(
        f"There is nothing to train on: {questions}; {step}: drop-parsing search {inputs} --scheme {scheme}."
    )
