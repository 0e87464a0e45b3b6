"""ELMo from its own files as the vectors of a reader's words in context."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drop_parsing.errors import InputError
from drop_parsing.reader.config import ContextualConfig
from drop_parsing.reader.contextual_encoders import ContextualEncoder
from tests.drop_parsing.reader_cases import EMBEDDING, QANET, make

h5py = pytest.importorskip("h5py", reason="ELMo needs the extra allennlp")
pytest.importorskip("allennlp", reason="ELMo needs the extra allennlp")

DIM, CELL, CHARACTER, FILTERS = 4, 6, 3, ((1, 5), (2, 5))
WORDS = "the keeper lit 12 lamps at dusk .".split()


def save_tiny_elmo(folder: Path) -> Path:
    """An ELMo with random weights in the form of its authors' files."""
    random = np.random.default_rng(5)

    def draw(*shape: int) -> object:
        return random.normal(size=shape, scale=0.5).astype(np.float32)

    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": DIM,
            "dim": CELL,
            "n_layers": 2,
            "cell_clip": 3,
            "proj_clip": 3,
        },
        "char_cnn": {
            "activation": "relu",
            "filters": FILTERS,
            "n_highway": 1,
            "n_characters": 262,
            "max_characters_per_token": 50,
            "embedding": {"dim": CHARACTER},
        },
    }
    (folder / "tiny_options.json").write_text(json.dumps(options))
    width = sum(count for _, count in FILTERS)
    with h5py.File(folder / "tiny_weights.hdf5", "w") as file:
        file["char_embed"] = draw(261, CHARACTER)
        for place, (size, count) in enumerate(FILTERS):
            file[f"CNN/W_cnn_{place}"] = draw(1, size, CHARACTER, count)
            file[f"CNN/b_cnn_{place}"] = draw(count)
        for gate in ("carry", "transform"):
            file[f"CNN_high_0/W_{gate}"] = draw(width, width)
            file[f"CNN_high_0/b_{gate}"] = draw(width)
        file["CNN_proj/W_proj"], file["CNN_proj/b_proj"] = draw(width, DIM), draw(DIM)
        for direction in (0, 1):
            for layer in (0, 1):
                cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
                file[f"{cell}/W_0"] = draw(2 * DIM, 4 * CELL)
                file[f"{cell}/B"] = draw(4 * CELL)
                file[f"{cell}/W_P_0"] = draw(CELL, DIM)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_elmo(tmp_path_factory.mktemp("elmo"))


def test_a_text_has_the_same_vectors_whatever_was_read_before(folder: Path) -> None:
    """S14: AllenNLP's module itself goes on from the text before."""
    encoder = ContextualEncoder(ContextualConfig(str(folder), (0, 1, 2)))
    first = encoder.encode(WORDS)
    assert first.shape == (len(WORDS), 3 * 2 * DIM)
    encoder.encode(["Something", "else", "."])
    assert np.array_equal(encoder.encode(WORDS), first)


def test_vectors_are_those_of_allennlp(folder: Path) -> None:
    import drop_parsing.allennlp_bridge  # noqa: F401 - before allennlp

    # isort: split
    from allennlp.modules.elmo import Elmo, batch_to_ids

    files = [str(folder / name) for name in ("tiny_options.json", "tiny_weights.hdf5")]
    mixture = Elmo(*files, 1, dropout=0, scalar_mix_parameters=[-50.0, 50.0, -50.0])  # of layer 1 alone
    expected = mixture(batch_to_ids([WORDS]))["elmo_representations"][0][0].detach().numpy()
    found = ContextualEncoder(ContextualConfig(str(folder), (1,))).encode(WORDS)
    assert np.allclose(found, expected, atol=2e-3)


def test_a_reader_takes_elmo(folder: Path, tmp_path: Path) -> None:
    contextual = ContextualConfig(str(folder), (0, 1, 2))
    encoder = replace(QANET, embedding=replace(EMBEDDING, contextual=contextual))
    reader, collator = make(encoder, cache=tmp_path)
    reader.log_likelihood(collator([0, 4])).sum().backward()  # type: ignore[no-untyped-call]
    assert reader.encoder.contextual.project.weight.grad.abs().sum() > 0


def test_damaged_weights_are_said(tmp_path: Path) -> None:
    save_tiny_elmo(tmp_path)
    (tmp_path / "tiny_weights.hdf5").write_bytes(b"not HDF5")
    with pytest.raises(InputError, match="cannot be loaded"):
        ContextualEncoder(ContextualConfig(str(tmp_path), (0,)))
