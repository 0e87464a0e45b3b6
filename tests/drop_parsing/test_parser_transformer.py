"""The transformer option: pieces by character offsets, and a parser on top that learns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tables import argument, table

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.parser.answering import parse_questions
from drop_parsing.parser.batch import Collator, Vocabulary
from drop_parsing.parser.config import load_config
from drop_parsing.parser.decoder import Decoder
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.model import Parser
from drop_parsing.parser.pieces import encode_paragraph, read_pieces
from drop_parsing.parser.predicting import parse_passages
from drop_parsing.parser.questions import Source, read_questions
from drop_parsing.parser.run_files import Tables, pieces_of
from drop_parsing.parser.training import Data, train_parser
from drop_parsing.parser.transformer import TransformerEncoder
from drop_parsing.reader.pieces import PieceVocabulary, load_pieces
from drop_parsing.reader.transformer import load_transformer
from drop_parsing.searching import Consistent, KeptForm
from drop_parsing.training.run import Options
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor
from extractors.remote import place_of
from extractors.table import Paragraph, text_hash
from grammar.language import Language
from tests.drop_parsing.parser_cases import question_over
from tests.drop_parsing.reader_cases import save_tiny_bert

TEXT = "hull had 70 boats, and leeds sold 25 boats."
ASKED = ["how", "many", "boats", "hull"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny_bert(folder)
    return folder


def boats(forms: tuple[str, ...] = ()) -> tuple[QuestionInput, Language]:
    rows = [
        {"verb": argument("had", 5), "arg0": argument("hull", 0), "arg1": argument("70 boats", 9, [70.0])},
        {
            "verb": argument("sold", 29),
            "arg0": argument("leeds", 23),
            "arg1": argument("25 boats", 34, [25.0]),
        },
    ]
    return question_over(table(*rows), ASKED, forms)


def with_pieces(question: QuestionInput, vocabulary: PieceVocabulary, text: str = TEXT) -> QuestionInput:
    paragraph = encode_paragraph(text, vocabulary)
    pieces = read_pieces(" ".join(ASKED), question.tokens, question.entities, paragraph, vocabulary)
    return replace(question, pieces=pieces)


def test_tokens_and_entities_stand_at_their_own_pieces(bert: Path) -> None:
    vocabulary = load_pieces(bert, 200)
    question = with_pieces(boats()[0], vocabulary)
    assert question.pieces is not None
    written = [vocabulary.tokenizer.id_to_token(i).removeprefix("##") for i in question.pieces.ids]
    assert [written[place] for place in question.pieces.tokens] == ["h", "m", "b", "h"]
    for e, entity in enumerate(question.entities):
        places = question.pieces.pooled[1][question.pieces.pooled[0] == e]
        stood = "".join(written[place] for place in places)
        assert stood == "".join(TEXT[start:end] for start, end in entity.places).replace(" ", "")


def test_a_paragraph_is_cut_at_the_longest_sequence(bert: Path) -> None:
    vocabulary = load_pieces(bert, 40)
    question = with_pieces(boats()[0], vocabulary)
    assert question.pieces is not None
    assert len(question.pieces.ids) == 40
    assert question.pieces.pooled[1].max() < 39


def test_an_entity_is_the_mean_of_its_pieces(bert: Path) -> None:
    questions = [with_pieces(boats()[0], load_pieces(bert, 200)) for _ in range(2)]
    batch = Collator(Vocabulary([]), Vocabulary([]))(questions)
    assert batch.pieces is not None
    encoder = TransformerEncoder(load_transformer(bert).transformer, 8, 6, 0.0)
    hidden = torch.randn(2, batch.pieces.ids.shape[1], 8)
    pooled = encoder._pooled(batch, hidden, batch.pieces.pooled)
    pieces = questions[1].pieces
    assert pieces is not None
    for e in range(len(questions[1].entities)):
        places = pieces.pooled[1][pieces.pooled[0] == e]
        expected = hidden[1, places].mean(0).numpy() if len(places) else np.zeros(8)
        np.testing.assert_allclose(pooled[1, e].numpy(), expected, rtol=1e-5, atol=1e-6)


def test_learns_and_answers(bert: Path) -> None:
    torch.manual_seed(0)
    form = "(extract_number (filter_in all_structures relation:arg0 string:hull) relation:arg1)"
    question, language = boats((form,))
    question = with_pieces(question, load_pieces(bert, 200))
    encoder = TransformerEncoder(load_transformer(bert).transformer, 8, 12, 0.0)
    parser = Parser(encoder, Decoder(12, 10, 2, 0.0), 9)
    collate = Collator(Vocabulary([]), Vocabulary([]))
    batch = collate([question])
    optimizer = torch.optim.Adam(parser.parameters(), 0.02)
    for _ in range(80):
        optimizer.zero_grad()
        parser.loss(batch).backward()
        optimizer.step()
    (parsed,) = parse_questions(parser, collate, [(question, language)], 3)
    assert parsed.answer == ("70",)
    assert str(parsed.form) == form


def test_a_run_with_a_transformer_needs_nothing_outside_its_folder(tmp_path: Path) -> None:
    save_tiny_bert(tmp_path / "bert")
    text = "Carn had 70 boats."
    passage = Passage("p", text, (Question("q", "How many boats did Carn have?", Answer(number="70")),))
    tables = {text_hash(text): make_extractor("syndep").extract(Paragraph("p", text))}
    form = "(extract_number all_structures relation:obj)"
    found = {"q": Consistent("", "p", "q", 0, 1, (KeptForm(form, ("70",)),))}
    config = replace(load_config("kdg-tiny"), transformer=str(tmp_path / "bert"), epochs=2)
    pieces = pieces_of(config.transformer)
    read = read_questions([passage], tables, load_pipeline(), Source(lambda passages: found), pieces=pieces)
    data = Data(read, [passage], read, [passage], Tables())
    options = Options(torch.device("cpu"), torch.float32)
    train_parser(config, data, tmp_path / "run", options)
    again = replace(options, resume=True)
    assert train_parser(config, data, tmp_path / "run", again).epoch == 2
    (tmp_path / "bert" / "config.json").unlink()
    parses = parse_passages(tmp_path / "run", [passage], place_of(str(tmp_path / "cache")))
    assert len(parses.parsed[0].beam) == config.beam
