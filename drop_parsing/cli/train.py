"""``drop-parsing train``: the models that this project trains itself."""

import time
from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli import train_parser, train_reader
from drop_parsing.cli.common import Json, print_result, stderr, stdout, without_models
from drop_parsing.errors import InputError
from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.srl_pieces import NO_PIECES

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Data = Annotated[
    Path,
    typer.Option(
        help="The folder of ewt_train.jsonl[.gz] and, if it is there, masc.jsonl[.gz].", show_default=False
    ),
]
Out = Annotated[Path, typer.Option(help="The file to write.", show_default=False)]
Vectors = Annotated[
    Path | None,
    typer.Option(
        help="A folder with vocab.txt and model.safetensors of an uncased BERT-like model, whose input vectors "
        "tell the model of words that are rare in the data.",
        show_default=False,
    ),
]
PipelineName = Annotated[
    str | None, typer.Option("--pipeline", help="The spaCy pipeline that parses.", show_default=False)
]
Epochs = Annotated[
    int | None, typer.Option(min=1, help="How often each sentence is seen.", show_default=False)
]


@app.callback()
def train() -> None:
    """Train a model (needs the extra "models")."""


app.command("reader")(train_reader.reader)
app.command("parser")(train_parser.parser)


@app.command("srl")
def srl(
    data: Data,
    out: Out,
    vectors: Vectors = None,
    pipeline: PipelineName = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    epochs: Epochs = None,
    as_json: Json = False,
) -> None:
    """Train the model of the scheme "srl" on sentences with PropBank roles.

    Example: `drop-parsing train srl --data data/srl --vectors minilm --out srl_model.npz`
    """
    try:
        from drop_parsing.training.srl_network import Options
        from drop_parsing.training.srl_train import read_corpora, read_pieces, train
    except ImportError as error:
        raise without_models("Training", error) from error
    started = time.perf_counter()
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} to write {out.name} in.")
    corpora = read_corpora(data)
    pieces = read_pieces(vectors) if vectors else NO_PIECES
    options = Options(seed=seed) if epochs is None else Options(seed=seed, epochs=epochs)
    model = train(corpora, SpacyAnnotator(load_pipeline(pipeline)), pieces, options, stderr.print)
    model.save(out)
    result = {
        "out": str(out),
        "sentences": sum(len(corpus.sentences) for corpus in corpora),
        "labels": len(model.labels) - 1,
        "features": len(model.networks[0].weights["features"]),
        "seconds": round(time.perf_counter() - started, 3),
    }
    print_result(
        as_json,
        result,
        lambda: stdout.print(
            f"{out}: {result['labels']} labels and {result['features']} features learned from "
            f"{result['sentences']} sentences in {result['seconds']:.0f} s"
        ),
    )
