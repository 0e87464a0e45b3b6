"""The packed forest: numbered, drawn, cut by size, ranked, and kept as bytes."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import argument, table, tables
from test_search import Answer, goals, literals, questions

from extractors import values
from grammar.executor import execute
from grammar.forest import Found, listed
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language, Literals
from grammar.packing import ForestError, from_bytes, to_bytes
from grammar.ranking import best
from grammar.search import search
from grammar.types import Date, Number
from grammar.view import View

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
forests = st.builds(
    lambda made, question, goal, size: search(Language(View(made), question), goal, size),
    tables(max_rows=3),
    questions,
    goals,
    st.integers(0, 2),
)

BOATS = table(
    {"verb": argument("sold", 4), "nsubj": argument("ada", 0), "obj": argument("3 boats", 9, [3])},
    {"verb": argument("sold", 24), "nsubj": argument("bram", 18), "obj": argument("4 boats", 29, [4])},
    {"verb": argument("lost", 44), "nsubj": argument("ada", 40), "obj": argument("7 nets", 49, [7])},
)  # fmt: skip
BOATS_LANGUAGE = Language(View(BOATS), literals(["ada", "sold"], [4], []))


def boats(answer: float = 3, size: int = 2) -> Found:
    return search(BOATS_LANGUAGE, Answer(frozenset({Number(answer)})), size)


def size_of(form: Form) -> int:
    """The row operations of the greatest reading."""
    if "Rows" not in FUNCTIONS[form.name].arguments:
        return max(
            (size_of(argument) for argument in form.arguments if argument.name in FUNCTIONS), default=0
        )
    compares = form.name.startswith("compare_")
    operations = [sub for sub in form.subforms() if sub.arguments and FUNCTIONS[sub.name].result == "Rows"]
    return len(operations) + compares


def weight(name: str, leaves: tuple[str, ...]) -> float:
    """A scorer in quarters, so that sums are exact: it depends on each of its arguments."""
    return -1 + sum(sum(map(ord, part)) % 7 for part in (name, *leaves)) / 4


def score(form: Form) -> float:
    """The same of a whole form."""
    if not form.arguments:
        return 0.0
    leaves = tuple(argument.name for argument in form.arguments if argument.name not in FUNCTIONS)
    return weight(form.name, leaves) + sum(map(score, form.arguments))


@some
@given(forests)
def test_numbers_are_forms_and_sizes_part_them(found: Found) -> None:
    parts = list(found.by_size())
    assert sum(part.count for part in parts) == found.count
    for size, part in enumerate(parts):
        forms = list(listed(part, 300))
        assert len(set(forms)) == len(forms)
        assert all(size_of(form) == size for form in forms)
    forms = list(found.forms(500))
    assert len(set(forms)) == len(forms) == min(500, found.count)


@some
@given(forests)
def test_the_best_forms_are_the_best_of_all(found: Found) -> None:
    if found.count <= 3000:
        ranked = best(found, weight, found.count + 1)
        assert {form for _, form in ranked} == set(found.forms())
        assert [s for s, _ in ranked] == sorted((score(form) for form in found.forms()), reverse=True)
        assert all(s == score(form) for s, form in ranked)
    first = best(found, weight, 5)
    assert first == best(found, weight, 10)[:5]
    assert all(score(form) <= first[0].score for form in found.sample(50, seed=1))


def test_every_form_is_drawn_as_often_as_any_other() -> None:
    found = boats(size=1)
    few = Found(
        {
            answer: next(p for p in node.alternatives if 1 < p.count < 40)
            for answer, node in found.answers.items()
        },
        1,
    )
    drawn = Counter(few.sample(200 * few.count, seed=7))
    assert set(drawn) == set(few.forms())
    assert all(120 < times < 300 for times in drawn.values())
    assert few.sample(20, seed=7) == few.sample(20, seed=7) != few.sample(20, seed=8)
    assert search(BOATS_LANGUAGE, Answer(), 1).sample(3, seed=1) == []


def test_the_union_of_forests_has_the_forms_of_either() -> None:
    three, seven = boats(3, 1), boats(7, 1)
    either = three.union(seven)
    together = search(BOATS_LANGUAGE, Answer(frozenset({Number(3), Number(7)})), 1)
    assert either.count == three.count + seven.count == together.count
    assert set(either.denotations) == {3.0, 7.0}
    assert three.union(three).count == three.count
    assert {execute(form, BOATS_LANGUAGE) for form in either.sample(100, seed=3)} == {3.0, 7.0}


@some
@given(forests)
def test_a_forest_comes_back_from_bytes(found: Found) -> None:
    data = to_bytes(found)
    back = from_bytes(data)
    assert (back.count, back.size, back.denotations) == (found.count, found.size, found.denotations)
    assert back.sample(20, seed=2) == found.sample(20, seed=2)
    assert list(back.forms(50)) == list(found.forms(50))
    assert best(back, weight, 10) == best(found, weight, 10)
    assert [node.count for node in back.by_size()] == [node.count for node in found.by_size()]
    assert to_bytes(back) == data


def test_the_same_search_gives_the_same_bytes() -> None:
    again = Language(View(BOATS), BOATS_LANGUAGE.literals)
    assert to_bytes(boats()) == to_bytes(search(again, Answer(frozenset({Number(3)})), 2))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_bytes_are_refused(data: st.DataObject) -> None:
    whole = PACKED
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(changed), whole[:place]):
        with pytest.raises(ForestError, match="search again"):
            from_bytes(damaged)


PACKED = to_bytes(boats(size=1))


def test_dates_and_texts_come_back_as_they_were() -> None:
    made = table({"verb": argument("fell", dates=[_date(1914, 3)]), "nsubj": argument("müller, ada")})
    for goal in (Answer(date=Date(1914, 3)), Answer(texts=frozenset({"muller_ada"}))):
        found = search(Language(View(made), Literals()), goal, 1)
        assert found.count
        assert from_bytes(to_bytes(found)).denotations == found.denotations


def test_the_best_of_a_large_forest_are_found_without_listing_it() -> None:
    found = boats(size=3)
    assert found.count > 10**9
    ranked = best(found, weight, 50)
    assert len({form for _, form in ranked}) == 50
    assert [s for s, _ in ranked] == sorted((s for s, _ in ranked), reverse=True)
    assert ranked[0].score >= max(map(score, islice(found.forms(), 2000)))


def _date(year: int, month: int) -> "values.Date":
    return values.Date(year, month, None, None, 0, 1)
