"""The agenda of a question: of the forms that reach its answer, one that means it stands near the top."""

import pytest

from drop_parsing.data.types import Answer
from drop_parsing.goal import AnswerGoal
from drop_parsing.ordering import TRIGGERS, agenda
from drop_parsing.searching import SearchSettings, preferred_forms, search_question
from extractors.registry import make_extractor
from extractors.table import Paragraph
from grammar.functions import FUNCTIONS

KICKS = "Brook kicked 3 goals, Hale kicked 3 goals, and rain fell for 3 days."
SALES = "In May Ada sold 15 boats. In June Ada sold 4 boats. In June Bram sold 81 boats."


def test_every_trigger_is_a_function() -> None:
    assert set(TRIGGERS) <= set(FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "question", "answer", "first", "names"),
    [
        (KICKS, "How many goals did Hale kick?", "3", 20, ["string:hale", "relation:obj"]),
        (SALES, "How many boats did Ada sell in total?", "19", 20, ["(sum", "string:ada", "relation:obj"]),
        (SALES, "Who sold the most boats?", "Bram", 10, ["argmax", "relation:obj", "relation:nsubj"]),
    ],
)
def test_a_form_that_means_the_question_is_among_the_first(
    text: str, question: str, answer: str, first: int, names: list[str]
) -> None:
    """Report S18: beside those that only reach the answer."""
    table = make_extractor("syndep").extract(Paragraph("p", text))
    goal = AnswerGoal([Answer(spans=(answer,))])
    found, _ = search_question(question, goal, table, SearchSettings())
    assert found.size == 3
    forms = list(map(str, preferred_forms(found, question, first)))
    assert [form for form in forms if all(name in form for name in names)] != []


def test_what_a_question_shares_with_a_form_counts_for_it() -> None:
    score = agenda("How many goals did Hale kick in total?")
    hale = score("filter_in", ("relation:nsubj", "string:hale"))
    assert hale > score("filter_not_in", ("relation:nsubj", "string:hale"))
    assert hale > score("first", ())
    assert score("sum", ("relation:obj",)) > score("average", ("relation:obj",))
    assert score("filter_in", ("relation:obj", "string:field_goals")) > hale
    assert score("select", ("relation:clause",)) < score("select", ("relation:obj",))
