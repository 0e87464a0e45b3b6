"""Tables of propositions: what rows there are, and what their predicates and cells hold."""

import pytest

from extractors.openie import NEGATION, PLACE, TIME, implied_relation
from extractors.registry import make_extractor
from extractors.table import Paragraph, Row, Table


def table(text: str) -> Table:
    return make_extractor("openie").extract(Paragraph("p", text))


def row(text: str, predicate: str) -> Row:
    rows = [r for r in table(text).rows if r.predicate.text == predicate]
    assert len(rows) == 1, [r.predicate.text for r in table(text).rows]
    return rows[0]


def texts(found: Row, relation: str) -> list[str]:
    return [argument.text for argument in found.cell(relation)]


def cells(found: Row) -> dict[str, list[str]]:
    return {relation: texts(found, relation) for relation in found.arguments}


class TestCoordination:
    """Coordinated verbs have a row each and share what they share; coordinated nouns an argument each."""

    @pytest.mark.parametrize("pair", [("managed", "owned"), ("planned", "built"), ("bought", "repaired")])
    @pytest.mark.parametrize("places", ["Norway, Malta and Ural", "Leeds, Hull and York"])
    def test_three_verbs_two_subjects_three_objects(self, pair: tuple[str, str], places: str) -> None:
        text = f"Ada and Bram toured {places}, and {pair[0]} and {pair[1]} the ferry."
        assert [r.predicate.text for r in table(text).rows] == ["toured", *pair]
        assert cells(row(text, "toured")) == {
            "ARG0": ["Ada", "Bram"],
            "ARG1": places.replace(" and", ",").split(", "),
        }
        for verb in pair:
            assert cells(row(text, verb)) == {"ARG0": ["Ada", "Bram"], "ARG1": ["the ferry"]}

    def test_an_intransitive_verb_takes_no_object(self) -> None:
        assert cells(row("Ada came and saw the town.", "came")) == {"ARG0": ["Ada"]}

    def test_a_preposition_keeps_its_nouns_together(self) -> None:
        found = row("The road ran between Hull and Leeds.", "ran")
        assert "between Hull and Leeds" in [text for texts_ in cells(found).values() for text in texts_]


class TestPredicates:
    """Auxiliaries, modals and negation belong to the relation phrase and have no row of their own."""

    @pytest.mark.parametrize(
        ("text", "predicates"),
        [
            ("She is running a mill and has moved north.", ["is running", "has moved"]),
            ("They had been sold in May.", ["had been sold"]),
            ("He could have been paid by Hull.", ["could have been paid"]),
            ("The mill was later sold off to Leeds.", ["was later sold off"]),
            ("She is tall.", ["is"]),
            ("The wall has stood there and will be rebuilt in Hull.", ["has stood", "will be rebuilt"]),
        ],
    )
    def test_no_row_for_an_auxiliary(self, text: str, predicates: list[str]) -> None:
        found = table(text)
        assert [r.predicate.text for r in found.rows] == predicates
        assert all(r.arguments for r in found.rows)

    @pytest.mark.parametrize(
        ("text", "predicate", "arguments"),
        [
            ("She is tall.", "is", {"ARG0": ["She"], "ARG1": ["tall"]}),
            ("The wall is 9 m thick.", "is", {"ARG0": ["The wall"], "ARG1": ["9 m thick"]}),
            ("Hull had 40 ships.", "had", {"ARG0": ["Hull"], "ARG1": ["40 ships"]}),
            ("They get paid on Fridays.", "get paid", {"ARG0": ["They"], TIME: ["on Fridays"]}),
            ("Leeds got 3 points.", "got", {"ARG0": ["Leeds"], "ARG1": ["3 points"]}),
            ("Ada was a miller.", "was", {"ARG0": ["Ada"], "ARG1": ["a miller"]}),
        ],
    )
    def test_be_have_and_get_have_rows(
        self, text: str, predicate: str, arguments: dict[str, list[str]]
    ) -> None:
        assert cells(row(text, predicate)) == arguments

    @pytest.mark.parametrize(
        ("text", "predicate", "negation"),
        [
            ("They did not sell the mill.", "did not sell", "not"),
            ("They could never have sold it.", "could never have sold", "never"),
            ("She hasn't left Hull.", "hasn't left", "n't"),
            ("The wall was not high.", "was not", "not"),
        ],
    )
    def test_negation(self, text: str, predicate: str, negation: str) -> None:
        assert texts(row(text, predicate), NEGATION) == [negation]
        assert NEGATION not in row("They sold the mill.", "sold").arguments


