import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import argument, table, tables

from extractors.table import Table
from grammar.forms import MAX_DEPTH, Form, FormError, parse
from grammar.goal import Goal
from grammar.language import Language, Literals, Production
from grammar.search import search
from grammar.types import Date, Denotation, Number, String, Text
from grammar.view import View

BOATS = Language(
    View(table({"verb": argument("had"), "nsubj": argument("carn"), "obj": argument("70 boats", 5, [70])})),
    Literals((Text("boats", "boat"),), (Number(25.0),)),
)

FORMS = [
    "(count_structures (filter_number_greater all_structures relation:obj 20))",
    "(diff (extract_number (filter_in all_structures relation:obj string:boat) relation:obj) 25)",
    "(select all_structures relation:nsubj)",
    "(count_structures (filter_date_equals all_structures relation:obj (date 2004 -1 -1 -1)))",
    "(complement -0.5)",
    "(count_structures (filter_date_lesser all_structures relation:obj date:x_5_7))",
    "(count_structures (filter_date_lesser all_structures relation:obj date:1990_x_x_x_1999))",
]


@pytest.mark.parametrize("text", FORMS)
def test_a_form_prints_as_it_was_read(text: str) -> None:
    assert str(BOATS.check(text)) == text
    assert str(BOATS.check(f"  {text.replace(' ', chr(10))} ")) == text


@pytest.mark.parametrize("text", FORMS)
def test_actions_derive_the_form_again(text: str) -> None:
    form = BOATS.check(text)
    actions = BOATS.actions(form)
    assert BOATS.form_of(actions) == form
    assert [a.name for a in actions] == text.replace("(", "").replace(")", "").split()
    with pytest.raises(ValueError, match="ends before"):
        BOATS.form_of(actions[:-1])
    with pytest.raises(ValueError, match="goes on"):
        BOATS.form_of([*actions, Production("Number", "1")])


@pytest.mark.parametrize(
    ("text", "fault", "place"),
    [
        ("", "no logical form", 1),
        ("   ", "no logical form", 1),
        ("()", "a function name must follow", 1),
        ("(count_structures all_structures", "never closed", 1),
        ("(count_structures all_structures))", "after the end", 34),
        (")", "closes nothing", 1),
        ("((max all_structures relation:obj) all_structures)", "function name must follow", 1),
        ("(count_rows all_structures)", "no function 'count_rows'", 2),
        ("(count_structures)", "takes 1 arguments (Rows), not 0", 2),
        ("(count_structures all_structures all_structures)", "takes 1 arguments (Rows), not 2", 2),
        (
            "(count_structures relation:obj)",
            "argument 1 of count_structures must be a Rows, not a Relation",
            19,
        ),
        ("(max all_structures relation:obl)", "no 'relation:obl' (it has: verb, nsubj, obj)", 21),
        ("(extract_phrase all_structures relation:obj part:conj)", "no 'part:conj' (it has: none)", 45),
        ("(filter_in all_structures relation:obj boat)", "no function 'boat'", 40),
        ("(filter_in all_structures relation:obj text:boat)", "a leaf begins with one of", 40),
        ("((first) all_structures)", "function name must follow", 1),
        ("(((20)))", "function name must follow", 2),
        ("string:_", "a leaf begins with one of", 1),
        ("date:2004_13", "a leaf begins with one of", 1),
        ("x" * 100_000, "no function 'xxx", 1),
        ("9" * 400, "no function '999", 1),
        ("1" + " " * 100_000 + "2", "after the end", 100_002),
        ("(diff 1e9 2)", "no function '1e9'", 7),
        ("relation:obj", "not a Relation", 1),
        ("(__class__ all_structures)", "no function '__class__'", 2),
        ("(call all_structures)", "no function 'call'", 2),
        ("(" * 100_000, f"more than {MAX_DEPTH} nested", MAX_DEPTH + 1),
        (
            "(first " * 5_000 + "all_structures" + ")" * 5_000,
            f"more than {MAX_DEPTH} nested",
            7 * MAX_DEPTH + 1,
        ),
    ],
)
def test_what_is_no_form_gets_one_clear_error_with_the_place(text: str, fault: str, place: int) -> None:
    with pytest.raises(FormError) as raised:
        BOATS.check(text)
    message = str(raised.value)
    assert fault in message
    assert f"at character {place} " in message
    assert "\n" not in message
    assert len(message) < 1200


@given(st.text(alphabet="() abfirst_structuel:1.-\n\té", max_size=60))
def test_any_text_is_a_form_or_a_form_error(text: str) -> None:
    try:
        form = BOATS.check(text)
    except FormError:
        return
    assert BOATS.check(str(form)) == form


@given(st.recursive(st.sampled_from(["a", "b:c", "1"]).map(Form), lambda f: st.builds(
    Form, st.sampled_from(["f", "g"]), st.lists(f, min_size=1, max_size=3).map(tuple))))  # fmt: skip
def test_printing_and_parsing_are_inverse(form: Form) -> None:
    assert parse(str(form)).form == form


class Everything:
    """A goal that every denotation meets."""

    numbers = frozenset({Number(1.0), Number(2.0)})
    partial = False

    def accepts(self, denotation: Denotation) -> bool:
        return True

    def may_hold(self, text: Text) -> bool:
        return True

    def may_serve(self, string: String) -> bool:
        return True


@settings(deadline=None)
@given(tables())
def test_every_form_of_the_search_has_an_action_sequence_of_the_grammar(made: Table) -> None:
    language = Language(
        View(made), Literals((Text("goal", "goal"),), (Number(2.0),), (Date(1914), Date(None, 5, 7)))
    )
    goal: Goal = Everything()
    for form in search(language, goal, max_size=2).sample(100, seed=1):
        actions = language.actions(form)
        assert language.form_of(actions) == form
        for action in actions:
            assert action in language.productions[action.type]
