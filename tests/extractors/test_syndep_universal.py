"""A parse with universal labels gives the table that the same parse with ClearNLP labels gives."""

import pytest

from extractors.dependencies import collapsed_tree
from extractors.syndep import CLAUSE, SynDep
from extractors.table import Row
from tests.extractors.parses import annotation

# One token a line: word, lemma, universal and Penn part of speech, head, universal label, ClearNLP label,
# and the head in ClearNLP's tree where it differs.
COPULA = """
The the DET DT 2 det det
wall wall NOUN NN 4 nsubj nsubj 3
is be AUX VBZ 4 cop ROOT 3
thick thick ADJ JJ 0 ROOT acomp 3
near near ADP IN 6 case prep 4
Hull Hull PROPN NNP 4 obl pobj 5
. . PUNCT . 4 punct punct 3
"""
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
OBJECTS = """
Hale Hale PROPN NNP 2 nsubj nsubj
gave give VERB VBD 0 ROOT ROOT
up up ADP RP 2 compound:prt prt
the the DET DT 5 det det
ferry ferry NOUN NN 2 obj dobj
and and CCONJ CC 8 cc cc 2
did do AUX VBD 9 aux aux
n't not PART RB 9 advmod neg
sell sell VERB VB 2 conj conj
because because SCONJ IN 12 case prep 9
of of ADP IN 10 fixed prep 10
rain rain NOUN NN 9 obl pobj 11
. . PUNCT . 2 punct punct
"""
EXISTENTIAL = """
There there PRON EX 2 expl expl
were be VERB VBD 0 ROOT ROOT
96 96 NUM CD 4 nummod nummod
males male NOUN NNS 2 nsubj attr
for for ADP IN 6 case prep 4
females female NOUN NNS 4 nmod pobj 5
. . PUNCT . 2 punct punct
"""
OBJECT_CONTROL = """
Rain rain NOUN NN 2 nsubj nsubj
made make VERB VBD 0 ROOT ROOT
him he PRON PRP 2 obj nsubj 4
sell sell VERB VB 2 xcomp ccomp
the the DET DT 6 det det
ferry ferry NOUN NN 4 obj dobj
. . PUNCT . 2 punct punct
"""
PLACE = """
Hale Hale PROPN NNP 4 nsubj nsubj 2
is be AUX VBZ 4 cop ROOT 2
in in ADP IN 4 case prep 2
Hull Hull PROPN NNP 0 ROOT pobj 3
. . PUNCT . 4 punct punct 2
"""


def rows(lines: str, universal: bool) -> list[Row]:
    parse = annotation(lines, universal)
    return SynDep().rows(parse, collapsed_tree(parse))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (COPULA, {"verb": "is", "nsubj": "The wall", "attr": "thick near Hull"}),
        (
            PASSIVE,
            {"verb": "was seen", "nsubj:pass": "Gordon Vale", "obl:in": "1900", "obl:agent": "two monks"},
        ),
        (OBJECTS, {"verb": "gave up", "nsubj": "Hale", "obj": "the ferry"}),
        (EXISTENTIAL, {"verb": "were", "nsubj": "96 males for females"}),
        (OBJECT_CONTROL, {"verb": "made", "nsubj": "Rain", "obj": "him", "xcomp": "sell the ferry"}),
        (PLACE, {"verb": "is", "nsubj": "Hale", "obl:in": "Hull"}),
    ],
)
def test_both_schemes_give_the_same_rows(lines: str, expected: dict[str, str]) -> None:
    both = [rows(lines, universal) for universal in (True, False)]
    assert both[0] == both[1]
    first = {relation: cell.text for relation, cell in both[0][0].cells() if relation != CLAUSE}
    assert first == expected


def test_a_fixed_preposition_names_its_relation() -> None:
    row = rows(OBJECTS, universal=True)[1]
    assert row.predicate.text == "did n't sell"
    assert [cell.text for cell in row.cell("obl:because_of")] == ["rain"]
    assert [cell.text for cell in row.cell("nsubj")] == ["Hale"]
