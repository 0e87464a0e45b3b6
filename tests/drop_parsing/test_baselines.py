"""The baselines that do not read, and people against people."""

import pytest

from drop_parsing.baselines import human, majority, question_kind
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError


def number(value: str) -> Answer:
    return Answer(number=value)


def asked(*questions: tuple[str, Answer | None]) -> Passage:
    return Passage(
        "p", "", tuple(Question(f"q{n}", text, answer) for n, (text, answer) in enumerate(questions))
    )


TRAIN = [
    asked(
        ("How many boats sank?", number("2")),
        ("How many boats sailed?", number("2")),
        ("How many boats came?", number("5")),
        ("How many men came?", number("9")),
        ("Who came?", Answer(spans=("Ada", "Bo"))),
        ("Which town fell?", Answer(spans=("Carn",))),
        ("Why?", None),
        ("Who left?", Answer()),
    )
]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How many yards was it?", ("how", "many", "yards")),
        ("How long?", ("how", "long")),
        ("Who won?", ("who",)),
        ("In which year?", ("in", "which")),
        ("?", ()),
        ("", ()),
    ],
)
def test_the_kind_of_a_question(text: str, kind: tuple[str, ...]) -> None:
    assert question_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("How many boats were there?", "2"),
        ("How many men were there?", "9"),
        ("How many nets were there?", "2"),  # no such nouns in training: as of all "how" questions
        ("Who was there?", ["Ada", "Bo"]),
        ("Where was it?", "2"),  # as of all questions
        ("", "2"),
    ],
)
def test_the_most_frequent_answer_of_the_kind(text: str, answer: object) -> None:
    assert majority(TRAIN, [Question("x", text)]) == {"x": answer}


def test_without_training_answers_there_is_no_majority() -> None:
    with pytest.raises(InputError, match="No training question has an answer"):
        majority([asked(("Why?", None), ("Who?", Answer()))], [])


def test_people_are_scored_against_the_other_annotators() -> None:
    questions = [
        Question("same", "?", number("5"), (number("5"),)),
        Question("other", "?", number("5"), (number("6"), number("7"))),
        Question("third", "?", number("5"), (number("6"), number("6"))),
        Question("alone", "?", number("5")),
        Question("blank", "?", number("5"), (Answer(),)),
    ]
    scores = human(questions)
    assert scores.questions == 3
    assert scores.em == pytest.approx(200 / 3)
    with pytest.raises(InputError, match="validated"):
        human(questions[3:])
    with pytest.raises(InputError, match="kept once"):
        human(questions[1:2])
    with pytest.raises(InputError, match="kept once"):
        human([questions[0], *questions[1:2] * 2])
