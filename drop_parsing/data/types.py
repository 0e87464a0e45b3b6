"""Passages, questions and typed answers, as the DROP files hold them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

#: The four answer types of the DROP paper: ``span`` is one span, ``spans`` several that are all asked for.
Kind = Literal["number", "date", "span", "spans"]


class FieldError(ValueError):
    """A JSON field of the wrong type: ``field`` is its path, the message says what it must be."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = field


def json_type(value: object) -> str:
    """What a JSON value is, in words, for messages; a number is quoted."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _string(value: object, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(name, f"must be a string but is {json_type(value)}")
    return value


@dataclass(frozen=True, slots=True)
class AnswerDate:
    """A date as DROP writes it: free strings, blank where the answer leaves a part out."""

    day: str = ""
    month: str = ""
    year: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.day, self.month, self.year) if part.strip())


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, raw strings as in the file.

    A few answers in the contrast sets fill several fields; like the official evaluator, ``kind`` and
    ``texts`` then take the number first, the spans next and the date last. ``date`` is ``None`` where the
    file has an empty object.
    """

    number: str = ""
    date: AnswerDate | None = None
    spans: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """The strings that the official evaluator compares: all of them are asked for. Empty if blank."""
        if self.number:
            return (self.number,)
        if self.spans:
            return self.spans
        date = str(self.date) if self.date else ""
        return (date,) if date else ()

    @property
    def kind(self) -> Kind | None:
        """The answer's type; ``None`` where every text is blank, so that nothing can match it."""
        if not any(text.strip() for text in self.texts()):
            return None
        if self.number:
            return "number"
        if self.spans:
            return "span" if len(self.spans) == 1 else "spans"
        return "date"

    @property
    def value(self) -> float | None:
        """The value of a number answer (``16,000`` is 16000.0); ``None`` for anything else."""
        try:
            value = float(self.number.replace(",", ""))
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    @classmethod
    def from_json(cls, data: object, name: str = "answer") -> "Answer":
        """The answer in DROP's JSON form. Unknown keys are ignored, absent and null fields are blank.

        Raises :class:`FieldError` with the field's path, starting at ``name``.
        """
        if not isinstance(data, Mapping):
            raise FieldError(name, f"must be an object but is {json_type(data)}")
        date = {} if data.get("date") is None else data["date"]
        if not isinstance(date, Mapping):
            raise FieldError(f"{name}.date", f"must be an object but is {json_type(date)}")
        spans = [] if data.get("spans") is None else data["spans"]
        if not isinstance(spans, list):
            raise FieldError(f"{name}.spans", f"must be a list of strings but is {json_type(spans)}")
        for index, span in enumerate(spans):
            if not isinstance(span, str):
                raise FieldError(f"{name}.spans[{index}]", f"must be a string but is {json_type(span)}")
        parts = [_string(date.get(part), f"{name}.date.{part}") for part in ("day", "month", "year")]
        return cls(
            _string(data.get("number"), f"{name}.number"), AnswerDate(*parts) if date else None, tuple(spans)
        )

    def to_json(self) -> dict[str, Any]:
        """DROP's JSON form, the inverse of :meth:`from_json`."""
        date = self.date
        return {
            "number": self.number,
            "date": {"day": date.day, "month": date.month, "year": date.year} if date else {},
            "spans": list(self.spans),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``answer`` is ``None`` in files without answers; ``validated_answers`` are further
    references, each right by itself."""

    id: str
    text: str
    answer: Answer | None = None
    validated_answers: tuple[Answer, ...] = ()

    @property
    def references(self) -> tuple[Answer, ...]:
        """Every answer that is not blank, the first one first, without repeats."""
        answers = (self.answer, *self.validated_answers) if self.answer else self.validated_answers
        distinct = {(answer.kind, answer.texts()): answer for answer in reversed(answers) if answer.kind}
        return tuple(reversed(distinct.values()))


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph with its questions, of which there may be none."""

    id: str
    text: str
    questions: tuple[Question, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in an input that could not be read as it stands.

    ``where`` names the line, or the passage and the question. ``kept`` is true where the item was mended
    and is still delivered; otherwise that item, and only that item, is left out.
    """

    file: str
    where: str
    message: str
    kept: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.where}: {self.message}"
