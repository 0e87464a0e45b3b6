"""Training: a tiny model learns what it is shown, the same each time, and its file is checked."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from extractors.annotate import PipelineError, SpacyAnnotator, load_pipeline
from extractors.dependencies import collapsed_tree
from extractors.srl_data import DataError, GoldSentence, read_sentences
from extractors.srl_instances import GROUPS
from extractors.srl_model import RoleModel, load_model
from extractors.srl_pieces import PieceVectors
from extractors.srl_roles import find_frames
from extractors.table import Paragraph

pytest.importorskip("torch")

from drop_parsing.training.srl_encoder import EncoderOptions, read_encoder
from drop_parsing.training.srl_network import Options
from drop_parsing.training.srl_train import Corpus, read_corpora, train
from tests.drop_parsing.reader_cases import save_tiny_bert

OPTIONS = Options(
    epochs=30,
    batch=8,
    rate=0.01,
    size=24,
    state=16,
    least_feature=1,
    least_word=1,
    least_label=1,
    dropout=0.1,
    encoder=EncoderOptions(heads=1, inner=8, passes=2, batch=4),
    joint_epochs=30,
    joint_rate=0.01,
)


def sentence(text: str) -> dict[str, object]:
    """A sentence written as ``[ARG0 Ada] sold/V [ARG1 boats] in/- ...``: brackets hold arguments."""
    words: list[str] = []
    tags: list[str] = []
    label, begun, predicate = "", False, 0
    for part in text.split():
        if part.startswith("["):
            label, begun = part[1:], True
            continue
        word = part.rstrip("]")
        if word.endswith("/V"):
            word, predicate = word.removesuffix("/V"), len(words)
            tags.append("B-V")
        else:
            tags.append(f"{'B' if begun else 'I'}-{label}" if label else "O")
        words.append(word)
        begun = False
        if part.endswith("]"):
            label = ""
    pos = ["VBD" if i == predicate else "NN" for i in range(len(words))]
    return {
        "words": words,
        "pos": pos,
        "props": [{"i": predicate, "sense": f"{words[predicate]}.01", "tags": tags}],
    }


NAMES = ["Ada", "Bram", "Cora", "Dirk"]
THINGS = ["boats", "carts", "mills"]
GOLD = [
    sentence(f"[ARG0 {name}] {verb}/V [ARG1 {count} {thing}] [ARGM-TMP in {year}] .")
    for name, year in zip(NAMES, (1901, 1912, 1923, 1934), strict=True)
    for verb, thing, count in zip(
        ("sold", "bought", "built"), THINGS, ("three", "forty", "seven"), strict=True
    )
]


@pytest.fixture(scope="module")
def annotator() -> SpacyAnnotator:
    return SpacyAnnotator(load_pipeline())


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> list[GoldSentence]:
    path = tmp_path_factory.mktemp("gold") / "ewt_train.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in GOLD))
    return list(read_sentences(path))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny_bert(folder)
    return folder


def trained(gold: list[GoldSentence], annotator: SpacyAnnotator, bert: Path, options: Options) -> RoleModel:
    texts = [Paragraph("p", "Eyre repaired five houses in 1871. Hull was burned.")]
    return train([Corpus(gold)], annotator, read_encoder(bert, options.encoder), options, texts)


@pytest.fixture(scope="module")
def model(gold: list[GoldSentence], annotator: SpacyAnnotator, bert: Path) -> RoleModel:
    return trained(gold, annotator, bert, OPTIONS)


def labelled(model: RoleModel, annotator: SpacyAnnotator, text: str) -> list[tuple[str, dict[str, str]]]:
    words = text.split()
    (annotation,) = annotator.annotate_words([words])
    return [
        (words[f.predicate], {r.label: " ".join(words[r.first : r.last + 1]) for r in f.roles})
        for f in find_frames(model, annotation, collapsed_tree(annotation))
    ]


def test_a_tiny_model_learns_what_it_is_shown(model: RoleModel, annotator: SpacyAnnotator) -> None:
    expected = {"ARG0": "Bram", "ARG1": "forty carts", "ARGM-TMP": "in 1912"}
    assert labelled(model, annotator, "Bram bought forty carts in 1912 .") == [("bought", expected)]
    # None of these words was seen.
    expected = {"ARG0": "Eyre", "ARG1": "five houses", "ARGM-TMP": "in 1871"}
    assert labelled(model, annotator, "Eyre repaired five houses in 1871 .") == [("repaired", expected)]


def test_it_learns_without_an_encoder(gold: list[GoldSentence], annotator: SpacyAnnotator) -> None:
    alone = train([Corpus(gold)], annotator, None, OPTIONS)
    assert alone.encoder is None
    expected = {"ARG0": "Bram", "ARG1": "forty carts", "ARGM-TMP": "in 1912"}
    assert labelled(alone, annotator, "Bram bought forty carts in 1912 .") == [("bought", expected)]


def test_the_network_listens_to_the_encoder(model: RoleModel, annotator: SpacyAnnotator) -> None:
    (annotation,) = annotator.annotate_words(["Bram bought forty carts in 1912 .".split()])
    tree = collapsed_tree(annotation)
    assert model.encoder is not None
    blank = replace(model.encoder, weights={name: w * 0 for name, w in model.encoder.weights.items()})
    assert find_frames(model, annotation, tree) != find_frames(
        replace(model, encoder=blank), annotation, tree
    )


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    model: RoleModel, gold: list[GoldSentence], annotator: SpacyAnnotator, bert: Path, tmp_path: Path
) -> None:
    model.save(tmp_path / "one.npz")
    trained(gold, annotator, bert, OPTIONS).save(tmp_path / "same.npz")
    trained(gold, annotator, bert, replace(OPTIONS, seed=1)).save(tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "same.npz").read_bytes()
    assert (tmp_path / "one.npz").read_bytes() != (tmp_path / "other.npz").read_bytes()


def test_a_saved_model_gives_the_same_frames(
    model: RoleModel, annotator: SpacyAnnotator, tmp_path: Path
) -> None:
    model.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert loaded.labels == model.labels
    for name in ("steps", "arguments", "nouns", "symbols"):
        assert getattr(loaded.inventory, name) == getattr(model.inventory, name)
    for group in GROUPS:
        for own, theirs in zip(
            loaded.inventory.features[group], model.inventory.features[group], strict=True
        ):
            np.testing.assert_array_equal(own, theirs)
    np.testing.assert_array_equal(loaded.pieces.vectors, model.pieces.vectors)
    assert loaded.columns == model.columns
    for text in ("Cora sold three boats in 1923 .", "Dirk slept ."):
        assert labelled(loaded, annotator, text) == labelled(model, annotator, text)


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "cut", "flipped", "foreign", "other format"])
def test_a_damaged_or_foreign_file_is_one_clear_sentence(model: RoleModel, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "model.npz"
    model.save(path)
    data = path.read_bytes()
    if kind == "missing":
        path.unlink()
    elif kind == "foreign":
        np.savez(path, weights=np.zeros(3))
    elif kind == "other format":
        with np.load(path) as arrays:
            changed = {**arrays, "text.format": np.frombuffer(b"drop-parsing srl 0", np.uint8)}
        np.savez(path, **changed)
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]
        path.write_bytes(
            {"text": b"no model\n", "empty": b"", "cut": data[:middle], "flipped": flipped}[kind]
        )
    with pytest.raises(PipelineError, match=r"model\.npz") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_a_model_that_could_run_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, **{"text.format": np.array([{}], dtype=object)})
    with pytest.raises(PipelineError, match="no SRL model"):
        load_model(path)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"words": ["a b"], "pos": ["NN"], "props": []}',
        '{"words": [], "pos": [], "props": []}',
        '{"words": ["a"], "pos": ["VB"], "props": [{"i": 1, "sense": "a.01", "tags": ["B-V"]}]}',
        '{"words": ["a"], "pos": ["VB"], "props": [{"i": 0, "sense": "a.01", "tags": ["B-V", "O"]}]}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ewt_train.jsonl"
    path.write_text(f"{json.dumps(GOLD[0])}\n{line}\n")
    with pytest.raises(DataError, match=r"ewt_train\.jsonl, line 2"):
        list(read_sentences(path))


def test_a_folder_without_training_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no ewt_train\.jsonl"):
        read_corpora(tmp_path)


def test_words_are_cut_into_the_longest_pieces() -> None:
    pieces = PieceVectors(["row", "##ing", "##in", "r"], np.eye(4, dtype=np.float32))
    assert pieces.of_word("Rowing").tolist() == [0.5, 0.5, 0, 0]
    assert pieces.of_word("rök").tolist() == [0, 0, 0, 1]
    assert pieces.of_words([]).shape == (0, 4)


def test_given_words_stay_as_they_are_one_sentence_each(annotator: SpacyAnnotator) -> None:
    sentences = [["Ada", "left", ".", "Bram", "did", "n't", "."], ["3", "May", "1900", "..."], ["pre-war?"]]
    for words, annotation in zip(sentences, annotator.annotate_words(sentences), strict=True):
        assert list(annotation.words) == words
        assert list(annotation.sentences) == [(0, len(words))]
        text = annotation.paragraph.text
        places = zip(annotation.starts, annotation.ends, strict=True)
        assert [text[start:end] for start, end in places] == words
