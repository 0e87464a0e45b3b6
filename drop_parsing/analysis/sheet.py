"""The sheet of the manual study: sampled questions with their classes of forms, for a person to judge.

A sheet is a CSV file with a row for each question and scheme, for any spreadsheet. In a ``judgement`` column a person
writes whether the form beside it means the question: right or wrong. Whether a class was kept is not on the sheet,
and the classes stand in an order drawn by the seed, so that neither sways the person.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from drop_parsing.analysis.judged import FormClass, QuestionClasses, Spuriousness
from drop_parsing.errors import InputError
from extractors.records import escape, unescape
from extractors.store import atomic_file
from extractors.table import Table

#: Classes of a question on the sheet: the best by their combined score.
TOP_CLASSES = 5
#: What a judgement may say.
RIGHT, WRONG = {"right", "r", "yes", "y", "1", "true"}, {"wrong", "w", "no", "n", "0", "false"}
#: More characters than a spreadsheet keeps of a cell.
MOST_CHARACTERS = 30_000

_HEAD = ("query_id", "scheme", "question", "answer", "paragraph", "table")
#: What makes a spreadsheet take a cell for a formula; and the quote that keeps it from that.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One row of a sheet read back: each form with whether it means the question, or None where that is open."""

    query_id: str
    scheme: str
    judgements: Mapping[str, bool | None]

    @property
    def has_right(self) -> bool | None:
        """Whether some form means the question; None while that is open."""
        if any(self.judgements.values()):
            return True
        return None if None in self.judgements.values() or not self.judgements else False


def sample(found: Spuriousness, number: int, seed: int) -> list[QuestionClasses]:
    """``number`` of the questions that have a consistent form under some scheme, under each scheme where they have.

    The draw depends on the seed and the questions' ids alone, not on their order.
    """
    covered = {one.query_id for one in found.questions if one.classes}
    drawn = sorted(covered, key=lambda id: _draw(seed, id))[:number]
    by_id: dict[str, list[QuestionClasses]] = {id: [] for id in drawn}
    for one in found.questions:
        if one.query_id in by_id and one.classes:
            by_id[one.query_id].append(one)
    return [one for id in drawn for one in by_id[id]]


def _draw(seed: int, *names: str) -> bytes:
    made_of = "\n".join([str(seed), *map(escape, names)])
    return blake2b(made_of.encode(), digest_size=8).digest()


def write_sheet(
    path: Path,
    questions: Sequence[QuestionClasses],
    paragraphs: Mapping[str, str],
    tables: Mapping[tuple[str, str], Table],
    seed: int,
) -> None:
    """Write the sheet of these questions; ``tables`` are by scheme and passage id.

    Raises StoreError where the file cannot be written.
    """
    head = [*_HEAD, *(name for place in range(1, TOP_CLASSES + 1) for name in _columns(place))]
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(head)
    for one in questions:
        table = tables.get((one.scheme, one.passage_id))
        row = [one.query_id, one.scheme, one.question, "; ".join(one.answer), paragraphs[one.passage_id]]
        row.append(_readable(table) if table else "")
        for each in sorted(one.classes[:TOP_CLASSES], key=lambda c: _draw(seed, one.query_id, c.form)):
            row += [each.form, "; ".join(each.denotation), ""]
        row += [""] * (len(head) - len(row))
        writer.writerow(map(_guarded, row))
    with atomic_file(path) as file:
        file.write(lines.getvalue().encode("utf-8-sig"))  # with the mark by which spreadsheets know UTF-8


def _columns(place: int) -> tuple[str, str, str]:
    return f"form {place}", f"denotation {place}", f"judgement {place}"


def _readable(table: Table) -> str:
    """A line a row: the predicate, then every argument with its relation."""
    lines = []
    for number, row in enumerate(table.rows, 1):
        cells = [f"{name}: {cell.text}" for name, cells in row.arguments.items() for cell in cells]
        lines.append(f"{number}. {row.predicate.text} | " + " | ".join(cells))
    return "\n".join(lines)


def _guarded(text: str) -> str:
    """A cell as valid UTF-8 that no spreadsheet runs as a formula or cuts off."""
    text = escape(text)
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS] + " ... (cut)"
    return f"'{text}" if text.startswith(_FORMULA) else text


def _unguarded(cell: str) -> str:
    return unescape(cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell)


def read_sheet(path: Path) -> list[JudgedRow]:
    """Read a judged sheet back; separators of other languages' spreadsheets are understood.

    Raises InputError, which names the row (as a spreadsheet counts) and the column of what is wrong.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read the sheet {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The sheet {path} is not UTF-8: save it as CSV in UTF-8.") from error
    separator = re.match(r'"?query_id"?([,;\t])', text)
    if separator is None:
        raise InputError(
            f"The sheet {path} does not begin with the column query_id: give a CSV file that --sheet made, judged."
        )
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator[1], strict=True))
    except csv.Error as error:
        raise InputError(f"The sheet {path} is not well-formed CSV: {error}.") from error
    return list(_judged_rows(path, rows))


def _judged_rows(path: Path, rows: list[list[str]]) -> Iterator[JudgedRow]:
    head = rows[0]
    places = sum(name.startswith("judgement ") for name in head)
    wanted = [*_HEAD[:2], *(name for place in range(1, places + 1) for name in _columns(place))]
    missing = [name for name in wanted if head.count(name) != 1]
    if missing or not places:
        what = ", ".join(missing) or "judgement 1"
        raise InputError(f"The sheet {path} must have these columns once each: {what}.")
    seen: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            row += [""] * (len(head) - len(row))  # some programs leave out empty cells at the end
            if len(row) > len(head):
                raise InputError(f"The sheet {path} has more cells in row {number} than columns.")
        cells = dict(zip(head, row, strict=True))
        key = (_unguarded(cells["query_id"]), cells["scheme"].strip())
        if key in seen:
            raise InputError(
                f"The sheet {path} has question {key[0]} under {key[1]} in row {seen[key]} and again in row {number}."
            )
        seen[key] = number
        yield JudgedRow(*key, dict(_judgements(path, number, cells, places)))


def _judgements(
    path: Path, number: int, cells: Mapping[str, str], places: int
) -> Iterator[tuple[str, bool | None]]:
    for form_column, _, column in map(_columns, range(1, places + 1)):
        form, said = _unguarded(cells[form_column]), cells[column].strip().lower()
        if said and said not in RIGHT | WRONG:
            raise InputError(
                f"The sheet {path} says {cells[column].strip()!r} in row {number}, column {column!r}: "
                "write right or wrong, or leave it empty."
            )
        if said and not form:
            raise InputError(
                f"The sheet {path} has a judgement but no form in row {number}, column {column!r}."
            )
        if form:
            yield form, (said in RIGHT if said else None)


def judged_classes(
    rows: Iterable[JudgedRow], questions: Iterable[QuestionClasses]
) -> list[tuple[QuestionClasses, FormClass, bool]]:
    """The judged forms with the classes that they are examples of now, and whether they mean the question.

    Forms that are no class's example any more, under this seed and version, are left out.
    """
    analysed = {(one.query_id, one.scheme): one for one in questions}
    found = []
    for row in rows:
        one = analysed.get((row.query_id, row.scheme))
        for each in one.classes if one else ():
            right = row.judgements.get(each.form)
            if one is not None and right is not None:
                found.append((one, each, right))
    return found