class TestFacts:
    """A fact is one row with all that is said of it, so that rows count facts."""

    @pytest.mark.parametrize(
        ("text", "predicate", "arguments"),
        [
            ("The fort was built in Carn by monks.", "was built", {"The fort", "in Carn", "by monks"}),
            (
                "The cup was won by Leeds in May 1900.",
                "was won",
                {"The cup", "by Leeds", "in May 1900"},
            ),
            (
                "Ada sold the mill to Bram for 40 pounds.",
                "sold",
                {"Ada", "the mill", "to Bram", "for 40 pounds"},
            ),
            ("Brook gave Hale the ball in June.", "gave", {"Brook", "Hale", "the ball", "in June"}),
        ],
    )
    def test_one_row(self, text: str, predicate: str, arguments: set[str]) -> None:
        (found,) = table(text).rows
        assert found.predicate.text == predicate
        assert {argument for texts_ in cells(found).values() for argument in texts_} == arguments

    def test_when_and_where(self) -> None:
        found = row("Hull opened the bridge in May 1900 near the harbour.", "opened")
        assert cells(found) == {
            "ARG0": ["Hull"],
            "ARG1": ["the bridge"],
            TIME: ["in May 1900"],
            PLACE: ["near the harbour"],
        }

    def test_what_is_fronted_keeps_the_places_of_the_others(self) -> None:
        found = row("With a late goal, Leeds beat Hull.", "beat")
        assert texts(found, "ARG1") == ["Hull"]
        assert texts(found, "ARG2") == ["With a late goal"]

    def test_no_row_occurs_twice(self) -> None:
        text = "Ada saw Hull. Ada saw Hull. Gordon Vale, a mill town, and Eyre, a port, sold ships and carts."
        rows = table(text).rows
        assert len({(r.predicate.start, tuple(r.cells())) for r in rows}) == len(rows)


class TestClauses:
    """Relative and participial clauses, infinitives, quotes: each has its row with what it shares."""

    @pytest.mark.parametrize(
        ("text", "predicate", "relation", "shared"),
        [
            ("The crew praised the captain who saved 12 men.", "saved", "ARG0", "the captain"),
            (
                "Eyre supplied the northern army, which needed 300 carts.",
                "needed",
                "ARG0",
                "the northern army",
            ),
            ("The goal that Hale scored won the cup.", "scored", "ARG1", "The goal"),
            ("The goal Hale scored won the cup.", "scored", "ARG1", "The goal"),
            ("The town where Ada lives has 300 people.", "lives", PLACE, "The town"),
            ("They met the men carrying 40 sacks.", "carrying", "ARG0", "the men"),
            ("They saw the pier built by monks.", "built", "ARG0", "the pier"),
            ("After winning 3 games, Leeds lost the cup.", "winning", "ARG0", "Leeds"),
            ("Leeds lost the cup, scoring 2 goals.", "scoring", "ARG0", "Leeds"),
            ("The captain asked Tom to leave Hull.", "leave", "ARG0", "Tom"),
        ],
    )
    def test_shared_arguments(self, text: str, predicate: str, relation: str, shared: str) -> None:
        assert texts(row(text, predicate), relation) == [shared]

    def test_a_relative_clause_is_left_to_its_own_row(self) -> None:
        text = "Eyre supplied the northern army, which needed 300 carts."
        assert texts(row(text, "supplied"), "ARG1") == ["the northern army"]

    @pytest.mark.parametrize(
        ("text", "predicate", "arguments"),
        [
            ("The crew wanted to leave Hull.", "wanted to leave", {"ARG0": ["The crew"], "ARG1": ["Hull"]}),
            ("Brook seemed to be tired.", "seemed to be", {"ARG0": ["Brook"], "ARG1": ["tired"]}),
            (
                "The crew is able to row the boat.",
                "is able to row",
                {"ARG0": ["The crew"], "ARG1": ["the boat"]},
            ),
            (
                "She did not try to sell it.",
                "did not try to sell",
                {"ARG0": ["She"], "ARG1": ["it"], NEGATION: ["not"]},
            ),
        ],
    )
    def test_control_and_raising_are_one_relation(
        self, text: str, predicate: str, arguments: dict[str, list[str]]
    ) -> None:
        (found,) = table(text).rows
        assert found.predicate.text == predicate
        assert cells(found) == arguments

    @pytest.mark.parametrize(
        ("text", "speaker", "said"),
        [
            ("Bram said that the mill was old.", "Bram", ["that the mill was old"]),
            ('"The mill was old," said Bram.', "Bram", ["The mill was old"]),
            ("The mill, she said, was old.", "she", ["The mill", "was old"]),
        ],
    )
    def test_quotes(self, text: str, speaker: str, said: list[str]) -> None:
        assert cells(row(text, "said")) == {"ARG0": [speaker], "ARG1": said}
        told = cells(row(text, "was"))
        assert (told["ARG0"][0].lower(), told["ARG1"]) == ("the mill", ["old"])


