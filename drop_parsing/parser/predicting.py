"""The answers of a parser's run to the questions of passages: tables, questions, beams, answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drop_parsing.data.types import Passage
from drop_parsing.extraction import Failed
from drop_parsing.parser.answering import Parsed, parse_questions
from drop_parsing.parser.loading import Show, silent, tables_of
from drop_parsing.parser.questions import QuestionSet, read_questions
from drop_parsing.parser.run_files import (
    TRANSFORMER,
    Setup,
    encoder_of,
    load_parser,
    load_rescorer,
    pieces_of,
)
from drop_parsing.training.devices import chosen_device, chosen_dtype
from extractors.annotate import load_pipeline
from extractors.remote import Place
from extractors.table import Table

#: Why a question has no answer where its passage has no table.
NO_TABLE = "the passage has no table"


@dataclass(slots=True)
class Parses:
    """What was parsed, in the order of the questions, over which tables (by ``text_hash``). ``failed`` names the
    passages without a table."""

    parsed: list[Parsed]
    tables: Mapping[str, Table]
    failed: list[Failed] = field(default_factory=list)


def parse_passages(
    run: Path,
    passages: Sequence[Passage],
    cache: Place,
    *,
    beam: int | None = None,
    batch_size: int = 64,
    max_length: int | None = None,
    device: str = "auto",
    precision: str = "float32",
    show: Show = silent,
) -> Parses:
    """Every question's parse by the best weights of ``run``; tables that ``cache`` lacks are extracted.

    ``beam`` and ``max_length`` (of a form, in productions) are those of the run unless given. Raises InputError for
    a run, a device or a precision that cannot be used.
    """
    setup, parser = load_parser(run)
    where = chosen_device(device)
    dtype = chosen_dtype(precision, where)
    parser.to(where)
    read, tables, failed = read_for(run, setup, passages, cache, show)
    found = {}
    width = beam or setup.config.beam
    parses = parse_questions(
        parser,
        setup.collator(),
        read.questions,
        width,
        batch_size,
        max_length,
        dtype,
        load_rescorer(run),
    )
    with show("questions", len(read.questions)) as advance:
        for parsed in parses:
            found[parsed.id] = parsed
            advance(1)
    every = [question.id for passage in passages for question in passage.questions]
    return Parses([found.get(id) or Parsed(id, (), None, (), (), NO_TABLE) for id in every], tables, failed)


def read_for(
    run: Path, setup: Setup, passages: Sequence[Passage], cache: Place, show: Show = silent
) -> tuple[QuestionSet, dict[str, Table], list[Failed]]:
    """The questions as a run reads them, the tables (by ``text_hash``), and the passages without one."""
    with show("tables", len(passages)) as advance:
        tables, _, failed = tables_of(passages, setup.tables, cache, advance)
    pieces = pieces_of(run / TRANSFORMER if setup.config.transformer else None)
    encoder = encoder_of(setup.config)
    with show("passages read", len(passages)) as advance:
        read = read_questions(
            passages,
            tables,
            load_pipeline(),
            max_length=setup.config.sizes.max_length,
            pieces=pieces,
            encoder=encoder,
            advance=advance,
        )
    return read, tables, failed
