from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import argument, table, tables

from extractors.table import Table
from extractors.values import Date as FoundDate
from grammar.executor import cells_used, execute, explain, texts_of
from grammar.functions import FUNCTIONS, function
from grammar.language import Language
from grammar.types import Date, Number, Relation, Rows, String, Text
from grammar.view import View


def found(year: int | None = None, month: int | None = None, day: int | None = None, quarter: int | None = None,
          last_year: int | None = None) -> FoundDate:  # fmt: skip
    return FoundDate(year, month, day, quarter, 0, 1, last_year)


PLACES = [("Norway", "conj"), ("Malta", "conj"), ("Ural", "conj")]
GAME = table(
    {"verb": argument("kicked", 10), "nsubj": argument("Prater", 0, entities=[("Prater", "PERSON")]),
     "obj": argument("a 45-yard goal", 20, [45]), "obl:in": argument("the first quarter", 40, dates=[found(quarter=1)])},
    {"verb": argument("kicked", 70), "nsubj": argument("Gould", 60, entities=[("Gould", "PERSON")]),
     "obj": argument("goals of 20 and 31 yards", 80, [20, 31]),
     "obl:in": argument("the third quarter", 110, dates=[found(quarter=3)])},
    {"verb": argument("toured", 150), "nsubj": argument("Prater", 140),
     "obj": argument("Norway, Malta and Ural", 160, phrases=PLACES)},
    {"verb": argument("rose", 200), "obl:in": argument("May 1914", 190, dates=[found(1914, 5)]),
     "obj": argument("21.8% under 18, 13.1% over 60", 210, [21.8, 18, 13.1, 60])},
)  # fmt: skip
LANGUAGE = Language(View(GAME))


def run(form: str) -> tuple[str, ...]:
    return texts_of(execute(LANGUAGE.check(form), LANGUAGE))


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("(select (argmax (filter_in all_structures relation:obj string:goal) relation:obj) relation:nsubj)", ("Prater",)),
        ("(select (argmin (filter_in all_structures relation:obj string:goal) relation:obj) relation:nsubj)", ("Gould",)),
        ("(select (argmax (filter_in all_structures relation:verb string:kicked) relation:obl:in) relation:nsubj)", ("Gould",)),
        ("(mode all_structures relation:nsubj)", ("Prater",)),
        ("(select (previous (last all_structures)) relation:obj)", ("Norway, Malta and Ural",)),
        ("(select (next (first all_structures)) relation:nsubj)", ("Gould",)),
        ("(max all_structures relation:obj)", ("45",)),
        ("(min all_structures relation:obj)", ("20",)),
        ("(sum all_structures relation:obj)", ("86.8",)),
        ("(average (filter_in all_structures relation:verb string:kicked) relation:obj)", ("32.5",)),
        ("(count_structures (filter_not_in all_structures relation:nsubj string:prater))", ("2",)),
        ("(count_structures (union (first all_structures) (last all_structures)))", ("2",)),
        ("(count_structures (intersection (first all_structures) (last all_structures)))", ("0",)),
        ("(extract_phrase all_structures relation:obj part:conj)", ("Norway", "Malta", "Ural")),
        ("(count_phrases all_structures relation:obj part:conj)", ("3",)),
        ("(first_phrase all_structures relation:obj part:conj)", ("Norway",)),
        ("(last_phrase all_structures relation:obj part:conj)", ("Ural",)),
        ("(extract_phrase all_structures relation:nsubj part:person)", ("Prater", "Gould")),
        ("(both (extract_entity (first all_structures) relation:nsubj) (select (last all_structures) relation:verb))",
         ("Prater", "rose")),
        ("(number_near (last all_structures) relation:obj string:over)", ("13.1",)),
        ("(complement (number_near (last all_structures) relation:obj string:under))", ("78.2",)),
        ("(add (max all_structures relation:obj) 5)", ("50",)),
        ("(year (extract_date (last all_structures) relation:obl:in))", ("1914",)),
        ("(extract_date (last all_structures) relation:obl:in)", ("May 1914",)),
        ("(select (filter_date_equals all_structures relation:obl:in (date -1 -1 -1 3)) relation:nsubj)", ("Gould",)),
        ("(compare_greater all_structures relation:obj string:prater string:gould)", ("prater",)),
        ("(compare_lesser all_structures relation:obj string:prater string:gould)", ("gould",)),
        ("(compare_earlier all_structures string:gould string:prater)", ("prater",)),
        ("(compare_later all_structures string:gould string:prater)", ("gould",)),
        ("(compare_more all_structures string:gould string:prater)", ("prater",)),
    ],
)  # fmt: skip
def test_meaning(form: str, answer: tuple[str, ...]) -> None:
    assert run(form) == answer


