"""When a logical form is consistent with a question's answer: by the official metric."""

from collections.abc import Sequence
from math import isfinite

from drop_parsing.data.metric import normalise, score
from drop_parsing.data.types import Answer
from grammar.executor import texts_of
from grammar.types import Denotation, Number, String, Text
from grammar.view import round_off


class AnswerGoal:
    """The references of one question as the goal of a search (``grammar.goal.Goal``).

    A denotation is accepted where its texts match a reference exactly (EM 1), or, if ``partial``, where the
    F1 is above 0: the looser test of the original baseline, which lets partly right spans in.
    """

    def __init__(self, references: Sequence[Answer], partial: bool = False) -> None:
        self.references = tuple(references)
        self.partial = partial
        spans = [[normalise(text) for text in answer.texts()] for answer in self.references]
        self._spans = {span for answer in spans for span in answer}
        self._tokens = {token for span in self._spans for token in span.split()}
        texts = self._tokens if partial else {answer[0] for answer in spans if len(answer) == 1}
        self.numbers = frozenset(number for text in texts if (number := _number(text)) is not None)

    def accepts(self, denotation: Denotation) -> bool:
        if isinstance(denotation, float) and not self.partial:
            return denotation in self.numbers  # the metric compares numbers as numbers
        texts = texts_of(denotation)
        if not texts:
            return False
        em, f1 = score(texts, self.references)
        return f1 > 0 if self.partial else em == 1

    def may_serve(self, string: String) -> bool:
        return (any if self.partial else all)(map(self.may_hold, string))

    def may_hold(self, text: Text) -> bool:
        span = normalise(text.surface)
        if self.partial:
            return not self._tokens.isdisjoint(span.split())
        return span in self._spans


def _number(text: str) -> Number | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return round_off(number) if isfinite(number) else None
