"""Stanza as the parser: real tiny models, trained here."""

import random
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extractors.annotate import Annotation, PipelineError, SpacyAnnotator
from extractors.backends import stanza as module
from extractors.backends.stanza import StanzaModels, stanza_annotator
from extractors.registry import Backend, make_extractor
from extractors.table import Paragraph
from tests.extractors import tiny_models

TEXT = "Ada sold 3 boats in Hull. The wall was thick. He bought 40 ships."


@pytest.fixture(scope="module")
def annotator(stanza_models: Path) -> SpacyAnnotator:
    return stanza_annotator(str(stanza_models))


@pytest.fixture(scope="module")
def with_more(stanza_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same models with a tokenizer and named entities."""
    folder = tmp_path_factory.mktemp("more") / "models"
    shutil.copytree(stanza_models, folder)
    tiny_models.add_stanza_tokenizer(folder)
    return tiny_models.add_stanza_entities(folder)


def one(annotator: SpacyAnnotator, text: str) -> Annotation:
    (annotation,) = annotator.annotate([Paragraph("p", text)])
    return annotation


def test_the_columns(annotator: SpacyAnnotator) -> None:
    found = one(annotator, TEXT)
    assert [TEXT[start:end] for start, end in zip(found.starts, found.ends, strict=True)] == found.words
    assert found.sentences == [(0, 7), (7, 12), (12, 17)]
    assert found.lemmas[:2] == ["ada", "sell"]
    assert list(zip(found.pos, found.tags, found.dependencies, found.heads, strict=True))[:7] == [
        ("PROPN", "NNP", "nsubj", 1),
        ("VERB", "VBD", "root", 1),
        ("NUM", "CD", "nummod", 3),
        ("NOUN", "NNS", "obj", 1),
        ("ADP", "IN", "case", 5),
        ("PROPN", "NNP", "obl", 1),
        ("PUNCT", ".", "punct", 1),
    ]
    assert [number.value for number in found.numbers] == [3, 40]


def test_tables_of_every_scheme_without_a_model_of_its_own(stanza_models: Path) -> None:
    table = make_extractor("syndep", Backend(f"stanza:{stanza_models}")).extract(Paragraph("p", TEXT))
    sold, was, bought = table.rows
    assert table.extractor == "stanza-en"
    assert [cell.text for relation in ("nsubj", "verb", "obj", "obl:in") for cell in sold.cell(relation)] == [
        *("Ada", "sold", "3 boats", "Hull")
    ]
    assert [cell.text for relation in ("nsubj", "verb", "attr") for cell in was.cell(relation)] == [
        *("The wall", "was", "thick")
    ]
    assert [number.value for cell in bought.cell("obj") for number in cell.numbers] == [40]


def test_a_short_sentence_is_universal_too(annotator: SpacyAnnotator, stanza_models: Path) -> None:
    """Not one label of "Ada sold." but the root tells the label scheme."""
    table = make_extractor("syndep", Backend(f"stanza:{stanza_models}")).extract(Paragraph("p", "Ada sold."))
    assert one(annotator, "Ada sold.").dependencies == ["nsubj", "root", "punct"]
    assert [cell.text for row in table.rows for cell in row.cell("nsubj")] == ["Ada"]


def test_neighbours_change_nothing(annotator: SpacyAnnotator) -> None:
    short = Paragraph("short", TEXT)
    others = [
        Paragraph(str(i), f"In {1700 + i} the guild built {i} mills. " * (1 + (i % 9 == 0)))
        for i in range(63)
    ]
    alone = one(annotator, TEXT)
    for seed in (0, 1):
        stream = [short, *others]
        random.Random(seed).shuffle(stream)
        found = list(annotator.annotate(stream))
        assert [annotation.paragraph for annotation in found] == stream
        beside = found[stream.index(short)]
        assert (beside.heads, beside.dependencies, beside.lemmas) == (
            *(alone.heads, alone.dependencies, alone.lemmas),
        )


def test_no_sentence_is_longer_than_the_parser_should_take(
    annotator: SpacyAnnotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SENTENCE", 100)
    long = Paragraph("long", " ".join(f"mill {i} ground corn" for i in range(300)))
    stream = [Paragraph(str(i), f"Boat {i} sank.") for i in range(49)]
    stream.insert(20, long)
    found = list(annotator.annotate(stream))
    assert [annotation.paragraph for annotation in found] == stream
    assert len(found[20].words) == 1200
    assert max(end - first for first, end in found[20].sentences) == 100


@pytest.mark.parametrize("space", ["  ", "\t", " \u00a0 "])
def test_spacing_changes_no_parse(annotator: SpacyAnnotator, space: str) -> None:
    plain, spaced = one(annotator, TEXT), one(annotator, TEXT.replace(" ", space))
    assert (plain.words, plain.heads, plain.sentences) == (spaced.words, spaced.heads, spaced.sentences)


@given(st.text(max_size=80))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_columns_fit_any_text(annotator: SpacyAnnotator, text: str) -> None:
    found = one(annotator, text)
    assert [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)] == found.words
    assert [i for first, end in found.sentences for i in range(first, end)] == list(range(len(found.words)))
    for first, end in found.sentences:
        assert all(first <= found.heads[i] < end for i in range(first, end))


def test_entities_and_sentences_where_there_are_models_for_them(with_more: Path) -> None:
    found = one(stanza_annotator(str(with_more)), TEXT + " It sank 4 May 1890. It was deep.")
    entities = [(entity.text, entity.label) for entity in found.entities]
    assert ("Ada", "PERSON") in entities
    assert ("Hull", "GPE") in entities
    assert all(found.paragraph.text[entity.start : entity.end] == entity.text for entity in found.entities)
    firsts = {found.starts[first] for first, _ in found.sentences}
    assert not any(date.start < first < date.end for date in found.dates for first in firsts)


def test_a_tokenizer_says_where_sentences_end(with_more: Path) -> None:
    """What is certain stands; where punctuation would decide, the model does."""
    models = stanza_annotator(str(with_more))
    text = "RESULTS\n\nHull won ; ada rowed ; bram slept"
    first = one(models, text).sentences[0]
    assert first == (0, 1)
    pipeline = StanzaModels(str(with_more)).pipeline(["tokenize"])
    tokenized = pipeline.processors["tokenize"].process("Ada sold. He ran.")
    begins = {sentence.tokens[0].start_char for sentence in tokenized.sentences}
    found = one(models, "Ada sold. He ran.")
    assert begins <= {found.starts[a] for a, _ in found.sentences}


def test_nothing_is_downloaded(stanza_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert one(stanza_annotator(str(stanza_models)), TEXT).sentences


def test_other_models_make_other_tables(stanza_models: Path, with_more: Path) -> None:
    versions = {stanza_annotator(str(folder)).version for folder in (stanza_models, with_more)}
    assert len(versions) == 2


def missing(folder: Path) -> None:
    shutil.rmtree(folder)


def without_index(folder: Path) -> None:
    (folder / "resources.json").unlink()


def with_bad_index(folder: Path) -> None:
    (folder / "resources.json").write_text("[]")


def without_parser(folder: Path) -> None:
    shutil.rmtree(folder / "en" / "depparse")


def with_damaged_parser(folder: Path) -> None:
    (folder / "en" / "depparse" / "tiny.pt").write_bytes(b"PK damaged")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (missing, "resources.json"),
        (without_index, "resources.json"),
        (with_bad_index, "resources.json"),
        (without_parser, "depparse"),
        (with_damaged_parser, "cannot load"),
    ],
)
def test_models_that_cannot_be_used(stanza_models: Path, tmp_path: Path, spoil: Any, told: str) -> None:
    folder = tmp_path / "models"
    shutil.copytree(stanza_models, folder)
    spoil(folder)
    with pytest.raises(PipelineError) as raised:
        stanza_annotator(str(folder))
    message = str(raised.value)
    assert told in message
    assert f"stanza.download('en', model_dir='{folder}')" in message
    assert "\n" not in message


def test_the_only_model_of_its_kind_will_do(stanza_models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(stanza_models, folder)
    (folder / "en" / "pos" / "tiny.pt").rename(folder / "en" / "pos" / "mine.pt")
    assert one(stanza_annotator(str(folder)), TEXT).pos[1] == "VERB"


def test_without_stanza(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(PipelineError, match=r"pip install drop-parsing\[stanza\]"):
        stanza_annotator()
