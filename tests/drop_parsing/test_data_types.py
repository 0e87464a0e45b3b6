import pytest

from drop_parsing.data.types import Answer, AnswerDate, FieldError, Question


@pytest.mark.parametrize(
    ("answer", "kind", "texts"),
    [
        (Answer("16,000", AnswerDate()), "number", ("16,000",)),
        (Answer(spans=("Hull",)), "span", ("Hull",)),
        (Answer(spans=("Hull", "Leeds")), "spans", ("Hull", "Leeds")),
        (Answer(date=AnswerDate("", "May", "1914")), "date", ("May 1914",)),
        (Answer(date=AnswerDate("11", "May", "1914")), "date", ("11 May 1914",)),
        (Answer("2", None, ("2nd",)), "number", ("2",)),
        (Answer(date=AnswerDate()), None, ()),
        (Answer(spans=(" ",)), None, (" ",)),
    ],
)
def test_kind_and_texts(answer: Answer, kind: str | None, texts: tuple[str, ...]) -> None:
    assert (answer.kind, answer.texts()) == (kind, texts)
    assert Answer.from_json(answer.to_json()) == answer


@pytest.mark.parametrize(
    ("number", "value"), [("16,000", 16000.0), ("-2.5", -2.5), ("", None), ("nan", None)]
)
def test_value(number: str, value: float | None) -> None:
    assert Answer(number).value == value


def test_references_are_distinct_and_not_blank() -> None:
    question = Question("q", "?", Answer("15"), (Answer(), Answer("15", AnswerDate()), Answer(spans=("15",))))
    assert question.references == (Answer("15"), Answer(spans=("15",)))
    assert Question("q", "?").references == ()


@pytest.mark.parametrize(
    ("data", "field", "problem"),
    [
        ("5", "answer", "a string"),
        ({"number": 5}, "answer.number", "the number 5"),
        ({"number": float("nan")}, "answer.number", "the number nan"),
        ({"number": True}, "answer.number", "a boolean"),
        ({"date": []}, "answer.date", "a list"),
        ({"date": {"year": 1914}}, "answer.date.year", "the number 1914"),
        ({"spans": "Hull"}, "answer.spans", "a string"),
        ({"spans": ["Hull", None]}, "answer.spans[1]", "null"),
    ],
)
def test_a_field_of_wrong_type_is_named(data: object, field: str, problem: str) -> None:
    with pytest.raises(FieldError) as error:
        Answer.from_json(data)
    assert error.value.field == field
    assert problem in str(error.value)


def test_absent_and_null_fields_are_blank() -> None:
    assert Answer.from_json({"number": None, "date": None, "worker_id": 7}) == Answer()
