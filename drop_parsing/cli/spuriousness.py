"""``drop-parsing spuriousness``: which forms are right for the wrong reason, measured."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.analysis.judged import Spuriousness
from drop_parsing.analysis.judgement import PAPER_STUDY, Judgement, judge
from drop_parsing.analysis.overview import Decomposed, Overview, Together, overview, together
from drop_parsing.analysis.qdmr import question_key, read_decompositions
from drop_parsing.analysis.sheet import JudgedRow, read_sheet, sample, write_sheet
from drop_parsing.analysis.spuriousness import SpuriousnessSettings
from drop_parsing.analysis.spuriousness_job import (
    AnalysisReport,
    analyse_passages,
    open_analyses,
    summary,
    weights_lines,
)
from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    BackendName,
    Cache,
    Cluster,
    Coref,
    Inputs,
    Json,
    MaxSize,
    Scheme,
    TrustArchive,
    Workers,
    chosen_schemes,
    failures,
    finish,
    place,
    print_result,
    progress_bar,
    stderr,
    stdout,
)
from drop_parsing.cli.search import read_answered
from drop_parsing.data.types import Passage
from drop_parsing.errors import InputError
from drop_parsing.extraction import extract_tables, open_store
from drop_parsing.reports.spuriousness_data import readable_count
from drop_parsing.reports.spuriousness_page import interval, percent, write_page
from extractors.registry import Backend
from extractors.store import TableStore, atomic_file
from extractors.table import Table, text_hash


def spuriousness(
    inputs: Inputs,
    scheme: Scheme = "syndep",
    out: Annotated[Path | None, typer.Option(help="Write an HTML page.", show_default=False)] = None,
    sheet: Annotated[
        Path | None, typer.Option(help="Write a CSV sheet of sampled questions to judge.", show_default=False)
    ] = None,
    size: Annotated[int, typer.Option("--sample", min=1, help="How many questions the sheet has.")] = 60,
    judged: Annotated[
        Path | None, typer.Option(help="A sheet that a person has judged.", show_default=False)
    ] = None,
    qdmr: Annotated[
        Path | None,
        typer.Option(help="Decompositions of the questions: a CSV file of Break.", show_default=False),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            help="Write what a parser learns from: JSON lines of forms with weights.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the fictitious tables and every draw.")] = 0,
    cache: Cache = DEFAULT_CACHE,
    backend: BackendName = None,
    trust_archive: TrustArchive = False,
    coref: Coref = None,
    max_size: MaxSize = 3,
    workers: Workers = 0,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Tell the consistent forms of every question apart on fictitious tables, judge each class of them, and say how
    many are spurious: right for the wrong reason. What the cache has is not analysed again.

    The sheet is for a person: write right or wrong beside each form, and give it back with --judged.

    Examples: `drop-parsing spuriousness drop_dev.json --scheme all --out report.html --sheet sheet.csv`;
    `drop-parsing spuriousness drop_dev.json --scheme all --judged sheet.csv`
    """
    # What a person gives is read first: a fault in it should not be told after an hour.
    rows = read_sheet(judged) if judged else []
    decompositions = read_decompositions(qdmr) if qdmr else {}
    passages, failed = read_answered(inputs)
    folder, chosen = place(cache), Backend(backend, trust_archive, coref)
    settings = SpuriousnessSettings(max_size=max_size, seed=seed)
    stores = {name: open_store(folder, name, chosen) for name in chosen_schemes(scheme)}
    with progress_bar("tables", len(passages)) as advance:
        failed += extract_tables(passages, stores, chosen, workers, cluster, advance).failed
    reports: dict[str, AnalysisReport] = {}
    for name, store in stores.items():
        analyses = open_analyses(folder, name, settings)
        with progress_bar(f"{name} classes", len(passages)) as advance:
            reports[name] = analyse_passages(
                passages, store, analyses, settings, decompositions, workers, cluster, advance
            )
        failed += reports[name].failed

    found = Spuriousness(
        [one for report in reports.values() for one in report.questions],
        {passage.id: passage.text for passage in passages},
        [summary(name, report.questions) for name, report in reports.items()],
        seed,
        frozenset(q.id for p in passages for q in p.questions if question_key(q.text) in decompositions),
    )
    tables = _tables(passages, stores)
    overviews = overview(found, passages, tables)
    judgement = _judgement(rows, found, judged, inputs) if judged else None
    if sheet:
        write_sheet(sheet, sample(found, size, seed), found.paragraphs, tables, seed)
        stderr.print(f"sheet: {sheet}")
    if weights:
        with atomic_file(weights) as file:
            file.writelines(f"{line}\n".encode() for line in weights_lines(found.questions))
        stderr.print(f"weights: {weights}")
    if out:
        command = shlex.join(["drop-parsing", *sys.argv[1:]])
        write_page(out, found, overviews, tables, judgement, ", ".join(inputs), command)
        stderr.print(f"report: {out}")
    figures = {each.summary.scheme: _figures(each, reports[each.summary.scheme]) for each in overviews}
    result: dict[str, Any] = figures.get(scheme, {"schemes": figures, "together": _together(found)})
    if judgement:
        result["judged"] = _judged_figures(judgement)
    result["failed"] = failures(failed)
    print_result(as_json, result, lambda: _show(overviews, together(found), judgement))
    finish(failed)


