"""The ``drop-parsing`` command."""

import io
import sys

import typer

from drop_parsing import __version__
from drop_parsing.cli import (
    baseline,
    compare,
    demo,
    evaluate,
    execute,
    export,
    extract,
    predict,
    search,
    show,
    spuriousness,
    train,
)
from drop_parsing.cli.common import stderr
from drop_parsing.errors import InputError
from extractors.annotate import PipelineError
from extractors.jobs import JobError
from extractors.srl_data import DataError
from extractors.store import StoreError
from grammar.forms import FormError

#: What a user can mend: told in one sentence, exit status 2.
USER_ERRORS = (InputError, PipelineError, JobError, StoreError, DataError, FormError)

#: The exit status that Typer gives to an interrupt.
INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Answer questions over paragraphs by semantic parsing: tables, logical forms, and what they mean.

Begin with `drop-parsing demo`; then `drop-parsing show --text "Ada sold 3 boats in 1914."` prints a table,
`drop-parsing search` finds the forms that reach an answer, `drop-parsing execute` runs one and says why.""",
)


@app.callback(invoke_without_command=True)
def version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


app.command("demo")(demo.demo)
app.command("extract")(extract.extract)
app.command("show")(show.show)
app.command("export")(export.export)
app.command("search")(search.search)
app.command("execute")(execute.execute)
app.command("spuriousness")(spuriousness.spuriousness)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(train.app, name="train")
app.command("predict")(predict.predict)
app.command("baseline")(baseline.baseline)
app.command("compare")(compare.compare)


def main() -> None:
    """Run the command line. Exit status: 0 success, 1 some items failed, 2 bad usage or input."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="replace"
        )  # a character that the terminal cannot show is no reason to stop
    try:
        app(prog_name="drop-parsing")
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            stderr.print("stopped; what was finished is kept, and the same command goes on from there")
        raise
    except USER_ERRORS as error:
        stderr.print(f"drop-parsing: {error}", style="red")
        sys.exit(2)


if __name__ == "__main__":
    main()
