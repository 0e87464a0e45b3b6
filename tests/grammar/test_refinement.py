"""The classes of a packed forest against those of its forms one by one."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tables import WORDS, argument, table, tables
from test_search import Answer, goals, literals, questions

from extractors.table import Table
from grammar.classes import Meanings, meaning, partition
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language, Literals
from grammar.perturb import changed_tables
from grammar.refinement import refined
from grammar.search import search
from grammar.types import Denotation, Number
from grammar.view import View
from grammar.worlds import Worlds

slow = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@slow
@given(tables(max_rows=3), questions, goals, st.integers(0, 3))
def test_the_parts_of_a_forest_are_the_classes_of_its_forms(
    made: Table, question: Literals, goal: Answer, seed: int
) -> None:
    views = [View(made), *(View(each.table) for each in changed_tables(made, 3, seed))]
    language = Language(views[0], question)
    found = search(language, goal, 1)
    if not 0 < found.count <= 3000:
        return
    tables = range(len(views))
    parts = refined(found.root, Worlds(views), language, tables)
    expected = Counter(_executed(form, language, views) for form in found.forms())
    assert {vector: node.count for vector, node in parts.items()} == expected
    for vector, node in parts.items():
        drawn = {node.form(index) for index in range(min(node.count, 20))}
        assert len(drawn) == min(node.count, 20)
        assert {_executed(form, language, views) for form in drawn} == {vector}


@settings(slow, max_examples=15)
@given(
    tables(max_rows=3, values=False), st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True)
)
def test_also_of_larger_forms(made: Table, words: list[str]) -> None:
    views = [View(made), *(View(each.table) for each in changed_tables(made, 2, 0))]
    language = Language(views[0], literals(words, [], []))
    found = search(language, Answer(texts=frozenset(words[:1])), 2)
    if not 0 < found.count <= 4000:
        return
    parts = refined(found.root, Worlds(views), language, range(len(views)))
    expected = Counter(_executed(form, language, views) for form in found.forms())
    assert {vector: node.count for vector, node in parts.items()} == expected


def test_a_sample_meets_only_classes_that_are_there_and_its_bounds_mostly_hold() -> None:
    rows = [
        {"verb": argument("goal"), "arg0": argument(word, 5), "arg1": argument(f"{n}", 12, [n])}
        for word, n in zip(WORDS, (3, 1, 3, 2, 3, 4), strict=True)
    ]
    made = table(*rows)
    views = [View(made), *(View(each.table) for each in changed_tables(made, 4, 0))]
    language = Language(views[0], literals(["hull", "leeds"], [2.0], []))
    found = search(language, Answer(frozenset({Number(3.0)})), 1)
    meanings = Meanings(Worlds(views), language, range(len(views)))
    exact = partition(found, [], meanings, 40, 0)
    sizes = {meaning(one.vector): one.forms for one in exact.classes}
    assert exact.exact
    assert sum(sizes.values()) == found.count
    assert len(sizes) > 20
    meanings.parts = lambda found: None  # type: ignore[method-assign]
    held = Counter[bool]()
    for seed in range(40):
        sampled = partition(found, [], meanings, 40, seed)
        assert not sampled.exact
        assert all(meaning(one.vector) in sizes for one in sampled.classes)
        held.update(one.low <= sizes[meaning(one.vector)] <= one.high for one in sampled.classes)
        assert sum(one.share for one in sampled.classes) == pytest.approx(1)
    assert held[True] / held.total() > 0.9


def test_the_best_forms_are_the_first_examples_of_their_classes() -> None:
    made = table({"verb": argument("goal"), "arg1": argument("3", 5, [3])})
    views = [View(made), *(View(each.table) for each in changed_tables(made, 3, 0))]
    language = Language(views[0])
    found = search(language, Answer(frozenset({Number(3.0)})), 1)
    meanings = Meanings(Worlds(views), language, range(len(views)))
    best = list(found.forms())[5:8]
    examples = [form for one in partition(found, best, meanings, 40, 0).classes for form in one.examples]
    assert [form for form in examples if form in best] == best


def _executed(form: Form, language: Language, views: Sequence[View]) -> tuple[Denotation | None, ...]:
    return tuple(_value(form, language, view) for view in views)


def _value(form: Form, language: Language, view: View) -> Any:
    """As the executor does; a copy may lack a relation, whose cells are then all empty."""
    if form.name not in FUNCTIONS:
        leaf = language.leaf(form.name)
        assert leaf is not None
        return leaf[1]
    values = [_value(argument, language, view) for argument in form.arguments]
    return None if None in values else FUNCTIONS[form.name].call(view, *values)
