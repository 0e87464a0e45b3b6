"""Vectors of words in context: where they stand, what they depend on, and how they are kept."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drop_parsing.data.reader_columns import build_columns
from drop_parsing.data.types import Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.reader.config import ContextualConfig, ReaderConfig
from drop_parsing.reader.contextual import cached_vectors
from drop_parsing.reader.contextual_encoders import ContextualEncoder
from drop_parsing.reader.heads import HEAD_NAMES
from tests.drop_parsing.reader_cases import DATA, PASSAGES, make, save_contextual, save_tiny_bert

WORDS = "the keeper lit 12 lamps at dusk .".split()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> ContextualEncoder:
    model = save_tiny_bert(tmp_path_factory.mktemp("bert")).model
    return ContextualEncoder(ContextualConfig(model, (0, 1, 2)))


def test_a_word_is_the_mean_of_its_pieces_in_context(encoder: ContextualEncoder) -> None:
    vectors = encoder.encode(WORDS)
    assert vectors.shape == (len(WORDS), 3 * 8)
    pieces = [encoder.encode(["a", *piece]) for piece in ("bc", "cb")]
    assert not np.array_equal(pieces[0][0, 8:], pieces[1][0, 8:])  # what follows matters
    assert np.array_equal(pieces[0][0, :8], pieces[1][0, :8])  # but not to the input layer
    assert np.array_equal(encoder.encode(["a", "☃"]), encoder.encode(["a", "☂"]))  # both unknown


def test_a_text_longer_than_the_transformer_is_read_in_windows(encoder: ContextualEncoder) -> None:
    """Each word once, and as if it stood in the middle of what is read around it."""
    words = [f"{place % 10}" for place in range(1300)]  # of one piece each
    vectors = encoder.encode(words)
    room = 510
    assert np.array_equal(vectors[:300], encoder.encode(words[:room])[:300])
    assert np.array_equal(vectors[400:600], encoder.encode(words[255 : 255 + room])[145:345])
    assert np.array_equal(vectors[-100:], encoder.encode(words[1020:])[-100:])
    assert np.isfinite(vectors).all()


def test_no_words_have_no_vectors(encoder: ContextualEncoder) -> None:
    assert encoder.encode([]).shape == (0, 24)


def test_a_text_has_the_same_vectors_in_any_data_set(tmp_path: Path) -> None:
    """S14, to the bit."""
    reader = ReaderConfig(HEAD_NAMES, save_contextual(tmp_path / "bert"), DATA)
    both, alone = (
        cached_vectors(build_columns(passages, "values", 2), reader, tmp_path)
        for passages in (PASSAGES, PASSAGES[1:])
    )
    assert both is not None
    assert alone is not None
    assert np.array_equal(both.passages[1], alone.passages[0])
    assert np.array_equal(both.questions[5], alone.questions[1])


def test_a_damaged_file_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    reader = ReaderConfig(HEAD_NAMES, save_contextual(tmp_path / "bert"), DATA)
    columns = build_columns(PASSAGES, "values", 2)
    first = cached_vectors(columns, reader, tmp_path)
    assert first is not None
    whole = np.array(first.passages.values)
    (path,) = (tmp_path / "contextual").iterdir()
    for damaged in (path.read_bytes()[:-40], b"\0" + path.read_bytes()[1:]):
        path.unlink()
        path.write_bytes(damaged)
        caplog.clear()
        again = cached_vectors(columns, reader, tmp_path)
        assert again is not None
        assert np.array_equal(again.passages.values, whole)
        assert "damaged" in caplog.text
    caplog.clear()
    cached_vectors(columns, reader, tmp_path)
    assert not caplog.records


def test_a_text_without_words_and_a_blanked_one_have_zeros(tmp_path: Path) -> None:
    encoder = save_contextual(tmp_path / "bert")
    empty = [Passage("empty", " ", (Question("q", "Who?"),))]
    _, collator = make(encoder, passages=empty, cache=tmp_path)
    words = collator([0]).words
    assert words is not None
    assert words.passages_in_context is not None
    assert words.passages_in_context.shape == (1, 1, 16)
    assert not words.passages_in_context.any()
    _, collator = make(encoder, data=replace(DATA, blank="question"), cache=tmp_path)
    words = collator([0, 1]).words
    assert words is not None
    assert words.questions_in_context is not None
    assert words.passages_in_context is not None
    assert not words.questions_in_context.any()
    assert words.passages_in_context.any()


@pytest.mark.parametrize("layers", [(), (3,), (-1,)])
def test_layers_that_are_not_there_are_refused(layers: tuple[int, ...], tmp_path: Path) -> None:
    model = save_tiny_bert(tmp_path).model
    with pytest.raises(InputError, match="has the layers 0"):
        ContextualEncoder(ContextualConfig(model, layers))
