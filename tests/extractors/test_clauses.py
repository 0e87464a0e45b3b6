"""What clauses share with those around them, in both schemes that ask: subjects, antecedents, objects."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.annotate import Annotation
from extractors.clauses import SharedParts
from extractors.dependencies import collapsed_tree
from extractors.registry import make_extractor
from extractors.table import Paragraph, Row
from tests.extractors.parses import annotation

SUBJECTS = {"syndep": ("nsubj", "nsubj:pass"), "openie": ("ARG0",)}

both = pytest.mark.parametrize("scheme", list(SUBJECTS))


def rows(scheme: str, text: str) -> tuple[Row, ...]:
    return make_extractor(scheme).extract(Paragraph("p", text)).rows


def subject(scheme: str, text: str, verb: str) -> str | None:
    """The subject in the one row of ``verb``; several cells are joined as the text has them."""
    (row,) = [row for row in rows(scheme, text) if verb in row.predicate.text.split()]
    cells = [cell for relation in SUBJECTS[scheme] for cell in row.cell(relation)]
    return text[cells[0].start : cells[-1].end] if cells else None


@both
@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        ("Leeds answered with kicker Tom Vale nailing a 37-yard goal.", "nailing", "kicker Tom Vale"),
        ("The ball was lost, followed by Tom Vale kicking a 30-yard goal.", "kicking", "Tom Vale"),
        ("Leeds tied the game as kicker Tom Vale made a 48-yard field goal.", "made", "kicker Tom Vale"),
        ("Leeds answered, nailing a 37-yard goal.", "nailing", "Leeds"),
    ],
)
def test_the_noun_before_a_verb_is_its_subject(scheme: str, text: str, verb: str, expected: str) -> None:
    assert subject(scheme, text, verb) == expected


@both
@pytest.mark.parametrize("scorer", ["Hull", "The crew"])
def test_what_is_followed_is_what_came_before(scheme: str, scorer: str) -> None:
    text = f"{scorer} scored on a 40-yard pass, followed by a 3-yard run."
    assert subject(scheme, text, "scored") == scorer
    assert subject(scheme, text, "followed") == "a 40-yard pass"


@both
def test_a_participle_that_serves_as_a_preposition_has_not_the_subject_beside_it(scheme: str) -> None:
    text = "Leeds won the cup, considering the rain."
    assert subject(scheme, text, "won") == "Leeds"
    assert subject(scheme, text, "considering") is None


@both
@pytest.mark.parametrize(
    ("clause", "verb", "expected"),
    [
        ("who were brothers", "were", "Gordon Vale and Eyre"),
        ("who was a miller", "was", "Eyre"),
    ],
)
def test_a_relative_clause_after_coordinated_nouns(
    scheme: str, clause: str, verb: str, expected: str
) -> None:
    assert subject(scheme, f"The mill belonged to Gordon Vale and Eyre, {clause}.", verb) == expected


@both
def test_the_pronoun_may_belong_to_a_noun_of_the_clause(scheme: str) -> None:
    assert subject(scheme, "The group had 60 men, most of whom were farmers.", "were") == "most of whom"
    assert subject(scheme, "The runners, whose shoes wore out, stopped.", "wore") == "whose shoes"


@both
@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        ("Brook asked Hale to sell 30 carts.", "sell", "Hale"),
        ("The firm hired Hale to build 3 mills.", "build", "Hale"),
        ("The Ravens used those three minutes to drive down the field.", "drive", "The Ravens"),
        ("The ships built in 1900 and sold in 1910 sank.", "sold", "The ships"),
        ("Brook was able to sell 30 carts.", "sell", "Brook"),
    ],
)
def test_infinitives_and_participles(scheme: str, text: str, verb: str, expected: str) -> None:
    assert subject(scheme, text, verb) == expected


@both
def test_shares_are_no_shares_of_a_share(scheme: str) -> None:
    text = "16.2% were of English descent, 12.2% Irish, 12.0% Polish and 6.0% French."
    assert subject(scheme, text, "were") == "16.2%"
    assert subject(scheme, text, "12.0%") is None
    whole = "The town was 16.2% English, 12.2% Irish, 12.0% Polish and 6.0% French."
    assert subject(scheme, whole, "12.0%") == "The town"


class TestRunningBack:
    """The title, which the parser takes for a verb."""

    TEXTS = (
        "In the second quarter, running back Tom Vale scored twice.",
        "Leeds led with a pass to running back Tom Vale.",
        "Hull scored as running back Tom Vale ran 3 yards.",
        "Hull led with running back Tom Vale getting a 3-yard run.",
        "Hull found running back Tom Vale on a 3-yard pass.",
    )

    @both
    @pytest.mark.parametrize("text", TEXTS)
    def test_it_heads_no_clause(self, scheme: str, text: str) -> None:
        found = rows(scheme, text)
        assert not [row for row in found if "running" in row.predicate.text.split()]
        assert any(cell.text.endswith("running back Tom Vale") for row in found for _, cell in row.cells())

    @both
    def test_it_has_what_it_does(self, scheme: str) -> None:
        assert subject(scheme, self.TEXTS[0], "scored") == "running back Tom Vale"
        assert subject(scheme, self.TEXTS[3], "getting") == "running back Tom Vale"

    @both
    def test_one_may_run_back(self, scheme: str) -> None:
        assert subject(scheme, "He was running back to Hull with 3 friends.", "running") == "He"


class TestAppositionsThatSayNothing:
    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("The king himself led 300 men.", "The king himself"),
            ("Ada moved to Boston, Massachusetts, in 1900.", "to Boston, Massachusetts"),
        ],
    )
    def test_they_stay_in_their_phrase(self, text: str, cell: str) -> None:
        (row,) = rows("openie", text)
        assert cell in [argument.text for _, argument in row.cells()]

    def test_others_have_their_row(self) -> None:
        predicates = [row.predicate.text for row in rows("openie", "Ada Brook, a miller, led 300 men.")]
        assert predicates == ["miller", "led"]


@both
def test_a_lone_dash_is_no_predicate(scheme: str) -> None:
    found = rows(scheme, "Regent Morton asked MacGill to re-negotiate a contract for 40 ships.")
    assert all(any(c.isalnum() for c in cell.text) for row in found for _, cell in row.cells())


WORDS = st.sampled_from(
    [
        ("ran", "VERB", "VBD", "ROOT"),
        ("running", "VERB", "VBG", "advcl"),
        ("back", "ADV", "RB", "advmod"),
        ("Hale", "PROPN", "NNP", "nsubj"),
        ("Vale", "PROPN", "NNP", "conj"),
        ("who", "PRON", "WP", "nsubj"),
        ("were", "AUX", "VBP", "relcl"),
        ("followed", "VERB", "VBN", "advcl"),
        ("by", "ADP", "IN", "agent"),
        ("goals", "NOUN", "NNS", "pobj"),
        (",", "PUNCT", ",", "punct"),
        ("able", "ADJ", "JJ", "acomp"),
        ("sell", "VERB", "VB", "xcomp"),
    ]
)


@st.composite
def parses(draw: st.DrawFn) -> Annotation:
    """Any tree over words of all kinds: a parser may be wrong in every way but this."""
    tokens = draw(st.lists(WORDS, min_size=1, max_size=12))
    order = draw(st.permutations(range(len(tokens))))
    heads = {order[0]: order[0]}
    for n, i in enumerate(order[1:], start=1):
        heads[i] = order[draw(st.integers(0, n - 1))]
    lines = [
        f"{word} {word} {pos} {tag} {heads[i] + 1} dep {label if heads[i] != i else 'ROOT'}"
        for i, (word, pos, tag, label) in enumerate(tokens)
    ]
    return annotation("\n".join(lines), universal=False)


@settings(max_examples=400, deadline=None)
@given(parses())
def test_every_parse_has_a_tree_and_shared_parts(parse: Annotation) -> None:
    tree = collapsed_tree(parse)
    for i, head in enumerate(tree.heads):
        seen = set()
        while tree.heads[i] != i:
            assert i not in seen
            seen.add(i)
            i = tree.heads[i]
        assert tree.first[head] <= head <= tree.last[head]
    shared = SharedParts(parse, tree)
    for i in range(len(parse.words)):
        antecedent = shared.antecedent(i)
        nouns = [*shared.subjects(i).nouns, *(antecedent.phrase.nouns if antecedent else ())]
        assert nouns == sorted(set(nouns)) or antecedent is not None
        assert i not in nouns
        assert shared.object(i) != i
