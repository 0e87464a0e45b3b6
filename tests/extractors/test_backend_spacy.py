"""Any spaCy pipeline: what one lacks is made up for."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from extractors.annotate import DEFAULT_PIPELINES, PipelineError
from extractors.backends.spacy import LABELS, PENN, spacy_annotator
from extractors.dependencies import RELATIONS
from extractors.registry import Backend, make_extractor
from extractors.table import Paragraph
from tests.extractors import tiny_models

TEXT = "Ada sold 3 boats in Hull. The wall was thick. He bought 40 ships."


def trained(components: Sequence[str]) -> Language:
    """A blank pipeline with these components, which have learnt the treebank by heart."""
    nlp = spacy.blank("en")
    for name in components:
        nlp.add_pipe(name, config={"min_action_freq": 1} if name == "parser" else {})
    examples = []
    for block in tiny_models.CONLLU.strip().split("\n\n"):
        rows = [line.split() for line in block.splitlines()]
        words = [row[1] for row in rows]
        heads = [i if row[6] == "0" else int(row[6]) - 1 for i, row in enumerate(rows)]
        labels = ["ROOT" if row[7] == "root" else row[7] for row in rows]
        gold = Doc(nlp.vocab, words=words, tags=[row[4] for row in rows], heads=heads, deps=labels)
        examples.append(Example(Doc(nlp.vocab, words=words), gold))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.fixture(scope="module", params=[["parser"], ["tagger", "parser"]], ids="+".join)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipeline")
    trained(request.param).to_disk(path)
    return path


def test_a_pipeline_of_a_parser_alone_makes_tables(folder: Path) -> None:
    """Neither lemmatizer, attribute ruler nor entity recogniser, with or without a tagger."""
    extractor = make_extractor("syndep", Backend(f"spacy:{folder}"))
    sold, was, bought = extractor.extract(Paragraph("p", TEXT)).rows
    assert [cell.text for relation in ("nsubj", "verb", "obj", "obl:in") for cell in sold.cell(relation)] == [
        *("Ada", "sold", "3 boats", "Hull")
    ]
    assert [cell.text for relation in ("nsubj", "verb", "attr") for cell in was.cell(relation)] == [
        *("The wall", "was", "thick")
    ]
    assert [number.value for cell in bought.cell("obj") for number in cell.numbers] == [40]
    assert [cell.entities for row in (sold, was, bought) for _, cell in row.cells() if cell.entities] == []


def test_parts_of_speech_that_are_missing(folder: Path) -> None:
    (found,) = spacy_annotator(str(folder)).annotate([Paragraph("p", TEXT)])
    assert found.pos[:4] == ["NOUN" if found.tags[0] == "" else "PROPN", "VERB", "NUM", "NOUN"]
    assert found.lemmas[:3] == ["ada", "sold", "3"]


def test_parts_of_speech_that_are_there_are_kept() -> None:
    name = next(name for name in DEFAULT_PIPELINES if spacy.util.is_package(name))
    text = Paragraph(
        "p", "There were 96 males, which the guild hadn't paid to run; they get paid on Fridays!"
    )
    (found,) = spacy_annotator(name).annotate([text])
    plain = [token.pos_ for token in spacy.load(name)(text.text)]
    assert found.pos == plain


def test_the_tables_know_the_labels() -> None:
    name = next(name for name in DEFAULT_PIPELINES if spacy.util.is_package(name))
    assert set(spacy.load(name).get_pipe("tagger").labels) - {"_SP"} <= set(PENN)
    assert {label for label in LABELS if ":" not in label} - {"agent", "cop"} <= set(RELATIONS)


def test_pipelines_of_a_user_are_told_apart(tmp_path: Path) -> None:
    versions = set()
    for name, components in (("a", ["parser"]), ("b", ["tagger", "parser"])):
        trained(components).to_disk(tmp_path / name)
        versions.add(spacy_annotator(str(tmp_path / name)).version)
    assert len(versions) == 2


def test_pipelines_that_cannot_be_used(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(PipelineError, match="has no parser"):
        spacy_annotator(str(tmp_path))
    with pytest.raises(PipelineError, match="spacy download en_core_web_huge"):
        spacy_annotator("en_core_web_huge")
