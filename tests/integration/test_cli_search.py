"""``drop-parsing search``: complete, kept, and true to the difference of several spans and alternatives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from grammar.packing import from_bytes

Write = Callable[[str, Any], Path]
FIGURES = ("questions", "covered", "coverage", "forms", "by_type", "retention", "skipped", "failed")


def kept_forms(cache: Path) -> dict[str, list[dict[str, Any]]]:
    """Question id -> the forms in the cache."""
    return {
        row["question"]: row["forms"]
        for part in cache.rglob("forms/*/part-*.parquet")
        for row in pq.read_table(part).to_pylist()
    }


def test_the_figures(run: Callable[..., Any], small: Path) -> None:
    done = run("search", small, "--max-size", "1", "--json").json
    assert done["questions"] == 7
    assert done["cached"] == 0
    assert done["failed"] == []
    assert done["coverage"] == pytest.approx(100 * done["covered"] / 7, abs=0.01)
    by_type = done["by_type"]
    assert {kind: entry["questions"] for kind, entry in by_type.items()} == {
        "number": 3,
        "span": 2,
        "spans": 1,
        "date": 1,
    }
    assert sum(entry["covered"] for entry in by_type.values()) == done["covered"]
    # All but the one whose answer is not in the paragraph.
    assert done["covered"] == 6
    assert done["forms"] >= 6
    assert done["retention"] == {"numbers": 100.0, "spans": 100.0}


def test_a_second_run_answers_from_the_cache(run: Callable[..., Any], small: Path) -> None:
    first = run("search", small, "--max-size", "1", "--json").json
    second = run("search", small, "--max-size", "1", "--json").json
    assert second["cached"] == second["questions"] == 7
    assert [second[name] for name in FIGURES] == [first[name] for name in FIGURES]


@pytest.mark.parametrize("change", ["question", "answer", "validated_answers"])
def test_what_has_changed_is_searched_again(
    run: Callable[..., Any], small: Path, write: Write, documents: dict[str, Any], change: str
) -> None:
    run("search", small, "--max-size", "1")
    changed: Any = {
        "question": "How many boats were sold by Ada?",
        "answer": {"number": "81"},
        "validated_answers": [{"number": "81"}],
    }
    documents["boats"]["qa_pairs"][0][change] = changed[change]
    done = run("search", write("changed.json", documents), "--max-size", "1", "--json").json
    assert (done["cached"], done["questions"]) == (6, 7)


def test_new_ids_are_no_change(
    run: Callable[..., Any], small: Path, write: Write, documents: dict[str, Any]
) -> None:
    run("search", small, "--max-size", "1")
    for pair in documents["boats"]["qa_pairs"]:
        pair["query_id"] += "-renamed"
    renamed = write("renamed.json", {"other": documents["boats"]})
    done = run("search", renamed, "--max-size", "1", "--json").json
    assert done["cached"] == done["questions"] == 5


@pytest.mark.parametrize("option", [["--max-size", "0"], ["--max-size", "1", "--keep", "3"], ["--partial"]])
def test_other_settings_are_kept_apart(run: Callable[..., Any], small: Path, option: list[str]) -> None:
    run("search", small, "--max-size", "1")
    if option == ["--partial"]:
        option = ["--partial", "--max-size", "1"]
    assert run("search", small, *option, "--json").json["cached"] == 0
    assert run("search", small, *option, "--json").json["cached"] == 7


def test_forests_hold_every_form(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    done = run("search", small, "--max-size", "2", "--json").json
    rows = [
        row for part in tmp_path.rglob("forms/*/part-*.parquet") for row in pq.read_table(part).to_pylist()
    ]
    forests = [from_bytes(row["forest"]) for row in rows]
    assert [forest.count for forest in forests] == [int(row["count"]) for row in rows]
    assert sum(forest.count for forest in forests) == done["forms"]
    drawn = next(forest for forest in forests if forest.count).sample(1, seed=1)
    assert run("execute", str(drawn[0]), small, "--passage", "boats", "--json").json["denotation"] is not None
    assert run("search", small, "--max-size", "2", "--json").json["cached"] == 7
    run("search", small, "--max-size", "2", "--no-forests")
    (plain,) = tmp_path.glob("**/forms/*exact/part-*.parquet")
    assert pq.read_table(plain).column("forest").null_count == 7


def test_any_number_of_workers_writes_the_same_bytes(
    run: Callable[..., Any], small: Path, tmp_path: Path
) -> None:
    written = []
    for workers in ("0", "2"):
        cache = tmp_path / f"cache-{workers}"
        run("search", small, "--max-size", "2", "--workers", workers, "--cache", str(cache))
        written.append({part.name: part.read_bytes() for part in cache.rglob("forms/*/part-*.parquet")})
    assert len(written[0]) == 1
    assert written[0] == written[1]


def test_partial_covers_no_less(run: Callable[..., Any], small: Path) -> None:
    exact = run("search", small, "--max-size", "1", "--json").json
    partial = run("search", small, "--max-size", "1", "--partial", "--json").json
    assert partial["covered"] >= exact["covered"]
    assert partial["forms"] > exact["forms"]


def test_a_damaged_part_of_forms_is_made_again(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    first = run("search", small, "--max-size", "1", "--json").json
    (part,) = tmp_path.rglob("forms/*/part-*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:-20])
    done = run("search", small, "--max-size", "1", "--json").json
    assert done["cached"] == 0
    assert [done[name] for name in FIGURES] == [first[name] for name in FIGURES]
    assert part.read_bytes() == whole


def test_all_of_these_is_not_any_of_these(run: Callable[..., Any], write: Write, tmp_path: Path) -> None:
    """User report S20."""
    pairs = [
        {"query_id": "all", "question": "Who sold boats?", "answer": {"spans": ["Ada", "Bram"]}},
        {
            "query_id": "any",
            "question": "Who sold boats?",
            "answer": {"spans": ["Ada"]},
            "validated_answers": [{"spans": ["Bram"]}],
        },
    ]
    path = write("s20.json", {"p": {"passage": "Ada sold 15 boats. Bram sold 81 boats.", "qa_pairs": pairs}})
    done = run("search", path, "--max-size", "1", "--keep", "500", "--json").json
    assert done["covered"] == 2
    assert {kind: entry["questions"] for kind, entry in done["by_type"].items()} == {"span": 1, "spans": 1}
    forms = kept_forms(tmp_path)
    assert {tuple(sorted(form["denotation"])) for form in forms["all"]} == {("Ada", "Bram")}
    assert {tuple(form["denotation"]) for form in forms["any"]} == {("Ada",), ("Bram",)}


def test_kept_forms_denote_what_they_say(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    run("search", small, "--max-size", "1", "--keep", "3")
    forms = kept_forms(tmp_path)
    assert forms["q-never"] == []
    for question in ("q-number", "q-sum", "q-spans"):
        assert 1 <= len(forms[question]) <= 3
        for form in forms[question]:
            done = run("execute", form["logical_form"], small, "--passage", "boats", "--json")
            assert done.json["answer"] == form["denotation"]


def test_questions_without_answers_beside_others_are_skipped(
    run: Callable[..., Any], write: Write, documents: dict[str, Any]
) -> None:
    del documents["boats"]["qa_pairs"][1]["answer"]
    done = run("search", write("some.json", documents), "--max-size", "1", "--json").json
    assert (done["questions"], done["skipped"]) == (6, 1)


def test_no_answers_at_all(run: Callable[..., Any], write: Write, documents: dict[str, Any]) -> None:
    for document in documents.values():
        for pair in document["qa_pairs"]:
            del pair["answer"]
            pair.pop("validated_answers", None)
    path = write("blind.json", documents)
    sentence = run("search", path).sentence
    assert "blind.json" in sentence
    assert "answer" in sentence


def test_a_bad_question_is_named_and_the_others_searched(
    run: Callable[..., Any], write: Write, documents: dict[str, Any]
) -> None:
    documents["boats"]["qa_pairs"][1]["question"] = 7
    done = run("search", write("one-bad.json", documents), "--max-size", "1", "--json")
    assert done.code == 1
    assert done.json["questions"] == 6
    (failure,) = done.json["failed"]
    assert "q-sum" in failure["item"] + failure["reason"]


def test_one_question(run: Callable[..., Any]) -> None:
    text = "Carn had 70 boats and sold 25."
    arguments = ["--text", text, "--question", "How many were left?", "--answer", "45", "--keep", "5"]
    done = run("search", *arguments, "--json").json
    assert done["count"] >= len(done["forms"]) == 5
    for form in done["forms"]:
        assert form["denotation"] == ["45"]
        assert all(text[cell["start"] : cell["end"]] == cell["text"] for cell in form["cells"])
        assert {"70", "25"} <= {word for cell in form["cells"] for word in cell["text"].split()}
        assert run("execute", form["logical_form"], "--text", text, "--json").json["answer"] == ["45"]
    shown = run("search", *arguments).out
    assert f"{done['count']} consistent forms, 5 of them:" in shown
    assert all(form["logical_form"] in shown for form in done["forms"])


@pytest.mark.parametrize(
    ("answers", "denotation"), [(["Ada"], {"Ada"}), (["Ada", "Bram"], {"Ada", "Bram"})], ids=["one", "two"]
)
def test_one_question_with_several_spans(
    run: Callable[..., Any], answers: list[str], denotation: set[str]
) -> None:
    given = [part for answer in answers for part in ("--answer", answer)]
    text = "Ada sold 15 boats. Bram sold 81 boats."
    done = run("search", "--text", text, "--question", "Who?", *given, "--max-size", "1", "--json").json
    assert done["count"] > 0
    assert all(set(form["denotation"]) == denotation for form in done["forms"])


def test_one_question_without_a_form(run: Callable[..., Any]) -> None:
    arguments = [
        "--text",
        "Ada sold 15 boats.",
        "--question",
        "Who?",
        "--answer",
        "Zanzibar",
        "--max-size",
        "1",
    ]
    assert run("search", *arguments, "--json").json == {
        "count": 0,
        "complete": True,
        "size": 1,
        "by_size": [0, 0],
        "answers": [],
        "forms": [],
    }
    assert run("search", *arguments).out == "0 consistent forms\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--text", "Ada sold 3 boats."],
        ["--text", "Ada sold 3 boats.", "--question", "Who?"],
        ["--text", "Ada sold 3 boats.", "--answer", "Ada"],
        ["small.json", "--text", "Ada.", "--question", "Who?", "--answer", "Ada"],
        ["small.json", "--question", "Who?"],
        ["small.json", "--answer", "Ada"],
    ],
)
def test_what_does_not_go_together(run: Callable[..., Any], small: Path, arguments: list[str]) -> None:
    assert "--answer" in run("search", *arguments).sentence
