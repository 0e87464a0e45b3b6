from collections.abc import Callable

import pytest

from drop_parsing.literals import MAX_STRINGS
from drop_parsing.searching import language_of
from extractors.registry import make_extractor
from extractors.table import Paragraph
from grammar.language import Literals
from grammar.types import Date
from grammar.view import View

TEXT = (
    "In the city, 21.8% were under the age of 18, 31.7% from 25 to 44 and 20.1% from 45 to 64. "
    "The Redskins kicked two field goals in May 1914, and Müller scored 12 points."
)


@pytest.fixture(scope="module")
def literals() -> Callable[[str], Literals]:
    view = View(make_extractor("syndep").extract(Paragraph("p", TEXT)))
    return lambda question: language_of(question, view).literals


def test_the_words_of_a_question_that_the_table_has(literals: Callable[[str], Literals]) -> None:
    found = literals("How many field goals did the Redskins kick in the whirlwind season?")
    assert [text.key for text in found.strings] == ["field_goals", "field", "goal", "redskins", "kick"]


def test_longer_sequences_stand_as_in_the_question(literals: Callable[[str], Literals]) -> None:
    found = literals("Which age group is larger: 25 to 44 or 45 to 64?")
    assert {"25 to 44", "45 to 64"} <= {text.surface for text in found.strings}


def test_numbers_and_dates_are_the_questions(literals: Callable[[str], Literals]) -> None:
    found = literals("Did more than 1,200 people or a third of them come before 7 May 1914 or in the 1990s?")
    assert found.numbers == (1200.0, 0.33333333)
    assert found.dates == (Date(1914, 5, 7), Date(1990, last_year=1999))


def test_accents_and_case_do_not_matter(literals: Callable[[str], Literals]) -> None:
    assert "muller" in [text.key for text in literals("What did MULLER score?").strings]


def test_a_question_of_any_length_has_few_literals(literals: Callable[[str], Literals]) -> None:
    assert len(literals(TEXT * 3).strings) == MAX_STRINGS


def test_a_question_without_words(literals: Callable[[str], Literals]) -> None:
    assert literals(" ?! ") == Literals()
