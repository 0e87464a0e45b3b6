"""A cell after places of its paragraph were rewritten: its text, and all that points into it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from extractors.table import Argument, Span
from extractors.values import Date, Number


@dataclass(frozen=True, slots=True)
class Edit:
    """A place of the paragraph (characters, start to end) with what now stands there: the text, and the value of the
    number and the date there, if any."""

    start: int
    end: int
    old: str
    new: str
    number: float | None = None
    date: Date | None = None

    def overlaps(self, other: "Edit") -> bool:
        return self.start < other.end and other.start < self.end

    def within(self, start: int, end: int) -> bool:
        return start <= self.start and self.end <= end


def rewritten(argument: Argument, edits: Sequence[Edit]) -> Argument:
    """A cell with the edits inside it made. Edits must not overlap. Places are counted from the start of the cell,
    which stays where it was."""
    inside = sorted((e for e in edits if e.within(argument.start, argument.end)), key=lambda e: e.start)
    outside = [edit for edit in edits if edit not in inside]
    if not inside and not any(e.within(s.start, s.end) for s in argument.entities for e in outside):
        return argument
    move = _Move(inside)
    text = move.text(argument.text, argument.start)

    def span(old: Span) -> Span:
        if not (argument.start <= old.start and old.end <= argument.end):  # what a pronoun stands for
            there = next((e for e in outside if (e.start, e.end) == (old.start, old.end)), None)
            return old if there is None else replace(old, text=there.new)
        start, end = move.start(old.start), move.end(old.end)
        return replace(old, text=text[start - argument.start : end - argument.start], start=start, end=end)

    def number(old: Number) -> Number:
        edit = move.at(old.start, old.end)
        value = old.value if edit is None or edit.number is None else edit.number
        return replace(old, value=value, start=move.start(old.start), end=move.end(old.end))

    def date(old: Date) -> Date:
        edit = move.at(old.start, old.end)
        new = old if edit is None or edit.date is None else edit.date
        return replace(new, start=move.start(old.start), end=move.end(old.end))

    return replace(
        argument,
        text=text,
        end=argument.start + len(text),
        lemmas=_lemmas(argument.lemmas, inside),
        numbers=tuple(map(number, argument.numbers)),
        dates=tuple(map(date, argument.dates)),
        entities=tuple(map(span, argument.entities)),
        phrases=tuple(map(span, argument.phrases)),
    )


class _Move:
    """Where characters go when edits are made one after another."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.edits = edits
        self.starts = [edit.start for edit in edits]
        self.shifts = [0]
        for edit in edits:
            self.shifts.append(self.shifts[-1] + len(edit.new) - (edit.end - edit.start))

    def text(self, text: str, start: int) -> str:
        for edit in reversed(self.edits):
            text = text[: edit.start - start] + edit.new + text[edit.end - start :]
        return text

    def start(self, place: int) -> int:
        """Where something that starts at the place starts now: a start inside an edit is the edit's."""
        before = bisect_right(self.starts, place)
        if before and place < self.edits[before - 1].end:
            return self.edits[before - 1].start + self.shifts[before - 1]
        return place + self.shifts[before]

    def end(self, place: int) -> int:
        before = bisect_right(self.starts, place - 1)
        if before and place < self.edits[before - 1].end:
            return self.edits[before - 1].end + self.shifts[before]
        return place + self.shifts[before]

    def at(self, start: int, end: int) -> Edit | None:
        """The edit of a value that lies at this place: one edit may stand for a part of it, or hold it."""
        overlapping = (e for e in self.edits if e.start < end and start < e.end)
        return next(overlapping, None)


def _lemmas(lemmas: tuple[str, ...], edits: Sequence[Edit]) -> tuple[str, ...]:
    """The lemmas of the words that were rewritten replaced by the new words."""
    for edit in edits:
        place = _find(lemmas, edit.old.lower())
        if place is not None:
            first, last = place
            lemmas = (*lemmas[:first], *edit.new.lower().split(), *lemmas[last:])
    return lemmas


#: Words are taken for their lemmas by so many letters at the start: "Giants" for "giant".
_ALIKE = 3


def _find(lemmas: tuple[str, ...], old: str) -> tuple[int, int] | None:
    """Where the lemmas of a text stand: tokens that make it when written together, or words that begin alike."""
    joined = old.replace(" ", "")
    words = old.split()
    for first in range(len(lemmas)):
        made = ""
        for last in range(first, len(lemmas)):
            made += lemmas[last]
            if made == joined:
                return first, last + 1
            if len(made) >= len(joined):
                break
    for first in range(len(lemmas) - len(words) + 1):
        pairs = zip(words, lemmas[first : first + len(words)], strict=True)
        if all(word[:_ALIKE] == lemma[:_ALIKE] for word, lemma in pairs):
            return first, first + len(words)
    return None
