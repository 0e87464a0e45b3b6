"""``drop-parsing train parser``: nothing is trained without a search, and a run leaves what predicting needs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra models is not installed")

Run = Callable[..., Any]


def train(run: Run, small: Path, *more: str) -> Any:
    common = ("--config", "kdg-tiny", "--train", small, "--dev", small, "--out", "run", "--max-size", "1")
    return run("train", "parser", *common, *more)


def test_without_a_search_the_missing_command_is_named(run: Run, small: Path) -> None:
    sentence = train(run, small).sentence
    assert "7 were not searched" in sentence
    assert f"drop-parsing search {small} --scheme syndep" in sentence
    assert not Path("run").exists()


def test_a_run_says_what_it_learnt_from(run: Run, small: Path) -> None:
    assert run("search", small, "--max-size", "1").code == 0
    outcome = train(run, small, "--json")
    assert outcome.code == 0
    result = outcome.json
    assert (result["run"], result["epochs"], result["train_questions"]) == ("run", 3, 7)
    assert result["trained_on"] == 6
    assert result["not_trained_on"] == {"have an answer that no form reaches": 1}
    assert 0 <= result["dev_em"] <= result["dev_f1"] <= 100
    left = {path.name for path in Path("run").iterdir()}
    assert {"config.json", "vocabulary.json", "weights.safetensors", "metrics.jsonl", "curve.svg"} <= left
    assert "--resume" in train(run, small).sentence
    forms = [json.loads(line) for line in Path("run/forms.jsonl").read_text().splitlines()]
    assert len(forms) == result["trained_on"]
    assert sum(len(line["forms"]) for line in forms) == result["forms"]
    again = train(run, small, "--resume", "--json").json  # with the forms that were chosen before
    assert (again["forms"], again["trained_on"]) == (result["forms"], result["trained_on"])


def test_an_unknown_preset_is_named(run: Run, small: Path) -> None:
    outcome = run("train", "parser", "--config", "kgd", "--train", small, "--dev", small, "--out", "run")
    assert "kdg, kdg-small, kdg-tiny" in outcome.sentence
