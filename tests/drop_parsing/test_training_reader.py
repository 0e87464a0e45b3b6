"""Training runs of readers: presets, resuming bit for bit, what is refused, and what is said of the data."""

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.reader.config import ContextualConfig, ReaderConfig, TransformerConfig
from drop_parsing.training import checkpoint
from drop_parsing.training.average import WeightAverage
from drop_parsing.training.predicting import predict_all
from drop_parsing.training.preset import Preset, TrainingConfig, load_preset, preset_names
from drop_parsing.training.run import Options, Result, train_reader
from drop_parsing.training.stream import TrainingStream
from drop_parsing.training.typed import from_plain, to_plain
from tests.drop_parsing.reader_cases import (
    BIDAF,
    DATA,
    PASSAGES,
    QANET,
    make,
    save_contextual,
    save_tiny_bert,
)

TINY = Preset(
    ReaderConfig(("passage-span", "add-subtract", "count", "multi-span"), QANET, DATA),
    TrainingConfig(
        epochs=3, batch_size=2, learning_rate=0.01, warmup_steps=3, decay="linear", checkpoint_steps=2
    ),
)


def train(
    preset: Preset, run: Path, *, resume: bool = False, advance: Callable[[int], None] = lambda n: None
) -> Result:
    options = Options(torch.device("cpu"), torch.float32, resume=resume, advance=advance)
    return train_reader(preset, PASSAGES, PASSAGES, run, run.parent / "cache", options)


class Killed(Exception):
    """What a run is stopped with, at no point of its own choosing."""


