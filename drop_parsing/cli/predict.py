"""``drop-parsing predict``: the answers of a trained model, as the leaderboard takes them."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    Cache,
    Inputs,
    Json,
    failures,
    finish,
    print_result,
    progress_bar,
    stdout,
)
from drop_parsing.cli.train_reader import Device, Precision, local_folder, read_questions
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from extractors.store import atomic_file

#: Explanations that are also shown to a person.
SHOWN = 20


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a trained run.", show_default=False)],
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option("--out", help="The file of {question id: answer}.", show_default=False)
    ],
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also write what each answer rests on, one JSON object a line, beside --out (.explained.jsonl).",
        ),
    ] = False,
    cache: Cache = DEFAULT_CACHE,
    batch_size: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 32,
    device: Device = "auto",
    precision: Precision = "float32",
    as_json: Json = False,
) -> None:
    """Answer every question of the input with a trained reader.

    Example: `drop-parsing predict runs/one dev.json --out predictions.json --explain`
    """
    try:
        from drop_parsing.training.predicting import predict_all
    except ImportError as error:
        raise InputError(
            f'Prediction needs the extra "models" ({error.name} is missing): pip install "drop-parsing[models]"'
        ) from error
    started = time.perf_counter()
    failed: list[Failed] = []
    passages = read_questions(inputs, failed)
    total = sum(len(passage.questions) for passage in passages)
    with progress_bar("questions", total) as advance:
        predictions = predict_all(run, passages, local_folder(cache), batch_size, device, precision, advance)
    _write(out, json.dumps({one.question: one.answer for one in predictions}, ensure_ascii=False, indent=1))
    explained = out.with_suffix(".explained.jsonl") if explain else None
    if explained:
        lines = [json.dumps(one.to_json(), ensure_ascii=False) for one in predictions]
        _write(explained, "".join(f"{line}\n" for line in lines))
    result: dict[str, Any] = {
        "questions": len(predictions),
        "unanswered": sum(one.head is None for one in predictions),
        "seconds": round(time.perf_counter() - started, 3),
        "out": str(out),
        "explained": str(explained) if explained else None,
        "failed": failures(failed),
    }

    def show() -> None:
        texts = {question.id: question.text for passage in passages for question in passage.questions}
        for one in predictions[:SHOWN] if explain else []:
            stdout.print(f"{texts[one.question]}\n  {one.summary()}")
        stdout.print(f"{len(predictions)} answers in {out} ({result['seconds']} s)")

    print_result(as_json, result, show)
    finish(failed)


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode("utf-8", "replace"))
