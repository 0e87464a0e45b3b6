"""Flattened copies of DROP: one row a question, answers as bare strings that are typed by rule.

A row is ``{"context", "completion", "ref_text"}``, with an optional ``id`` of the question:

- ``context`` is ``Passage: ... Question: ... Answer:``, or the passage alone where the row has a
  ``question``. The last ``Question:`` counts; a closing ``Answer:`` is left out.
- ``ref_text`` holds the references, each right by itself: a list, or one string with ``|`` between them.
  A list inside the list is one reference with several spans.
- ``completion`` is the first reference; a row without ``ref_text`` has no other. Where ``completion`` is
  all of a ``ref_text`` list, as a list or joined by commas, the list is one reference with several spans.
"""

import re

from drop_parsing.data.types import Answer, AnswerDate, FieldError, Question, json_type

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?(?<=\d)")
_DATE = re.compile(rf"(?:(\d{{1,2}}) +)?({_MONTHS})(?: +(\d{{3,4}}))?")
_YEAR = re.compile(r"[12]\d{3}")
_ASKS_FOR_YEAR = re.compile(r"\b(?:what|which) year\b|^when\b", re.IGNORECASE)
_LABEL = re.compile(r"\s*Passage:\s*")
_ANSWER = re.compile(r"\s*Answer:\s*$")


def split_context(row: dict[str, object]) -> tuple[str, str]:
    """The passage and the question of a row. Raises :class:`FieldError` where one is missing."""
    context, question = row.get("context"), row.get("question")
    if not isinstance(context, str):
        raise FieldError("context", f"must be a string but is {json_type(context)}")
    passage = context
    if question is None:
        passage, label, question = context.rpartition("Question:")
        if not label:
            raise FieldError("context", "holds no question: write 'Passage: ... Question: ...'")
        question = _ANSWER.sub("", question)
    if not isinstance(question, str):
        raise FieldError("question", f"must be a string but is {json_type(question)}")
    return _LABEL.sub("", passage, count=1).strip(), question.strip()


def read_row(row: dict[str, object], passage: str, question: str, made_id: str) -> Question:
    """The question of a row with its typed answers. Raises :class:`FieldError` for a field of wrong type."""
    id = row.get("query_id", row.get("id", made_id))
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise FieldError("id", f"must be a string but is {json_type(id)}")
    answers = [_typed(reference, passage, question) for reference in _references(row)]
    distinct = tuple(dict.fromkeys(answer for answer in answers if answer.kind))
    return Question(str(id), question, distinct[0] if distinct else None, distinct[1:])


def _references(row: dict[str, object]) -> list[str | list[str]]:
    completion, listed = row.get("completion"), row.get("ref_text")
    first = [] if completion is None else [_reference(completion, "completion")]
    if listed is None:
        return first
    if isinstance(listed, str):
        references: list[str | list[str]] = [*listed.split("|")]
    elif isinstance(listed, list):
        references = [_reference(item, f"ref_text[{index}]") for index, item in enumerate(listed)]
        flat = [text for text in references if isinstance(text, str)]
        if len(flat) > 1 and (completion == flat or completion in (", ".join(flat), ",".join(flat))):
            return [flat]
    else:
        raise FieldError("ref_text", f"must be a string or a list but is {json_type(listed)}")
    return first + references


def _reference(value: object, name: str) -> str | list[str]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    raise FieldError(name, f"must be a string or a list of strings but is {json_type(value)}")


def _typed(reference: str | list[str], passage: str, question: str) -> Answer:
    if isinstance(reference, list):
        return Answer(date=AnswerDate(), spans=tuple(reference))
    return type_answer(reference.strip(), passage, question)


def type_answer(text: str, passage: str, question: str) -> Answer:
    """The answer that a bare string stands for.

    Digits are a number, or a year where the question asks for one; ``[day] Month [year]`` with a day or a
    year is a date; a list with commas is several spans if it does not occur in passage or question as it
    stands but all its parts do; all else is one span.
    """
    if _YEAR.fullmatch(text) and _ASKS_FOR_YEAR.search(question):
        return Answer(date=AnswerDate(year=text))
    if text and _NUMBER.fullmatch(text):
        return Answer(number=text, date=AnswerDate())
    date = _DATE.fullmatch(text)
    if date and (date[1] or date[3]):
        return Answer(date=AnswerDate(date[1] or "", date[2], date[3] or ""))
    source = f"{passage}\n{question}".casefold()
    return Answer(date=AnswerDate(), spans=_split_spans(text, source))


def _split_spans(text: str, source: str) -> tuple[str, ...]:
    """``text`` cut at commas into the longest parts that occur in ``source``; uncut if some part does not."""
    parts = text.split(", ")
    spans: list[str] = []
    start = 0
    while start < len(parts):
        for end in range(len(parts), start, -1):
            span = ", ".join(parts[start:end])
            if span.casefold() in source:
                spans.append(span)
                start = end
                break
        else:
            return (text,)
    return tuple(spans)
