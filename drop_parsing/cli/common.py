"""What the commands share: where results and progress go, and how arguments are read."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from drop_parsing.data.reading import read_passages
from drop_parsing.data.sources import Meter
from drop_parsing.data.types import Fault, Passage
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from extractors.registry import schemes
from extractors.remote import Place, RemoteError, place_of
from extractors.table import Span, Table
from extractors.tagged import read_tagged

#: Progress, warnings and errors; results alone go to standard output. Both print the user's text as it stands:
#: no markup, no emoji codes, no line breaks of their own.
stderr = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
stdout = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="DROP JSON, JSON lines of paragraphs, text with blank lines between paragraphs, a folder, a URL, or -.",
        show_default=False,
    ),
]
Scheme = Annotated[str, typer.Option(help="The kind of table: syndep, openie, srl, or all.")]
BackendName = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="What makes the tables: spacy:NAME, stanza:FOLDER, or allennlp:ARCHIVE for srl and openie.",
        show_default=False,
    ),
]
TrustArchive = Annotated[
    bool, typer.Option("--trust-archive", help="Let the archive of allennlp:ARCHIVE run code as it loads.")
]
Coref = Annotated[
    str | None,
    typer.Option(help="Give pronouns the entity that they stand for: stanza:FOLDER.", show_default=False),
]
Cache = Annotated[str, typer.Option(help="The folder, or its URL, where tables and forms are kept.")]
Workers = Annotated[int, typer.Option(min=0, help="Worker processes; 0 works in this one.")]
Cluster = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler to use instead.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
MaxSize = Annotated[
    int,
    typer.Option(min=0, max=4, help="How many row operations (filters, first, argmax, ...) a form may have."),
]
Text = Annotated[str | None, typer.Option(help="A paragraph, instead of an input.", show_default=False)]
PassageId = Annotated[str | None, typer.Option("--passage", help="The id of a passage.", show_default=False)]

DEFAULT_CACHE = "data_cache"


def print_result(as_json: bool, result: dict[str, Any], show: Callable[[], None]) -> None:
    """Print ``result`` as one line of JSON, or show it to a person."""
    if as_json:
        # Not through Rich: it would wrap the line.
        typer.echo(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace").decode())
    else:
        show()


def finish(failed: Sequence[Failed]) -> None:
    """Exit with 1 where items failed, after naming the first of them on standard error."""
    for failure in failed[:10]:
        stderr.print(f"failed: {failure.item}: {failure.reason}", style="red")
    if len(failed) > 10:
        stderr.print(f"... and {len(failed) - 10} more")
    if failed:
        raise typer.Exit(1)


def cell_to_json(cell: Span) -> dict[str, str | int]:
    """A cell that a form looks at: its relation, and where it stands in the paragraph."""
    return {"relation": cell.label, "text": cell.text, "start": cell.start, "end": cell.end}


def failures(failed: Sequence[Failed]) -> list[dict[str, str]]:
    return [{"item": failure.item, "reason": failure.reason} for failure in failed]


def without_models(what: str, error: ImportError) -> InputError:
    """What to say where ``what`` needs the extra "models", which is not installed."""
    return InputError(
        f'{what} needs the extra "models" ({error.name} is missing): pip install "drop-parsing[models]"'
    )


def chosen_schemes(name: str) -> tuple[str, ...]:
    """The schemes that ``--scheme`` names. Raises InputError where this version has no such scheme."""
    if name == "all":
        return schemes()
    if name not in schemes():
        raise InputError(f"--scheme {name} is not one of this version's: {', '.join(schemes())}, all.")
    return (name,)


def one_scheme(name: str) -> str:
    """The same where a command needs exactly one."""
    chosen = chosen_schemes(name)
    if len(chosen) > 1:
        raise InputError(f"--scheme {name} names several schemes; this command takes one.")
    return chosen[0]


def place(text: str) -> Place:
    """The file or folder that an argument names, by its path or by its URL."""
    try:
        return place_of(text)
    except RemoteError as error:
        raise InputError(str(error)) from error


def read_warned(inputs: Sequence[str], meter: Meter | None = None) -> Iterator[Passage | Fault]:
    """The passages of all inputs; what was mended in reading is said on standard error."""
    for item in read_passages(inputs, meter):
        if isinstance(item, Fault) and item.kept:
            stderr.print(f"warning: {item}", style="yellow")
        else:
            yield item


def mended(argument: str) -> str:
    """An argument without the lone surrogates that bytes which are not UTF-8 become: each is now U+FFFD."""
    return argument.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_passage(inputs: Sequence[str], passage: str | None, text: str | None) -> Passage:
    """The paragraph that ``--text``, or INPUT with ``--passage``, names."""
    if text is not None:
        if inputs or passage is not None:
            raise InputError("Give either --text or an input with --passage, not both.")
        return Passage("text", mended(text))
    if not inputs:
        raise InputError("Give a paragraph with --text, or an input with --passage ID.")
    seen, faults = [], []
    for item in read_warned(inputs):
        if isinstance(item, Fault):
            faults.append(item)
        elif passage is None or item.id == passage:
            return item
        else:
            seen.append(item.id)
    for fault in faults:
        stderr.print(f"warning: {fault}", style="yellow")
    known = ", ".join(seen[:5]) + (", ..." if len(seen) > 5 else "")
    raise InputError(f"There is no passage {passage!r} in {', '.join(inputs)}; it has: {known or 'none'}.")


def tagged_table(inputs: Sequence[str], passage: str | None, text: str | None) -> Table | None:
    """The table in a ``.tagged`` file of the original baseline, where the input is one."""
    if len(inputs) != 1 or not inputs[0].endswith(".tagged"):
        return None
    if passage is not None or text is not None:
        raise InputError(f"{inputs[0]} is one paragraph's table: give neither --passage nor --text with it.")
    try:
        return read_tagged(place(inputs[0]))[0]
    except ValueError as error:
        raise InputError(str(error)) from error


@contextmanager
def progress_bar(
    label: str, total: int | Callable[[], int | None] | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar on standard error if that is a terminal, otherwise a line a minute, with the rate and the time left;
    yields what to call with each step. ``total`` may be an estimate, asked for again at each step."""
    estimate = total if callable(total) else lambda: total
    if not stderr.is_terminal:
        log = ProgressLog(label, estimate)
        yield log.advance
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(label, total=estimate(), rate="")

        def advance(steps: int) -> None:
            bar.advance(task, steps)
            speed = bar.tasks[0].speed
            bar.update(task, total=estimate(), rate=f"{speed:.1f}/s" if speed else "")

        yield advance


#: Seconds between two lines of a ``ProgressLog``.
LOG_INTERVAL = 60.0


class ProgressLog:
    """Progress as lines on standard error, for the log of a batch job."""

    def __init__(self, label: str, total: Callable[[], int | None]) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._started = self._logged = time.monotonic()

    def advance(self, steps: int) -> None:
        self._done += steps
        now = time.monotonic()
        if now < self._logged + LOG_INTERVAL:
            return
        self._logged = now
        rate = self._done / (now - self._started)
        line = f"{self._label}: {self._done}"
        if total := self._total():
            left = timedelta(seconds=round((total - self._done) / rate)) if rate else "?"
            line += f" of {total}, {left} left"
        stderr.print(f"{line}, {rate:.1f}/s")
