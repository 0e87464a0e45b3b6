"""``drop-parsing train``: the models that this project trains itself."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from drop_parsing.cli import train_parser, train_reader
from drop_parsing.cli.common import Json, print_result, read_warned, stderr, stdout, without_models
from drop_parsing.data.types import Fault
from drop_parsing.errors import InputError
from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.table import Paragraph

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Data = Annotated[
    Path,
    typer.Option(
        help="The folder of ewt_train.jsonl[.gz] and, if it is there, masc.jsonl[.gz].", show_default=False
    ),
]
Out = Annotated[Path, typer.Option(help="The file to write.", show_default=False)]
EncoderFolder = Annotated[
    Path | None,
    typer.Option(
        "--encoder",
        help="A folder with an uncased BERT-like encoder (vocab.txt, config.json, model.safetensors), of whose first "
        "layers the model gets narrow ones.",
        show_default=False,
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        help="Paragraphs without roles, in any form that `extract` reads: the narrow layers are taught on them, too. "
        "May be given several times.",
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
    encoder: EncoderFolder = None,
    texts: Texts = None,
    pipeline: PipelineName = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    epochs: Epochs = None,
    as_json: Json = False,
) -> None:
    """Train the model of the scheme "srl" on sentences with PropBank roles.

    Example: `drop-parsing train srl --data data/srl --encoder minilm --texts drop_train.json --out srl_model.npz`
    """
    try:
        from drop_parsing.training.srl_encoder import read_encoder
        from drop_parsing.training.srl_network import Options
        from drop_parsing.training.srl_train import read_corpora, train
    except ImportError as error:
        raise without_models("Training", error) from error
    started = time.perf_counter()
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} to write {out.name} in.")
    corpora = read_corpora(data)
    options = Options(seed=seed)
    if epochs is not None:
        options = replace(options, epochs=epochs, joint_epochs=epochs)
    pretrained = read_encoder(encoder, options.encoder) if encoder else None
    paragraphs = _paragraphs(texts or [])
    model = train(
        corpora, SpacyAnnotator(load_pipeline(pipeline)), pretrained, options, paragraphs, stderr.print
    )
    model.save(out)
    result = {
        "out": str(out),
        "sentences": sum(len(corpus.sentences) for corpus in corpora),
        "labels": len(model.labels) - 1,
        "features": len(model.network.weights["features"]),
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


def _paragraphs(texts: list[str]) -> list[Paragraph]:
    """Raises InputError for the first that cannot be used."""
    found = []
    for item in read_warned(texts):
        if isinstance(item, Fault):
            raise InputError(str(item))
        found.append(Paragraph(item.id, item.text))
    return found
