"""Read INPUT: any mixture of the accepted forms, told apart by content, as a stream of passages.

Forms: DROP JSON (with or without answers, compact or over many lines), JSON lines of ``{"id", "text"}``
paragraphs, of ``{"passage_id" or "id", "passage", "qa_pairs"}`` passages, or of flattened rows (see
``flattened``) or of rows with a passage and one question (see ``typed_rows``), and plain text with a blank line
between paragraphs; each plain or gzipped, in UTF-8 with or without a byte order mark. A file whose name ends in
.json or .jsonl is never taken for plain text. An input may be a URL (see ``sources``).

JSON lines and text are held one item at a time. Rows are gathered by passage and come at the end of their file;
a DROP JSON document is held whole.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from drop_parsing.data import drop_json, flattened, json_stream, typed_rows
from drop_parsing.data.sources import ACCEPTED, Meter, Source, expand, read_lines
from drop_parsing.data.types import Fault, FieldError, Passage, Question, json_type
from drop_parsing.errors import InputError
from extractors.key_index import KeyIndex

Item = Passage | Fault


def read_passages(inputs: Iterable[str | Path], meter: Meter | None = None) -> Iterator[Item]:
    """The passages of all inputs in order, each after the faults found in it; ``meter`` is kept up to date.

    A passage or a question whose id was seen before, in the same or an earlier input, is a fault and is left
    out. Lone surrogates become U+FFFD and are reported in a fault with ``kept``. Items without an id are
    called ``<file name>:<number>``, counted from 1 in each file.

    Raises :class:`InputError` for an input that does not exist (at once), and for one that cannot be read,
    is empty, or holds nothing in an accepted form (when its turn comes).
    """
    meter = meter or Meter()
    sources = expand(inputs)
    meter.expect(sources)
    return _without_repeats(sources, meter)


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


def _without_repeats(sources: list[Source], meter: Meter) -> Iterator[Item]:
    passage_ids, question_ids = KeyIndex(), KeyIndex()
    for source in sources:
        for item in _read(source, meter):
            if isinstance(item, Fault):
                yield item
                continue
            meter.passages += 1
            where = f"passage {item.id}"
            if not passage_ids.add([item.id]):
                yield Fault(source.name, where, "this passage id was used before; give each passage its own")
                continue
            questions = []
            for question in item.questions:
                if question_ids.add([question.id]):
                    questions.append(question)
                else:
                    message = "this query_id was used before; give each question its own"
                    yield Fault(source.name, f"{where}, question {question.id}", message)
            whole = len(questions) == len(item.questions)
            yield item if whole else Passage(item.id, item.text, tuple(questions))


def _read(source: Source, meter: Meter) -> Iterator[Item]:
    lines = enumerate(read_lines(source, meter), 1)
    first = next((numbered for numbered in lines if numbered[1].strip()), None)
    if first is None:
        raise InputError(f"{source.name} is empty; give {ACCEPTED}.")
    rest = chain([first], lines)
    if source.named_json or json_stream.looks_like_json(first[1]):
        yield from _read_json(source, rest, meter)
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


def _read_json(source: Source, lines: Iterator[json_stream.Numbered], meter: Meter) -> Iterator[Item]:
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
            yield from meter.counted(items)
            continue
        first_problem = first_problem or problem
        yield problem
    yield from meter.counted(rows.passages())
    if not recognised and first_problem:
        raise InputError(f"{first_problem}.")


def _read_value(source: Source, rows: "_Rows", number: int, data: object) -> Iterable[Item] | None:
    """What one JSON value holds; ``None`` where it is in no accepted form."""
    if not isinstance(data, dict) or not data:
        return None
    if _is_field(data, "context"):
        return rows.add(number, data)
    if _is_field(data, "text"):
        return _read_record(source, number, data, "text")
    if _is_field(data, "passage") and ("question" in data or "answers_spans" in data):
        return rows.add(number, data)
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


def _read_document(source: Source, data: dict[str, object]) -> list[Item]:
    message = "this passage id was used before; the first passage under it is kept"
    repeated = data.keys_twice if isinstance(data, json_stream.Repeated) else ()
    items: list[Item] = [Fault(source.name, f"passage {id}", message) for id in repeated]
    for id, passage in data.items():
        items += drop_json.read_passage(id, passage, source.name, f"passage {id}")
    return items


class _Rows:
    """Rows with one question each of one file, gathered by the text of their passage."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.questions: dict[str, list[Question]] = {}
        self.ids: dict[str, str] = {}

    def add(self, number: int, row: dict[str, object]) -> Iterator[Fault]:
        made_id = f"{self.source.label}:{number}"
        try:
            if isinstance(row, json_stream.Repeated):
                raise FieldError(row.keys_twice[0], "occurs twice")
            if "context" in row:
                passage, text = flattened.split_context(row)
                question = flattened.read_row(row, passage, text, made_id)
            else:
                passage, question = typed_rows.read_row(row, made_id)
        except FieldError as error:
            yield Fault(self.source.name, f"line {number}", f"field {error}")
            return
        self.questions.setdefault(passage, []).append(question)
        given = row.get("passage_id", row.get("section_id"))
        self.ids.setdefault(passage, given if isinstance(given, str) else made_id)

    def passages(self) -> list[Passage]:
        return [Passage(self.ids[text], text, tuple(asked)) for text, asked in self.questions.items()]
