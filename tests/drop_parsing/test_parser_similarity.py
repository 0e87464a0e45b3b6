"""Vectors in context: how near rows are to a question, and a parser that reads them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tables import argument, table

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.parser.config import load_config
from drop_parsing.parser.predicting import parse_passages
from drop_parsing.parser.questions import QuestionSet, Source, read_questions
from drop_parsing.parser.run_files import Tables, encoder_of
from drop_parsing.parser.similarity import RowVectors
from drop_parsing.parser.training import Data, train_parser
from drop_parsing.reader.config import ContextualConfig
from drop_parsing.reader.contextual_encoders import ContextualEncoder
from drop_parsing.searching import Consistent, KeptForm
from drop_parsing.training.run import Options
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor
from extractors.remote import place_of
from extractors.table import Paragraph, text_hash
from tests.drop_parsing.reader_cases import save_tiny_bert

TEXT = "Carn had 70 boats. Bram sold 25 nets."
PASSAGE = Passage(
    "p",
    TEXT,
    (
        Question("q1", "How many boats did Carn have?", Answer(number="70")),
        Question("q2", "How many nets did Bram sell?", Answer(number="25")),
    ),
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> ContextualConfig:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny_bert(folder)
    return ContextualConfig(str(folder), (1,))


def test_a_row_is_the_mean_of_its_words_in_the_context_of_the_paragraph(bert: ContextualConfig) -> None:
    encoder = ContextualEncoder(bert)
    rows = table(
        {"verb": argument("had", 5), "arg0": argument("Carn", 0), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold", 24)},
    )
    words = ["Carn", "had", "70", "boats", ".", "Bram", "sold", "25", "nets", "."]
    vectors = encoder.encode(words).astype(np.float32)
    made = RowVectors(TEXT, rows, encoder)
    for row, inside in zip(made.rows, (slice(0, 4), slice(6, 7)), strict=True):
        mean = vectors[inside].mean(0)
        np.testing.assert_allclose(row, mean / np.linalg.norm(mean), rtol=1e-5)
    np.testing.assert_allclose(made.similar(encoder.encode(words)[6:7])[1], 1, rtol=1e-5)
    assert made.similar(encoder.encode([])).tolist() == [0, 0]


def read(config: ContextualConfig, passages: list[Passage]) -> QuestionSet:
    tables = {text_hash(TEXT): make_extractor("syndep").extract(Paragraph("p", TEXT))}
    form = "(extract_number all_structures relation:obj)"
    found = {"q1": Consistent("", "p", "q1", 0, 1, (KeptForm(form, ("70",)),))}
    return read_questions(
        passages, tables, load_pipeline(), Source(lambda passages: found), encoder=ContextualEncoder(config)
    )


def test_a_parser_of_vectors_in_context_is_trained_and_asked(bert: ContextualConfig, tmp_path: Path) -> None:
    config = replace(load_config("kdg-tiny"), contextual=bert, epochs=2, evaluate_on=1)
    questions = read(bert, [PASSAGE])
    for question, language in questions.questions:
        assert question.contextual is not None
        assert question.similar is not None
        assert question.contextual.shape == (len(question.tokens), encoder_of(config).width)  # type: ignore[union-attr]
        assert question.similar.shape == (len(language.view.table.rows),)
    data = Data(questions, [PASSAGE], questions, [PASSAGE], Tables())
    train_parser(config, data, tmp_path / "run", Options(torch.device("cpu"), torch.float32))
    parses = parse_passages(tmp_path / "run", [PASSAGE], place_of(str(tmp_path / "cache")))
    assert [one.id for one in parses.parsed] == ["q1", "q2"]
    assert all(one.beam for one in parses.parsed)
