"""predict with a parser's run: forms, cells and beams shown, empty answers counted, a reader to back it off."""

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra models is not installed")

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the module's one run is trained, by the first test that needs it."""
    return tmp_path_factory.mktemp("parser")


@pytest.fixture
def parser(trained: Path, small: Path, run: Run) -> Path:
    out = trained / "run"
    if not out.exists():
        cache = ("--cache", trained / "cache", "--max-size", "1")
        assert run("search", small, *cache).code == 0
        config = trained / "longer.yaml"
        tiny = (files("drop_parsing.parser") / "presets" / "kdg-tiny.yaml").read_text()
        longer = {"epochs: 3": "epochs: 30", "patience: 3": "patience: 30", "beam: 3": "beam: 8"}
        for setting, changed in longer.items():
            assert setting in tiny
            tiny = tiny.replace(setting, changed)
        config.write_text(tiny)
        data = ("--train", small, "--dev", small, "--out", out, "--precision", "float32")
        outcome = run("train", "parser", "--config", config, *data, *cache)
        assert outcome.code == 0, outcome.err
    return out


def predict(run: Run, parser: Path, small: Path, *more: Any) -> Any:
    return run("predict", parser, small, "--out", "answers.json", "--json", *more)


def test_an_answer_is_explained_by_form_cells_and_beam(parser: Path, small: Path, run: Run) -> None:
    """S21: each cell is found again in the paragraph by its characters."""
    outcome = predict(run, parser, small, "--explain")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    answers = json.loads(Path("answers.json").read_text())
    texts = {
        q["query_id"]: passage["passage"]
        for passage in json.loads(small.read_text()).values()
        for q in passage["qa_pairs"]
    }
    assert result["questions"] == len(answers) == len(texts)
    assert list(answers) == list(texts)
    lines = [json.loads(line) for line in Path(result["explained"]).read_text().splitlines()]
    assert [line["question"] for line in lines] == list(texts)
    assert result["unanswered"] == sum(line["logical_form"] is None for line in lines)
    assert any(line["cells"] for line in lines)
    for line in lines:
        assert (line["logical_form"] is None) == (line["reason"] is not None)
        assert 1 <= len(line["beam"]) <= 8
        text = texts[line["question"]]
        assert all(text[cell["start"] : cell["end"]] == cell["text"] for cell in line["cells"])
        given = answers[line["question"]]
        assert ([given] if isinstance(given, str) and given else given or []) == line["answer"]


def test_what_is_shown_to_a_person_names_form_and_cells(parser: Path, small: Path, run: Run) -> None:
    outcome = run("predict", parser, small, "--out", "answers.json", "--explain")
    shown = outcome.out.splitlines()
    assert shown[0] == "How many boats did Ada sell?"
    answered = [line for line in shown[1::2] if line.startswith("  ") and "no answer" not in line]
    assert answered
    assert all(re.search(r" \(\w+ .*\)(: at \S+\[\d+:\d+\])?", line) for line in answered)


@pytest.mark.parametrize("beam", [1, 5])
def test_a_limit_that_no_form_keeps_leaves_counted_empty_answers(
    beam: int, parser: Path, small: Path, run: Run
) -> None:
    """S22: a complete form, or none and the reason; never a part of one."""
    below = predict(run, parser, small, "--beam", beam, "--max-length", 1, "--explain").json
    assert below["unanswered"] == below["questions"]
    assert set(json.loads(Path("answers.json").read_text()).values()) == {""}
    for line in Path(below["explained"]).read_text().splitlines():
        assert json.loads(line)["reason"] == "a form may have 1 productions, but the shortest has 2"
    at = predict(run, parser, small, "--beam", beam, "--max-length", 2).json
    assert at["unanswered"] == 0


def test_a_wider_beam_never_finds_a_worse_form(parser: Path, small: Path, run: Run) -> None:
    """S22."""
    best = []
    for beam in (1, 5):
        explained = predict(run, parser, small, "--beam", beam, "--explain").json["explained"]
        lines = [json.loads(line) for line in Path(explained).read_text().splitlines()]
        best.append([line["beam"][0]["probability"] for line in lines])
    assert all(wide >= narrow - 1e-6 for narrow, wide in zip(*best, strict=True))


def test_a_reader_answers_what_the_parser_can_not(parser: Path, small: Path, run: Run) -> None:
    pytest.importorskip("lightning")
    data = ("--train", small, "--dev", small, "--out", "reader", "--precision", "float32")
    assert run("train", "reader", "--config", "naqanet-tiny", *data).code == 0
    assert run("predict", "reader", small, "--out", "read.json").code == 0
    outcome = predict(run, parser, small, "--max-length", 1, "--backoff", "reader")
    assert outcome.code == 0, outcome.err
    assert json.loads(Path("answers.json").read_text()) == json.loads(Path("read.json").read_text())
    assert outcome.json["backed_off"] + outcome.json["unanswered"] == outcome.json["questions"]
    assert "no parser's run" in predict(run, Path("reader"), small, "--beam", 3).sentence


def test_a_passage_without_a_table_is_named_and_has_empty_answers(
    parser: Path, documents: dict[str, Any], write: Callable[[str, Any], Path], run: Run
) -> None:
    documents["boats"]["passage"] = 7
    outcome = predict(run, parser, write("bad.json", documents))
    assert outcome.code == 1
    assert len(outcome.json["failed"]) == 1
    assert outcome.json["questions"] == 2


def test_wrong_answers_come_on_a_page_with_their_reasons(parser: Path, small: Path, run: Run) -> None:
    outcome = predict(run, parser, small, "--errors", "errors.html")
    assert outcome.code == 0, outcome.err
    assert sum(outcome.json["errors"].values()) == pytest.approx(100)
    page = Path("errors.html").read_text()
    assert "the Sultan of Zanzibar" in page
    assert all(reason in page for reason in outcome.json["errors"])
