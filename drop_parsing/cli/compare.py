"""``drop-parsing compare``: several systems on the same questions, with the paper's table beside them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from drop_parsing.analysis.comparison import (
    PAPER,
    PAPER_TRAINING,
    Comparison,
    Interval,
    paper_row,
)
from drop_parsing.analysis.comparison import (
    compare as compare_systems,
)
from drop_parsing.baselines import human
from drop_parsing.cli.common import Json, failures, finish, print_result, stderr, stdout
from drop_parsing.cli.evaluate import read_predictions
from drop_parsing.cli.train_reader import read_questions
from drop_parsing.data import metric
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from drop_parsing.reports.comparison_page import write_page


def compare(
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="Questions with answers.", show_default=False)
    ],
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=PREDICTIONS...", help="Files of {question id: answer}.", show_default=False
        ),
    ],
    trained_on: Annotated[
        int | None,
        typer.Option(
            help="Training questions of our systems, to print beside the paper's.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write an HTML page.", show_default=False)
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 10_000,
    as_json: Json = False,
) -> None:
    """Compare systems with each other (paired bootstrap over questions) and with the paper's figures.

    A name such as naqanet-count stands beside the paper's row of that name.

    Example: `drop-parsing compare dev.json naqanet=one.json majority=two.json`
    """
    failed: list[Failed] = []
    questions = [question for passage in read_questions([input], failed) for question in passage.questions]
    named = dict(_split(argument) for argument in systems)
    if len(named) < len(systems):
        raise InputError("Two systems have the same name; give each its own: NAME=PREDICTIONS.")
    evaluations = {name: metric.evaluate(read_predictions(path), questions) for name, path in named.items()}
    comparison = compare_systems(evaluations, resamples)
    people: dict[str, Any] | None = None
    try:
        scores = human(questions)
        people = {"em": scores.em, "f1": scores.f1, "questions": scores.questions}
    except InputError as error:
        stderr.print(f"no row for people: {error}")
    rows = _rows(comparison)
    if out:
        write_page(out, rows, comparison, people, trained_on, PAPER_TRAINING)
    result = {
        "rows": rows,
        "questions": comparison.questions,
        "differences": [asdict(difference) for difference in comparison.differences],
        "human": people,
        "trained_on": trained_on,
        "paper_trained_on": PAPER_TRAINING,
        "failed": failures(failed),
    }
    print_result(as_json, result, lambda: _show(rows, comparison, people, trained_on))
    finish(failed)


def _split(argument: str) -> tuple[str, Path]:
    name, equals, path = argument.partition("=")
    if not (name and equals and path):
        raise InputError(f"{argument} is not of the form NAME=PREDICTIONS.")
    return name, Path(path)


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """The paper's methods in its order, each followed by ours of that name; then what the paper has not."""
    ours = {
        system.name: {"name": system.name, "source": "ours", **_plain(system)}
        for system in comparison.systems
    }
    rows: list[dict[str, Any]] = []
    for method, (dev_em, dev_f1, test_em, test_f1) in PAPER.items():
        paper = {"dev_em": dev_em, "dev_f1": dev_f1, "test_em": test_em, "test_f1": test_f1}
        rows.append({"name": method, "source": "paper", **paper})
        rows += [row for name, row in ours.items() if paper_row(name) == method]
    return rows + [row for name, row in ours.items() if paper_row(name) is None]


def _plain(system: Any) -> dict[str, Any]:
    return {
        "em": asdict(system.em),
        "f1": asdict(system.f1),
        "by_type": {kind: asdict(score) for kind, score in system.by_type.items()},
        "missing": system.missing,
    }


def _show(
    rows: list[dict[str, Any]], comparison: Comparison, people: dict[str, Any] | None, trained_on: int | None
) -> None:
    ours = f"ours: {comparison.questions} questions" + (f", trained on {trained_on}" if trained_on else "")
    grid = Grid(
        "system", "EM", "F1", title=f"percent; paper: its dev set, trained on {PAPER_TRAINING}; {ours}"
    )
    for row in rows:
        if row["source"] == "paper":
            cells = ["-" if row[key] is None else f"{row[key]:.2f}" for key in ("dev_em", "dev_f1")]
            grid.add_row(row["name"], *cells)
        else:
            cells = [_range(Interval(**row[key])) for key in ("em", "f1")]
            grid.add_row(f"  {row['name']} (ours)", *cells)
    stdout.print(grid, soft_wrap=False)
    types = Grid("answers", *(system.name for system in comparison.systems), title="F1 by answer type")
    for kind in sorted({kind for system in comparison.systems for kind in system.by_type}):
        scores = [system.by_type.get(kind) for system in comparison.systems]
        types.add_row(kind, *(f"{score.f1:.2f} ({score.questions})" if score else "-" for score in scores))
    stdout.print(types, soft_wrap=False)
    for one in comparison.differences:
        stdout.print(f"{one.first} - {one.second}: F1 {_range(one.f1)}, p = {one.p_value:.4f}")
    if people:
        stdout.print(
            f"people (one annotator held out, {people['questions']} questions): "
            f"EM {people['em']:.2f}, F1 {people['f1']:.2f}"
        )


def _range(interval: Interval) -> str:
    return f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
