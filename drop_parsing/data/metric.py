"""The official DROP metric, exactly: exact match and F1 over aligned bags of words.

Source: the rules of the evaluation script published with DROP (Dua et al. 2019), whose quirks are kept
because leaderboards depend on them; :mod:`drop_parsing.data.strict` mends them.
"""

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum

import numpy as np

from drop_parsing.data import strict as strict_metric
from drop_parsing.data.alignment import align
from drop_parsing.data.types import Answer, Kind, Question
from drop_parsing.errors import InputError

Prediction = str | Sequence[str]

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """The form in which the official metric compares texts.

    Tokens end at a space or a hyphen. Each is lower-cased; one that Python reads as a float becomes that
    float (``10.`` and ``10`` are ``10.0``), any other loses its ASCII punctuation first (``1,000`` is
    ``1000.0``) and its articles. Tokens left without characters are dropped.
    """
    parts = [part for token in text.replace("-", " ").split(" ") if (part := _normalise_token(token))]
    return " ".join(parts)


def score_texts(predicted: Sequence[str], gold: Sequence[str]) -> tuple[float, float]:
    """Exact match (0 or 1) and F1 (0 to 1, rounded to two digits) of one list of spans against another."""
    predicted_bags = [_bag(text) for text in predicted]
    gold_bags = [_bag(text) for text in gold]
    if len(predicted_bags) == 1 and len(gold_bags) == 1:
        em = float(predicted_bags[0].text == gold_bags[0].text)
        return em, _round(_f1(predicted_bags[0], gold_bags[0]))
    same = {bag.text for bag in predicted_bags} == {bag.text for bag in gold_bags}
    em = float(same and len(predicted_bags) == len(gold_bags))  # also (a, a, b) and (a, b, b)
    scores = align([[_f1(predicted, gold) for predicted in predicted_bags] for gold in gold_bags])
    scores += [0.0] * (len(predicted_bags) - len(gold_bags))
    return em, _round(float(np.mean(scores)) if scores else 0.0)


def score(
    prediction: Prediction, references: Iterable[Answer], *, strict: bool = False
) -> tuple[float, float]:
    """The best exact match and the best F1 (0 to 1 each) of a prediction over the references.

    A sequence of strings predicts all of them; a blank reference never matches. ``strict`` takes the mended
    rules of :func:`drop_parsing.data.strict.score_answer` instead of the official ones.
    """
    em, f1, _ = _best(_spans(prediction), references, strict)
    return em, f1


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """``em`` and ``f1`` of one question, 0 to 1. ``kind`` is that of the reference that matched best, the
    last of equals; of a missing prediction that of the first; ``None`` where all references are blank."""

    em: float
    f1: float
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class TypeScore:
    """Mean scores, in percent, over the questions of one answer type."""

    questions: int
    em: float
    f1: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores in percent over all questions that have an answer field.

    ``by_type`` is keyed by answer type (``none``: only blank references). ``missing`` lists questions
    without a prediction, which score 0; ``unknown`` predictions for no question; ``unanswered`` questions
    that have no answer field and are not scored. ``scores`` has every scored question by id.
    """

    em: float
    f1: float
    questions: int
    by_type: dict[str, TypeScore]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    unanswered: tuple[str, ...]
    scores: dict[str, QuestionScore] = field(repr=False)


def evaluate(
    predictions: Mapping[str, Prediction | None], questions: Iterable[Question], *, strict: bool = False
) -> Evaluation:
    """Score predictions by question id. ``None`` counts as missing.

    Raises :class:`InputError` for a prediction that is neither a string nor a list of strings, and where no
    question has an answer.
    """
    scores: dict[str, QuestionScore] = {}
    missing: list[str] = []
    unanswered: list[str] = []
    for question in questions:
        if question.answer is None and not question.validated_answers:
            unanswered.append(question.id)
            continue
        prediction = predictions.get(question.id)
        if prediction is None:
            missing.append(question.id)
            scores[question.id] = QuestionScore(0.0, 0.0, _answers(question)[0].kind)
        else:
            best = _best(_spans(prediction, question.id), _answers(question), strict)
            scores[question.id] = QuestionScore(*best)
    if not scores:
        raise InputError("No question has an answer to score against; give a file with answers.")
    known = scores.keys() | set(unanswered)
    whole = _mean(list(scores.values()))
    return Evaluation(
        em=whole.em,
        f1=whole.f1,
        questions=whole.questions,
        by_type={
            name: _mean([score for score in scores.values() if (score.kind or "none") == name])
            for name in sorted({score.kind or "none" for score in scores.values()})
        },
        missing=tuple(missing),
        unknown=tuple(id for id in predictions if id not in known),
        unanswered=tuple(unanswered),
        scores=scores,
    )


def _answers(question: Question) -> tuple[Answer, ...]:
    first = (question.answer,) if question.answer else ()
    return (*first, *question.validated_answers)


def _spans(prediction: object, id: str | None = None) -> Sequence[str]:
    if isinstance(prediction, str):
        return (prediction,)
    if isinstance(prediction, Sequence) and all(isinstance(span, str) for span in prediction):
        return prediction
    where = "The prediction" if id is None else f"The prediction for question {id}"
    raise InputError(f"{where} must be a string or a list of strings but is {prediction!r:.60}.")


def _best(
    predicted: Sequence[str], references: Iterable[Answer], strict: bool
) -> tuple[float, float, Kind | None]:
    best_em = best_f1 = 0.0
    kind: Kind | None = None
    for reference in references:
        if reference.kind is None:
            continue
        texts = reference.texts()
        if strict:
            em, f1 = strict_metric.score_answer(predicted, reference)
        elif texts[0].strip():  # officially a reference is blank if its first text is
            em, f1 = score_texts(predicted, texts)
        else:
            continue
        best_em, best_f1 = max(best_em, em), max(best_f1, f1)
        if (em, f1) == (best_em, best_f1):
            kind = reference.kind
    return best_em, best_f1, kind


def _mean(scores: list[QuestionScore]) -> TypeScore:
    number = len(scores)
    em, f1 = (100 * fsum(values) / number for values in ([s.em for s in scores], [s.f1 for s in scores]))
    return TypeScore(number, em, f1)


@dataclass(frozen=True, slots=True)
class _Bag:
    """A normalised text, its distinct words, and those of them that are numbers."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=1 << 16)
def _bag(text: str) -> _Bag:
    normal = normalise(text)
    words = frozenset(normal.split())
    return _Bag(normal, words, frozenset(word for word in words if _float(word) is not None))


@lru_cache(maxsize=1 << 16)
def _normalise_token(token: str) -> str:
    word = token.lower()
    number = _float(word)
    if number is None:
        word = word.translate(_NO_PUNCTUATION)
        number = _float(word)
    return " ".join(_ARTICLE.sub(" ", word if number is None else str(number)).split())


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _f1(predicted: _Bag, gold: _Bag) -> float:
    if gold.numbers and gold.numbers.isdisjoint(predicted.numbers):
        return 0.0
    if predicted.words == gold.words:
        return 1.0
    common = len(predicted.words & gold.words)
    if not common:
        return 0.0
    precision, recall = common / len(predicted.words), common / len(gold.words)
    return 2 * precision * recall / (precision + recall)


def _round(value: float) -> float:
    """Two digits as numpy rounds them, which differs from Python's own rounding at halves."""
    return round(value * 100) / 100
