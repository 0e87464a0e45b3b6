r"""The ``.tagged`` form of the original baseline for DROP: one tab-separated file a paragraph.

A file has a header, then rows numbered -1 that name the columns (``relation:arg0``), then one line a cell.
Lists inside a field are joined by ``|``; a missing cell has the content ``NULL``. Written fields escape
backslash, ``|``, tab, line feed and carriage return as ``\\``, ``\p``, ``\t``, ``\n`` and ``\r``, and a cell
whose text is NULL as ``\NULL``.

What the form cannot hold is lost when a table is written: character offsets, heads, phrases, entity types,
units, kinds and signs of numbers, what the table lost, and the bounds of several arguments of one relation,
which are joined by " ; ". Sentence numbers are lost too: the original would take them for a relation. Nothing
more is lost when a file is read and written again: the second file is the first.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from math import inf, isfinite

from extractors.remote import Place
from extractors.store import atomic_file
from extractors.table import PREDICATE, Argument, Row, Span, Table, text_hash
from extractors.value_types import NumberKind
from extractors.values import Date, Number, find_values

FIELDS = (
    *("row", "col", "id", "content", "tokens", "lemmaTokens", "posTags", "nerTags", "nerValues"),
    *("number", "date", "num2", "list", "listId"),
)
NULL = "NULL"
SENTENCE = "sentence_id"

_PREFIX = "relation:"
_CARDINALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {escaped: plain for plain, escaped in _ESCAPES.items()} | {"\\N": "N"}
#: How spaCy 2, which made the original's files, writes the lemma of every pronoun.
_PRONOUN = "-PRON-"

#: The fields of one line by name, as they stand in the file.
Line = dict[str, str]


def read_tagged(path: Place, null_cells: bool = False) -> tuple[Table, str]:
    """The table of a ``.tagged`` file, and the paragraph text that its offsets point into.

    The file holds no paragraph, so the text is made of its cells: those of a row joined by a space, rows by a
    line feed. ``null_cells`` keeps missing cells as arguments with the text "NULL", as the original language
    sees them. Numbers are read as the original reads its number column ("1-yard" is 1, "only six" nothing).
    Dates are those that ``find_values`` finds where the date column points to. An entity that is not in its
    cell (the antecedent of a pronoun) is looked for in the other cells, and dropped where it is in none.

    Raises:
        ValueError: the file is not in this form; the message names the file and the line.
    """
    columns, cells = _read_cells(path)
    rows = {
        row: {
            columns[column]: (where, line)
            for column, (where, line) in sorted(lines.items())
            if columns[column] == SENTENCE or (line["content"] and (line["content"] != NULL or null_cells))
        }
        for row, lines in cells.items()
    }
    contents = [
        [_unescape(line["content"]) for name, (_, line) in row.items() if name != SENTENCE]
        for row in rows.values()
    ]
    text = _text(contents)
    made: list[Row] = []
    position = 0
    for row in rows.values():
        predicate = Argument("", position, position)
        sentence = 0
        arguments: dict[str, tuple[Argument, ...]] = {}
        for name, (where, line) in row.items():
            content = _unescape(line["content"])
            if name == SENTENCE:
                sentence = _integer(content, where)
                continue
            argument = _read_argument(content, position, line, text)
            position += len(content) + 1
            if name == PREDICATE:
                predicate = argument
            else:
                arguments[name] = (argument,)
        made.append(Row(predicate, sentence, arguments))
    name = path.name.removesuffix(".tagged")
    return Table(name, text_hash(text), "tagged", "tagged", "1", tuple(made)), text


def _text(contents: Sequence[Sequence[str]]) -> str:
    """The text that stands for the paragraph, from the contents of the cells row by row."""
    return "\n".join(" ".join(filter(None, row)) for row in contents if any(row))


def _read_cells(path: Place) -> tuple[dict[int, str], dict[int, dict[int, tuple[str, Line]]]]:
    """The names of the columns, and row -> column -> (where it stands, its line)."""
    columns: dict[int, str] = {}
    rows: dict[int, dict[int, tuple[str, Line]]] = {}
    for where, line in _lines(path):
        row, column = _integer(line["row"], where), _integer(line["col"], where)
        if row == -1:
            columns[column] = _unescape(line["id"]).removeprefix(_PREFIX)
        elif column not in columns:
            raise ValueError(f"{where}: column {column} has no name; a line with row -1 must give it first.")
        elif column in rows.setdefault(row, {}):
            raise ValueError(f"{where}: the cell at row {row} and column {column} is given twice.")
        else:
            rows[row][column] = where, line
    return columns, rows


def _lines(path: Place) -> Iterator[tuple[str, Line]]:
    """The lines below the header by field, each with its place for messages."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text at byte {error.start}.") from error
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}).") from error
    header = lines[0].removesuffix("\r").split("\t")
    missing = [field for field in FIELDS[:11] if field not in header]
    if missing:
        raise ValueError(f"{path}, line 1: the header of a .tagged file is expected; it lacks {missing}.")
    for number, text in enumerate(lines[1:], start=2):
        if text.strip():
            values = text.removesuffix("\r").split("\t")
            where = f"{path}, line {number}"
            if not 4 <= len(values) <= len(header):
                raise ValueError(
                    f"{where}: {len(values)} tab-separated fields where the header has {len(header)}."
                )
            yield where, dict.fromkeys(header, "") | dict(zip(header, values, strict=False))


