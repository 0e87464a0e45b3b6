r"""The ``.tagged`` form of the original baseline for DROP: one tab-separated file a paragraph.

A file has a header, then rows numbered -1 that name the columns (``relation:arg0``), then one line a cell.
Lists inside a field are joined by ``|``; a missing cell has the content ``NULL``. Written fields escape
backslash, ``|``, tab, line feed and carriage return as ``\\``, ``\p``, ``\t``, ``\n`` and ``\r``.

What the form cannot hold is lost when a table is written: character offsets, heads, phrases, entity types,
units, kinds and signs of numbers, what the table lost, and the bounds of several arguments of one relation,
which are joined by " ; ". Sentence numbers are lost too: the original would take them for a relation.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from extractors.store import atomic_file
from extractors.table import PREDICATE, Argument, Row, Span, Table, text_hash
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
_UNESCAPES = {escaped: plain for plain, escaped in _ESCAPES.items()}

#: The fields of one line by name, as they stand in the file.
Line = dict[str, str]


def read_tagged(path: Path, null_cells: bool = False) -> tuple[Table, str]:
    """The table of a ``.tagged`` file, and the paragraph text that its offsets point into.

    The file holds no paragraph, so the text is made of its cells: those of a row joined by a space, rows by a
    line feed. ``null_cells`` keeps missing cells as arguments with the text "NULL", as the original language
    sees them. Numbers are read as the original reads its number column ("1-yard" is 1, "only six" nothing).
    Dates are those that ``find_values`` finds where the date column points to. An entity that is not in its
    cell is dropped.

    Raises:
        ValueError: the file is not in this form; the message names the file and the line.
    """
    columns, rows = _read_cells(path)
    pieces: list[str] = []
    made: list[Row] = []
    position = 0
    for cells in rows.values():
        predicate = Argument("", position, position)
        sentence = 0
        arguments: dict[str, tuple[Argument, ...]] = {}
        for column, (where, line) in sorted(cells.items()):
            name = columns[column]
            content = _unescape(line["content"])
            if name == SENTENCE:
                sentence = _integer(content, where)
            elif content not in ("", NULL) or null_cells:
                argument = _read_argument(content, position, line)
                pieces.append(content + " ")
                position += len(content) + 1
                if name == PREDICATE:
                    predicate = argument
                else:
                    arguments[name] = (argument,)
        if pieces:
            pieces[-1] = pieces[-1][:-1] + "\n"
        made.append(Row(predicate, sentence, arguments))
    text = "".join(pieces)[:-1]
    return Table(path.stem, text_hash(text), "tagged", "tagged", "1", tuple(made)), text


def _read_cells(path: Path) -> tuple[dict[int, str], dict[int, dict[int, tuple[str, Line]]]]:
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


def _lines(path: Path) -> Iterator[tuple[str, Line]]:
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


def _read_argument(content: str, start: int, line: Line) -> Argument:
    return Argument(
        content,
        start,
        start + len(content),
        tuple(lemma.lower() for lemma in _split(line["lemmaTokens"])),
        numbers=tuple(_read_numbers(content, start, _split(line["number"]))),
        dates=tuple(_read_dates(content, start, _split(line["date"]))),
        entities=tuple(
            Span(entity, start + found, start + found + len(entity), "")
            for entity, found in _places(content, _split(line["nerValues"]))
            if found >= 0
        ),
    )


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
        if piece in _ORDINALS:
            yield Number(_ORDINALS.index(piece) + 1.0, *at, kind="ordinal")
        elif piece in _CARDINALS:
            yield Number(float(_CARDINALS.index(piece)), *at)
        else:
            for part in re.sub("[A-Za-z,]", "", piece).split("-"):
                try:
                    yield Number(float(part), *at)
                except ValueError:
                    continue


def _read_dates(content: str, start: int, pieces: Sequence[str]) -> Iterator[Date]:
    """The dates of a cell that overlap a piece; those of a piece that is not in its text span the cell.

    A piece that the file calls a date but that names no year, month, day or quarter ("1st half") is a date of
    which nothing is known, as in the original.
    """
    dates = find_values(content)[1] if pieces else ()
    for piece, found in _places(content, pieces):
        inside = [d for d in dates if d.start < found + len(piece) and found < d.end] if found >= 0 else []
        yield from (replace(date, start=start + date.start, end=start + date.end) for date in inside)
        if not inside:
            at = (start + found, start + found + len(piece)) if found >= 0 else (start, start + len(content))
            read = find_values(piece)[1] or (Date(None, None, None, None, *at),)
            yield from (replace(date, start=at[0], end=at[1]) for date in read)


def write_tagged(table: Table, folder: Path) -> Path:
    """Write ``table`` into ``folder`` under a name made from its paragraph id, and return the path.

    Lone surrogates, which UTF-8 cannot hold, become "?".

    Raises:
        StoreError: the file cannot be written.
    """
    relations = [relation for relation in table.relations if relation != PREDICATE]
    columns = [SENTENCE, PREDICATE, *relations]
    lines = ["\t".join(FIELDS)]
    for number, name in enumerate(columns):
        title = name if name in (SENTENCE, PREDICATE) else name.upper().replace("_", "-")
        lines.append(_line(-1, number, {"id": _escape(_PREFIX + name), "content": _escape(title)}))
    for number, row in enumerate(table.rows):
        for column, relation in enumerate(columns[1:], start=1):
            lines.append(_line(number, column, _written_cell(row.cell(relation))))
    path = folder / f"{file_name(table.paragraph_id)}.tagged"
    with atomic_file(path) as file:
        file.write("".join(line + "\n" for line in lines).encode("utf-8", "replace"))
    return path


def file_name(paragraph_id: str) -> str:
    """A file name without extension; different ids give different names, most ids their own."""
    safe = re.sub(r"[^\w.+-]", "_", paragraph_id, flags=re.ASCII)[:150].lstrip(".-")
    if safe == paragraph_id:
        return safe
    digest = hashlib.blake2b(paragraph_id.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{safe}-{digest}"


def _written_cell(cell: Sequence[Argument]) -> Line:
    arguments = [argument for argument in cell if argument.text]
    if not arguments:
        return {"id": "null", "content": NULL, "lemmaTokens": NULL}
    content = _escape(" ; ".join(argument.text for argument in arguments))
    lemmas = list(arguments[0].lemmas)
    for argument in arguments[1:]:
        lemmas += [";", *argument.lemmas]
    return {
        "id": content.lower().replace(" ", "_"),
        "content": content,
        "lemmaTokens": _join(lemmas),
        "nerValues": _join([entity.text for argument in arguments for entity in argument.entities]),
        "number": _join(
            [_decimal(n.value) for argument in arguments for n in argument.numbers if math.isfinite(n.value)]
        ),
        "date": _join(
            [
                argument.text[date.start - argument.start : date.end - argument.start]
                for argument in arguments
                for date in argument.dates
            ]
        ),
    }


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
    return re.sub(r"\\[\\ptnr]", lambda match: _UNESCAPES[match[0]], text)


def _join(items: Sequence[str]) -> str:
    return "|".join(map(_escape, items))


def _split(field: str) -> list[str]:
    return [_unescape(item) for item in field.split("|")] if field else []