def _tables(passages: Sequence[Passage], stores: Mapping[str, TableStore]) -> dict[tuple[str, str], Table]:
    tables = {}
    for scheme, store in stores.items():
        held = store.get_many(text_hash(passage.text) for passage in passages)
        tables.update(
            {
                (scheme, passage.id): held[identity]
                for passage in passages
                if (identity := text_hash(passage.text)) in held
            }
        )
    return tables


def _judgement(
    rows: Sequence[JudgedRow], found: Spuriousness, sheet: Path, inputs: Sequence[str]
) -> Judgement:
    analysed = {(one.query_id, one.scheme) for one in found.questions}
    if not any((row.query_id, row.scheme) in analysed for row in rows):
        raise InputError(
            f"The sheet {sheet} judges no question of {', '.join(inputs)} under this --scheme; "
            "give the input and the schemes that it was made of."
        )
    return judge(rows, found.questions)


def _figures(each: Overview, report: AnalysisReport) -> dict[str, Any]:
    """The figures of one scheme; rates are shares between 0 and 1."""
    total = each.summary
    return {
        "questions": total.questions,
        "covered": total.covered,
        "forms": total.forms,
        "classes": total.classes,
        "spurious_rate": round(total.spurious_rate, 4),
        "interval": [round(bound, 4) for bound in each.interval] if each.interval else None,
        "kept": _share(each.kept),
        "decomposed": _decomposed(each.decomposed),
        "contrast_sets": _contrast_sets(each.contrast_sets),
        "by_judge": {
            judge: None if rate is None else round(rate, 4) for judge, rate in total.by_judge.items()
        },
        "complete": total.complete,
        "exact": total.exact,
        "cached": report.cached,
        "skipped": report.skipped,
    }


def _together(found: Spuriousness) -> dict[str, Any]:
    """All schemes together: questions covered, and with a kept class, under some scheme."""
    both = together(found)
    return {
        "questions": both.covered.total,
        "covered": both.covered.successes,
        "kept": _share(both.kept),
        "decomposed": _decomposed(both.decomposed),
        "contrast_sets": _contrast_sets(both.contrast_sets),
    }


def _decomposed(one: Decomposed) -> dict[str, Any] | None:
    """Of the questions that have a decomposition; None where none has."""
    return {"kept": _share(one.kept), "agreeing": _share(one.agreeing)} if one.kept.total else None


def _contrast_sets(sets: Proportion) -> dict[str, Any] | None:
    """Of the contrast sets; None where there are none."""
    return _share(sets) if sets.total else None


def _judged_figures(judgement: Judgement) -> dict[str, Any]:
    return {
        "with_right": {scheme: _share(one) for scheme, one in judgement.with_right.items()},
        "together": _share(judgement.together),
        "precision": _share(judgement.precision),
        "recall": _share(judgement.recall),
        "dropped": _share(judgement.dropped),
        "undecided": judgement.undecided,
        "unmatched": judgement.unmatched,
    }


def _share(one: Proportion) -> dict[str, float | int | None]:
    low, high = one.interval
    share = None if one.share is None else round(one.share, 4)
    return {"share": share, "of": one.total, "low": round(low, 4), "high": round(high, 4)}


def _show(overviews: Sequence[Overview], both: Together, judgement: Judgement | None) -> None:
    for each in overviews:
        total = each.summary
        stdout.print(
            f"{total.scheme}: {total.covered} of {total.questions} questions covered by "
            f"{readable_count(total.forms)} forms in {total.classes} classes; "
            f"spurious rate {percent(total.spurious_rate)} {interval(each.interval)}; "
            f"a class kept for {_with_interval(each.kept)}"
        )
        rates = ", ".join(f"{judge} {percent(rate)}" for judge, rate in total.by_judge.items())
        stdout.print(f"  classes that one judge alone drops: {rates}")
    if len(overviews) > 1:
        stdout.print(
            f"any scheme: {both.covered.successes} of {both.covered.total} questions covered; "
            f"a class kept for {_with_interval(both.kept)}"
        )
    named: list[tuple[str, Overview | Together]] = [(each.summary.scheme, each) for each in overviews]
    named.append(("any", both))
    if both.decomposed.kept.total:
        shares = "; ".join(
            f"{name}: {_with_interval(one.decomposed.kept)}, agreeing too {_with_interval(one.decomposed.agreeing)}"
            for name, one in named
        )
        stdout.print(f"questions with a decomposition for which a class is kept: {shares}")
    if both.contrast_sets.total:
        sets = "; ".join(f"{name}: {_with_interval(one.contrast_sets)}" for name, one in named)
        stdout.print(f"contrast sets of which one kind of kept form answers every question: {sets}")
    if judgement is None:
        return
    judged_right = [*judgement.with_right.items(), ("any", judgement.together), ("the paper", PAPER_STUDY)]
    right = "; ".join(f"{name}: {_with_interval(one)}" for name, one in judged_right)
    stdout.print(f"questions with a form judged right: {right}")
    stdout.print(
        f"the combined score against the person: precision {_with_interval(judgement.precision)}, "
        f"recall {_with_interval(judgement.recall)}, wrong ones dropped {_with_interval(judgement.dropped)}"
    )
    if judgement.undecided or judgement.unmatched:
        stdout.print(
            f"left out: {judgement.undecided} rows not judged to the end, {judgement.unmatched} forms that stand "
            "for no class now"
        )


def _with_interval(one: Proportion) -> str:
    return f"{percent(one.share)} {interval(one)} of {one.total}"
