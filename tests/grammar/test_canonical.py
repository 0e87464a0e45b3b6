"""Canonical forms: the same meaning on every table, no larger, and one for each class."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import WORDS, tables

from extractors.table import Table
from grammar.canonical import ALL, EMPTY, canonical, is_single
from grammar.executor import execute
from grammar.forms import Form, parse
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.view import View

LEAVES = {
    "Relation": ["relation:verb", "relation:arg0", "relation:arg1"],
    "Part": ["part:conj", "part:core", "part:person", "part:entity"],
    "String": [f"string:{word}" for word in WORDS[:3]],
    "Number": ["1", "2", "100"],
    "Date": ["date:1914", "date:1914_3"],
}


@st.composite
def forms(draw: st.DrawFn, type_name: str, depth: int = 4) -> Form:
    """Any well-typed form of a type; relations and parts are those of random tables."""
    producing = [f for f in FUNCTIONS.values() if f.result == type_name]
    if type_name == "Rows" and depth == 0:
        return ALL
    names = LEAVES.get(type_name, [])
    if names and (depth == 0 or not producing or draw(st.booleans())):
        return Form(draw(st.sampled_from(names)))
    function = draw(st.sampled_from(producing))
    return Form(
        function.name, tuple(draw(forms(argument, max(0, depth - 1))) for argument in function.arguments)
    )


def run(form: Form, table: Table) -> object:
    """The denotation of a form, texts as a set; None too where it names a relation or part that the table lacks."""
    language = Language(View(table))
    for sub in form.subforms():
        if sub.name not in FUNCTIONS and language.leaf(sub.name) is None:
            return None
    denotation = execute(form, language)
    return frozenset(denotation) if type(denotation) is tuple else denotation


any_form = st.sampled_from(["Rows", "Number", "String", "Date"]).flatmap(forms)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_form, st.lists(tables(max_rows=3), min_size=2, max_size=2))
def test_a_form_and_its_canonical_form_mean_the_same(form: Form, several: list[Table]) -> None:
    stands = canonical(form)
    for table in several:
        mine = run(form, table)
        if mine is not None:
            assert run(stands, table) == mine


@settings(max_examples=300, deadline=None)
@given(any_form)
def test_a_canonical_form_stands_for_itself_and_is_no_larger(form: Form) -> None:
    stands = canonical(form)
    assert canonical(stands) == stands
    assert len(list(stands.subforms())) <= len(list(form.subforms()))


@settings(max_examples=200, deadline=None)
@given(forms("Rows"), st.lists(tables(max_rows=4), min_size=3, max_size=3))
def test_single_rows_are_one_at_most(form: Form, several: list[Table]) -> None:
    form = canonical(form)
    for table in several:
        rows = run(form, table)
        if is_single(form) and isinstance(rows, int):
            assert rows.bit_count() <= 1
        if form == EMPTY:
            assert rows == 0


F = "(filter_in {} relation:arg0 string:hull)"
G = "(filter_in {} relation:arg0 string:goal)"
A = "all_structures"


@pytest.mark.parametrize(
    ("form", "other"),
    [
        (F.format(G.format(A)), G.format(F.format(A))),
        (F.format(F.format(A)), F.format(A)),
        (F.format(G.format(F.format(A))), F.format(G.format(A))),
        (f"(union {F.format(A)} {G.format(A)})", f"(union {G.format(A)} {F.format(A)})"),
        (f"(intersection {F.format(A)} {G.format(A)})", F.format(G.format(A))),
        (f"(intersection (first {A}) {F.format(A)})", F.format(f"(first {A})")),
        (f"(first (first {A}))", f"(first {A})"),
        (f"(last (argmax {A} relation:arg0))", f"(argmax {A} relation:arg0)"),
        (f"(argmin (argmax {A} relation:arg0) relation:arg0)", f"(argmax {A} relation:arg0)"),
        (f"(next (last {F.format(A)}))", f"(next {F.format(A)})"),
        (F.format(f"(next {A})"), f"(previous {A})"),
        (f"(sum (first {A}) relation:arg0)", f"(extract_number {A} relation:arg0)"),
        ("(add 2 1)", "(add 1 2)"),
        (
            f"(compare_greater {A} relation:arg0 string:hull string:goal)",
            f"(compare_greater {A} relation:arg0 string:goal string:hull)",
        ),
    ],
)
def test_one_form_stands_for_both(form: str, other: str) -> None:
    assert canonical(parse(form).form) == canonical(parse(other).form)


@pytest.mark.parametrize(
    ("form", "other"),
    [
        (f"(first {F.format(A)})", F.format(f"(first {A})")),
        (f"(first (argmax {A} relation:arg0))", f"(first {A})"),
        (f"(argmax (argmin {A} relation:arg0) relation:arg1)", f"(argmin {A} relation:arg0)"),
        (f"(previous (last {A}))", f"(previous {A})"),
        (f"(max {F.format(A)} relation:arg0)", f"(extract_number {F.format(A)} relation:arg0)"),
        ("(diff 2 1)", "(diff 1 2)"),
        (
            f"(compare_greater {A} relation:arg0 string:a string:b)",
            f"(compare_lesser {A} relation:arg0 string:a string:b)",
        ),
        (f"(union {F.format(A)} {G.format(A)})", f"(intersection {F.format(A)} {G.format(A)})"),
    ],
)
def test_what_differs_on_some_table_stays_apart(form: str, other: str) -> None:
    assert canonical(parse(form).form) != canonical(parse(other).form)
