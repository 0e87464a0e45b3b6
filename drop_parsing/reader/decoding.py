"""What a reader answers, and what the answer rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Literal

import torch

from drop_parsing.data.reader_columns import ReaderColumns
from drop_parsing.data.types import Passage
from drop_parsing.reader.buckets import prediction_batches
from drop_parsing.reader.collate import Collator
from drop_parsing.reader.gold import kept_numbers
from drop_parsing.reader.heads import HeadName
from drop_parsing.reader.model import Decoded, Reader
from drop_parsing.reader.tagging_head import BEGIN, INSIDE
from extractors.values import format_number


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span that an answer is, or a number that it adds (``sign`` 1) or subtracts (-1).

    ``start`` and ``end`` are characters of the passage or the question; a constant stands in neither and has
    no ``place``.
    """

    text: str
    place: Literal["passage", "question"] | None
    start: int | None
    end: int | None
    value: float | None = None
    sign: int | None = None

    def to_json(self) -> dict[str, Any]:
        fields = {"text": self.text, "place": self.place, "start": self.start, "end": self.end}
        return fields if self.sign is None else {**fields, "value": self.value, "sign": self.sign}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer to one question, as the leaderboard takes it: a string, or a list for several spans.

    ``probability`` is that of the head and of its output together, ``heads`` that of each head. ``evidence``
    is empty for a count. ``head`` is ``None``, and the answer empty, where no head has anything to say.
    """

    question: str
    answer: str | list[str]
    head: HeadName | None
    probability: float
    heads: dict[HeadName, float]
    evidence: tuple[Evidence, ...]

    def summary(self) -> str:
        """One line for a person: the answer, how likely, and what it rests on."""
        if self.head is None:
            return "no answer"
        signed = " ".join(f"{'+' if one.sign == 1 else '-'}{one.text}" for one in self.evidence if one.sign)
        places = ", ".join(f"{one.place}[{one.start}:{one.end}]" for one in self.evidence if one.place)
        answer = self.answer if isinstance(self.answer, str) else " | ".join(self.answer)
        about = " ".join(part for part in (signed, f"at {places}" if places else "") if part)
        return f"{answer} ({self.head}, {self.probability:.3f}){': ' + about if about else ''}"

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "answer": self.answer,
            "head": self.head,
            "probability": self.probability,
            "heads": dict(self.heads),
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }


def predict(
    reader: Reader, collator: Collator, passages: Sequence[Passage], batch_size: int, device: torch.device
) -> Iterator[list[Prediction]]:
    """The predictions for all questions of ``passages``, a list a batch, in an order of our own.

    ``collator`` is over the columns of the same passages. The reader is used in the mode that it is in.
    """
    texts = _Texts(passages)
    for questions in prediction_batches(collator, batch_size):
        with torch.inference_mode():
            decoded = reader.decode(collator(questions).to(device))
        names = list(decoded.best)
        order = decoded.head_log_probabilities.argsort(dim=1, descending=True, stable=True).tolist()
        yield [
            _prediction(collator, texts, decoded, names, row, int(question), order[row])
            for row, question in enumerate(questions)
        ]


class _Texts:
    """Passages and questions by their places in the columns."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.questions = [question for passage in passages for question in passage.questions]


def _prediction(
    collator: Collator,
    texts: _Texts,
    decoded: Decoded,
    names: Sequence[HeadName],
    row: int,
    question: int,
    order: Sequence[int],
) -> Prediction:
    """The answer of the likeliest head that has one: signs without a number are none."""
    heads = dict(zip(names, decoded.head_log_probabilities[row].exp().tolist(), strict=True))
    id = texts.questions[question].id
    for place in order:
        name = names[place]
        choice = decoded.best[name].choice[row].tolist()
        found = _answer(collator, texts, name, choice, question)
        if found is not None:
            answer, evidence = found
            output = exp(decoded.best[name].log_probabilities[row].item())
            return Prediction(id, answer, name, heads[name] * output, heads, evidence)
    return Prediction(id, "", None, 0.0, heads, ())


def _answer(
    collator: Collator, texts: _Texts, head: HeadName, choice: Any, question: int
) -> tuple[str | list[str], tuple[Evidence, ...]] | None:
    columns = collator.columns
    passage = int(columns.question_passages[question])
    if head == "count":
        return str(choice), ()
    if head == "add-subtract":
        length = int(collator.passage_lengths[passage])
        return _sum(columns, texts.passages[passage].text, passage, length, choice)
    if head == "question-span":
        starts, ends = columns.question_starts[question], columns.question_ends[question]
        text = texts.questions[question].text
        spans = _spans([choice], starts, ends, text, "question")
    else:
        starts, ends = columns.passage_starts[passage], columns.passage_ends[passage]
        text = texts.passages[passage].text
        chosen = [choice] if head == "passage-span" else _tagged(choice)
        spans = _spans(chosen, starts, ends, text, "passage")
    if not spans:
        return None
    # A text that is tagged several times is one span of the answer.
    answers = list(dict.fromkeys(span.text for span in spans))
    return (answers if head == "multi-span" and len(answers) > 1 else answers[0]), tuple(spans)


def _spans(
    tokens: Sequence[Sequence[int]], starts: Any, ends: Any, text: str, place: Literal["passage", "question"]
) -> list[Evidence]:
    bounds = [(int(starts[first]), int(ends[last])) for first, last in tokens if last < len(ends)]
    return [Evidence(text[start:end], place, start, end) for start, end in bounds]


def _tagged(tags: Sequence[int]) -> list[list[int]]:
    """The spans (first token, last token) that tags mark."""
    spans: list[list[int]] = []
    for place, tag in enumerate(tags):
        if tag == BEGIN:
            spans.append([place, place])
        elif tag == INSIDE and spans:
            spans[-1][1] = place
    return spans


def _sum(
    columns: ReaderColumns, text: str, passage: int, length: int, signs: Sequence[int]
) -> tuple[str, tuple[Evidence, ...]] | None:
    kept = kept_numbers(columns, passage, length)
    tokens, values = columns.number_tokens[passage][kept], columns.number_values[passage][kept]
    evidence: list[Evidence] = []
    for token, value, sign in zip(tokens.tolist(), values.tolist(), signs, strict=False):
        if not sign:
            continue
        if token < 0:
            evidence.append(Evidence(format_number(value), None, None, None, value, sign))
        else:
            start, end = (
                int(columns.passage_starts[passage][token]),
                int(columns.passage_ends[passage][token]),
            )
            evidence.append(Evidence(text[start:end], "passage", start, end, value, sign))
    if not evidence:
        return None
    total = sum(
        item.value * item.sign for item in evidence if item.value is not None and item.sign is not None
    )
    return format_number(round(total, 6)), tuple(evidence)
