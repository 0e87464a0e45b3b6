"""DROP's own JSON: one passage with its questions and typed answers, read and written back."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drop_parsing.data.json_stream import Repeated
from drop_parsing.data.types import Answer, Fault, FieldError, Passage, Question, json_type


def read_passage(id: str, data: object, file: str, where: str) -> Iterator[Passage | Fault]:
    """The passage under ``id``, after a fault for each question that cannot be read; or a fault instead.

    ``data`` is ``{"passage": ..., "qa_pairs": [...]}``; a passage without ``qa_pairs`` has no questions, and
    questions without ``answer`` are read without one. Unknown keys are ignored. A question without
    ``query_id`` gets the passage's id and its own number, from 1.
    """
    if not isinstance(data, dict):
        yield Fault(file, where, f"a passage must be an object but is {json_type(data)}")
        return
    if isinstance(data, Repeated):
        yield Fault(file, where, f"the key {data.keys_twice[0]!r} occurs twice in this passage")
        return
    text = data.get("passage")
    if not isinstance(text, str):
        yield Fault(file, where, f"field passage must be a string but is {json_type(text)}")
        return
    pairs = data.get("qa_pairs")
    if pairs is not None and not isinstance(pairs, list):
        yield Fault(file, where, f"field qa_pairs must be a list but is {json_type(pairs)}")
        pairs = None
    questions = []
    for number, pair in enumerate(pairs or (), 1):
        query_id = pair.get("query_id") if isinstance(pair, dict) else None
        name = query_id if isinstance(query_id, str) else f"number {number}"
        try:
            questions.append(read_question(pair, f"{id}:{number}"))
        except FieldError as error:
            yield Fault(file, f"{where}, question {name}", f"field {error}")
    yield Passage(id, text, tuple(questions))


def read_question(pair: object, made_id: str) -> Question:
    """One question with its answers. Raises :class:`FieldError` for a field that is missing or of wrong type."""
    if not isinstance(pair, dict):
        raise FieldError(f"qa_pairs[{made_id}]", f"must be an object but is {json_type(pair)}")
    if isinstance(pair, Repeated):
        raise FieldError(pair.keys_twice[0], "occurs twice")
    answer, validated = pair.get("answer"), pair.get("validated_answers")
    if validated is not None and not isinstance(validated, list):
        raise FieldError("validated_answers", f"must be a list but is {json_type(validated)}")
    return Question(
        _string(pair, "query_id", made_id),
        _string(pair, "question"),
        None if answer is None else Answer.from_json(answer),
        tuple(Answer.from_json(item, f"validated_answers[{n}]") for n, item in enumerate(validated or ())),
    )


def _string(pair: dict[str, Any], field: str, default: str | None = None) -> str:
    value = pair.get(field, default)
    if not isinstance(value, str):
        problem = f"must be a string but is {json_type(value)}" if field in pair else "is missing"
        raise FieldError(field, problem)
    return value


def passages_to_json(passages: Iterable[Passage]) -> dict[str, Any]:
    """The passages as DROP JSON: what :func:`read_passage` read, without the keys that it ignores."""
    return {passage.id: passage_to_json(passage) for passage in passages}


def passage_to_json(passage: Passage) -> Mapping[str, Any]:
    """One passage as the value under its id; questions without an answer have no ``answer`` key."""
    return {"passage": passage.text, "qa_pairs": [_question_to_json(q) for q in passage.questions]}


def _question_to_json(question: Question) -> dict[str, Any]:
    pair: dict[str, Any] = {"question": question.text, "query_id": question.id}
    if question.answer is not None:
        pair["answer"] = question.answer.to_json()
    pair["validated_answers"] = [answer.to_json() for answer in question.validated_answers]
    return pair
