"""Read INPUT: any mixture of the accepted forms, told apart by content, as a stream of passages.

Forms: DROP JSON (with or without answers, compact or over many lines), JSON lines of ``{"id", "text"}``
paragraphs, of ``{"passage_id" or "id", "passage", "qa_pairs"}`` passages, or of flattened rows (see
``flattened``), and plain text with a blank line between paragraphs; each plain or gzipped, in UTF-8 with or
without a byte order mark. A file whose name ends in .json or .jsonl is never taken for plain text.

JSON lines and text are held one item at a time. Flattened rows are gathered by passage and come at the end
of their file; a DROP JSON document is held whole.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from drop_parsing.data import drop_json, flattened, json_stream
from drop_parsing.data.sources import ACCEPTED, Source, expand, read_lines
from drop_parsing.data.types import Fault, FieldError, Passage, Question, json_type
from drop_parsing.errors import InputError

Item = Passage | Fault


def read_passages(inputs: Iterable[str | Path]) -> Iterator[Item]:
    """The passages of all inputs in order, each after the faults found in it.

    A passage or a question whose id was seen before, in the same or an earlier input, is a fault and is left
    out. Lone surrogates become U+FFFD and are reported in a fault with ``kept``. Items without an id are
    called ``<file name>:<number>``, counted from 1 in each file.

    Raises :class:`InputError` for an input that does not exist (at once), and for one that cannot be read,
    is empty, or holds nothing in an accepted form (when its turn comes).
    """
    return _without_repeats(expand(inputs))


def read_all(inputs: Iterable[str | Path]) -> tuple[list[Passage], list[Fault]]:
    """Passages and faults of :func:`read_passages`, apart."""
    passages: list[Passage] = []
    faults: list[Fault] = []
    for item in read_passages(inputs):
        if isinstance(item, Passage):
            passages.append(item)
        else:
            faults.append(item)
    return passages, faults


def _without_repeats(sources: list[Source]) -> Iterator[Item]:
    passage_ids: set[str] = set()
    question_ids: set[str] = set()
    for source in sources:
        for item in _read(source):
            if isinstance(item, Fault):
                yield item
                continue
            where = f"passage {item.id}"
            if item.id in passage_ids:
                yield Fault(source.name, where, "this passage id was used before; give each passage its own")
                continue
            passage_ids.add(item.id)
            questions = []
            for question in item.questions:
                if question.id in question_ids:
                    message = "this query_id was used before; give each question its own"
                    yield Fault(source.name, f"{where}, question {question.id}", message)
                else:
                    question_ids.add(question.id)
                    questions.append(question)
            whole = len(questions) == len(item.questions)
            yield item if whole else Passage(item.id, item.text, tuple(questions))


def _read(source: Source) -> Iterator[Item]:
    lines = enumerate(read_lines(source), 1)
    first = next((numbered for numbered in lines if numbered[1].strip()), None)
    if first is None:
        raise InputError(f"{source.name} is empty; give {ACCEPTED}.")
    rest = chain([first], lines)
    if source.named_json or json_stream.looks_like_json(first[1]):
        yield from _read_json(source, rest)
    else:
        yield from _read_text(source, rest)


def _read_text(source: Source, lines: Iterator[json_stream.Numbered]) -> Iterator[Passage]:
    block: list[str] = []
    count = 0
    for _, line in chain(lines, [(0, "")]):
        if line.strip():
            block.append(line)
        elif block:
            count += 1
            yield Passage(f"{source.label}:{count}", "\n".join(block))
            block = []


def _read_json(source: Source, lines: Iterator[json_stream.Numbered]) -> Iterator[Item]:
    rows = _Rows(source)
    first_problem: Fault | None = None
    recognised = False
    for value in json_stream.read_values(lines, source.name):
        if isinstance(value, Fault):
            problem = value
        elif (items := _read_value(source, rows, value.line, value.data)) is None:
            problem = Fault(source.name, f"line {value.line}", json_stream.unaccepted(value.data))
        else:
            recognised = True
            if value.surrogates:
                message = f"{value.surrogates} lone surrogates cannot be written as UTF-8: each is now U+FFFD"
                yield Fault(source.name, f"line {value.line}", message, kept=True)
            yield from items
            continue
        first_problem = first_problem or problem
        yield problem
    yield from rows.passages()
    if not recognised and first_problem:
        raise InputError(f"{first_problem}.")


def _read_value(source: Source, rows: "_Rows", number: int, data: object) -> Iterator[Item] | None:
    """What one JSON value holds; ``None`` where it is in no accepted form."""
    if not isinstance(data, dict) or not data:
        return None
    if _is_field(data, "context"):
        return rows.add(number, data)
    if _is_field(data, "text"):
        return _read_record(source, number, data, "text")
    if _is_field(data, "passage"):
        return _read_record(source, number, data, "passage")
    if any(isinstance(value, dict) and "passage" in value for value in data.values()):
        return _read_document(source, data)
    return None


def _is_field(data: dict[str, object], name: str) -> bool:
    """Whether ``data`` is a record with this field, rather than a document with a passage of this name."""
    return name in data and not (isinstance(data[name], dict) and "passage" in data[name])  # type: ignore[operator]


def _read_record(source: Source, number: int, data: dict[str, object], field: str) -> Iterator[Item]:
    given = data.get("passage_id", data.get("id"))
    id = f"{source.label}:{number}" if given is None else str(given)
    where = f"line {number}, passage {id}"
    if isinstance(given, bool | float | list | dict):
        yield Fault(source.name, f"line {number}", f"field id must be a string but is {json_type(given)}")
    elif field == "passage":
        yield from drop_json.read_passage(id, data, source.name, where)
    elif isinstance(data, json_stream.Repeated):
        yield Fault(source.name, where, f"the key {data.keys_twice[0]!r} occurs twice")
    elif isinstance(text := data["text"], str):
        yield Passage(id, text)
    else:
        yield Fault(source.name, where, f"field text must be a string but is {json_type(text)}")


def _read_document(source: Source, data: dict[str, object]) -> Iterator[Item]:
    if isinstance(data, json_stream.Repeated):
        for id in data.keys_twice:
            message = "this passage id was used before; the first passage under it is kept"
            yield Fault(source.name, f"passage {id}", message)
    for id, passage in data.items():
        yield from drop_json.read_passage(id, passage, source.name, f"passage {id}")


class _Rows:
    """Flattened rows of one file, gathered by the text of their passage."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.questions: dict[str, list[Question]] = {}
        self.ids: dict[str, str] = {}

    def add(self, number: int, row: dict[str, object]) -> Iterator[Fault]:
        made_id = f"{self.source.label}:{number}"
        try:
            if isinstance(row, json_stream.Repeated):
                raise FieldError(row.keys_twice[0], "occurs twice")
            passage, text = flattened.split_context(row)
            question = flattened.read_row(row, passage, text, made_id)
        except FieldError as error:
            yield Fault(self.source.name, f"line {number}", f"field {error}")
            return
        self.questions.setdefault(passage, []).append(question)
        given = row.get("passage_id")
        self.ids.setdefault(passage, given if isinstance(given, str) else made_id)

    def passages(self) -> Iterator[Passage]:
        for text, questions in self.questions.items():
            yield Passage(self.ids[text], text, tuple(questions))
