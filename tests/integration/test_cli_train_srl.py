"""``drop-parsing train srl``: a model from a folder of sentences with roles, and what is wrong with the folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from extractors.srl_model import load_model
from tests.drop_parsing.reader_cases import save_tiny_bert

TAGS = ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "B-ARGM-TMP", "I-ARGM-TMP", "O"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "srl"
    folder.mkdir()
    lines = [
        {
            "words": [name, verb, "three", "boats", "in", "1912", "."],
            "pos": ["NNP", "VBD", "CD", "NNS", "IN", "CD", "."],
            "props": [{"i": 1, "sense": f"{verb}.01", "tags": TAGS}],
        }
        for name in ("Ada", "Bram", "Cora", "Dirk", "Eva", "Finn")
        for verb in ("sold", "bought")
    ]
    (folder / "ewt_train.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def test_the_model_is_written_and_loads(run: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    done = run("train", "srl", "--data", data, "--out", tmp_path / "m.npz", "--epochs", "2", "--json")
    assert done.code == 0
    assert done.json["sentences"] == 12
    assert done.json["labels"] == 3
    assert "epoch 2" in done.err
    assert load_model(tmp_path / "m.npz").labels == ["", "ARG0", "ARG1", "ARGM-TMP"]


def test_the_same_seed_writes_the_same_file_with_an_encoder(
    run: Callable[..., Any], data: Path, tmp_path: Path
) -> None:
    save_tiny_bert(tmp_path / "bert")
    texts = tmp_path / "texts.txt"
    texts.write_text("Eyre sold a mill in 1871. It fell.\n\nHull was burned.\n")
    for name in ("one.npz", "two.npz"):
        out = ("--out", tmp_path / name, "--epochs", "1", "--seed", "3")
        done = run("train", "srl", "--data", data, "--encoder", tmp_path / "bert", "--texts", texts, *out)
        assert done.code == 0
    assert "unexplained" in done.err
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    model = load_model(tmp_path / "one.npz")
    assert model.encoder is not None


def test_bad_input_is_one_sentence_and_writes_nothing(
    run: Callable[..., Any], data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.npz"
    empty = tmp_path / "empty"
    empty.mkdir()
    cases = [
        (("--data", empty, "--out", out), "ewt_train"),
        (("--data", data, "--out", tmp_path / "nowhere" / "m.npz"), "nowhere"),
        (("--data", data, "--out", out, "--encoder", empty), "empty"),
        (("--data", data, "--out", out, "--texts", tmp_path / "no.txt"), "no.txt"),
        (("--data", data, "--out", out, "--pipeline", "no_such_pipeline"), "no_such_pipeline"),
    ]
    for arguments, named in cases:
        done = run("train", "srl", *arguments)
        assert done.code == 2
        assert named in done.err
        assert "Traceback" not in done.err
    (data / "ewt_train.jsonl").write_text('{"words": 3}\n')
    done = run("train", "srl", "--data", data, "--out", out)
    assert done.code == 2
    assert "ewt_train.jsonl, line 1" in done.err
    assert not out.exists()


def test_too_few_arguments_to_learn_from(run: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    lines = (data / "ewt_train.jsonl").read_text().splitlines()[:1]
    (data / "ewt_train.jsonl").write_text(lines[0])
    done = run("train", "srl", "--data", data, "--out", tmp_path / "m.npz")
    assert done.code == 2
    assert "too few arguments" in done.err
