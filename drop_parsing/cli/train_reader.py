"""``drop-parsing train reader``: a reading comprehension model."""

from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    Cache,
    Json,
    failures,
    finish,
    print_result,
    progress_bar,
    read_warned,
    stderr,
    stdout,
    without_models,
)
from drop_parsing.data.types import Fault, Passage
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed

Config = Annotated[
    str, typer.Option("--config", help="A preset, such as naqanet-small, or a YAML file like one.")
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Precision = Annotated[str, typer.Option(help="auto, float32 or bfloat16: what matrices are multiplied in.")]


def reader(
    train: Annotated[list[str], typer.Option("--train", help="Questions to learn from.", show_default=False)],
    dev: Annotated[
        list[str],
        typer.Option("--dev", help="Questions to evaluate on after each epoch.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder of the run.", show_default=False)],
    config: Config = "naqanet-small",
    cache: Cache = DEFAULT_CACHE,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")
    ] = False,
    device: Device = "auto",
    devices: Annotated[int, typer.Option(min=1, help="How many CUDA devices.")] = 1,
    precision: Precision = "auto",
    as_json: Json = False,
) -> None:
    """Train NAQANet or one of its relatives on questions with answers.

    Example: `drop-parsing train reader --config naqanet-small --train train.json --dev dev.json --out runs/one`
    """
    try:
        from drop_parsing.training.devices import chosen_device, chosen_dtype
        from drop_parsing.training.preset import load_preset
        from drop_parsing.training.run import Options, train_reader
    except ImportError as error:
        raise without_models("Training", error) from error
    preset = load_preset(config)
    where = chosen_device(device)
    failed: list[Failed] = []
    train_passages, dev_passages = read_questions(train, failed), read_questions(dev, failed)
    with progress_bar("training", None) as advance:
        options = Options(
            device=where,
            dtype=chosen_dtype(precision, where),
            devices=devices,
            resume=resume,
            advance=advance,
            say=stderr.print,
        )
        result = train_reader(preset, train_passages, dev_passages, out, local_folder(cache), options)
    summary = {
        "run": str(out),
        "epochs": result.epochs,
        "dev_em": result.dev_em,
        "dev_f1": result.dev_f1,
        "trained_on": len(result.trained_on.questions),
        "train_questions": result.trained_on.total,
        "not_trained_on": dict(result.trained_on.reasons),
        "questions_per_second": round(result.questions_per_second, 3),
        "failed": failures(failed),
    }

    def show() -> None:
        stdout.print(
            f"{out}: best dev EM {result.dev_em:.2f}, F1 {result.dev_f1:.2f} in {result.epochs} epochs; "
            f"trained on {result.trained_on}"
        )

    print_result(as_json, summary, show)
    finish(failed)


def local_folder(cache: str) -> Path:
    """Where readers keep their data. Raises InputError for a URL."""
    if "://" in cache:
        raise InputError(f"--cache {cache} is a URL; the data of readers is kept in a folder: give its path.")
    return Path(cache)


def read_questions(inputs: list[str], failed: list[Failed]) -> list[Passage]:
    """The passages of ``inputs``; what cannot be read is added to ``failed``."""
    passages: list[Passage] = []
    for item in read_warned(inputs):
        if isinstance(item, Fault):
            failed.append(Failed(f"{item.file}: {item.where}", item.message))
        else:
            passages.append(item)
    if not any(passage.questions for passage in passages):
        raise InputError(f"There is no question in {', '.join(inputs)}; give a DROP JSON file.")
    return passages
