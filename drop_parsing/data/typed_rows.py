"""Copies of DROP with one row a question, the passage in each: ``{"passage", "question", ...}``.

The answer is in DROP's own form (``answer``, ``validated_answers``), or as in the copy on Hugging Face:
``answers_spans`` is ``{"spans": [...], "types": [...]}`` with ``number``, ``date`` or ``span`` for each string.
There the annotators' answers are one list. It is read so: a number or a date is a reference by itself; where
all are spans they are one answer with several spans, each once; among other types a span is a reference too.
"""

import re

from drop_parsing.data import drop_json
from drop_parsing.data.types import Answer, AnswerDate, FieldError, Question, json_type

_DATE = re.compile(r"(?:(\d{1,2})\s+)?([^\W\d]+)?\s*(\d{3,4})?")


def read_row(row: dict[str, object], made_id: str) -> tuple[str, Question]:
    """The passage and the question of a row. Raises :class:`FieldError` for a field of wrong type."""
    passage = row["passage"]
    if not isinstance(passage, str):
        raise FieldError("passage", f"must be a string but is {json_type(passage)}")
    if "answers_spans" not in row:
        return passage, drop_json.read_question(row, made_id)
    references = tuple(dict.fromkeys(_references(row["answers_spans"])))
    asked = {name: row[name] for name in ("question", "query_id") if name in row}
    question = drop_json.read_question(asked, made_id)
    return passage, Question(question.id, question.text, next(iter(references), None), references[1:])


def _references(value: object) -> list[Answer]:
    if not isinstance(value, dict):
        raise FieldError("answers_spans", f"must be an object but is {json_type(value)}")
    spans, types = (_strings(value, name) for name in ("spans", "types"))
    if len(spans) != len(types):
        raise FieldError("answers_spans", f"has {len(spans)} spans but {len(types)} types")
    given = [(text, kind) for text, kind in zip(spans, types, strict=True) if text.strip()]
    if given and all(kind == "span" for _, kind in given):
        return [Answer(date=AnswerDate(), spans=tuple(dict.fromkeys(text for text, _ in given)))]
    return [_answer(text, kind) for text, kind in given]


def _strings(value: dict[str, object], name: str) -> list[str]:
    items = value.get(name)
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        return items
    raise FieldError(f"answers_spans.{name}", f"must be a list of strings but is {json_type(items)}")


def _answer(text: str, kind: str) -> Answer:
    match kind:
        case "number":
            return Answer(number=text, date=AnswerDate())
        case "date":
            parts = _DATE.fullmatch(text.strip())
            day, month, year = parts.groups("") if parts else ("", "", text)
            return Answer(date=AnswerDate(day, month, year))
        case "span":
            return Answer(date=AnswerDate(), spans=(text,))
    raise FieldError("answers_spans.types", f"holds {kind!r}: number, date or span is expected")
