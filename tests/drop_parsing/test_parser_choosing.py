"""Which forms are learnt from: few of each kind and of many kinds, the same from a forest as from a list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import argument, table

pytest.importorskip("torch", reason="the extra models is not installed")

from drop_parsing.data.types import Answer
from drop_parsing.errors import InputError
from drop_parsing.goal import AnswerGoal
from drop_parsing.parser.choosing import choose, diverse, plausibility, score_of, skeleton, units_of
from drop_parsing.searching import Consistent, KeptForm
from grammar.forest import Found
from grammar.forms import Form, parse
from grammar.language import Language, Literals
from grammar.packing import to_bytes
from grammar.search import search
from grammar.types import Text
from grammar.view import View

QUESTION = "How many boats did Hull have?"


@pytest.fixture
def language() -> Language:
    made = table(
        {"verb": argument("had"), "arg0": argument("hull"), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold"), "arg0": argument("leeds"), "arg1": argument("25 boats", 40, [25.0])},
    )
    return Language(View(made), Literals((Text("hull", "hull"), Text("boat", "boat"))))


@pytest.fixture
def found(language: Language) -> Found:
    return search(language, AnswerGoal((Answer(number="70"),)), 1)


def consistent(forms: list[Form], forest: bytes | None = None) -> Consistent:
    return Consistent("", "p", "q", 1, 9, tuple(KeptForm(str(form), ()) for form in forms), forest)


def test_every_kind_comes_before_a_second_of_a_kind(language: Language, found: Found) -> None:
    chosen = choose(consistent([], to_bytes(found)), QUESTION, language, 12, set())
    kinds = [skeleton(str(form)) for form, _ in chosen]
    assert len(set(kinds)) > len(kinds) / 2
    assert chosen[0].log_weight == 0
    weights = [weight for _, weight in chosen]
    assert weights == sorted(weights, reverse=True)


def test_a_forest_and_the_list_of_its_forms_give_the_same(language: Language, found: Found) -> None:
    forms = list(found.forms())
    whole = choose(consistent([], to_bytes(found)), QUESTION, language, len(forms), set())
    listed = choose(consistent(forms), QUESTION, language, len(forms), set())
    assert len(whole) > 20
    by_form = {str(form): weight for form, weight in whole}
    assert {str(form): pytest.approx(weight) for form, weight in listed} == by_form


def test_a_damaged_forest_is_named(language: Language, found: Found) -> None:
    damaged = to_bytes(found)[:-3] + b"abc"
    with pytest.raises(InputError, match=r"question q: .*search again"):
        choose(consistent([], damaged), QUESTION, language, 5, set())


def test_a_function_that_is_called_for_and_a_named_literal_make_a_form_plausible() -> None:
    literals = Literals((Text("Hull", "hull"), Text("boats", "boat"), Text("old boats", "old_boat")))
    rows = "(filter_in all_structures relation:arg0 string:{})"
    most = parse(f"(max {rows.format('hull')} relation:arg1)").form
    least = parse(f"(min {rows.format('hull')} relation:arg1)").form
    without = parse("(max (filter_number_greater all_structures relation:arg1 3) relation:arg1)").form
    inner = parse(f"(max {rows.format('boat')} relation:arg1)").form
    outer = parse(f"(max {rows.format('old_boat')} relation:arg1)").form
    counted = parse("(count_structures all_structures)").form
    score = plausibility("How many boats was the most of Hull?", literals, set())
    assert score_of(most, score) > score_of(least, score)
    assert score_of(most, score) > score_of(without, score)
    assert score_of(outer, score) > score_of(inner, score)
    measured = plausibility("How many boats was the most of Hull?", literals, {"boat"})
    assert score_of(counted, measured) < score_of(counted, score)


def test_the_units_of_a_table_are_those_of_its_numbers() -> None:
    assert units_of(View(table())) == set()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-9, 9), st.sampled_from(["sum", "max", "min"]), st.sampled_from("abc"))),
    st.integers(1, 9),
)
def test_the_chosen_are_some_of_the_given_and_never_one_kind_without_the_others(
    made: list[tuple[float, str, str]], number: int
) -> None:
    scored = [(score, parse(f"({name} all_structures relation:{r})").form) for score, name, r in made]
    chosen = diverse(scored, number)
    assert len(chosen) <= min(number, len(scored))
    given_forms = {str(form) for _, form in scored}
    assert all(str(form) in given_forms and weight <= 0 for form, weight in chosen)
    close = [form for score, form in scored if score >= max(s for s, _ in scored) - 3.0]
    if number >= 3:
        assert {form.name for form in close} <= {form.name for form, _ in chosen}
