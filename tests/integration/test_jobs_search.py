"""The search job with real processes that are killed: what is left is the forms of an undisturbed run."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.processes import (
    LONG,
    assert_ended,
    dask_cluster,
    family,
    parts,
    started,
    tables_in,
    wait_for,
)

PASSAGES, QUESTIONS = 14, 40
#: Whole passages fill parts of at most 256 questions.
PARTS = 3


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short paragraphs with many questions."""
    documents = {}
    for i in range(PASSAGES):
        pairs = [
            {
                "query_id": f"q{i}-{j}",
                "question": f"How many boats did Ada sell in her year {j}?",
                "answer": {"number": str(100 + i)},
            }
            for j in range(QUESTIONS)
        ]
        documents[f"p{i}"] = {"passage": f"Ada sold {100 + i} boats.", "qa_pairs": pairs}
    path = tmp_path_factory.mktemp("asked") / "asked.json"
    path.write_text(json.dumps(documents))
    return path


@pytest.fixture(scope="module")
def undisturbed(asked: Path) -> dict[str, bytes]:
    """The parts of a run in one process."""
    cache = asked.parent / "undisturbed"
    with searching(asked, cache) as process:
        out, err = process.communicate(timeout=LONG)
    assert process.returncode == 0, err
    assert json.loads(out)["questions"] == PASSAGES * QUESTIONS
    found = parts(cache / "forms")
    assert len(found) == PARTS
    return found


def searching(asked: Path, cache: Path, *arguments: str) -> Any:
    options = ("--max-size", "0", "--cache", cache, "--json")
    return started("drop_parsing.cli.main", "search", asked, *options, *arguments)


def test_a_killed_search_goes_on_where_it_was(
    asked: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    forms = tmp_path / "cache" / "forms"
    with searching(asked, tmp_path / "cache", "--workers", "2") as process:
        wait_for(lambda: process.poll() is not None or any(forms.rglob("part-*.parquet")))
        assert process.poll() is None
        workers = family(process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LONG)
    assert_ended(workers)
    left = sorted(forms.rglob("part-*.parquet"))
    assert 1 <= len(left) < PARTS
    with searching(asked, tmp_path / "cache") as process:
        out, err = process.communicate(timeout=LONG)
    assert process.returncode == 0, err
    done = json.loads(out)
    assert (done["cached"], done["questions"]) == (tables_in(left), PASSAGES * QUESTIONS)
    assert parts(forms) == undisturbed


def test_a_killed_worker_changes_no_forms(asked: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    forms = tmp_path / "cache" / "forms"
    with (
        dask_cluster(tmp_path, workers=2) as (address, _, workers),
        searching(asked, tmp_path / "cache", "--cluster", address) as process,
    ):
        wait_for(lambda: process.poll() is not None or any(forms.rglob("part-*.parquet")))
        workers[0].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=LONG)
        assert process.returncode == 0, err
    assert json.loads(out)["failed"] == []
    assert parts(forms) == undisturbed
