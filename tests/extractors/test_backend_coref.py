"""Coreference: pronouns have the entity that they stand for, and nothing that holds of tables breaks."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from extractors.annotate import Annotation, PipelineError
from extractors.backends import coref as module
from extractors.backends.coref import CorefAnnotator, Mention, StanzaResolver, antecedents
from extractors.export import export, table_to_json
from extractors.extractor import Extractor
from extractors.registry import Backend, make_extractor
from extractors.store import TableStore
from extractors.syndep import SynDep
from extractors.table import Paragraph, Span, Table
from extractors.tagged import read_tagged
from grammar.types import Relation
from grammar.view import ENTITY, View
from tests.extractors import tiny_models

TEXT = "Peter, the mayor of Paris, bought a boat. He sold it in May, and she thanked him."


@dataclass
class Known:
    """Resolves by a list of what means the same: the words of each mention, as they stand in the text."""

    things: Sequence[Sequence[str]]
    name: str = "known"
    version: str = "1"

    def clusters(self, sentences: Sequence[Sequence[str]]) -> list[list[Mention]]:
        words = [word for sentence in sentences for word in sentence]

        def places(mention: str) -> list[Mention]:
            parts = mention.split()
            starts = range(len(words) - len(parts) + 1)
            return [(i, i + len(parts) - 1) for i in starts if words[i : i + len(parts)] == parts]

        return [[place for mention in thing for place in places(mention)] for thing in self.things]


HE = Known([["Peter", "He", "him"], ["a boat", "it"], ["she"]])


def resolved(text: str, resolver: Known = HE) -> Annotation:
    (annotation,) = CorefAnnotator(make_extractor("syndep").annotator, resolver).annotate(
        [Paragraph("p", text)]
    )
    return annotation


def table(text: str, resolver: Known = HE) -> Table:
    annotator = CorefAnnotator(make_extractor("syndep").annotator, resolver)
    return Extractor(annotator, SynDep()).extract(Paragraph("p", text))


def meant(text: str, resolver: Known) -> dict[str, str]:
    annotation = resolved(text, resolver)
    return {annotation.words[i]: entity.text for i, entity in annotation.antecedents.items()}


def test_the_cells_of_a_pronoun_have_the_entity_of_its_antecedent() -> None:
    made = table(TEXT)
    entities = {
        (relation, cell.text): [(entity.text, entity.start) for entity in cell.entities]
        for row in made.rows
        for relation, cell in row.cells()
    }
    assert entities["nsubj", "He"] == [("Peter", 0)]
    assert entities["obj", "him"] == [("Peter", 0)]
    assert entities["obj", "it"] == entities["nsubj", "she"] == []
    for row in made.rows:
        for _, cell in row.cells():
            assert list(cell.entities) == sorted(set(cell.entities), key=lambda entity: entity.start)
            assert all(TEXT[entity.start : entity.end] == entity.text for entity in cell.entities)


@pytest.mark.parametrize(
    ("text", "things", "expected"),
    [
        ("Peter met Susan. He left.", [["Peter", "He"], ["Susan"]], {"He": "Peter"}),
        ("Peter rowed. Peter won, and he slept.", [["Peter", "he"]], {"he": "Peter"}),
        ("When he came, Peter slept.", [["Peter", "he"]], {"he": "Peter"}),
        ("The mayor of Paris rowed. He won.", [["The mayor of Paris", "He"]], {}),
        ("The boat sank. It was old.", [["The boat", "It"]], {}),
        ("He left.", [["He"]], {}),
        ("Peter left.", [["Peter"]], {}),
    ],
)
def test_antecedents(text: str, things: list[list[str]], expected: dict[str, str]) -> None:
    assert meant(text, Known(things)) == expected


def test_the_nearest_name_before_it_is_the_antecedent() -> None:
    annotation = resolved("Ada met Bram. Bram met Ada. He slept.", Known([["Bram", "He"]]))
    (entity,) = annotation.antecedents.values()
    assert (entity.text, entity.start) == ("Bram", 14)


def test_long_paragraphs_are_resolved_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WINDOW", 14)
    text = "Peter rowed home. He slept. " * 6
    annotation = resolved(text, Known([["Peter", "He"]]))
    assert len(annotation.antecedents) == 6
    for token, entity in annotation.antecedents.items():
        assert annotation.starts[token] - entity.start == len("Peter rowed home. ")


@pytest.mark.parametrize("text", ["", " ", "...", "\ud800 he", "Peter \ud800 rowed; he won."])
def test_odd_texts(text: str) -> None:
    assert resolved(text, Known([["Peter", "he"]])).paragraph.text == text


def test_without_pronouns_nothing_changes() -> None:
    text = "Peter sold 3 boats in 1914. Susan bought them all."
    plain = make_extractor("syndep").extract(Paragraph("p", text))
    assert table(text, Known([])).rows == plain.rows
    assert resolved(text, Known([])) == next(
        make_extractor("syndep").annotator.annotate([Paragraph("p", text)])
    )


def test_tables_say_that_coreference_made_them() -> None:
    plain, with_coref = make_extractor("syndep").extract(Paragraph("p", TEXT)), table(TEXT)
    assert plain.extractor != with_coref.extractor
    assert plain.version != with_coref.version
    other = CorefAnnotator(make_extractor("syndep").annotator, replace(HE, version="2"))
    assert Extractor(other, SynDep()).version != with_coref.version


def test_such_tables_go_everywhere_that_tables_go(tmp_path: Path) -> None:
    made = table(TEXT)
    store = TableStore(tmp_path / "cache", made.scheme, made.extractor, made.version)
    store.add([made])
    assert store.get(made.hash, "p") == made
    assert table_to_json(made)["rows"]
    for format in ("csv", "jsonl", "parquet"):
        assert export([made], format, tmp_path / format)
    found = View(made).parts_of(Relation("nsubj"), ENTITY)
    assert [[text.surface for text in texts] for texts in found] == [["Peter", "Paris"], ["Peter"], []]


def test_a_tagged_file_of_such_tables_is_the_same_after_import(tmp_path: Path) -> None:
    (first,) = export([table(TEXT)], "tagged", tmp_path / "first")
    (second,) = export([read_tagged(first)[0]], "tagged", tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()


def test_a_mention_is_an_entity_where_its_head_is() -> None:
    annotation = resolved("Peter, mayor of Paris, won. He slept.", Known([]))
    first = next(i for i, word in enumerate(annotation.words) if word == "Peter")
    he = annotation.words.index("He")
    paris = annotation.words.index("Paris")
    assert antecedents(annotation, [[(first, paris), (he, he)]])[he] == Span("Peter", 0, 5, "PERSON")


@pytest.fixture(scope="module")
def stanza_coref(stanza_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coref") / "models"
    shutil.copytree(stanza_models, folder)
    return tiny_models.add_stanza_coref(folder)


def test_stanza_resolves(stanza_coref: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resolver = StanzaResolver(str(stanza_coref))
    assert tuple(capsys.readouterr()) == ("", "")
    sentences = [["Peter", "bought", "a", "boat", "."], ["He", "sold", "it", "."]]
    peter, boat = resolver.clusters(sentences)
    assert peter == [(0, 0), (5, 5)]
    assert boat[1] == (7, 7)


@pytest.mark.parametrize("backend", ["spacy", "stanza"])
def test_coreference_beside_a_parser(stanza_coref: Path, backend: str) -> None:
    named = Backend(
        "spacy" if backend == "spacy" else f"stanza:{stanza_coref}", coref=f"stanza:{stanza_coref}"
    )
    extractor = make_extractor("syndep", named)
    made = extractor.extract(Paragraph("p", "Peter bought a boat. He sold it."))
    assert "coref_stanza" in made.extractor
    if backend == "spacy":  # The tiny parser knows no named entities.
        (he,) = (cell for row in made.rows for cell in row.cell("nsubj") if cell.text == "He")
        assert [entity.text for entity in he.entities] == ["Peter"]


def test_coreference_that_cannot_be_used(stanza_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PipelineError, match="no Stanza model for coref"):
        make_extractor("syndep", Backend(coref=f"stanza:{stanza_models}"))
    with pytest.raises(PipelineError, match="no coreference by 'magic:x'; give stanza"):
        make_extractor("syndep", Backend(coref="magic:x"))
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(PipelineError, match=r"pip install drop-parsing\[stanza\]"):
        make_extractor("syndep", Backend(coref="stanza"))