@pytest.mark.parametrize(
    "form",
    [
        "(extract_number (first all_structures) relation:nsubj)",
        "(max (filter_in all_structures relation:nsubj string:nobody) relation:obj)",
        "(average all_structures relation:nsubj)",
        "(diff (max all_structures relation:nsubj) 5)",
        "(diff 5 (extract_number (filter_in all_structures relation:obj string:none) relation:obj))",
        "(select (filter_in all_structures relation:obj string:none) relation:obj)",
        "(mode (next (last all_structures)) relation:verb)",
        "(extract_entity all_structures relation:obj)",
        "(extract_date all_structures relation:obj)",
        "(date -1 -1 -1 -1)",
        "(date 2004.5 -1 -1 -1)",
        "(date 2004 13 -1 -1)",
        "(date 2004 -5 -1 -1)",
        "(date 0 5 -1 -1)",
        "(date -1 -1 -1 9)",
        "(number_near (last all_structures) relation:obj string:nothing)",
        "(compare_greater all_structures relation:obj string:prater string:prater)",
        "(compare_more all_structures string:nobody string:noone)",
        "(both (select all_structures relation:verb) (select all_structures relation:verb))",
    ],
)
def test_what_is_not_there_has_no_denotation(form: str) -> None:
    """The original executes a missing number as -1 and an empty maximum as 0: forms match by accident."""
    assert execute(LANGUAGE.check(form), LANGUAGE) is None


@pytest.mark.parametrize(
    ("form", "number"),
    [
        ("(year_diff (date 1920 -1 -1 -1) (date 1914 5 3 -1))", 6),
        ("(year_diff (date 14 -1 -1 -1) (date -44 -1 -1 -1))", 57),  # there is no year 0
        ("(month_diff (date 1920 2 -1 -1) (date 1919 11 -1 -1))", 3),
        ("(month_diff (date -1 7 -1 -1) (date -1 5 -1 -1))", 2),
        ("(day_diff (date 1920 3 1 -1) (date 1920 2 28 -1))", 2),
        ("(day_diff (date -1 3 1 -1) (date -1 2 28 -1))", 1),
    ],
)
def test_differences_of_dates(form: str, number: float) -> None:
    assert run(form) == (str(number),)


@pytest.mark.parametrize(
    "form",
    [
        "(month_diff (date 1920 2 -1 -1) (date -1 11 -1 -1))",
        "(day_diff (date 1920 2 30 -1) (date 1920 2 1 -1))",
        "(day_diff (date 1920 2 -1 -1) (date 1920 2 1 -1))",
        "(year_diff (date -1 2 -1 -1) (date 1920 2 1 -1))",
    ],
)
def test_differences_that_the_known_parts_do_not_decide(form: str) -> None:
    assert execute(LANGUAGE.check(form), LANGUAGE) is None


partial_dates = st.builds(
    Date,
    st.sampled_from([None, -44, 1913, 1914]),
    st.sampled_from([None, 1, 12]),
    st.sampled_from([None, 1, 30]),
    st.sampled_from([None, 1, 4]),
    st.none(),
)


@given(partial_dates, partial_dates)
def test_dates_compare_the_same_both_ways_round(one: Date, other: Date) -> None:
    order = one.compare(other)
    assert other.compare(one) == (None if order is None else -order)
    assert one.agrees(other) == other.agrees(one)
    if order == 0:
        assert one.agrees(other)


def test_ranges_of_years_compare_by_both_ends() -> None:
    nineties = Date(1990, last_year=1999)
    assert nineties.compare(Date(1989)) == 1
    assert nineties.compare(Date(2000)) == -1
    assert nineties.compare(Date(1995)) is None
    assert nineties.agrees(Date(1995))
    assert not nineties.agrees(Date(2000))


@given(tables(max_rows=5), st.integers(0, 31))
def test_filters_decide_row_by_row(made: Table, mask: int) -> None:
    view = View(made)
    rows = Rows(mask & view.all)
    samples = {"String": (argument_text("goal"),), "Number": Number(2.0), "Date": Date(1914)}
    for f in FUNCTIONS.values():
        if f.scope == "each":
            for relation in view.relations:
                value = samples[f.arguments[2]]
                whole = f.call(view, view.all, relation, value)
                assert f.call(view, rows, relation, value) == rows & whole  # type: ignore[operator]


@given(tables(max_rows=5), st.integers(0, 31))
def test_functions_depend_on_what_their_scope_says(made: Table, mask: int) -> None:
    view = View(made)
    rows = Rows(mask & view.all)
    for f in FUNCTIONS.values():
        seen = {"first": rows & -rows, "number": (1 << rows.bit_count()) - 1}
        for relation in view.relations:
            for arguments in further(f.arguments[1:], view, relation):
                held = {"holding": rows & view.holding[f.needs][relation]}
                if f.scope == "part":
                    held["part"] = rows & view.with_part(relation, arguments[1])
                if f.scope in seen | held:
                    within = Rows((seen | held)[f.scope])
                    assert f.call(view, rows, *arguments) == f.call(view, within, *arguments)