def _integer(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{where}: a whole number is expected in place of {text!r}.") from None


def _read_argument(content: str, start: int, line: Line, text: str) -> Argument:
    return Argument(
        content,
        start,
        start + len(content),
        tuple(lemma.lower() for lemma in _split(line["lemmaTokens"])),
        numbers=tuple(_read_numbers(content, start, _split(line["number"]))),
        dates=tuple(_read_dates(content, start, _split(line["date"]))),
        entities=tuple(_read_entities(content, start, _split(line["nerValues"]), text)),
    )


def _read_entities(content: str, start: int, pieces: Sequence[str], text: str) -> Iterator[Span]:
    for piece, found in _places(content, pieces):
        place = start + found if found >= 0 else text.find(piece)
        if place >= 0:
            yield Span(piece, place, place + len(piece), "")


def _places(content: str, pieces: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Where each piece stands in the content, from left to right where that can be; -1 where it does not."""
    end = 0
    for piece in pieces:
        found = content.find(piece, end)
        if found < 0:
            found = content.find(piece)
        if found >= 0:
            end = found + len(piece)
        yield piece, found


def _read_numbers(content: str, start: int, pieces: Sequence[str]) -> Iterator[Number]:
    """The numbers of a cell; one whose piece is not in the cell's text spans the cell."""
    for piece, found in _places(content, pieces):
        at = (start + found, start + found + len(piece)) if found >= 0 else (start, start + len(content))
        kind: NumberKind = "ordinal" if piece in _ORDINALS else "cardinal"
        yield from (Number(value, *at, kind=kind) for value in _values(piece))


def _values(piece: str) -> Iterator[float]:
    """The numbers that the original reads in one piece of its number column."""
    if piece in _ORDINALS:
        yield _ORDINALS.index(piece) + 1.0
    elif piece in _CARDINALS:
        yield float(_CARDINALS.index(piece))
    else:
        for part in re.sub("[A-Za-z,]", "", piece).split("-"):
            with suppress(ValueError):
                number = float(part)
                if isfinite(number):
                    yield number


def _read_dates(content: str, start: int, pieces: Sequence[str]) -> Iterator[Date]:
    """The date of each piece: the one in the cell's text that stands there, or overlaps it, or one that the piece
    itself names. Where the piece is not in the text, its date spans the cell.

    A piece that the file calls a date but that names no year, month, day or quarter ("1st half") is a date of
    which nothing is known, as in the original.
    """
    dates = find_values(content)[1] if pieces else ()
    for piece, found in _places(content, pieces):
        first, last = (found, found + len(piece)) if found >= 0 else (0, len(content))
        inside = [date for date in dates if found >= 0 and date.start < last and first < date.end]
        inside.sort(key=lambda date: (date.start, date.end) != (first, last))
        unknown = Date(None, None, None, None, first, last)
        date = next(iter((*inside, *find_values(piece)[1], unknown)))
        yield replace(date, start=start + first, end=start + last)


def write_tagged(table: Table, folder: Place) -> Place:
    """Write ``table`` into ``folder`` under a name made from its paragraph id, and return the path.

    Lone surrogates, which UTF-8 cannot hold, become "?".

    Raises:
        StoreError: the file cannot be written.
    """
    relations = dict.fromkeys(
        relation
        for row in table.rows
        for relation, argument in row.cells()
        if relation != PREDICATE and argument.text
    )
    columns = [SENTENCE, PREDICATE, *relations]
    contents = [[_content(row.cell(relation)) for relation in columns[1:]] for row in table.rows]
    text = _text(contents)
    lines = ["\t".join(FIELDS)]
    for number, name in enumerate(columns):
        title = name if name in (SENTENCE, PREDICATE) else name.upper().replace("_", "-")
        lines.append(_line(-1, number, {"id": _escape(_PREFIX + name), "content": _escape(title)}))
    for number, row in enumerate(table.rows):
        for column, relation in enumerate(columns[1:], start=1):
            lines.append(_line(number, column, _written_cell(row.cell(relation), text)))
    path = folder / f"{file_name(table.paragraph_id)}.tagged"
    with atomic_file(path) as file:
        file.write("".join(line + "\n" for line in lines).encode("utf-8", "replace"))
    return path


def file_name(paragraph_id: str) -> str:
    """A file name without extension; different ids give different names, most ids their own."""
    safe = re.sub(r"[^\w.+-]", "_", paragraph_id, flags=re.ASCII)[:150].lstrip(".-")
    if safe and safe == paragraph_id:
        return safe
    digest = hashlib.blake2b(paragraph_id.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{safe or 'passage'}-{digest}"


def _content(cell: Sequence[Argument]) -> str:
    return " ; ".join(argument.text for argument in cell if argument.text)


def _written_cell(cell: Sequence[Argument], text: str) -> Line:
    """The fields of a cell; ``text`` is that of all cells."""
    content = _content(cell)
    if not content:
        return {"id": "null", "content": NULL, "lemmaTokens": NULL}
    arguments = [argument for argument in cell if argument.text]
    lemmas = list(arguments[0].lemmas)
    for argument in arguments[1:]:
        lemmas += [";", *argument.lemmas]
    written = "\\" + NULL if content == NULL else _escape(content)
    return {
        "id": written.lower().replace(" ", "_"),
        "content": written,
        "lemmaTokens": _join([_PRONOUN if lemma == _PRONOUN.lower() else lemma.lower() for lemma in lemmas]),
        "nerValues": _join([e.text for a in arguments for e in a.entities if e.text and e.text in text]),
        "number": _join(
            [_written_number(n, a, content) for a in arguments for n in a.numbers if abs(n.value) < inf]
        ),
        "date": _join([piece for a in arguments for d in a.dates if (piece := _piece(d, a))]),
    }


def _piece(value: Number | Date, argument: Argument) -> str:
    """Where a value stands in its argument."""
    return argument.text[max(0, value.start - argument.start) : max(0, value.end - argument.start)]


def _written_number(number: Number, argument: Argument, content: str) -> str:
    """A number as it stands where the original reads it so, otherwise in digits.

    Digits that are not in the cell will be read as a number that spans the cell: where the cell's own text says
    the same, it is written at once, so that reading and writing again changes nothing.
    """
    value = abs(number.value)
    digits = _decimal(value)
    piece = _piece(number, argument)
    if list(_values(piece)) != [value]:
        piece = content if digits not in content and list(_values(content)) == [value] else digits
    return piece


def _decimal(value: float) -> str:
    """A number in digits alone, without an exponent, whose letters the form would not read."""
    digits = format(Decimal(repr(value)), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _line(row: int, column: int, values: Line) -> str:
    line = {"row": str(row), "col": str(column)} | values
    return "\t".join(line.get(field, "") for field in FIELDS)


def _escape(text: str) -> str:
    return re.sub(r"[\\|\t\n\r]", lambda match: _ESCAPES[match[0]], text)


def _unescape(text: str) -> str:
    return re.sub(r"\\[\\ptnrN]", lambda match: _UNESCAPES[match[0]], text)


def _join(items: Sequence[str]) -> str:
    return "|".join(map(_escape, items))


def _split(field: str) -> list[str]:
    return [_unescape(item) for item in field.split("|")] if field else []
