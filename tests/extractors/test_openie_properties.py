"""What holds for every table of propositions, whatever the text, its neighbours and its parser."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.dependencies import collapsed_tree
from extractors.openie import OpenIE
from extractors.registry import make_extractor
from extractors.table import Paragraph, Table
from extractors.values import Date, Number
from tests.extractors.parses import annotation

SENTENCES = [
    "Ada and Bram toured Norway, Malta and Ural, and managed and owned the ferry.",
    "The    keeper   lit  the\tlamp .",
    '"The mill (built in 1900) is old," said Gordon Vale, 71, a miller\u2019s son; Hull\'s mayor agreed.',
    "Champions once more!",
    "They\u2019d never have wanted to be sold\u2014not for 4\u201315 pounds\u2014had it been May 1913.",
    "Which town, where 300 people live, was it that Hale, she said, left?",
    "\U0001f600 Le caf\u00e9 had 40 na\u00efve e\u0301l\u00e8ves and 25.0% of 9.2%, 3.1% and 4% of them.",
]


def table(text: str) -> Table:
    return make_extractor("openie").extract(Paragraph("p", text))


def stretches(found: Table) -> Iterator[tuple[str, int, int]]:
    """The text and place of every cell and of all that lies inside it."""
    for row in found.rows:
        for _, cell in row.cells():
            yield cell.text, cell.start, cell.end
            for inner in (*cell.phrases, *cell.entities):
                assert cell.start <= inner.start < inner.end <= cell.end
                yield inner.text, inner.start, inner.end
            values: list[Number | Date] = [*cell.numbers, *cell.dates]
            for value in values:
                assert cell.start <= value.start < value.end <= cell.end


def check(text: str) -> None:
    found = table(text)
    for inside, start, end in stretches(found):
        assert inside == text[start:end] != ""
    assert found.lost.numbers == found.lost.dates == ()
    assert all(0 <= row.confidence <= 1 for row in found.rows)
    # A predicate alone says nothing, unless it is itself the value of a verbless sentence.
    assert all(r.arguments or r.predicate.numbers or r.predicate.dates for r in found.rows)
    places = [row.predicate.start for row in found.rows]
    assert places == sorted(places)
    assert len({(row.predicate, tuple(row.cells())) for row in found.rows}) == len(found.rows)


@pytest.mark.parametrize("text", SENTENCES)
def test_real_sentences(text: str) -> None:
    check(text)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(SENTENCES),
            st.sampled_from([" ", "\n\n", "\t", " ( ", '"', ", ", " which ", " and ", " 'S ", " not to be "]),
            st.text(max_size=12),
        ),
        max_size=8,
    )
)
def test_odd_texts(parts: list[str]) -> None:
    check("".join(parts))


def test_neighbours_change_nothing() -> None:
    generator = random.Random(0)
    long = " ".join(generator.choices(SENTENCES, k=40))
    paragraphs = [Paragraph(str(i), sentence) for i, sentence in enumerate(SENTENCES)]
    crowd = [*paragraphs, *(Paragraph(f"long {i}", long) for i in range(3))]
    alone = {p.id: table(p.text).rows for p in paragraphs}
    for order in (crowd, crowd[::-1]):
        together = {t.paragraph_id: t.rows for t in make_extractor("openie").pipe(order)}
        assert {name: together[name] for name in alone} == alone


def test_one_bad_sentence_costs_the_others_nothing() -> None:
    first, second = make_extractor("openie").pipe(
        [Paragraph("1", "Champions once more!"), Paragraph("2", "The crew rowed home.")]
    )
    assert first.rows == ()
    assert [row.predicate.text for row in second.rows] == ["rowed"]


@pytest.mark.parametrize("word", ["and Ada sold ", "of the mill ", "that Ada said ", "( ", "wanted to "])
def test_depth_has_no_limit(word: str) -> None:
    check("Ada sold " + word * 1500)


# One token a line: word, lemma, universal and Penn part of speech, head, universal label, ClearNLP label, and the
# head in ClearNLP's tree where it differs.
PASSIVE = """
Gordon Gordon PROPN NNP 4 nsubj:pass compound 2
Vale Vale PROPN NNP 1 flat nsubjpass 4
was be AUX VBD 4 aux:pass auxpass
seen see VERB VBN 0 ROOT ROOT
in in ADP IN 6 case prep 4
1900 1900 NUM CD 4 obl pobj 5
by by ADP IN 9 case agent 4
two two NUM CD 9 nummod nummod
monks monk NOUN NNS 4 obl pobj 7
. . PUNCT . 4 punct punct
"""
COPULA = """
The the DET DT 2 det det
wall wall NOUN NN 5 nsubj nsubj 3
is be AUX VBZ 5 cop ROOT 3
not not PART RB 5 advmod neg 3
thick thick ADJ JJ 0 ROOT acomp 3
. . PUNCT . 5 punct punct 3
"""
POSSESSIVE = """
Hull Hull PROPN NNP 3 nmod:poss poss
's 's PART POS 1 case case
crew crew NOUN NN 4 nsubj nsubj
wanted want VERB VBD 0 ROOT ROOT
to to PART TO 6 mark aux
sell sell VERB VB 4 xcomp xcomp
boats boat NOUN NNS 6 obj dobj
and and CCONJ CC 9 cc cc 7
nets net NOUN NNS 7 conj conj
. . PUNCT . 4 punct punct
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (PASSIVE, [("was seen", {"ARG0": ["Gordon Vale"], "ARG1": ["in 1900"], "ARG2": ["by two monks"]})]),
        (COPULA, [("is not", {"ARG0": ["The wall"], "ARG1": ["thick"], "ARGM-NEG": ["not"]})]),
        (
            POSSESSIVE,
            [
                ("'s", {"ARG0": ["Hull"], "ARG1": ["crew"]}),
                ("wanted to sell", {"ARG0": ["Hull 's crew"], "ARG1": ["boats", "nets"]}),
            ],
        ),
    ],
)
def test_universal_and_clearnlp_labels_give_the_same_rows(
    lines: str, expected: list[tuple[str, dict[str, list[str]]]]
) -> None:
    for universal in (True, False):
        parse = annotation(lines, universal)
        rows = OpenIE().rows(parse, collapsed_tree(parse))
        assert [
            (row.predicate.text, {name: [a.text for a in cell] for name, cell in row.arguments.items()})
            for row in rows
        ] == expected
