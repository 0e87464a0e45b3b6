import pytest
from hypothesis import given
from hypothesis import strategies as st

from drop_parsing.data.metric import score
from drop_parsing.data.types import Answer, AnswerDate
from drop_parsing.goal import AnswerGoal
from grammar.executor import texts_of
from grammar.types import Date, Denotation, Number, Text
from grammar.view import key

WORDS = ("Hull", "the Hull", "Leeds", "3", "3.0", "3 goals", "25%", "12 July 2004", "Infinity", "nan", "")


def string(*surfaces: str) -> tuple[Text, ...]:
    return tuple(Text(surface, key(surface)) for surface in surfaces)


@pytest.mark.parametrize(
    ("answer", "accepted", "refused"),
    [
        (Answer(number="3"), [Number(3.0), string("3")], [Number(4.0), string("3 goals"), string("3", "4")]),
        (Answer(spans=("25%",)), [Number(25.0), string("25%")], [Number(24.0)]),
        (Answer(spans=("the Hull",)), [string("Hull")], [string("Hull", "Leeds"), string("Hull City")]),
        (
            Answer(spans=("Hull", "Leeds")),
            [string("Leeds", "Hull")],
            [string("Hull"), string("Hull", "Hull")],
        ),
        (Answer(date=AnswerDate("12", "July", "2004")), [Date(2004, 7, 12)], [Date(2004, 7), Number(2004.0)]),
        (Answer(date=AnswerDate("", "", "1914")), [Date(1914), Number(1914.0)], [Date(1914, 5)]),
    ],
)
def test_consistent_means_exact_match(
    answer: Answer, accepted: list[Denotation], refused: list[Denotation]
) -> None:
    goal = AnswerGoal([answer])
    assert [d for d in accepted if not goal.accepts(d)] == []
    assert [d for d in refused if goal.accepts(d)] == []


denotations = st.one_of(
    st.sampled_from([Number(3.0), Number(25.0), Number(2.5)]),
    st.sampled_from([Date(2004, 7, 12), Date(2004)]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(lambda words: string(*words)),
)
answers = st.one_of(
    st.sampled_from(["3", "25", "2.5"]).map(lambda n: Answer(number=n)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(lambda w: Answer(spans=tuple(w))),
)


@given(denotations, st.lists(answers, min_size=1, max_size=2), st.booleans())
def test_the_goal_says_what_the_metric_says(
    denotation: Denotation, references: list[Answer], partial: bool
) -> None:
    goal = AnswerGoal(references, partial)
    em, f1 = score(texts_of(denotation), references)
    assert goal.accepts(denotation) == (f1 > 0 if partial else em == 1)


@given(denotations, st.lists(answers, min_size=1, max_size=2), st.booleans())
def test_what_is_accepted_is_not_pruned(
    denotation: Denotation, references: list[Answer], partial: bool
) -> None:
    goal = AnswerGoal(references, partial)
    if goal.accepts(denotation):
        if isinstance(denotation, float):
            assert denotation in goal.numbers
        elif not isinstance(denotation, (Date, int)):
            assert goal.may_serve(denotation)
            assert any(map(goal.may_hold, denotation))
