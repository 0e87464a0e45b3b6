"""``drop-parsing spuriousness``: classes of forms, the page, the sheet there and back, and weights for a parser."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Run

Write = Callable[[str, Any], Path]
SIZE = ("--max-size", "1")
KEYS = {"questions", "covered", "forms", "classes", "spurious_rate"}

#: Which 3 is meant?
GOALS = {
    "goals": {
        "passage": "Brook kicked 3 goals, Hale kicked 3 goals, and rain fell for 3 days.",
        "qa_pairs": [
            {"query_id": "q-hale", "question": "How many goals did Hale kick?", "answer": {"number": "3"}},
            {"query_id": "q-never", "question": "Who paid?", "answer": {"spans": ["the Sultan of Zanzibar"]}},
        ],
    }
}


@pytest.fixture
def goals(write: Write) -> Path:
    return write("goals.json", GOALS)


def test_the_figures_of_a_file(run: Run, small: Path) -> None:
    done = run("spuriousness", small, *SIZE, "--json")
    assert done.code == 0
    found = done.json
    assert found.keys() >= KEYS
    assert found["questions"] == 7
    assert 4 <= found["covered"] <= 6  # no form says who is in Zanzibar
    assert found["classes"] >= found["covered"]
    assert found["forms"] >= found["classes"]
    assert 0 < found["spurious_rate"] < 1
    low, high = found["interval"]
    assert low <= found["spurious_rate"] <= high


def test_decompositions_are_agreed_with(run: Run, goals: Path, write: Write) -> None:
    steps = "return goals of hale ;return number of #1"
    qdmr = write("qdmr.csv", f"question_text,decomposition\nHow many goals did Hale kick?,{steps}\n")
    figures = run("spuriousness", goals, *SIZE, "--scheme", "all", "--qdmr", qdmr, "--json").json
    together = figures["together"]["decomposed"]
    by_scheme = [found["decomposed"] for found in figures["schemes"].values()]
    for found in [together, *by_scheme]:
        assert found["kept"]["share"] == 1.0
        assert found["kept"]["of"] == found["agreeing"]["of"] == 1
    assert together["agreeing"]["share"] == max(found["agreeing"]["share"] for found in by_scheme) == 1.0
    shown = run("spuriousness", goals, *SIZE, "--qdmr", qdmr).out
    assert "questions with a decomposition for which a class is kept: syndep: 100.0%" in shown
    assert run("spuriousness", goals, *SIZE, "--json").json["decomposed"] is None


def test_contrast_sets_are_counted(run: Run, goals: Path, write: Write) -> None:
    asked = [("Hale", "3"), ("Brook", "5")]
    pairs = [
        {
            "query_id": f"kick_{i}",
            "question": f"How many goals did {name} kick?",
            "answer": {"number": answer},
        }
        for i, (name, answer) in enumerate(asked)
    ]
    text = "Brook kicked 5 goals, and Hale kicked 3 goals."
    contrasts = write("contrasts.json", {"goals": {"passage": text, "qa_pairs": pairs}})
    figures = run("spuriousness", contrasts, *SIZE, "--json").json
    assert (figures["contrast_sets"]["share"], figures["contrast_sets"]["of"]) == (1.0, 1)
    assert figures["by_judge"]["contrast"] is not None
    shown = run("spuriousness", contrasts, *SIZE).out
    assert "contrast sets of which one kind of kept form answers every question: syndep: 100.0%" in shown
    assert run("spuriousness", goals, *SIZE, "--json").json["contrast_sets"] is None


def test_all_schemes(run: Run, goals: Path) -> None:
    found = run("spuriousness", goals, *SIZE, "--scheme", "all", "--json").json
    assert set(found["schemes"]) == {"syndep", "openie", "srl"}
    assert all(figures.keys() >= KEYS for figures in found["schemes"].values())


def test_people_read_the_same_figures(run: Run, goals: Path) -> None:
    figures = run("spuriousness", goals, *SIZE, "--json").json
    done = run("spuriousness", goals, *SIZE)
    assert done.err == ""
    assert f"syndep: 1 of 2 questions covered by {figures['forms']:,} forms" in done.out
    assert f"in {figures['classes']} classes" in done.out
    assert f"spurious rate {100 * figures['spurious_rate']:.1f}%" in done.out


def test_neither_workers_nor_the_cache_change_anything(run: Run, small: Path, tmp_path: Path) -> None:
    printed, pages, sheets = [], [], []
    for cache, workers in (("one", 0), ("one", 0), ("two", 2)):
        files = ("--out", "page.html", "--sheet", "sheet.csv", "--seed", 5)
        done = run(
            "spuriousness",
            small,
            *SIZE,
            *map(str, files),
            "--cache",
            cache,
            "--workers",
            str(workers),
            "--json",
        )
        figures = done.json
        figures.pop("seconds", None)
        figures.pop("cached", None)
        printed.append(figures)
        pages.append((tmp_path / "page.html").read_text().partition('<script type="application/gzip"')[2])
        sheets.append((tmp_path / "sheet.csv").read_bytes())
    assert printed[0] == printed[1] == printed[2]
    assert pages[0] == pages[1] == pages[2]
    assert sheets[0] == sheets[1] == sheets[2]


def test_what_is_cached_is_not_made_again(run: Run, small: Path) -> None:
    assert run("spuriousness", small, *SIZE, "--json").json["cached"] == 0
    assert run("spuriousness", small, *SIZE, "--json").json["cached"] == 7
    assert run("spuriousness", small, *SIZE, "--seed", "1", "--json").json["cached"] == 0


def test_a_sheet_there_and_back(run: Run, goals: Path, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    done = run("spuriousness", goals, *SIZE, "--sample", "5", "--sheet", path)
    assert done.err == f"sheet: {path}\n"
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert len(rows) == 1
    (row,) = rows
    for place in range(1, 6):
        form = row[head.index(f"form {place}")]
        row[head.index(f"judgement {place}")] = ("right" if "hale" in form else "wrong") if form else ""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    done = run("spuriousness", goals, *SIZE, "--judged", path, "--out", "page.html", "--json")
    figures = done.json["judged"]
    assert figures["with_right"]["syndep"] == {
        "share": 1.0,
        "of": 1,
        "low": figures["with_right"]["syndep"]["low"],
        "high": 1.0,
    }
    assert 0.2 < figures["with_right"]["syndep"]["low"] < 0.21  # Wilson's of 1 in 1
    assert figures["unmatched"] == 0
    assert figures["precision"]["of"] + figures["dropped"]["of"] >= 2
    assert "Judged by hand" in (tmp_path / "page.html").read_text()
    shown = run("spuriousness", goals, *SIZE, "--judged", path)
    assert "the paper: 13.3%" in shown.out


def test_a_sheet_of_other_questions(run: Run, goals: Path, small: Path) -> None:
    run("spuriousness", small, *SIZE, "--sheet", "sheet.csv")
    sentence = run("spuriousness", goals, *SIZE, "--judged", "sheet.csv").sentence
    assert "sheet.csv" in sentence
    assert "goals.json" in sentence


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "query_id"),
        (
            "query_id,scheme,form 1,denotation 1,judgement 1\nq,syndep,(f),3,perhaps\n",
            "row 2, column 'judgement 1'",
        ),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_bad_sheet_stops_before_the_work(
    run: Run, write: Write, small: Path, tmp_path: Path, content: str | bytes, says: str
) -> None:
    assert says in run("spuriousness", small, "--judged", write("bad.csv", content)).sentence
    assert not (tmp_path / "data_cache").exists()


def test_weights_for_a_parser(run: Run, small: Path, tmp_path: Path) -> None:
    figures = run("spuriousness", small, *SIZE, "--weights", "weights.jsonl", "--json").json
    lines = [json.loads(line) for line in (tmp_path / "weights.jsonl").read_text().splitlines()]
    assert len(lines) == figures["covered"]
    for line in lines:
        assert line.keys() == {"query_id", "scheme", "forms"}
        assert sum(line["forms"].values()) == pytest.approx(1)
        assert all(form.startswith("(") and weight >= 0 for form, weight in line["forms"].items())


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "blind.json",
            {"p": {"passage": "Ada sold 3 boats.", "qa_pairs": [{"query_id": "q", "question": "Who?"}]}},
            "answer",
        ),
        ("empty.json", "", "empty.json"),
    ],
)
def test_inputs_without_answers(run: Run, write: Write, name: str, content: Any, says: str) -> None:
    assert says in run("spuriousness", write(name, content)).sentence


def test_one_bad_passage_costs_nothing_else(run: Run, write: Write, documents: dict[str, Any]) -> None:
    documents["bad"] = {"passage": 7, "qa_pairs": []}
    done = run("spuriousness", write("mixed.json", documents), *SIZE, "--json")
    assert done.code == 1
    assert done.json["questions"] == 7
    assert "bad" in done.json["failed"][0]["item"]


def test_the_page_in_a_browser(
    run: Run, goals: Path, tmp_path: Path, opened: Callable[..., tuple[Any, list[str]]]
) -> None:
    figures = run("spuriousness", goals, *SIZE, "--scheme", "syndep", "--out", "page.html", "--json").json
    page, said = opened(tmp_path / "page.html", "#q=q-hale")
    page.wait_for_selector("#question-title")
    assert said == []
    assert page.locator(".paragraph").text_content() == GOALS["goals"]["passage"]
    assert f"in {figures['classes']} classes" in page.locator("#question").inner_text()
    assert "goals.json" in page.title()
    assert "drop-parsing spuriousness" in page.locator("main code").first.inner_text()