def killer(after: int) -> Callable[[int], None]:
    steps = 0

    def advance(questions: int) -> None:
        nonlocal steps
        steps += 1
        if steps > after:
            raise Killed

    return advance


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a stop: 3 epochs of 3 steps."""
    run = tmp_path_factory.mktemp("whole") / "run"
    train(TINY, run)
    return run


def without_times(run: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ("seconds", "questions_per_second")} for line in lines]


@pytest.mark.parametrize("after", [0, 1, 3, 4, 7])
def test_a_killed_run_goes_on_to_the_same_weights(whole: Path, after: int, tmp_path: Path) -> None:
    """Stopped before its first checkpoint, in the middle of an epoch, right after one, and in the last."""
    run = tmp_path / "run"
    with pytest.raises(Killed):
        train(TINY, run, advance=killer(after))
    assert (run / checkpoint.STATE).exists() == (after >= TINY.training.checkpoint_steps)
    train(TINY, run, resume=True)
    assert (run / checkpoint.WEIGHTS).read_bytes() == (whole / checkpoint.WEIGHTS).read_bytes()
    ours, theirs = (checkpoint.load_tensors(one / checkpoint.STATE) for one in (run, whole))
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours.keys() - {"progress"})
    assert without_times(run) == without_times(whole)


def test_a_finished_run_is_left_as_it_is(whole: Path) -> None:
    before = {path: path.read_bytes() for path in whole.iterdir()}
    result = train(TINY, whole, resume=True)
    assert result.epochs == 3
    assert {path: path.read_bytes() for path in whole.iterdir()} == before


def test_metrics_say_what_was_trained_on_and_count_all_dev_questions(whole: Path) -> None:
    first, *epochs = without_times(whole)
    assert first == {"trained_on": 5, "of": 6, "not": {"have an answer that only other heads could give": 1}}
    assert [line["epoch"] for line in epochs] == [1, 2, 3]
    assert all(line["dev_questions"] == 6 for line in epochs)


def test_the_curve_is_an_image_of_every_epoch_that_needs_nothing_else(whole: Path) -> None:
    image = ElementTree.fromstring((whole / "curve.svg").read_bytes())
    lines = image.findall(".//{*}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3, 3]  # F1, EM, loss
    assert b"http" not in (whole / "curve.svg").read_bytes().replace(b"http://www.w3.org/2000/svg", b"")


def test_a_run_that_is_out_of_time_is_evaluated_and_ends(tmp_path: Path) -> None:
    preset = replace(TINY, training=replace(TINY.training, minutes=0.0))
    result = train(preset, tmp_path / "run")
    assert result.epochs == 0
    (_, line) = without_times(tmp_path / "run")
    assert (line["epoch"], line["whole"], line["steps"]) == (1, False, 1)
    assert train(preset, tmp_path / "run", resume=True).epochs == 0
    assert len(predict_all(tmp_path / "run", PASSAGES, tmp_path)) == 6


def test_predictions_are_the_same_at_any_batch_size(whole: Path, tmp_path: Path) -> None:
    one, many = (predict_all(whole, PASSAGES, tmp_path, batch_size=size) for size in (1, 6))
    assert [(p.question, p.answer, p.head, p.evidence) for p in one] == [
        (p.question, p.answer, p.head, p.evidence) for p in many
    ]
    assert [p.question for p in one] == [q.id for passage in PASSAGES for q in passage.questions]


@pytest.mark.parametrize("kind", ["bidaf", "transformer", "contextual"])
def test_other_encoders_train_save_and_predict(kind: str, tmp_path: Path) -> None:
    makers = {"transformer": save_tiny_bert, "contextual": save_contextual}
    encoder = BIDAF if kind == "bidaf" else makers[kind](tmp_path / "bert")
    preset = Preset(replace(TINY.reader, encoder=encoder), replace(TINY.training, epochs=1))
    train(preset, tmp_path / "run")
    if kind != "bidaf":
        for path in (tmp_path / "bert").iterdir():
            path.unlink()  # a run needs nothing outside its folder
    assert len(predict_all(tmp_path / "run", PASSAGES, tmp_path)) == 6


def test_another_preset_cannot_go_on_with_a_run(whole: Path) -> None:
    with pytest.raises(InputError, match="another preset"):
        train(replace(TINY, training=replace(TINY.training, learning_rate=0.5)), whole, resume=True)
    with pytest.raises(InputError, match="--resume"):
        train(TINY, whole)


def test_a_pickle_is_refused_and_not_run(whole: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str, str]]:
            return open, (str(tmp_path / "exploded"), "w")

    run = tmp_path / "run"
    run.mkdir()
    for name in (checkpoint.CONFIG, checkpoint.VOCABULARY):
        (run / name).write_bytes((whole / name).read_bytes())
    (run / checkpoint.WEIGHTS).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match="pickle"):
        predict_all(run, PASSAGES, tmp_path)
    torch.save({"a": torch.zeros(1)}, run / checkpoint.WEIGHTS)
    with pytest.raises(InputError, match="pickle"):
        predict_all(run, PASSAGES, tmp_path)
    with pytest.raises(InputError, match="is a file"):
        predict_all(run / checkpoint.WEIGHTS, PASSAGES, tmp_path)
    assert not (tmp_path / "exploded").exists()


def test_a_run_of_another_version_is_refused(whole: Path, tmp_path: Path) -> None:
    config = json.loads((whole / checkpoint.CONFIG).read_text())
    (tmp_path / checkpoint.CONFIG).write_text(json.dumps({**config, "version": 99}))
    with pytest.raises(InputError, match="version 99"):
        predict_all(tmp_path, PASSAGES, tmp_path)
    with pytest.raises(InputError, match="no run of a reader"):
        predict_all(tmp_path / "nowhere", PASSAGES, tmp_path)


def test_damaged_weights_are_refused(whole: Path, tmp_path: Path) -> None:
    for name in (checkpoint.CONFIG, checkpoint.VOCABULARY):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    (tmp_path / checkpoint.WEIGHTS).write_bytes((whole / checkpoint.WEIGHTS).read_bytes()[:-9])
    with pytest.raises(InputError, match="safetensors"):
        predict_all(tmp_path, PASSAGES, tmp_path)


def test_nothing_to_train_on_is_said(tmp_path: Path) -> None:
    passages = [
        Passage("p", "No one came.", (Question("q", "Why?", Answer(spans=("rain",))), Question("r", "When?")))
    ]
    options = Options(torch.device("cpu"), torch.float32)
    with pytest.raises(InputError, match=r"0 of 2 questions .*1 have no answer"):
        train_reader(TINY, passages, PASSAGES, tmp_path / "run", tmp_path, options)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_valid_and_comes_back_from_json(name: str) -> None:
    preset = load_preset(name)
    assert from_plain(Preset, json.loads(json.dumps(to_plain(preset))), name) == preset


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_trains_and_predicts(name: str, tmp_path: Path) -> None:
    """One step at its full size, with a small transformer where it names a pretrained one."""
    preset = load_preset(name)
    small = save_tiny_bert(tmp_path / "bert")
    encoder = preset.reader.encoder
    if isinstance(encoder, TransformerConfig):
        encoder = small
    elif encoder.embedding.contextual is not None:
        contextual = ContextualConfig(small.model, (0, 2))
        encoder = replace(encoder, embedding=replace(encoder.embedding, contextual=contextual))
    preset = Preset(replace(preset.reader, encoder=encoder), replace(preset.training, minutes=0.0))
    train(preset, tmp_path / "run")
    assert len(predict_all(tmp_path / "run", PASSAGES, tmp_path)) == 6


def test_the_paper_rows_differ_in_their_heads_alone() -> None:
    complete = load_preset("naqanet")
    for name in ("qanet", "naqanet-question-span", "naqanet-count", "naqanet-add-sub"):
        preset = load_preset(name)
        assert set(preset.reader.heads) < set(complete.reader.heads)
        assert replace(preset, reader=replace(preset.reader, heads=complete.reader.heads)) == complete


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reader: {heads: [guess], encoder: {kind: bidaf}}", "reader.heads.*'guess'"),
        ("reader: {heads: [count], encoder: {kind: lstm}}", "'kind', one of: qanet, bidaf, transformer"),
        ("reader: {heads: [count], encoder: {kind: bidaf, dim: wide}}", "encoder.dim must be of type int"),
        ("reader: {heads: [count], encoder: {kind: bidaf}}\ntraining: {lr: 1}", "no setting 'lr'"),
        ("reader: {heads: [count]}", "lacks the setting 'encoder'"),
        ("- 1", "must be a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_bad_preset_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "preset.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_preset(str(path))
    with pytest.raises(InputError, match="no preset"):
        load_preset("nothing-like-it")


def test_an_epoch_has_every_question_once_and_epochs_differ() -> None:
    _, collator = make(QANET)
    stream = TrainingStream(collator, torch.arange(6).numpy(), 2, seed=1)
    orders = [[int(q) for batch in stream.batches(epoch) for q in batch] for epoch in range(4)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    assert orders[0] == [int(q) for batch in stream.batches(0) for q in batch]
    shares = [
        TrainingStream(collator, torch.arange(6).numpy(), 2, seed=1, rank=r, processes=2) for r in (0, 1)
    ]
    seen = [{int(q) for batch in share.batches(0) for q in batch} for share in shares]
    assert not seen[0] & seen[1]
    assert len(seen[0]) == len(seen[1]) == 2


def test_the_average_follows_the_weights() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    average = WeightAverage(model, 0.5)
    start = model.weight.item()
    with torch.no_grad():
        model.weight.add_(1)
    average.update(0)  # decay min(0.5, 1 / 10)
    with average.applied():
        assert model.weight.item() == pytest.approx(start + 0.9)
    assert model.weight.item() == pytest.approx(start + 1)
