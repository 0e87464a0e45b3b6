"""Run a logical form over a table, and say why it denotes what it denotes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from extractors import values
from extractors.table import Span
from extractors.values import format_date, format_number
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.types import Date, Denotation, Part, Relation, Rows, String
from grammar.view import View, spans_of


@dataclass(frozen=True, slots=True)
class Step:
    """One application inside a form: what it denotes, and the stretches of the paragraph it looked at.

    ``cells`` are labelled with the relation under which they stand; ``denotation`` is None where undefined.
    """

    form: Form
    denotation: Denotation | None
    cells: tuple[Span, ...]


def execute(form: Form, language: Language) -> Denotation | None:
    """The denotation of a well-typed form (see ``Language.check``), or None where it has none: a value that
    is not there makes every form around it undefined."""
    function = FUNCTIONS.get(form.name)
    if function is None:
        leaf = language.leaf(form.name)
        if leaf is None:
            raise ValueError(f"{form.name!r} is neither a function nor a leaf of this language")
        return leaf[1]  # type: ignore[return-value]  # relations and parts are arguments only
    arguments = []
    for argument in form.arguments:
        value = execute(argument, language)
        if value is None:
            return None
        arguments.append(value)
    return function.call(language.view, *arguments)


def explain(form: Form, language: Language) -> list[Step]:
    """Every application of the form, innermost first, with the cells that each looks at."""
    steps = []
    for sub in form.subforms():
        if sub.name in FUNCTIONS:
            steps.append(Step(sub, execute(sub, language), _cells(sub, language)))
    return steps


def cells_used(form: Form, language: Language) -> tuple[Span, ...]:
    """The cells that a form's answer rests on, in text order, each once."""
    cells = {span: None for step in explain(form, language) for span in step.cells}
    return tuple(sorted(cells, key=lambda span: (span.start, span.end, span.label)))


def _cells(form: Form, language: Language) -> tuple[Span, ...]:
    """The cells that an application looks at: for a filter those of the rows it keeps, for a reader those of the
    rows it reads (of the first row where only that one counts), for a comparison those that name the two texts
    and the values beside them."""
    function, view = FUNCTIONS[form.name], language.view
    arguments = [execute(argument, language) for argument in form.arguments]
    if any(value is None for value in arguments):
        return ()
    named = dict(zip(function.arguments, arguments, strict=True))
    relation = Relation(str(named["Relation"])) if "Relation" in named else None
    rows = cast(Rows, execute(form, language) if function.result == "Rows" else named.get("Rows", 0))
    if function.arguments[-2:] == ("String", "String"):
        return tuple(
            cell
            for text in arguments[-2:]
            for cell in _compared(view, rows, relation, cast(String, text)[0].key)
        )
    if relation is None:
        return ()
    if function.result != "Rows" and function.scope == "first":
        rows = Rows(rows & -rows)
    return _spans(view, rows, relation, cast(Part | None, named.get("Part")))


def _compared(view: View, rows: Rows, relation: Relation | None, sought: str) -> Iterator[Span]:
    """The cells of the first row that names the text, and has a number under the relation if there is one."""
    rows = Rows(
        rows & view.mentions(sought) & (view.all if relation is None else view.with_numbers[relation])
    )
    row = Rows(rows & -rows)
    for name in view.relations:
        if name == relation or row & view.contains(name, sought):
            yield from _spans(view, row, name, None)


def _spans(view: View, rows: Rows, relation: Relation, part: Part | None) -> tuple[Span, ...]:
    cells = [
        argument
        for i, cell in enumerate(view.cells.get(relation, ()))
        if rows >> i & 1
        for argument in cell
        if part is None or spans_of(argument, part)
    ]
    return tuple(Span(a.text, a.start, a.end, relation) for a in cells)


def texts_of(denotation: Denotation | None) -> tuple[str, ...]:
    """A denotation as the texts of an answer: a number or a date is one, a string is one or several; rows
    and what is undefined are none."""
    if isinstance(denotation, Date):
        return (format_date(values.Date(*denotation[:4], 0, 0, denotation.last_year)),)
    if isinstance(denotation, float):
        return (format_number(denotation),)
    if denotation is None or isinstance(denotation, int):
        return ()
    return tuple(text.surface for text in denotation)
