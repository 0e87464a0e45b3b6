"""``drop-parsing predict``: the answers of a trained model, as the leaderboard takes them."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drop_parsing.cli.common import (
    DEFAULT_CACHE,
    Cache,
    Inputs,
    Json,
    failures,
    finish,
    place,
    print_result,
    progress_bar,
    stdout,
    without_models,
)
from drop_parsing.cli.train_reader import Device, Precision, local_folder, read_questions
from drop_parsing.data.types import Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.extraction import Failed
from drop_parsing.goal import AnswerGoal
from drop_parsing.searching import SearchSettings, search_question
from extractors.store import atomic_file
from extractors.table import Table

if TYPE_CHECKING:  # they need the extra "models"
    from drop_parsing.parser.answering import Parsed
    from drop_parsing.parser.predicting import Parses
    from drop_parsing.reader.decoding import Prediction

#: Explanations that are also shown to a person.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to one question, empty if there is none: what is written for it, and shown to a person."""

    question: str
    answer: str | list[str]
    explanation: dict[str, Any]
    summary: str


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a trained run.", show_default=False)],
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option("--out", help="The file of {question id: answer}.", show_default=False)
    ],
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also write what each answer rests on, one JSON object a line, beside --out (.explained.jsonl).",
        ),
    ] = False,
    backoff: Annotated[
        Path | None,
        typer.Option(
            help="A reader's run that answers what the parser of RUN has no answer to.", show_default=False
        ),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(min=1, help="The parser's beam, that of RUN if left out.", show_default=False),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most productions of a parser's form, as RUN if left out.", show_default=False
        ),
    ] = None,
    errors: Annotated[
        Path | None,
        typer.Option(
            help="Write a page of 50 wrong answers of a parser, each with its reason (needs questions with answers).",
            show_default=False,
        ),
    ] = None,
    cache: Cache = DEFAULT_CACHE,
    batch_size: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 32,
    device: Device = "auto",
    precision: Precision = "float32",
    as_json: Json = False,
) -> None:
    """Answer every question of the input with a trained reader or parser.

    Example: `drop-parsing predict runs/one dev.json --out predictions.json --explain`
    """
    try:
        from drop_parsing.parser.predicting import parse_passages
        from drop_parsing.parser.run_files import is_parser_run
        from drop_parsing.training.predicting import predict_all
    except ImportError as error:
        raise without_models("Prediction", error) from error
    started = time.perf_counter()
    failed: list[Failed] = []
    passages = read_questions(inputs, failed)

    def read(run: Path, passages: Sequence[Passage]) -> list[Answered]:
        with progress_bar("questions", sum(len(passage.questions) for passage in passages)) as advance:
            answered = predict_all(run, passages, local_folder(cache), batch_size, device, precision, advance)
            return [_of_reader(one) for one in answered]

    backed_off = 0
    parses: Parses | None = None
    if is_parser_run(run):
        parses = parse_passages(
            run,
            passages,
            place(cache),
            beam=beam,
            batch_size=batch_size,
            max_length=max_length,
            device=device,
            precision=precision,
            show=progress_bar,
        )
        failed += parses.failed
        answers = [_of_parser(one) for one in parses.parsed]
        without = {one.question for one in answers if not one.answer}
        if backoff and without:
            read_too = {one.question: one for one in read(backoff, _only(passages, without))}
            answers = [read_too.get(one.question, one) for one in answers]
            backed_off = sum(bool(one.answer) for one in read_too.values())
    elif backoff or beam or max_length or errors:
        raise InputError(
            f"--backoff, --beam, --max-length and --errors are for a parser; {run} is no parser's run."
        )
    else:
        answers = read(run, passages)
    _write(out, json.dumps({one.question: one.answer for one in answers}, ensure_ascii=False, indent=1))
    explained = out.with_suffix(".explained.jsonl") if explain else None
    if explained:
        lines = [json.dumps(one.explanation, ensure_ascii=False) for one in answers]
        _write(explained, "".join(f"{line}\n" for line in lines))
    shares = _write_errors(errors, passages, parses, run, inputs) if errors and parses else {}
    result: dict[str, Any] = {
        "questions": len(answers),
        "unanswered": sum(not one.answer for one in answers),
        "backed_off": backed_off,
        "seconds": round(time.perf_counter() - started, 3),
        "out": str(out),
        "explained": str(explained) if explained else None,
        "errors": shares or None,
        "failed": failures(failed),
    }

    def show() -> None:
        texts = {question.id: question.text for passage in passages for question in passage.questions}
        for one in answers[:SHOWN] if explain else []:
            stdout.print(f"{texts[one.question]}\n  {one.summary}")
        for reason, share in shares.items():
            stdout.print(f"{share:5.1f}% of the wrong answers: {reason}")
        none = f", {result['unanswered']} of them empty" if result["unanswered"] else ""
        stdout.print(f"{len(answers)} answers in {out}{none} ({result['seconds']} s)")

    print_result(as_json, result, show)
    finish(failed)


def _of_reader(prediction: "Prediction") -> Answered:
    return Answered(prediction.question, prediction.answer, prediction.to_json(), prediction.summary())


def _of_parser(parsed: "Parsed") -> Answered:
    answer = parsed.answer[0] if len(parsed.answer) == 1 else list(parsed.answer)
    return Answered(parsed.id, answer or "", parsed.to_json(), parsed.summary())


def _write_errors(
    page: Path, passages: Sequence[Passage], parses: "Parses", run: Path, inputs: Sequence[str]
) -> dict[str, float]:
    """Write the page of wrong answers; the share of each reason among them."""
    from drop_parsing.analysis.errors import analyse_errors
    from drop_parsing.reports.error_page import write_page

    def count_forms(question: Question, table: Table) -> int:
        return search_question(question.text, AnswerGoal(question.references), table, SearchSettings())[
            0
        ].count

    parsed = {one.id: one for one in parses.parsed}
    analysis = analyse_errors(passages, parsed, parses.tables, count_forms)
    source = ", ".join(inputs)
    write_page(page, analysis, source, f"drop-parsing predict {run} {source} --errors {page}")
    return {str(reason): share for reason, share in analysis.shares().items()}


def _only(passages: Sequence[Passage], questions: set[str]) -> list[Passage]:
    """The passages with no questions but these."""
    kept = [
        replace(passage, questions=tuple(q for q in passage.questions if q.id in questions))
        for passage in passages
    ]
    return [passage for passage in kept if passage.questions]


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode("utf-8", "replace"))
