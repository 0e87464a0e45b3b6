"""The questions of passages as the parser takes them, and on how many it can be trained."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spacy.language import Language as Pipeline

from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import MAX_LENGTH, QuestionInput, read_question
from extractors.table import Table, text_hash
from grammar.forms import Form, FormError
from grammar.language import Language
from grammar.view import View

NO_TABLE = "are on a passage without a table"
NO_ANSWER = "have no answer"
NOT_SEARCHED = "were not searched"
NO_FORM = "have an answer that no form reaches"
UNUSABLE = "have only forms that are too long or point at what the parser does not see"


@dataclass(slots=True)
class QuestionSet:
    """Questions with their languages. ``trained`` are the places of those that can be learnt from; ``reasons`` says why
    not the others; ``forms`` and ``lost`` count the forms that are learnt and those that can not be."""

    questions: list[tuple[QuestionInput, Language]] = field(default_factory=list)
    trained: list[int] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    forms: int = 0
    lost: int = 0

    @property
    def total(self) -> int:
        return len(self.trained) + sum(self.reasons.values())

    def __str__(self) -> str:
        why = "; ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        return f"{len(self.trained)} of {self.total} questions" + (f" (not the rest: {why})" if why else "")


def read_questions(
    passages: Iterable[Passage],
    tables: Mapping[str, Table],
    forms: Mapping[str, Sequence[str]],
    pipeline: Pipeline,
    size_prior: float = 0.0,
    max_length: int = MAX_LENGTH,
) -> QuestionSet:
    """Every question over the table of its passage. ``tables`` are by the hash of the paragraph (``text_hash``),
    ``forms`` the consistent logical forms by question id: none for a question that no form answers, no entry for one
    that was not searched. The logarithm of a form's weight is ``-size_prior`` for each of its applications.

    Without a table, a question is left out: its answer is empty.
    """
    made = QuestionSet()
    for passage in passages:
        table = tables.get(text_hash(passage.text))
        if table is None:
            made.reasons[NO_TABLE] += len(passage.questions)
            continue
        entities = TableEntities(View(table))
        documents = pipeline.pipe(question.text for question in passage.questions)
        for question, document in zip(passage.questions, documents, strict=True):
            known = [] if not question.references else _parsed(forms.get(question.id, ()), entities)
            prior = [-size_prior * str(form).count("(") for form in known]
            read, language = read_question(question.id, document, entities, known, prior, max_length)
            if read.targets is not None:
                made.trained.append(len(made.questions))
                made.forms += len(read.targets.path_choices)
            elif not question.references:
                made.reasons[NO_ANSWER] += 1
            elif question.id not in forms:
                made.reasons[NOT_SEARCHED] += 1
            else:
                made.reasons[UNUSABLE if known else NO_FORM] += 1
            made.lost += sum(read.unusable)
            made.questions.append((read, language))
    return made


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


def _parsed(forms: Sequence[str], entities: TableEntities) -> list[Form]:
    """The forms that the language over this table has: those of another version of it may be gone."""
    language = Language(entities.view)
    kept = []
    for text in forms:
        try:
            kept.append(language.check(text))
        except FormError:
            continue
    return kept
