"""``drop-parsing execute``: run one logical form, and say why it denotes what it denotes."""

from typing import Annotated, Any

import typer

from drop_parsing.cli.common import (
    BackendName,
    Coref,
    Json,
    PassageId,
    Scheme,
    Text,
    TrustArchive,
    cell_to_json,
    one_passage,
    one_scheme,
    print_result,
    stdout,
    tagged_table,
)
from drop_parsing.extraction import extractor_of
from extractors.registry import Backend
from extractors.table import Paragraph
from extractors.values import format_number
from grammar.executor import execute as run
from grammar.executor import explain, texts_of
from grammar.language import Language
from grammar.types import Denotation
from grammar.view import View


def execute(
    form: Annotated[str, typer.Argument(help="A logical form.", show_default=False)],
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[INPUT]", show_default=False)] = None,
    passage: PassageId = None,
    text: Text = None,
    scheme: Scheme = "syndep",
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    as_json: Json = False,
) -> None:
    """Run a logical form over the table of one paragraph, step by step; INPUT may be a .tagged file as well.

    Example: `drop-parsing execute "(sum all_structures relation:obj)" --text "Ada sold 3 boats. Bram sold 4."`
    """
    table = tagged_table(inputs or [], passage, text)
    if table is None:
        chosen = one_passage(inputs or [], passage, text)
        extractor = extractor_of(one_scheme(scheme), Backend(backend, trust_archive, coref))
        table = extractor.extract(Paragraph(chosen.id, chosen.text))
    language = Language(View(table))
    checked = language.check(form)
    denotation = run(checked, language)
    steps = [
        {
            "form": str(step.form),
            "denotation": _shown(step.denotation, language),
            "cells": [cell_to_json(span) for span in step.cells],
        }
        for step in explain(checked, language)
    ]
    answer = list(texts_of(denotation))
    result = {"denotation": _shown(denotation, language), "answer": answer, "steps": steps}

    def show() -> None:
        for step in steps:
            stdout.print(f"{step['form']}  =  {_told(step['denotation'])}")
            for cell in step["cells"]:
                place = f"{cell['start']}-{cell['end']}"
                stdout.print(f"    {cell['relation']} {place}: {cell['text']}", style="dim")

    print_result(as_json, result, show)


def _shown(denotation: Denotation | None, language: Language) -> Any:
    """A denotation as JSON: rows as their numbers and predicates; null where undefined."""
    if isinstance(denotation, float):
        return denotation
    if isinstance(denotation, int):
        rows = language.view.table.rows
        return [
            {"row": i, "predicate": row.predicate.text} for i, row in enumerate(rows) if denotation >> i & 1
        ]
    return list(texts_of(denotation)) if denotation is not None else None


def _told(shown: Any) -> str:
    if shown is None:
        return "undefined"
    if isinstance(shown, float):
        return format_number(shown)
    if shown and isinstance(shown[0], dict):
        return f"{len(shown)} rows: " + ", ".join(f"{row['row']} {row['predicate']}" for row in shown)
    return "; ".join(shown) or "no rows"
