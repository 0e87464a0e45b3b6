"""Whole commands: run in this process, on small files."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.cli.main import main

#: Two passages with every type of answer; most are reached by a form of size 1.
SMALL: dict[str, Any] = {
    "boats": {
        "passage": "Ada sold 15 boats in 1914. Bram sold 81 boats in May 1920. Cora bought the harbour.",
        "qa_pairs": [
            {"query_id": "q-number", "question": "How many boats did Ada sell?", "answer": {"number": "15"}},
            {
                "query_id": "q-sum",
                "question": "How many boats did Ada and Bram sell in all?",
                "answer": {"number": "96"},
            },
            {
                "query_id": "q-span",
                "question": "What did Cora buy?",
                "answer": {"spans": ["the harbour"]},
                "validated_answers": [{"spans": ["harbour"]}],
            },
            {
                "query_id": "q-spans",
                "question": "Who sold boats?",
                "answer": {"spans": ["Ada", "Bram"]},
            },
            {
                "query_id": "q-date",
                "question": "When did Bram sell boats?",
                "answer": {"date": {"day": "", "month": "May", "year": "1920"}},
            },
        ],
    },
    "crew": {
        "passage": "The crew of 12 men rowed home in 3 days.",
        "qa_pairs": [
            {"query_id": "q-crew", "question": "How many men rowed home?", "answer": {"number": "12"}},
            {"query_id": "q-never", "question": "Who paid?", "answer": {"spans": ["the Sultan of Zanzibar"]}},
        ],
    },
}


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What ``--json`` printed: exactly one object on one line, and nothing else."""
        assert self.out.count("\n") == 1, self.out
        data = json.loads(self.out, parse_constant=pytest.fail)
        assert isinstance(data, dict)
        return data

    @property
    def sentence(self) -> str:
        """What a refused command says on standard error: one sentence on one line."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("drop-parsing: ")
        assert self.err.endswith(".\n") or "python -m spacy download" in self.err
        assert self.err.count("\n") == 1, self.err
        return self.err


Run = Callable[..., Outcome]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Outcome]:
    """Run ``drop-parsing`` with these arguments in an empty folder; any exception but SystemExit fails."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["drop-parsing", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        code = stopped.value.code or 0
        assert isinstance(code, int), code
        assert "Traceback" not in printed.err
        return Outcome(code, printed.out, printed.err)

    return run_command


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A DROP file of two passages."""
    return write_json(tmp_path / "small.json", SMALL)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write a file: bytes and strings as they are, a list as JSON lines, anything else as JSON."""

    def write_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        elif isinstance(content, list):
            path.write_text("".join(json.dumps(item) + "\n" for item in content), encoding="utf-8")
        else:
            write_json(path, content)
        return path

    return write_file


def write_json(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def documents() -> dict[str, Any]:
    """The content of ``small``, free to change."""
    copy: dict[str, Any] = json.loads(json.dumps(SMALL))
    return copy
