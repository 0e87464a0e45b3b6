"""``drop-parsing evaluate``: the official metric over a file of predictions."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from drop_parsing.cli.common import Inputs, Json, failures, finish, print_result, read_warned, stderr, stdout
from drop_parsing.data import metric as metrics
from drop_parsing.data.types import Fault, Question
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed


def evaluate(
    predictions: Annotated[
        Path,
        typer.Argument(help="{question id: answer}, an answer being a string or a list.", show_default=False),
    ],
    inputs: Inputs,
    metric: Annotated[
        str, typer.Option(help="official, or strict (the same with its quirks mended).")
    ] = "official",
    as_json: Json = False,
) -> None:
    """Score predictions by the official metric, in all and by answer type, in percent.

    Example: `drop-parsing evaluate predictions.json drop_dev.json`
    """
    if metric not in ("official", "strict"):
        raise InputError(f"--metric {metric} is not one of: official, strict.")
    questions: list[Question] = []
    failed: list[Failed] = []
    for item in read_warned(inputs):
        if isinstance(item, Fault):
            failed.append(Failed(f"{item.file}: {item.where}", item.message))
        else:
            questions += item.questions
    scores = metrics.evaluate(read_predictions(predictions), questions, strict=metric == "strict")
    result = {
        "em": scores.em,
        "f1": scores.f1,
        "questions": scores.questions,
        "by_type": {
            kind: {"questions": score.questions, "em": score.em, "f1": score.f1}
            for kind, score in scores.by_type.items()
        },
        "missing": len(scores.missing),
        "unknown": len(scores.unknown),
        "failed": failures(failed),
    }

    def show() -> None:
        grid = Grid("answers", "questions", "EM", "F1", title=f"{metric} metric, percent")
        for kind, score in scores.by_type.items():
            grid.add_row(kind, str(score.questions), f"{score.em:.2f}", f"{score.f1:.2f}")
        grid.add_row("all", str(scores.questions), f"{scores.em:.2f}", f"{scores.f1:.2f}")
        stdout.print(grid, soft_wrap=False)

    if scores.missing:
        stderr.print(
            f"{len(scores.missing)} questions have no prediction and score 0, e.g. {scores.missing[0]}"
        )
    if scores.unknown:
        stderr.print(f"{len(scores.unknown)} predictions are for no question here, e.g. {scores.unknown[0]}")
    print_result(as_json, result, show)
    finish(failed)


def read_predictions(path: Path) -> dict[str, Any]:
    """{question id: answer} from a JSON file. Raises InputError where it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read the predictions {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"The predictions {path} are not JSON ({error}); give {{question id: answer}}."
        ) from error
    if not isinstance(data, dict):
        raise InputError(f"The predictions {path} must be one JSON object {{question id: answer}}.")
    return data
