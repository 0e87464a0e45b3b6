"""train reader, predict, baseline and compare as a user runs them."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Run

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

CARN = {
    "carn": {
        "passage": "Carn had 70 boats and sold 25. Two crews left in May 1913, and Ulf of Hull led one of them.",
        "qa_pairs": [
            {"query_id": "left", "question": "How many boats were left?", "answer": {"number": "45"}},
            {
                "query_id": "who",
                "question": "Who led a crew?",
                "answer": {"spans": ["Ulf"]},
                "validated_answers": [{"spans": ["Ulf of Hull"]}, {"spans": ["Ulf"]}],
            },
            {"query_id": "crews", "question": "How many crews left?", "answer": {"number": "2"}},
            {"query_id": "never", "question": "Why?", "answer": {"spans": ["the tide"]}},
        ],
    },
    "fort": {
        "passage": "Ada and Bo held the fort. Bo had 12 men.",
        "qa_pairs": [
            {"query_id": "held", "question": "Who held the fort?", "answer": {"spans": ["Ada", "Bo"]}},
            {"query_id": "men", "question": "How many men had Bo?", "answer": {"number": "12"}},
        ],
    },
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reader") / "carn.json"
    path.write_text(json.dumps(CARN))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the module's one run is trained, by the first test that needs it."""
    return tmp_path_factory.mktemp("trained") / "run"


@pytest.fixture
def reader(data: Path, trained: Path, run: Run) -> Path:
    if not trained.exists():
        result = run(*training(data, trained), "--json")
        assert result.code == 0, result.err
        assert result.json["epochs"] == 2
        assert (result.json["trained_on"], result.json["train_questions"]) == (5, 6)
        assert result.json["not_trained_on"] == {
            "have an answer that nothing in passage or question gives": 1
        }
        assert {"run", "dev_em", "dev_f1"} <= result.json.keys()
        assert "5 of 6 questions" in result.err
        assert "over all 6 questions" in result.err
    return trained


def training(data: Path, out: Path) -> list[str | Path]:
    options: list[str | Path] = ["--train", data, "--dev", data, "--out", out, "--precision", "float32"]
    return ["train", "reader", "--config", "naqanet-tiny", "--cache", data.parent / "cache", *options]


