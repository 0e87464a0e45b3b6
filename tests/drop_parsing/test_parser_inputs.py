"""What the parser reads of a question: entities, their graph, linking features, and the forms to learn from."""

import pytest
from hypothesis import given, settings
from tables import argument, table

from drop_parsing.parser import entities as entities_module
from drop_parsing.parser.batch import Collator, Vocabulary
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import QuestionInput, productions_of
from drop_parsing.parser.linking import FEATURES
from drop_parsing.parser.rules import rules, shortest
from drop_parsing.parser.targets import targets_of
from extractors.annotate import load_pipeline
from extractors.table import Table
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.view import View
from tests.drop_parsing.parser_cases import question_over, questions, read_over


@pytest.fixture
def boats() -> Table:
    return table(
        {
            "verb": argument("had"),
            "arg0": argument("hull", entities=[("hull", "GPE")]),
            "arg1": argument("70 boats", 9, [70.0], phrases=[("boats", "core")]),
        },
        {"verb": argument("sold"), "arg0": argument("leeds"), "arg1": argument("25 boats", 40, [25.0])},
    )


def read(text: str, made: Table, forms: tuple[str, ...] = ()) -> QuestionInput:
    return read_over(load_pipeline()(text), TableEntities(View(made)), forms)[0]


def feature(question: QuestionInput, entity: str, token: str, name: str) -> float:
    e = [entity.name for entity in question.entities].index(entity)
    i = [token.text for token in question.tokens].index(token)
    return float(question.features[e, i, FEATURES.index(name)])


def test_every_leaf_of_the_language_is_an_entity(boats: Table) -> None:
    question, language = question_over(boats, ["hull", "boats", "70"])
    leaves = {
        (p.type, p.name)
        for productions in language.productions.values()
        for p in productions
        if p.name not in FUNCTIONS
    }
    assert {(entity.type, entity.name) for entity in question.entities} == leaves


def test_the_graph_joins_what_occurs_together(boats: Table) -> None:
    question = read("How many of the 70 boats did Hull have?", boats)
    names = [entity.name for entity in question.entities]
    joined = {(names[i], names[j]) for i, j in zip(*question.neighbours.nonzero(), strict=True)}
    assert ("relation:arg0", "string:hull") in joined
    assert ("relation:arg1", "string:boat") in joined
    assert ("relation:arg1", "70") in joined
    assert ("string:hull", "70") in joined  # in one row
    assert ("relation:arg1", "part:core") in joined
    assert ("relation:arg0", "part:core") not in joined
    assert ("relation:arg0", "string:boat") not in joined
    assert (question.neighbours == question.neighbours.T).all()


def test_linking_features_see_how_a_token_refers_to_an_entity(boats: Table) -> None:
    question = read("How many of the 70 boats did Hull have?", boats)
    assert feature(question, "string:hull", "Hull", "exact") == 1
    assert feature(question, "string:boat", "boats", "exact") == 0
    assert feature(question, "string:boat", "boats", "lemma") == 1
    assert feature(question, "70", "70", "origin") == 1
    assert feature(question, "70", "boats", "origin") == 0
    assert feature(question, "70", "boats", "near_origin") == 0.5
    assert feature(question, "relation:arg1", "boats", "in_cells") == 1
    assert feature(question, "relation:arg0", "boats", "in_cells") == 0
    assert feature(question, "relation:arg1", "many", "asks_for") == 1  # all its cells have a number
    assert feature(question, "relation:arg0", "many", "asks_for") == 0
    assert feature(question, "relation:arg0", "How", "entities") == 0.5  # a place in one of two cells
    assert feature(question, "relation:arg0", "How", "filled") == 1
    assert feature(question, "string:hull", "How", "filled") == 0.5  # in one of two rows
    assert feature(question, "string:hull", "How", "place") > feature(question, "70", "How", "place") > 0


def test_a_name_of_several_words_is_matched_in_part(boats: Table) -> None:
    made = table({"verb": argument("won"), "arg0": argument("north hull rovers"), "arg1": argument("a cup")})
    question = read("What did north hull rovers win with hull?", made)
    assert feature(question, "string:north_hull_rovers", "rovers", "overlap") == 1
    last = [i for i, token in enumerate(question.tokens) if token.text == "hull"][-1]
    e = [entity.name for entity in question.entities].index("string:north_hull_rovers")
    assert question.features[e, last, FEATURES.index("overlap")] == pytest.approx(1 / 3, abs=1e-3)
    assert question.features[e, last, FEATURES.index("origin")] == 0
    assert feature(question, "string:north_hull_rovers", "hull", "inner") == 0
    assert feature(question, "string:hull", "hull", "inner") == 1


