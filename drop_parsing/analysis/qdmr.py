"""Agreement of a form with a question's decomposition (QDMR; Wolfson et al., TACL 2020).

The rules. A decomposition asks for *operations*, told from the words of its steps; a form has operations by its
functions. Both are sets of the names in ``OPERATIONS``; ``number of`` may be a count or a number that is read. The
operations agree by the F1 of the two sets; half of that where a superlative or comparison goes the other way. The
literals agree by the share of the decomposition's content words that stand in the form's literals. The score is the
mean of the two; of the operations alone where the decomposition has no content word.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from drop_parsing.errors import InputError
from grammar.forms import Form
from grammar.view import key

#: Operation -> what asks for it in a step.
OPERATIONS: Mapping[str, str] = {
    "complement": r"difference of (?:100|#\d+ and\s+100)",
    "difference": r"\bdifference\b",
    "sum": r"\bsum\b|\btotal\b",
    "average": r"\b(?:the )?average of\b",
    "compare": r"which (?:is|was|are)",
    "superlative": r"is (?:the )?(?:highest|lowest|longest|shortest|largest|smallest)$|"
    r"\b(?:highest|lowest|longest|shortest|largest|smallest|first|last|most|least) of #|"
    r"\bthe (?:\w+ )?(?:longest|shortest|highest|lowest|largest|smallest|biggest|greatest|latest|earliest)\b",
    "threshold": r"\b(?:higher|lower|more|less|fewer|greater|longer|shorter|larger|smaller) than\b|at least|at most",
    "number": r"\bnumber of\b|\bhow many\b|\bpercent(?:age)?s? of\b|\bsizes? of\b",
    "time": r"\bwhen\b|\byears? (?:of|was|were|that)\b|\bdates? of\b|\bin\s+(?:years|months|days)\b|\btimes? of\b",
    "negation": r"\bnot\b|\bbesides\b|\bexcept\b|n't\b",
    "union": r"^return (?:the )?#\d+\s*(?:,|\bor\b|\band\b)\s*#\d+",
}
_UP = re.compile(r"\b(?:highest|longest|largest|biggest|greatest|most|last|latest|later)\b")
_DOWN = re.compile(r"\b(?:lowest|shortest|smallest|least|fewest|first|earliest|earlier)\b")

#: Function -> its operations.
HAS: Mapping[str, tuple[str, ...]] = {
    "count_structures": ("number",), "count_phrases": ("number",), "count_entities": ("number",),
    "extract_number": ("number",), "extract_number_in": ("number",), "number_near": ("number",),
    "complement": ("complement",), "diff": ("difference",), "add": ("sum",), "sum": ("sum",),
    "average": ("average",), "max": ("superlative", "number"), "min": ("superlative", "number"),
    "argmax": ("superlative",), "argmin": ("superlative",), "first": ("superlative",), "last": ("superlative",),
    "compare_greater": ("compare", "number"), "compare_lesser": ("compare", "number"),
    "compare_more": ("compare", "number"), "compare_earlier": ("compare", "time"),
    "compare_later": ("compare", "time"), "year_diff": ("difference", "time"),
    "month_diff": ("difference", "time"), "day_diff": ("difference", "time"), "extract_date": ("time",),
    "year": ("time",), "filter_not_in": ("negation",), "filter_number_not_equals": ("negation",),
    "filter_date_not_equals": ("negation",), "both": ("union",), "union": ("union",),
    "filter_number_greater": ("threshold",), "filter_number_greater_equals": ("threshold",),
    "filter_number_lesser": ("threshold",), "filter_number_lesser_equals": ("threshold",),
}  # fmt: skip
_UPWARD = frozenset({"max", "argmax", "last", "compare_greater", "compare_later", "compare_more"})
_DOWNWARD = frozenset({"min", "argmin", "first", "compare_lesser", "compare_earlier"})

_STOP = frozenset(
    "return of the a an in is was were are did do does that which when who what where how many number "
    "numbers year years date dates difference highest lowest and or for each from to by with on at not "
    "than if both sum total time times month months day days percent percentage size sizes between be "
    "been has have had those it its as besides after before average higher lower more less least most "
    "100 there s longest shortest largest smallest".split()
)


@dataclass(frozen=True)
class Decomposition:
    """A question's steps, ``#n`` standing for the n-th."""

    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "Decomposition":
        return cls(tuple(" ".join(step.split()).lower() for step in text.split(";") if step.strip()))

    @cached_property
    def operations(self) -> frozenset[str]:
        found = {
            name for step in self.steps for name, pattern in OPERATIONS.items() if re.search(pattern, step)
        }
        if "complement" in found:
            found.discard("difference")
        if "compare" in found:
            found.discard("superlative")
        return frozenset(found)

    @cached_property
    def directions(self) -> frozenset[str]:
        text = " ".join(self.steps)
        return frozenset(name for name, words in (("up", _UP), ("down", _DOWN)) if words.search(text))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, as keys."""
        pieces = {piece for step in self.steps for piece in key(re.sub(r"#\d+", " ", step)).split("_")}
        return frozenset(piece for piece in pieces if piece and piece not in _STOP)


def agreement(form: Form, decomposition: Decomposition) -> float:
    """How far a form agrees with a decomposition, 0 to 1, by the rules above."""
    names = [sub.name for sub in form.subforms()]
    operations = {operation for name in names for operation in HAS.get(name, ())}
    score = _f1(operations, decomposition.operations)
    directions = {"up"} if not _UPWARD.isdisjoint(names) else set()
    directions |= {"down"} if not _DOWNWARD.isdisjoint(names) else set()
    if directions and decomposition.directions and directions.isdisjoint(decomposition.directions):
        score /= 2
    if not decomposition.words:
        return score
    literals = {piece for name in names for piece in _pieces(name)}
    named = sum(any(_same(word, piece) for piece in literals) for word in decomposition.words)
    return (score + named / len(decomposition.words)) / 2


def _pieces(leaf: str) -> list[str]:
    prefix, colon, rest = leaf.partition(":")
    if prefix == "string":
        return rest.split("_")
    return rest.split("_")[:1] if prefix == "date" else [leaf] if not colon else []


def _same(word: str, piece: str) -> bool:
    """Whether a word of the decomposition is one of the form's, which may be a lemma."""
    short, long = sorted((word, piece), key=len)
    return long.startswith(short) and len(long) - len(short) <= 3 and (len(short) >= 3 or short == long)


def _f1(mine: set[str], theirs: frozenset[str]) -> float:
    if not mine and not theirs:
        return 1.0
    # A number that is read on the way to what is asked is no operation too many.
    extra = mine - theirs - {"number", "time"}
    common = len(mine & theirs)
    return 2 * common / (2 * common + len(extra) + len(theirs - mine)) if common else 0.0


def read_decompositions(path: Path) -> dict[str, Decomposition]:
    """The decompositions of a file of Break (columns ``question_text`` and ``decomposition``) by question text.
    Raises InputError where the file cannot be read or lacks a column."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = {"question_text", "decomposition"}.difference(reader.fieldnames or ())
            if missing:
                raise InputError(f"{path} has no column {min(missing)}: give a file of Break's QDMR.")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"Cannot read {path} ({error}): give a CSV file of Break's QDMR.") from error
    return {
        question_key(row["question_text"]): Decomposition.parse(row["decomposition"] or "") for row in rows
    }


def question_key(text: str) -> str:
    """A question as it is looked up: without case, and with single spaces."""
    return " ".join(text.lower().split())