class TestImpliedRelations:
    """Appositions, titles and possessives: the predicate stands in the text, the relation is read from it."""

    @pytest.mark.parametrize(
        ("text", "predicate", "relation", "subject", "complement"),
        [
            ("Gordon Vale, a mill town, sold ships.", "town", "is", "Gordon Vale", "a mill town"),
            ("They met Ada Brook, the mayor of Hull.", "mayor", "is", "Ada Brook", "the mayor of Hull"),
            ("He praised team captain Joe Smith.", "captain", "is", "Joe Smith", "team captain"),
            ("Hull's mayor resigned.", "'s", "has", "Hull", "mayor"),
        ],
    )
    def test_implied(self, text: str, predicate: str, relation: str, subject: str, complement: str) -> None:
        found = row(text, predicate)
        assert implied_relation(found) == relation
        assert cells(found) == {"ARG0": [subject], "ARG1": [complement]}

    def test_a_stated_relation_is_not_implied(self) -> None:
        assert implied_relation(row("Gordon Vale is a mill town.", "is")) is None

    def test_a_form_of_address_is_no_title(self) -> None:
        assert [r.predicate.text for r in table("Mr. Joe Smith left Hull.").rows] == ["left"]


class TestValues:
    """No number and no date is lost, with or without a verb around it."""

    @pytest.mark.parametrize("text", ["Results: 40 ships.", "Hull 3, Leeds 4", "June 1900."])
    def test_a_verbless_sentence_has_a_row_for_its_values(self, text: str) -> None:
        found = table(text)
        assert found.rows
        assert found.lost.numbers == found.lost.dates == found.lost.sentences == ()

    def test_a_verbless_sentence_without_values_has_none(self) -> None:
        found = table("Champions once more!")
        assert found.rows == ()
        assert found.lost.sentences == (0,)

    def test_a_list_of_shares_has_a_row_an_item(self) -> None:
        text = (
            "The population was spread out with 25.0% under the age of 18, 9.2% from 18 to 24, "
            "31.7% from 25 to 44, and 13.2% who were 65 years of age or older."
        )
        shares = {r.predicate.text: r for r in table(text).rows if "%" in r.predicate.text}
        assert list(shares) == ["25.0%", "9.2%", "31.7%", "13.2%"]
        assert cells(shares["9.2%"]) == {"ARG0": ["The population"], "ARG1": ["from 18 to 24"]}

    def test_a_date_is_no_apposition(self) -> None:
        (found,) = table("The mine opened on August 1, 1921.").rows
        assert [date.year for cell in found.cell(TIME) for date in cell.dates] == [1921]


class TestConfidence:
    def test_a_main_clause_is_surer_than_an_implied_relation(self) -> None:
        text = "Gordon Vale, a mill town, sold 40 ships."
        assert 0 < row(text, "town").confidence < row(text, "sold").confidence < 1


@pytest.mark.parametrize(
    ("text", "predicate", "relation", "cells"),
    [
        ("Frost punted, but Hull took a bounce.", "punted", "ARG1", []),
        ("Ada won, but Bram lost the cup.", "won", "ARG1", []),
        ("The crew managed and owned the ferry.", "managed", "ARG1", ["the ferry"]),
        ("He was released in March, 1938.", "was released", "ARGM-TMP", ["in March, 1938"]),
        ("He was born on 3 March, 1938, in Hull.", "was born", "ARGM-TMP", ["on 3 March, 1938"]),
        ('Ada read a "book of hours" in Hull.', "read", "ARG1", ['a "book of hours"']),
        ("Neither Ada nor Bram sold the boat.", "sold", "ARG0", ["Neither Ada nor Bram"]),
        ("Ada paid between $40 and $50 for 3 boats.", "paid", "ARG1", ["between $40 and $50"]),
    ],
)
def test_what_belongs_to_a_predicate(text: str, predicate: str, relation: str, cells: list[str]) -> None:
    (found,) = [row for row in table(text).rows if row.predicate.text == predicate]
    assert [cell.text for cell in found.cell(relation)] == cells


def test_no_subject_is_thrown_away() -> None:
    found = table("Four plays later, Rodgers was intercepted again.")
    assert any("plays" in cell.text for row in found.rows for _, cell in row.cells())


@pytest.mark.parametrize("words", ["word ", "in ", "mill of ", "Ada, ", "who sold "])
def test_a_table_grows_no_faster_than_its_text(words: str) -> None:
    sizes = []
    for length in (500, 1000):
        rows = table(words * length).rows
        cells = [cell for row in rows for _, cell in row.cells()]
        sizes.append(sum(len(cell.text) + sum(len(p.text) for p in cell.phrases) for cell in cells))
    assert sizes[1] < 4 * sizes[0] + 100_000