def test_entities_point_into_the_paragraph(boats: Table) -> None:
    question = read("How many of the 70 boats did Hull have?", boats)
    places = {entity.name: entity.places for entity in question.entities}
    assert places["relation:arg1"] == ((9, 17), (40, 48))
    assert places["70"] == ((9, 11),)
    assert places["string:hull"] == ((0, 4),)


def test_forms_that_can_not_be_learnt_are_counted(boats: Table) -> None:
    long = "(diff " * 20 + "70" + " 70)" * 20
    forms = ("(count_structures all_structures)", "(add 70 1234)", long, "(max all_structures relation:arg1)")
    question = read("How many of the 70 boats did Hull have?", boats, forms)
    assert question.targets is not None
    assert len(question.targets.path_choices) == 2
    assert question.unusable == (1, 1)  # too long; a number that is not the question's
    assert read("Why?", boats, (long,)).targets is None


def test_too_many_relations_keep_the_commonest(boats: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities_module, "MAX_RELATIONS", 2)
    rare = {"verb": argument("sank"), "arg2": argument("there")}
    made = table(
        *({r: a for r, (a,) in row.arguments.items()} | {"verb": row.predicate} for row in boats.rows), rare
    )
    question, _ = question_over(made, ["boats"], ["(select all_structures relation:arg2)"])
    assert [e.name for e in question.entities if e.type == "Relation"] == ["relation:verb", "relation:arg0"]
    assert question.unusable.beyond == 1


@settings(max_examples=60, deadline=None)
@given(questions())
def test_productions_and_forms_are_each_others_inverse(asked: tuple[QuestionInput, Language]) -> None:
    question, language = asked
    text = "(diff (count_structures (first all_structures)) (count_structures all_structures))"
    forms = [text]
    if any(entity.name == "relation:arg0" for entity in question.entities):
        forms.append(
            "(select (filter_in all_structures relation:arg0 (select all_structures relation:arg0)) relation:verb)"
        )
    for form in map(language.check, forms):
        productions = productions_of(form, question.entities)
        assert productions is not None
        assert question.form([*productions, 0, 0]) == form
        assert len(productions) == len(language.actions(form))


def test_the_shortest_completions_are_those_of_the_grammar() -> None:
    made = rules()
    number = {symbol: i for i, symbol in enumerate(made.symbols)}
    none = shortest(made, made.serves("Nothing"))
    assert none[number["@answer"]] == 2  # (count_structures all_structures)
    assert none[number["Date"]] == 9  # a date of four counts
    assert none[number["String"]] >= 10_000
    some = shortest(made, made.serves("Relation", ["cell"]))
    assert some[number["String"]] == 3  # (select all_structures relation)
    assert some[number["Relation:number"]] >= 10_000


def test_equal_forms_are_learnt_once_with_the_weight_of_the_first(boats: Table) -> None:
    question, _ = question_over(boats, ["boats"])
    made = targets_of([[22, 2], [22, 2], [23, 2]], [-1.0, -2.0, 0.0], question.shortest)
    assert made.path_choices.tolist() == [[22, 2], [23, 2]]
    assert made.prior.tolist() == [-1.0, 0.0]


def test_words_that_are_not_known_are_one_word() -> None:
    vocabulary = Vocabulary.of(["b", "a", "b", "c"], at_least=2)
    assert vocabulary.names == ("b",)
    assert [vocabulary.number(name) for name in ("b", "a", "zebra")] == [2, 1, 1]
    assert len(vocabulary) == 3


def test_a_batch_has_trees_only_if_every_question_has_forms(boats: Table) -> None:
    with_forms, _ = question_over(boats, ["boats"], ["(count_structures all_structures)"])
    without, _ = question_over(boats, ["boats"])
    collate = Collator(Vocabulary(["boats"]), Vocabulary([]))
    assert collate([with_forms]).trees is not None
    assert collate([with_forms, without]).trees is None
