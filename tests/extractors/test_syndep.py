"""Tables by dependency syntax: what rows, relations, cells and phrases hold."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.registry import Backend, make_extractor
from extractors.syndep import CLAUSE
from extractors.table import Argument, Paragraph, Row, Table, text_hash
from extractors.values import Date, Number

SUBJECTS = ("nsubj", "nsubj:pass")


def table(text: str) -> Table:
    return make_extractor("syndep").extract(Paragraph("p", text))


def row(text: str, verb: str) -> Row:
    rows = [r for r in table(text).rows if verb in r.predicate.text.split()]
    assert len(rows) == 1, f"{verb!r} has {len(rows)} rows"
    return rows[0]


def texts(found: Row, *relations: str) -> list[str]:
    return [argument.text for relation in relations for argument in found.cell(relation)]


def phrases(argument: Argument, label: str) -> list[str]:
    return [phrase.text for phrase in argument.phrases if phrase.label == label]


def spans_of(found: Table) -> Iterator[tuple[str, int, int]]:
    for r in found.rows:
        for _, cell in r.cells():
            yield cell.text, cell.start, cell.end
            for inner in (*cell.phrases, *cell.entities):
                assert cell.start <= inner.start < inner.end <= cell.end
                yield inner.text, inner.start, inner.end
            values: list[Number | Date] = [*cell.numbers, *cell.dates]
            for value in values:
                assert cell.start <= value.start < value.end <= cell.end


class TestWholePhrases:
    """Cells hold whole phrases; a relative clause has a row with its antecedent."""

    @pytest.mark.parametrize("name", ["Gordon Vale", "Ada Brook Marsh", "Port Hale"])
    @pytest.mark.parametrize("other", ["Eyre", "Upper Norton"])
    def test_coordinated_subject_with_apposition(self, name: str, other: str) -> None:
        text = f"{name}, a mill town, and {other} supplied the northern army, which needed 300 carts."
        (subject,) = row(text, "supplied").cell("nsubj")
        assert subject.text == f"{name}, a mill town, and {other}"
        assert other in phrases(subject, "conj")
        assert name in [p.text for p in subject.phrases]
        assert phrases(subject, "appos") == ["a mill town"]
        needed = row(text, "needed")
        assert texts(needed, "nsubj") == ["the northern army"]
        assert texts(needed, "obj") == ["300 carts"]
        assert [n.value for n in needed.cell("obj")[0].numbers] == [300]

    @pytest.mark.parametrize(
        ("text", "verb", "relation", "antecedent"),
        [
            ("The crew praised the captain who saved 12 men.", "saved", "nsubj", "the captain"),
            ("The goal that Hale scored won the cup.", "scored", "obj", "The goal"),
            ("The ships built in 1900 sank.", "built", "nsubj:pass", "The ships"),
            ("They met the men carrying 40 sacks.", "carrying", "nsubj", "the men"),
        ],
    )
    def test_antecedents(self, text: str, verb: str, relation: str, antecedent: str) -> None:
        assert texts(row(text, verb), relation) == [antecedent]

    def test_phrases_inside_an_event_noun(self) -> None:
        (cell,) = row(
            "Brook saw a 45-yard touchdown pass and the long war between Hull and Leeds.", "saw"
        ).cell("obj")
        inside = {phrase.text: phrase.label for phrase in cell.phrases}
        assert inside["45-yard"] == "compound"
        assert inside["a 45-yard touchdown pass"] == "conj"
        assert inside["touchdown pass"] == "head"
        assert inside["between Hull and Leeds"] == "pp"
        assert inside["Hull and Leeds"] == "nmod:between"
        assert inside["Leeds"] == "conj"


class TestSharedParts:
    """Coordinated verbs share subjects and objects; infinitives and participles have a subject."""

    @pytest.mark.parametrize("pair", [("managed", "owned"), ("planned", "built"), ("bought", "repaired")])
    @pytest.mark.parametrize("places", ["Norway, Malta and Ural", "Leeds, Hull and York"])
    def test_subject_and_object(self, pair: tuple[str, str], places: str) -> None:
        text = f"Ada and Bram toured {places}, and {pair[0]} and {pair[1]} the ferry."
        toured = row(text, "toured")
        assert texts(toured, "nsubj") == ["Ada and Bram"]
        assert texts(toured, "obj") == [places]
        assert phrases(toured.cell("obj")[0], "conj")[:1] == [places.split(",")[0]]
        assert set(places.replace(" and", ",").split(", ")) <= set(phrases(toured.cell("obj")[0], "conj"))
        for verb in pair:
            assert texts(row(text, verb), "nsubj") == ["Ada and Bram"]
            assert texts(row(text, verb), "obj") == ["the ferry"]

    def test_an_intransitive_verb_takes_no_object(self) -> None:
        assert texts(row("Ada came and saw the town.", "came"), "obj") == []

    @pytest.mark.parametrize(
        ("text", "verb", "subject"),
        [
            ("The crew wanted to leave Hull.", "leave", "The crew"),
            ("The captain asked Tom to leave Hull.", "leave", "Tom"),
            ("After winning 3 games, Leeds lost the cup.", "winning", "Leeds"),
            ("Built in 1900, the pier fell.", "Built", "the pier"),
        ],
    )
    def test_understood_subjects(self, text: str, verb: str, subject: str) -> None:
        assert texts(row(text, verb), *SUBJECTS) == [subject]


class TestPredicates:
    """Auxiliaries have no row of their own; copulas and "have" do."""

    @pytest.mark.parametrize(
        ("text", "predicates"),
        [
            ("She is running a mill and has moved north.", ["is running", "has moved"]),
            ("She is tall.", ["is"]),
            ("They had been sold and will not return.", ["had been sold", "will not return"]),
            (
                "They get paid on Fridays. The wall is 9 m thick. Hull had 40 ships.",
                ["get paid", "is", "had"],
            ),
        ],
    )
    def test_predicates(self, text: str, predicates: list[str]) -> None:
        assert [r.predicate.text for r in table(text).rows] == predicates

    def test_short_facts_keep_their_values(self) -> None:
        text = "They get paid on Fridays. The wall is 9 m thick. Hull had 40 ships."
        assert texts(row(text, "paid"), "obl:on") == ["Fridays"]
        assert texts(row(text, "is"), "attr") == ["9 m thick"]
        assert texts(row(text, "had"), "obj") == ["40 ships"]
        assert [n.value for n in row(text, "had").cell("obj")[0].numbers] == [40]

    def test_one_fact_is_one_row(self) -> None:
        (fort,) = table("The fort was built in Carn by monks.").rows
        assert texts(fort, "nsubj:pass", "obl:in", "obl:agent") == ["The fort", "Carn", "monks"]
        assert texts(fort, CLAUSE) == ["The fort was built in Carn by monks"]

    @pytest.mark.parametrize("text", ["Champions once more!", "Results: 40 ships.", "Hull 3, Leeds 4"])
    def test_verbless_sentences_have_rows(self, text: str) -> None:
        found = table(text)
        assert found.rows
        assert found.lost.sentences == ()

    def test_no_sentence_splits_a_date(self) -> None:
        text = "The mine opened 29 Nov 1921 . It shut 30 Nov 1923 . Pit B followed pit A. Then came pit C."
        found = table(text)
        assert [r.sentence for r in found.rows] == [0, 1, 2, 3]
        for r, year in zip(found.rows[:2], (1921, 1923), strict=True):
            dates = {date for _, cell in r.cells() for date in cell.dates}
            assert [(d.year, d.month) for d in dates] == [(year, 11)]

    def test_a_list_of_shares_has_a_row_an_item(self) -> None:
        text = (
            "The population was spread out with 25.0% under the age of 18, 9.2% from 18 to 24, "
            "31.7% from 25 to 44, and 13.2% who were 65 years of age or older."
        )
        shares = {r.predicate.text: r for r in table(text).rows if "%" in r.predicate.text}
        assert list(shares) == ["25.0%", "9.2%", "31.7%", "13.2%"]
        assert texts(shares["25.0%"], "nmod:under") == ["the age of 18"]
        assert texts(shares["9.2%"], "nmod:from") == ["18 to 24"]
        assert all(texts(r, "nsubj") == ["The population"] for r in shares.values())
        assert all(n.value in {25.0, 9.2, 31.7, 13.2} for r in shares.values() for n in r.predicate.numbers)

    def test_repeated_relations_keep_both_arguments(self) -> None:
        assert texts(row("He was born in Paris in 1900.", "born"), "obl:in") == ["Paris", "1900"]


@pytest.mark.parametrize("space", ["   ", "\t", "\n", " \u00a0"])
def test_cells_are_slices_of_the_text_as_written(space: str) -> None:
    text = f"The{space}keeper{space}lit  the\tlamp ."
    (lit,) = table(text).rows
    assert texts(lit, "nsubj", "obj") == [f"The{space}keeper", "the\tlamp"]
    assert lit.cell("nsubj")[0].lemmas == ("the", "keeper")
    for found, start, end in spans_of(table(text)):
        assert text[start:end] == found


def test_lemmas_and_heads() -> None:
    saw = row("They saw her ships in the harbours.", "saw")
    assert saw.predicate.lemmas == ("see",)
    assert saw.cell("nsubj")[0].lemmas == ("they",)
    assert saw.cell("obj")[0].lemmas == ("her", "ship")
    assert saw.cell("obj")[0].head == "ship"


def test_a_table_depends_on_its_text_alone() -> None:
    extractor = make_extractor("syndep")
    short = Paragraph("short", "Ada, who owned 40 ships, sold them on 3 May 1900 and left.")
    others = [
        Paragraph(str(i), f"In {1700 + i} Bram built {i} mills, of which 2 fell. " * (1 + i % 7))
        for i in range(63)
    ]
    alone = extractor.extract(short)
    for seed in (0, 1):
        stream = [short, *others]
        random.Random(seed).shuffle(stream)
        found = list(extractor.pipe(iter(stream)))
        assert [t.paragraph_id for t in found] == [p.id for p in stream]
        assert found[stream.index(short)] == alone


def test_long_and_short_paragraphs_together() -> None:
    stream = [Paragraph(str(i), f"Boat {i} sank.") for i in range(49)]
    stream.insert(7, Paragraph("long", " ".join(f"mill {i} ground corn" for i in range(300))))
    found = list(make_extractor("syndep").pipe(iter(stream)))
    assert [t.paragraph_id for t in found] == [p.id for p in stream]
    assert all(t.rows and not t.lost.numbers for t in found)


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_gives_an_empty_table(text: str) -> None:
    found = table(text)
    assert (found.rows, found.relations, found.hash) == ((), (), text_hash(text))
    assert found.lost.sentences == ()


# fmt: off
WORDS = st.sampled_from([
    "the", "a", "army", "300", "carts", "Hull", "17\u201310", "25%", "%", "1900", "May", "been", "mill",
    ",", ".", "(", ")", '"', "\n", "which", "who", "and", "needed", "is", "was", "in", "from", "to", "of",
])
# fmt: on


@given(st.one_of(st.text(max_size=100), st.lists(WORDS, max_size=40).map(" ".join)))
@settings(max_examples=150, deadline=None)
def test_every_cell_and_phrase_is_a_slice_of_any_text(text: str) -> None:
    found = table(text)
    for part, start, end in spans_of(found):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == part
    assert not found.lost.numbers
    assert not found.lost.dates
    for r in found.rows:
        for relation, cells in r.arguments.items():
            assert cells, relation
            assert [c.start for c in cells] == sorted(c.start for c in cells)


@pytest.mark.parametrize(
    ("scheme", "backend", "message"),
    [
        ("amr", None, "no scheme 'amr'; this version has: .*syndep"),
        ("syndep", "stanford", "'syndep' has no backend 'stanford'; it has: spacy:NAME"),
        ("syndep", "spacy:no_such_model", "No spaCy pipeline 'no_such_model' is installed"),
    ],
)
def test_unknown_names_are_one_sentence(scheme: str, backend: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_extractor(scheme, Backend(backend))


def test_an_extractor_is_made_once_and_names_its_model() -> None:
    extractor = make_extractor("syndep")
    assert make_extractor("syndep") is extractor
    assert extractor.name.startswith("spacy-en_")
    assert extractor.version
