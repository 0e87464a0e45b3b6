"""The original executor's recorded denotations over one table: agreement, and each class of difference."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from extractors.tagged import read_tagged
from grammar.executor import execute
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.types import Denotation
from grammar.view import View

#: The 5,331 cases with a denotation other than -1, 0 and nothing.
DEFINED = 5331


def test_agreement_with_the_original_executor(shared_data: Path) -> None:
    folder = shared_data / "reference_language"
    table, _ = read_tagged(folder / "sample_paragraph.tagged", null_cells=True)
    language = Language(View(table))
    outcomes: Counter[str] = Counter()
    for text, original in _cases(folder / "executor_cases.jsonl.gz"):
        form = language.check(text)
        denotation = execute(form, language)
        undefined = original in (-1.0, 0.0, [])
        if _as_original(denotation, form) == original:
            outcomes["same, undefined there" if undefined else "same"] += 1
        elif denotation is None and (undefined or _rests_on_nothing(form, language)):
            outcomes["undefined, undefined there" if undefined else "undefined operand"] += 1
        elif _looks_for_an_entity(form):
            outcomes["capitals of entities"] += 1
        else:
            outcomes[f"unexplained: {text} {original} {denotation}"] += 1
    assert outcomes == {
        "same": 4511,
        "undefined operand": 819,
        "capitals of entities": 1,
        "same, undefined there": 164,
        "undefined, undefined there": 836,
    }


def _cases(path: Path) -> Iterator[tuple[str, float | list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            yield case["logical_form"], case["denotation"]


def _as_original(denotation: Denotation | None, form: Form) -> float | list[str] | None:
    """A denotation as the original writes it: texts in its lower-case form, entities as they stand."""
    if isinstance(denotation, tuple):
        return [text.surface if form.name == "extract_entity" else text.key for text in denotation]
    return denotation


def _rests_on_nothing(form: Form, language: Language) -> bool:
    """Whether a number that the form computes with is not there: the original takes it for -1 or 0."""
    numbers = (
        sub for sub in form.subforms() if sub.name in FUNCTIONS and FUNCTIONS[sub.name].result == "Number"
    )
    return any(sub != form and execute(sub, language) is None for sub in numbers)


def _looks_for_an_entity(form: Form) -> bool:
    """Whether a filter in the form looks for a text that is an entity read from the table."""
    return any(
        FUNCTIONS[sub.name].scope == "each" and sub.arguments[-1].name == "extract_entity"
        for sub in form.subforms()
        if sub.name in FUNCTIONS
    )
