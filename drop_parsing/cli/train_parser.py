"""``drop-parsing train parser``: a semantic parser over one kind of table."""

from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    BackendName,
    Cache,
    Json,
    MaxSize,
    Scheme,
    failures,
    finish,
    one_scheme,
    place,
    print_result,
    progress_bar,
    stderr,
    stdout,
    without_models,
)
from drop_parsing.cli.train_reader import Device, Precision, read_questions
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from drop_parsing.searching import SearchSettings


def parser(
    train: Annotated[
        list[str],
        typer.Option("--train", help="Questions to learn from, searched before.", show_default=False),
    ],
    dev: Annotated[
        list[str],
        typer.Option("--dev", help="Questions to evaluate on after each epoch.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder of the run.", show_default=False)],
    config: Annotated[
        str, typer.Option("--config", help="kdg, kdg-small, kdg-tiny, or a YAML file like one.")
    ] = "kdg",
    scheme: Scheme = "syndep",
    cache: Cache = DEFAULT_CACHE,
    backend: BackendName = None,
    max_size: MaxSize = 3,
    keep: Annotated[int, typer.Option(min=1, help="The --keep of the search.")] = 20,
    partial: Annotated[bool, typer.Option("--partial", help="The --partial of the search.")] = False,
    forests: Annotated[
        bool, typer.Option("--forests/--no-forests", help="The same option of the search.")
    ] = True,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")
    ] = False,
    device: Device = "auto",
    precision: Precision = "auto",
    as_json: Json = False,
) -> None:
    """Train a parser on the forms that `drop-parsing search` has found.

    Example: `drop-parsing train parser --config kdg --train train.json --dev dev.json --out runs/kdg`
    """
    try:
        from drop_parsing.parser.config import load_config
        from drop_parsing.parser.loading import load_data
        from drop_parsing.parser.run_files import CONFIG, FORMS, Tables
        from drop_parsing.parser.training import train_parser
        from drop_parsing.training.devices import chosen_device, chosen_dtype
        from drop_parsing.training.run import Options
    except ImportError as error:
        raise without_models("Training", error) from error
    chosen = load_config(config)
    where = chosen_device(device)
    dtype = chosen_dtype(precision, where)
    if (out / CONFIG).exists() and not resume:
        raise InputError(
            f"{out} holds a run already: give --resume to go on with it, or choose another --out."
        )
    if not resume:
        (out / FORMS).unlink(missing_ok=True)
    failed: list[Failed] = []
    train_passages, dev_passages = read_questions(train, failed), read_questions(dev, failed)
    data, without_table = load_data(
        chosen,
        Tables(one_scheme(scheme), backend),
        train_passages,
        dev_passages,
        place(cache),
        SearchSettings(max_size, keep, partial, forests),
        " ".join(train),
        chosen=out / FORMS,
        show=progress_bar,
    )
    failed += without_table
    with progress_bar("training", None) as advance:
        options = Options(where, dtype, resume=resume, advance=advance, say=stderr.print)
        result = train_parser(chosen, data, out, options)
    trained = data.train
    summary = {
        "run": str(out),
        "epochs": result.epoch,
        "dev_em": result.best_em,
        "dev_f1": max(result.best_f1, 0.0),
        "trained_on": len(trained.trained),
        "train_questions": trained.total,
        "not_trained_on": dict(trained.reasons),
        "forms": trained.forms,
        "forms_not_learnt": trained.lost,
        "questions_per_second": round(len(trained.trained) * result.epoch / max(result.seconds, 1e-9), 3),
        "failed": failures(failed),
    }

    def show() -> None:
        stdout.print(
            f"{out}: best dev EM {result.best_em:.2f}, F1 {summary['dev_f1']:.2f} in {result.epoch} epochs; "
            f"trained on {trained}"
        )

    print_result(as_json, summary, show)
    finish(failed)
