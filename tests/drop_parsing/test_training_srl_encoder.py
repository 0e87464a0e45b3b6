"""The encoder of the role model: what is read of a BERT, what a narrow one learns of it, and that numpy agrees."""

from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from transformers import BertModel

from drop_parsing.training.srl_encoder import (
    MARKS,
    EncoderOptions,
    NarrowEncoder,
    Pretrained,
    joined,
    narrowed,
    read,
    read_encoder,
)
from extractors.srl_data import DataError
from extractors.srl_encoder import LONGEST, sequences
from tests.drop_parsing.reader_cases import save_tiny_bert

OPTIONS = EncoderOptions(heads=1, inner=8, passes=1, batch=4)

SENTENCES = [
    ["Ada", "sold", "3", "boats"],
    ["The", "mill", "(", "a", "ruin", ")", "fell"],
    ["日本"],
    ["x" * 500],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny_bert(folder)
    return folder


@pytest.fixture(scope="module")
def pretrained(folder: Path) -> Pretrained:
    return read_encoder(folder, OPTIONS)


def narrow(
    pretrained: Pretrained, sentences: list[list[str]], options: EncoderOptions, lines: list[str]
) -> NarrowEncoder:
    heard = torch.from_numpy(np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32))
    return narrowed(pretrained, heard, sentences, options, lines.append).eval()


def test_the_layers_are_those_of_the_bert(folder: Path, pretrained: Pretrained) -> None:
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    encoder = pretrained.encoder.eval()
    for words in SENTENCES:
        one = read(words, pretrained.pieces)
        with torch.no_grad():
            expected = bert(torch.from_numpy(one.ids)[None]).last_hidden_state[0]
            found = encoder.layers(encoder.get_buffer("table")[torch.from_numpy(one.ids)], one.edges)
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
            means = [expected[one.pieces[one.owners == k]].mean(dim=0) for k in range(len(words))]
            torch.testing.assert_close(encoder(one), torch.stack(means), atol=1e-5, rtol=1e-4)


def test_sentences_read_together_are_read_as_alone(pretrained: Pretrained) -> None:
    encoder = pretrained.encoder.eval()
    readings = [read(words, pretrained.pieces) for words in SENTENCES]
    with torch.no_grad():
        together, apart = encoder(joined(readings)), [encoder(one) for one in readings]
    torch.testing.assert_close(together, torch.cat(apart), atol=1e-5, rtol=1e-4)


def test_a_long_sentence_is_read_in_parts(pretrained: Pretrained) -> None:
    one = read([*["boats"] * 200, "Ada"], pretrained.pieces)
    assert one.words == 201
    assert len(one.edges) == 4
    assert max(end - first for first, end in one.edges) <= LONGEST
    assert np.bincount(one.owners).tolist() == [*[5] * 200, 3]
    begin, end = map(pretrained.pieces.row, MARKS[:2])
    assert {int(one.ids[first]) for first, _ in one.edges} == {begin}
    assert {int(one.ids[last - 1]) for _, last in one.edges} == {end}


def test_a_narrow_encoder_comes_closer_to_the_whole_one(pretrained: Pretrained) -> None:
    lines: list[str] = []
    sentences = [[f"{a}{b}", "sold", str(k), "boats"] for k, (a, b) in enumerate(["ad", "bo"] * 200)]
    narrow(pretrained, sentences, replace(OPTIONS, passes=6, rate=3e-3), lines)
    shares = [float(line.partition("heard ")[2].partition(",")[0]) for line in lines]
    assert len(shares) == 6
    assert shares[-1] < 0.7 * shares[0]


def test_numpy_says_what_torch_says(pretrained: Pretrained) -> None:
    sentences = [*SENTENCES, ["boats"] * 300]
    layers = narrow(pretrained, SENTENCES * 8, OPTIONS, [])
    encoder = layers.exported()
    vectors = pretrained.pieces.of_words([word for words in sentences for word in words])
    edges = list(pairwise(accumulate(map(len, sentences), initial=0)))
    with torch.no_grad():
        expected = layers(torch.from_numpy(vectors), list(sequences(edges))).numpy()
    found = encoder(vectors, edges)
    assert found.shape == (len(vectors), 8)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # A sentence is read by itself, whatever stands around it.
    apart = [encoder(vectors[first:end], [(0, end - first)]) for first, end in edges]
    np.testing.assert_allclose(found, np.concatenate(apart), atol=1e-5)


@pytest.mark.parametrize("kind", ["empty", "no marks", "no layers", "another size", "no config"])
def test_a_folder_that_holds_no_encoder_is_named(folder: Path, tmp_path: Path, kind: str) -> None:
    if kind != "empty":
        for path in folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    vocabulary = tmp_path / "vocab.txt"
    if kind == "no marks":
        vocabulary.write_text(vocabulary.read_text().replace("[SEP]", "[sep]"))
    elif kind == "another size":
        vocabulary.write_text(vocabulary.read_text() + "more\n")
    elif kind == "no config":
        (tmp_path / "config.json").unlink()
    with pytest.raises(DataError, match="No BERT-like encoder") as caught:
        read_encoder(tmp_path, replace(OPTIONS, depth=3 if kind == "no layers" else 2))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