def further(types: tuple[str, ...], view: View, relation: Relation) -> Iterator[tuple[object, ...]]:
    if not types:
        yield ()
    elif types == ("Relation",):
        yield (relation,)
    elif types == ("Relation", "Part"):
        yield from ((relation, part) for part in view.parts)
    elif types == ("Relation", "String"):
        yield (relation, (argument_text("goal"),))


def argument_text(word: str) -> Text:
    return Text(word, word)


def test_arguments_bind_by_position_whatever_parameters_are_called() -> None:
    """Report S15: a parameter named like something the executor holds must not take its value."""

    @function()
    def longest_test(view: View, rows: Rows, relation: Relation) -> Rows:
        """The first row whose cell is longest."""
        texts = view.texts[relation]
        chosen = max((i for i in range(view.size) if rows >> i & 1), key=lambda i: len(texts[i]))
        return Rows(1 << chosen)

    @function()
    def longest_other_test(view: View, language: Rows, form: Relation) -> Rows:
        """The same under other parameter names."""
        return longest_test(view, language, form)

    try:
        for rows in (
            "all_structures",
            "(last all_structures)",
            "(filter_in all_structures relation:verb string:rose)",
        ):
            mine = execute(LANGUAGE.check(f"(longest_test {rows} relation:verb)"), LANGUAGE)
            assert mine == execute(LANGUAGE.check(f"(longest_other_test {rows} relation:verb)"), LANGUAGE)
    finally:
        del FUNCTIONS["longest_test"], FUNCTIONS["longest_other_test"]


def test_a_clash_is_refused_when_the_function_is_defined() -> None:
    def max(view: View, rows: Rows, relation: Relation) -> Number | None:
        return None

    with pytest.raises(TypeError, match="already has a function named 'max'"):
        function()(max)


def test_a_signature_outside_the_types_is_refused() -> None:
    def shout(view: View, rows: Rows, loudness: int) -> String | None:
        return None

    with pytest.raises(TypeError, match="no types for the signature of 'shout'"):
        function()(shout)
    assert "shout" not in FUNCTIONS


def test_an_explanation_has_each_step_with_its_cells() -> None:
    form = LANGUAGE.check(
        "(extract_number (filter_in all_structures relation:nsubj string:gould) relation:obj)"
    )
    steps = explain(form, LANGUAGE)
    assert [step.form.name for step in steps] == ["all_structures", "filter_in", "extract_number"]
    assert steps[-1].denotation == 20
    assert [(c.text, c.start, c.label) for c in cells_used(form, LANGUAGE)] == [
        ("Gould", 60, "nsubj"),
        ("goals of 20 and 31 yards", 80, "obj"),
    ]


RESULTS = {"Rows": int, "Number": float, "Date": Date, "String": tuple}


@given(tables(max_rows=3), st.integers(0, 7))
def test_functions_return_the_type_that_they_say(made: Table, mask: int) -> None:
    """A number that came back as an int would be taken for rows."""
    view = View(made)
    values: dict[str, list[object]] = {
        "Rows": [Rows(mask & view.all)],
        "Relation": list(view.relations[:2]),
        "Part": list(view.parts[:2]),
        "Number": [Number(3.0), Number(-1.0)],
        "Date": [Date(1914, 5, 3), Date(1914, 7, 1)],
        "String": [(argument_text("goal"),), (argument_text("rain"),)],
    }
    for f in FUNCTIONS.values():
        for arguments in product(*(values[name] for name in f.arguments)):
            result = f.call(view, *arguments)
            assert result is None or type(result) is RESULTS[f.result], f.name


def test_a_statement_of_a_list_ends_at_its_comma() -> None:
    text = "31.7% from 25 to 44, 20.1% from 45 to 64"
    census = View(table({"verb": argument("had"), "obj": argument(text, 4, [31.7, 25, 44, 20.1, 45, 64])}))
    assert census.number_near(Relation("obj"), 0, "25_to_44") == 31.7
    assert census.number_near(Relation("obj"), 0, "45_to_64") == 20.1


@pytest.mark.parametrize(
    ("form", "cells"),
    [
        ("(extract_number all_structures relation:obj)", ["a 45-yard goal"]),
        ("(max all_structures relation:obj)", [c.text for row in GAME.rows for c in row.cell("obj")]),
        ("(extract_phrase all_structures relation:obj part:conj)", ["Norway, Malta and Ural"]),
        (
            "(compare_greater all_structures relation:obj string:prater string:gould)",
            ["Prater", "a 45-yard goal", "Gould", "goals of 20 and 31 yards"],
        ),
        ("(compare_later all_structures string:prater string:gould)", ["Prater", "Gould"]),
        ("(count_structures all_structures)", []),
    ],
)
def test_cells_are_those_that_the_answer_rests_on(form: str, cells: list[str]) -> None:
    assert [cell.text for cell in cells_used(LANGUAGE.check(form), LANGUAGE)] == cells
