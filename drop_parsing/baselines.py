"""Baselines that do not read, and what people score: the rows that frame a reader's figures."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from drop_parsing.data.metric import Evaluation, evaluate
from drop_parsing.data.types import Passage, Question
from drop_parsing.errors import InputError

Answers = dict[str, str | list[str]]

_WORD = re.compile(r"\w+")
#: These say what is asked for only together with what follows: "how many yards", "which team".
_OPEN = frozenset(("how", "which", "what", "in", "by", "at", "on"))


def question_kind(text: str) -> tuple[str, ...]:
    """The first word of a question; the first two where the first alone says little, three for "how many"."""
    words = tuple(word.lower() for word in _WORD.findall(text))
    if words[:2] == ("how", "many"):
        return words[:3]
    return words[:2] if words[:1] and words[0] in _OPEN else words[:1]


def majority(train: Iterable[Passage], questions: Iterable[Question]) -> Answers:
    """For each question the most frequent answer to training questions of its kind, or else of its first word,
    or else of all; the first of equals in the training data.

    Raises InputError where no training question has an answer.
    """
    counts: Mapping[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for passage in train:
        for question in passage.questions:
            if question.answer and question.answer.kind:
                kind = question_kind(question.text)
                for start in {kind, kind[:1], ()}:
                    counts[start][question.answer.texts()] += 1
    if not counts:
        raise InputError("No training question has an answer: give a file with answers.")
    answers: Answers = {}
    for question in questions:
        kind = question_kind(question.text)
        known = next(start for start in (kind, kind[:1], ()) if start in counts)
        texts = counts[known].most_common(1)[0][0]
        answers[question.id] = texts[0] if len(texts) == 1 else list(texts)
    return answers


def to_json(answers: Answers) -> bytes:
    """The file that ``evaluate`` and the leaderboard take."""
    return json.dumps(answers, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def human(questions: Iterable[Question]) -> Evaluation:
    """People against people: the first validated answer of each question against all its other answers.

    Questions without a validated answer, or without another to score it against, are left out; the number that
    is left is in the result. Raises InputError where none is left, and where most questions have no two answers
    that are the same: such a file keeps each distinct answer once, and so little but the disagreements.
    """
    answers: Answers = {}
    held_out: list[Question] = []
    agreed = 0
    for question in questions:
        given = [answer for answer in question.validated_answers if answer.kind]
        if not given or question.answer is None or question.answer.kind is None:
            continue
        agreed += len({answer.texts() for answer in (question.answer, *given)}) <= len(given)
        answers[question.id] = list(given[0].texts())
        held_out.append(Question(question.id, question.text, question.answer, tuple(given[1:])))
    if not held_out:
        raise InputError("No question has a validated answer beside its own: people cannot be scored here.")
    if 2 * agreed < len(held_out):
        raise InputError(
            "Each answer to a question is kept once here, agreement is lost: people cannot be scored."
        )
    return evaluate(answers, held_out)
