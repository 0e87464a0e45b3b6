"""``drop-parsing search``: every consistent logical form, for a file of questions or for one."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from drop_parsing.analysis.coverage import SchemeCoverage, analyse
from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    BackendName,
    Cache,
    Cluster,
    Coref,
    Json,
    MaxSize,
    Scheme,
    Text,
    TrustArchive,
    Workers,
    cell_to_json,
    chosen_schemes,
    failures,
    finish,
    mended,
    one_scheme,
    place,
    print_result,
    progress_bar,
    read_warned,
    stderr,
    stdout,
)
from drop_parsing.data.types import Answer, Passage
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed, extract_tables, extractor_of, open_store
from drop_parsing.goal import AnswerGoal
from drop_parsing.reports.coverage_page import write_page
from drop_parsing.searching import (
    SearchSettings,
    open_forms,
    preferred_forms,
    search_passages,
    search_question,
)
from extractors.registry import Backend
from extractors.remote import Place
from extractors.table import Paragraph
from grammar.executor import cells_used, execute, texts_of


def search(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT...]", help="Files of questions with answers.", show_default=False),
    ] = None,
    text: Text = None,
    question: Annotated[str | None, typer.Option(help="With --text: a question.", show_default=False)] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(help="With --text: its answer; given several times, all the spans.", show_default=False),
    ] = None,
    scheme: Scheme = "syndep",
    cache: Cache = DEFAULT_CACHE,
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    max_size: MaxSize = 3,
    keep: Annotated[int, typer.Option(min=1, help="How many forms of a question to keep or print.")] = 20,
    partial: Annotated[
        bool, typer.Option("--partial", help="Count a form as consistent where its F1 is above 0.")
    ] = False,
    forests: Annotated[
        bool,
        typer.Option("--forests/--no-forests", help="Keep all forms of every question in the cache, packed."),
    ] = True,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page.", show_default=False)] = None,
    workers: Workers = 0,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Find every logical form that reaches the answer. Tables and forms that the cache has are not made again.

    Examples: `drop-parsing search drop_dev.json --workers 2 --report coverage.html`;
    `drop-parsing search --text "Carn had 70 boats and sold 25." --question "How many were left?" --answer 45`
    """
    settings = SearchSettings(max_size, keep, partial, forests)
    chosen = Backend(backend, trust_archive, coref)
    if text is not None:
        if inputs or question is None or not answer:
            raise InputError("With --text, give --question and --answer, and no input.")
        asked, gold = mended(question), [mended(span) for span in answer]
        _search_one(mended(text), asked, gold, one_scheme(scheme), chosen, settings, as_json)
        return
    if not inputs or question is not None or answer:
        raise InputError("Give an input with questions and answers, or --text with --question and --answer.")
    passages, failed = read_answered(inputs)
    found, more_failed = search_schemes(
        chosen_schemes(scheme), passages, place(cache), chosen, settings, workers, cluster
    )
    failed += more_failed
    if report is not None:
        write_page(report, found, ", ".join(inputs), shlex.join(["drop-parsing", *sys.argv[1:]]))
        stderr.print(f"report: {report}")
    results = {coverage.scheme: summary(coverage, max_size) for coverage in found}
    result: dict[str, Any] = results.get(scheme, {"schemes": results})
    result["failed"] = failures(failed)
    print_result(as_json, result, lambda: print_coverage(found))
    finish(failed)


def read_answered(inputs: list[str]) -> tuple[list[Passage], list[Failed]]:
    passages: list[Passage] = []
    failed: list[Failed] = []
    for item in read_warned(inputs):
        if isinstance(item, Passage):
            passages.append(item)
        else:
            failed.append(Failed(f"{item.file}: {item.where}", item.message))
    if not any(question.references for passage in passages for question in passage.questions):
        raise InputError(
            f"No question in {', '.join(inputs)} has an answer to search for; give a DROP file with answers."
        )
    return passages, failed


