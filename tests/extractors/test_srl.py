"""Rows of the scheme "srl" with the shipped model."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.dependencies import collapsed_tree
from extractors.extractor import Extractor
from extractors.registry import make_extractor
from extractors.srl import Srl, shipped_model
from extractors.srl_data import read_sentences
from extractors.srl_roles import find_frames
from extractors.table import Paragraph, Row, Table


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(SpacyAnnotator(load_pipeline()), Srl())


def table(extractor: Extractor, text: str) -> Table:
    return extractor.extract(Paragraph("p", text))


def row(extractor: Extractor, text: str, predicate: str) -> Row:
    found = [r for r in table(extractor, text).rows if predicate in r.predicate.text.split()]
    assert len(found) == 1
    return found[0]


def texts(row: Row, relation: str) -> list[str]:
    return [cell.text for cell in row.cell(relation)]


def test_roles_are_those_of_the_verb_not_of_the_syntax(extractor: Extractor) -> None:
    active = row(extractor, "The monks built the fort in 1204.", "built")
    passive = row(extractor, "The fort was built by the monks in 1204.", "built")
    assert texts(active, "ARG0") == ["The monks"]
    assert texts(passive, "ARG0") == ["by the monks"]
    assert texts(active, "ARG1") == ["the fort"]
    assert texts(passive, "ARG1") == ["The fort"]
    assert texts(active, "ARGM-TMP") == texts(passive, "ARGM-TMP") == ["in 1204"]
    (time,) = active.cell("ARGM-TMP")
    assert [date.year for date in time.dates] == [1204]


@pytest.mark.parametrize(
    ("text", "predicate", "time"),
    [
        ("In May 1914 the bridge opened.", "opened", "In May 1914"),
        ("The bridge opened last year.", "opened", "last year"),
        ("The bridge opened after the war ended.", "opened", "after the war ended"),
        ("Ada scored twice during the second half.", "scored", "during the second half"),
    ],
)
def test_times(extractor: Extractor, text: str, predicate: str, time: str) -> None:
    assert time in texts(row(extractor, text, predicate), "ARGM-TMP")


@pytest.mark.parametrize(
    ("text", "predicate", "place"),
    [
        ("The treaty was signed in Paris.", "signed", "in Paris"),
        ("The crew fished near the northern coast.", "fished", "near the northern coast"),
    ],
)
def test_places(extractor: Extractor, text: str, predicate: str, place: str) -> None:
    assert texts(row(extractor, text, predicate), "ARGM-LOC") == [place]


def test_a_relative_pronoun_is_what_it_stands_for(extractor: Extractor) -> None:
    found = row(extractor, "The army, which needed 300 carts, moved north.", "needed")
    assert texts(found, "ARG0") == ["The army"]
    assert texts(found, "ARG1") == ["300 carts"]
    assert not any(relation.startswith(("R-", "C-")) for relation in found.arguments)


def test_a_negation_is_in_the_predicate_and_a_cell(extractor: Extractor) -> None:
    found = row(extractor, "The crew did not sell the boats.", "sell")
    assert found.predicate.text == "did not sell"
    assert texts(found, "ARGM-NEG") == ["not"]


def test_a_noun_that_names_an_event_has_a_row(extractor: Extractor) -> None:
    found = row(extractor, "The attack on the fort in 1204 failed.", "attack")
    assert any("on the fort" in text for text in texts(found, "ARG1"))


def test_coordinated_verbs_share_their_subject(extractor: Extractor) -> None:
    text = "Ada toured Norway and sold the ferry."
    assert texts(row(extractor, text, "toured"), "ARG0") == ["Ada"]
    assert texts(row(extractor, text, "sold"), "ARG0") == ["Ada"]


def test_a_sentence_without_a_verb_keeps_its_values(extractor: Extractor) -> None:
    found = table(extractor, "Attendance: 42,000 in May 1914. Champions once more!")
    assert found.lost.numbers == ()
    assert found.lost.dates == ()
    assert {r.sentence for r in found.rows} == {0}
    assert table(extractor, "Champions once more!").rows == ()


WORDS = st.sampled_from(
    "the army 300 carts Hull 25% 1900 May was which who and needed in from , . ( ) to sold attack of \n".split(
        " "
    )
)


@given(st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=40).map(" ".join)))
@settings(max_examples=80, deadline=None)
def test_every_cell_is_a_slice_of_any_text_and_no_value_is_lost(text: str) -> None:
    found = make_extractor("srl").extract(Paragraph("p", text))
    assert found.lost.numbers == ()
    assert found.lost.dates == ()
    for each in found.rows:
        assert 0 < each.confidence <= 1
        assert each.arguments
        for _, cell in each.cells():
            assert text[cell.start : cell.end] == cell.text != ""


def test_rows_are_in_text_order_one_a_predicate(extractor: Extractor) -> None:
    text = "Gordon Vale, a mill town, and Eyre supplied the northern army, which needed 300 carts, and won."
    starts = [r.predicate.start for r in table(extractor, text).rows]
    assert starts == sorted(starts)
    assert len(starts) == len({r.predicate.text for r in table(extractor, text).rows})


def test_a_predicate_has_its_frame_whatever_others_are_asked_for() -> None:
    text = "Ada, who toured Norway in 1904, sold the ferry to monks. The mill was built and burned in May. Rain fell."
    annotator, model = SpacyAnnotator(load_pipeline()), shipped_model()
    (annotation,) = annotator.annotate([Paragraph("p", text)])
    tree = collapsed_tree(annotation)
    together = find_frames(model, annotation, tree)
    assert len(together) == 5
    assert all(frame.roles for frame in together)
    for frame in together:
        (alone,) = find_frames(model, annotation, tree, [frame.predicate])
        assert [(role.label, role.first, role.last) for role in alone.roles] == [
            (role.label, role.first, role.last) for role in frame.roles
        ]
        for own, other in zip(alone.roles, frame.roles, strict=True):
            assert own.probability == pytest.approx(other.probability, abs=1e-4)


def test_a_very_long_sentence_is_done(extractor: Extractor) -> None:
    text = "Ada sold carts and " * 1500 + "left in 1900."
    found = table(extractor, text)
    assert len(found.rows) > 1000
    assert found.lost.dates == ()


def test_the_version_names_the_weights(extractor: Extractor) -> None:
    assert shipped_model().hash in extractor.version
    assert len(shipped_model().hash) == 8


def test_the_shipped_weights_are_small() -> None:
    import extractors.srl

    path = Path(extractors.srl.__file__).with_name("srl_model.npz")
    assert path.stat().st_size <= 20_000_000


def test_scores_on_the_treebank(shared_data: Path) -> None:
    """A floor under the figures of ``srl_model.md``, on the first sentences of EWT dev."""
    import importlib.util

    source = Path(__file__).parents[2] / "benchmarks" / "srl_scores.py"
    spec = importlib.util.spec_from_file_location("srl_scores", source)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    sentences = list(read_sentences(shared_data / "srl" / "ewt_dev.jsonl.gz"))[:500]
    scores = benchmark.score(shipped_model(), sentences, SpacyAnnotator(load_pipeline()))
    assert scores.verbal.f1 >= 0.74
    assert scores.nominal.f1 >= 0.62
    assert scores.labels["ARGM-TMP"].f1 >= 0.70
    assert scores.predicates["verbal"].f1 >= 0.95


def test_the_object_of_a_light_verb_is_whole() -> None:
    text = "In the second quarter Hale made a 21-yard field goal."
    (row,) = [
        r for r in make_extractor("srl").extract(Paragraph("p", text)).rows if r.predicate.text == "made"
    ]
    assert [cell.text for cell in row.cell("ARG1")] == ["a 21-yard field goal"]
    assert not row.cell("ARGM-PRR")