def test_predictions_are_the_leaderboards_and_explained(
    data: Path, reader: Path, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "predictions.json"
    result = run("predict", reader, data, "--out", out, "--explain", "--json").json
    assert result["questions"] == 6
    answers = json.loads(out.read_text())
    assert list(answers) == ["left", "who", "crews", "never", "held", "men"]
    explained = [
        json.loads(line) for line in (tmp_path / "predictions.explained.jsonl").read_text().splitlines()
    ]
    texts = {q["query_id"]: (p["passage"], q["question"]) for p in CARN.values() for q in p["qa_pairs"]}
    for one in explained:
        assert one["answer"] == answers[one["question"]]
        assert sum(one["heads"].values()) == pytest.approx(1, abs=1e-4)
        assert 0 <= one["probability"] <= 1
        for item in one["evidence"]:
            if item["place"]:
                text = texts[one["question"]][item["place"] == "question"]
                assert text[item["start"] : item["end"]] == item["text"]
        if one["head"] == "add-subtract":
            total = sum(item["value"] * item["sign"] for item in one["evidence"])
            assert float(one["answer"]) == pytest.approx(total)
    shown = run("predict", reader, data, "--out", out, "--explain")
    assert "How many boats were left?" in shown.out
    assert run("evaluate", out, data, "--json").json["missing"] == 0


def test_questions_without_answers_are_answered(reader: Path, run: Run, write: Any, tmp_path: Path) -> None:
    pairs = [{"query_id": "a", "question": ""}, {"query_id": "b", "question": "Who?"}]
    path = write(
        "bare.json",
        {
            "p": {"passage": "Rain fell.", "qa_pairs": pairs},
            "e": {"passage": "", "qa_pairs": [{"query_id": "c", "question": "?"}]},
        },
    )
    result = run("predict", reader, path, "--out", tmp_path / "out.json", "--json")
    assert result.code == 0, result.err
    assert json.loads((tmp_path / "out.json").read_text()).keys() == {"a", "b", "c"}


def test_what_cannot_be_used_is_said_in_one_sentence(
    data: Path, reader: Path, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    pickled = tmp_path / "model.pt"
    torch.save({}, pickled)
    assert "never loaded" in run("predict", pickled, data, "--out", out).sentence
    assert "no run of a reader" in run("predict", tmp_path, data, "--out", out).sentence
    assert "--device tpu" in run("predict", reader, data, "--out", out, "--device", "tpu").sentence
    assert "--resume" in run(*training(data, reader)).sentence
    assert "presets are" in run(*training(data, tmp_path / "x"), "--config", "huge").sentence
    assert "majority" in run("baseline", "random", "--train", data, data, "--out", out).sentence
    assert "--run" in run("baseline", "question-only", "--train", data, data, "--out", out).sentence
    assert "NAME=PREDICTIONS" in run("compare", data, "predictions.json").sentence
    assert not out.exists()


def test_a_finished_run_is_resumed_at_once(data: Path, reader: Path, run: Run) -> None:
    weights = (reader / "weights.safetensors").read_bytes()
    assert run(*training(data, reader), "--resume", "--json").json["epochs"] == 2
    assert (reader / "weights.safetensors").read_bytes() == weights


def test_baselines_and_comparison(data: Path, reader: Path, run: Run, tmp_path: Path) -> None:
    majority, blanked = tmp_path / "majority.json", tmp_path / "blanked.json"
    assert (
        run("baseline", "majority", "--train", data, data, "--out", majority, "--json").json["questions"] == 6
    )
    options = ["--run", tmp_path / "run", "--config", "naqanet-tiny", "--cache", tmp_path / "cache"]
    result = run("baseline", "question-only", "--train", data, data, "--out", blanked, *options, "--json")
    assert result.code == 0, result.err
    page = tmp_path / "page.html"
    command = ["compare", data, f"majority={majority}", f"question-only={blanked}", "--resamples", "200"]
    compared = run(*command, "--out", page, "--trained-on", "5", "--json").json
    ours = {row["name"]: row for row in compared["rows"] if row["source"] == "ours"}
    assert ours.keys() == {"majority", "question-only"}
    names = [row["name"] for row in compared["rows"]]
    assert names.index("majority") == names.index("Majority") + 1
    assert ours["majority"]["f1"]["low"] <= ours["majority"]["f1"]["mean"] <= ours["majority"]["f1"]["high"]
    assert compared["human"]["questions"] == 1
    assert len(compared["differences"]) == 1
    assert "NAQANet + Count" in page.read_text()
    shown = run(*command)
    assert "47.01" not in shown.out  # that is the test set's
    assert "49.24" in shown.out


def test_a_killed_process_goes_on_to_the_same_weights(data: Path, tmp_path: Path) -> None:
    """SIGKILL in the middle of an epoch, then --resume, against a run that was left alone."""
    preset = tmp_path / "preset.yaml"
    text = (files("drop_parsing.training") / "presets" / "naqanet-tiny.yaml").read_text()
    preset.write_text(
        text.replace("epochs: 2", "epochs: 12")
        .replace("patience: 6", "patience: 99")
        .replace("batch_size: 4", "batch_size: 2")
        + "  checkpoint_steps: 4\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def command(out: Path) -> list[str]:
        arguments = [str(argument) for argument in training(data, out)]
        arguments[arguments.index("naqanet-tiny")] = str(preset)
        return [sys.executable, "-m", "drop_parsing.cli.main", *arguments, "--resume"]

    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(
        command(killed), env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not (killed / "state.json").exists():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stopped = json.loads((killed / "state.json").read_text())
    assert not stopped["finished"]
    for out in (killed, whole):
        subprocess.run(command(out), env=environment, check=True, capture_output=True)
    for name in ("weights.safetensors", "config.json", "vocabulary.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


def test_the_accelerator_script_runs_on_a_cpu(data: Path, tmp_path: Path) -> None:
    """The script that trains at paper size where an accelerator is, at a tiny size."""
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "reader_train.py"
    arguments = [data, data, "--config", "naqanet-tiny", "--minutes", "1", "--out", tmp_path / "run"]
    done = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert result["epochs"] == 2
    assert result["questions_per_second"] > 0
    assert result["trained_on"].startswith("5 of 6 questions")