def search_schemes(
    schemes: Sequence[str],
    passages: list[Passage],
    cache: Place,
    backend: Backend,
    settings: SearchSettings,
    workers: int,
    cluster: str | None,
) -> tuple[list[SchemeCoverage], list[Failed]]:
    """Tables, forms and their analysis under each scheme, with what failed."""
    stores = {scheme: open_store(cache, scheme, backend) for scheme in schemes}
    with progress_bar("tables", len(passages)) as advance:
        failed = extract_tables(passages, stores, backend, workers, cluster, advance).failed
    found = []
    for scheme, tables in stores.items():
        forms = open_forms(cache, scheme, settings)
        with progress_bar(f"{scheme} forms", len(passages)) as advance:
            report = search_passages(passages, tables, forms, settings, workers, cluster, advance)
        failed += report.failed
        found.append(analyse(scheme, passages, tables, report))
    return found, failed


def summary(coverage: SchemeCoverage, max_size: int) -> dict[str, Any]:
    """The figures of one scheme, shares in percent."""
    report, total = coverage.report, coverage.report.total
    return {
        "questions": total.questions,
        "covered": total.covered,
        "coverage": round(total.coverage, 2),
        "forms": report.forms,
        "complete": report.complete(max_size),
        "seconds": round(report.seconds, 3),
        "cached": report.cached,
        "skipped": report.skipped,
        "by_type": {
            kind: {"questions": c.questions, "covered": c.covered, "coverage": round(c.coverage, 2)}
            for kind, c in sorted(report.by_kind.items())
        },
        "retention": {
            "numbers": round(coverage.retention.numbers.percent, 2),
            "spans": round(coverage.retention.spans.percent, 2),
        },
    }


def print_coverage(schemes: list[SchemeCoverage]) -> None:
    for coverage in schemes:
        total, kept = coverage.report.total, coverage.retention
        stdout.print(
            f"{coverage.scheme}: {total.covered} of {total.questions} questions covered "
            f"({total.coverage:.1f}%); "
            + ", ".join(f"{kind} {c.coverage:.1f}%" for kind, c in sorted(coverage.report.by_kind.items()))
        )
        stdout.print(
            f"  tables keep {kept.numbers.percent:.1f}% of {kept.numbers.total} gold numbers and "
            f"{kept.spans.percent:.1f}% of {kept.spans.total} gold spans that stand in the text; "
            f"{coverage.report.seconds:.1f} s"
        )


def _search_one(
    text: str,
    question: str,
    answer: list[str],
    scheme: str,
    backend: Backend,
    settings: SearchSettings,
    as_json: bool,
) -> None:
    table = extractor_of(scheme, backend).extract(Paragraph("text", text))
    goal = AnswerGoal([Answer(spans=tuple(answer))], settings.partial)
    found, language = search_question(question, goal, table, settings)
    forms: list[dict[str, Any]] = []
    for form in preferred_forms(found, question, settings.keep):
        cells = [cell_to_json(span) for span in cells_used(form, language)]
        denotation = list(texts_of(execute(form, language)))
        forms.append({"logical_form": str(form), "denotation": denotation, "cells": cells})
    answers = [
        {"denotation": list(texts_of(denotation)), "count": node.count}
        for denotation, node in found.answers.items()
    ]
    by_size = [node.count for node in found.by_size()]
    complete = found.size == settings.max_size

    def show() -> None:
        stdout.print(f"{found.count} consistent forms" + (f", {len(forms)} of them:" if forms else ""))
        for form in forms:
            stdout.print(f"{form['logical_form']}  =  {'; '.join(form['denotation'])}")
            used = ", ".join(f"{cell['relation']} {cell['text']!r}" for cell in form["cells"])
            stdout.print(f"    from {used or 'the rows alone'}", style="dim")
        if found.count:
            sizes = ", ".join(f"{count} with {size}" for size, count in enumerate(by_size))
            stdout.print(f"by row operations: {sizes}")
        if not complete:
            stderr.print(f"The search stopped after {found.size} row operations: more would take too long.")

    result = {
        "count": found.count,
        "complete": complete,
        "size": found.size,
        "by_size": by_size,
        "answers": answers,
        "forms": forms,
    }
    print_result(as_json, result, show)
