"""``drop-parsing show``: the tables of one paragraph, to look at."""

from typing import Annotated

import typer
from rich.table import Table as Grid

from drop_parsing.cli.common import (
    BackendName,
    Coref,
    Json,
    PassageId,
    Scheme,
    Text,
    TrustArchive,
    chosen_schemes,
    one_passage,
    print_result,
    stdout,
    tagged_table,
)
from drop_parsing.extraction import extractor_of
from extractors.export import table_to_json
from extractors.extractor import extract_together
from extractors.registry import Backend
from extractors.table import Argument, Paragraph, Table
from extractors.values import format_date, format_number


def show(
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[INPUT]", show_default=False)] = None,
    passage: PassageId = None,
    text: Text = None,
    scheme: Scheme = "all",
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    as_json: Json = False,
) -> None:
    """Print the tables of one paragraph; INPUT may be a .tagged file as well.

    Example: `drop-parsing show --text "Ada and Bram toured Norway, Malta and Ural."`
    """
    given = tagged_table(inputs or [], passage, text)
    if given is not None:
        tables = [given]
    else:
        chosen = one_passage(inputs or [], passage, text)
        paragraph = Paragraph(chosen.id, chosen.text)
        made_by = Backend(backend, trust_archive, coref)
        extractors = {name: extractor_of(name, made_by) for name in chosen_schemes(scheme)}
        (made,) = extract_together(extractors, [paragraph])
        for outcome in made.values():
            if isinstance(outcome, Exception):
                raise outcome
        tables = [outcome for outcome in made.values() if isinstance(outcome, Table)]

    def show_tables() -> None:
        for table in tables:
            _print(table)

    print_result(as_json, {"tables": [table_to_json(table) for table in tables]}, show_tables)


def _print(table: Table) -> None:
    grid = Grid("sentence", "predicate", "relation", "argument", "numbers and dates", title=table.scheme)
    doubted = any(row.confidence < 1 for row in table.rows)
    for row in table.rows:
        grid.add_row(
            str(row.sentence),
            f"{row.predicate.text} ({row.confidence:.2f})" if doubted else row.predicate.text,
            "",
            "",
            _values(row.predicate),
            end_section=not row.arguments,
        )
        last = list(row.cells())[-1]
        for relation, argument in list(row.cells())[1:]:
            grid.add_row(
                "", "", relation, argument.text, _values(argument), end_section=(relation, argument) == last
            )
    stdout.print(grid, soft_wrap=False)
    lost = table.lost
    if lost.sentences or lost.numbers or lost.dates:
        stdout.print(
            f"lost: {len(lost.sentences)} sentences, {len(lost.numbers)} numbers, {len(lost.dates)} dates"
        )


def _values(argument: Argument) -> str:
    numbers = [format_number(n.value) + (f" {n.unit}" if n.unit else "") for n in argument.numbers]
    return "; ".join([*numbers, *map(format_date, argument.dates)])
