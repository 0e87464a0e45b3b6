"""``drop-parsing baseline``: answers of systems that do not read, or see only half of the input."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from drop_parsing import baselines
from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    Cache,
    Inputs,
    Json,
    failures,
    finish,
    print_result,
    stderr,
    stdout,
    without_models,
)
from drop_parsing.cli.train_reader import Config, Device, Precision, local_folder, read_questions
from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from extractors.store import atomic_file

NAMES = ("majority", "question-only", "paragraph-only")
#: Every so many training passages one is held out, to choose the best weights of a blanked reader.
HELD_OUT = 10


def baseline(
    name: Annotated[
        str, typer.Argument(help="majority, question-only or paragraph-only.", show_default=False)
    ],
    inputs: Inputs,
    train: Annotated[list[str], typer.Option("--train", help="Questions to learn from.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", help="The file of {question id: answer}.", show_default=False)
    ],
    run: Annotated[
        Path | None,
        typer.Option(help="The folder of the reader's run; it goes on if there is one.", show_default=False),
    ] = None,
    config: Config = "naqanet-small",
    cache: Cache = DEFAULT_CACHE,
    device: Device = "auto",
    precision: Precision = "auto",
    as_json: Json = False,
) -> None:
    """Answer questions by the most frequent training answer, or by a reader that is trained and used with the
    passage or the question blanked (Kaushik and Lipton 2018).

    Example: `drop-parsing baseline majority --train train.json dev.json --out majority.json`
    """
    if name not in NAMES:
        raise InputError(f"There is no baseline {name}; there are: {', '.join(NAMES)}.")
    if name != "majority" and run is None:
        raise InputError(f"The baseline {name} trains a reader: give --run, a folder for it.")
    started = time.perf_counter()
    failed: list[Failed] = []
    train_passages, passages = read_questions(train, failed), read_questions(inputs, failed)
    if run is None or name == "majority":
        questions = [question for passage in passages for question in passage.questions]
        answers = baselines.majority(train_passages, questions)
    else:
        answers = _blanked(
            name, run, config, train_passages, passages, local_folder(cache), device, precision
        )
    with atomic_file(out) as file:
        file.write(baselines.to_json(answers))
    result = {
        "questions": len(answers),
        "seconds": round(time.perf_counter() - started, 3),
        "out": str(out),
        "failed": failures(failed),
    }
    print_result(as_json, result, lambda: stdout.print(f"{len(answers)} answers in {out}"))
    finish(failed)


def _blanked(
    name: str,
    run: Path,
    config: str,
    train: list[Passage],
    passages: list[Passage],
    cache: Path,
    device: str,
    precision: str,
) -> baselines.Answers:
    """The answers of a reader that never sees the passage (question-only) or the question (paragraph-only)."""
    try:
        from drop_parsing.training.devices import chosen_device, chosen_dtype
        from drop_parsing.training.predicting import predict_all
        from drop_parsing.training.preset import load_preset
        from drop_parsing.training.run import Options, train_reader
    except ImportError as error:
        raise without_models("This baseline", error) from error
    preset = load_preset(config)
    data = replace(preset.reader.data, blank="passage" if name == "question-only" else "question")
    preset = replace(preset, reader=replace(preset.reader, data=data))
    if len(train) < 2:
        raise InputError("A reader needs at least two training passages: one is held out.")
    held_out = train[::HELD_OUT]
    rest = [passage for place, passage in enumerate(train) if place % HELD_OUT]
    where = chosen_device(device)
    options = Options(where, chosen_dtype(precision, where), resume=True, say=stderr.print)
    train_reader(preset, rest, held_out, run, cache, options)
    return {one.question: one.answer for one in predict_all(run, passages, cache, device=device)}
