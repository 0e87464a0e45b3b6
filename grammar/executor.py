"""Run a logical form over a table, and say why it denotes what it denotes."""

from dataclasses import dataclass

from extractors import values
from extractors.table import Span
from extractors.values import format_date, format_number
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.types import Date, Denotation, Part, Relation, Rows
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
    values = []
    for argument in form.arguments:
        value = execute(argument, language)
        if value is None:
            return None
        values.append(value)
    return function.call(language.view, *values)


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
    """The cells of the relation that an application names: for a filter those of the rows it keeps, for a
    reader those of the rows it reads (of the first row where only that one counts)."""
    function = FUNCTIONS[form.name]
    values = [execute(argument, language) for argument in form.arguments]
    named = dict(zip(function.arguments, values, strict=True))
    if "Relation" not in named or any(value is None for value in values):
        return ()
    rows = execute(form, language) if function.result == "Rows" else named["Rows"]
    assert isinstance(rows, int)
    if function.result != "Rows" and function.scope == "first":
        rows = Rows(rows & -rows)
    return _spans(language.view, rows, Relation(str(named["Relation"])), named.get("Part"))


def _spans(view: View, rows: int, relation: Relation, part: object) -> tuple[Span, ...]:
    cells = [
        argument
        for i, cell in enumerate(view.cells.get(relation, ()))
        if rows >> i & 1
        for argument in cell
        if part is None or spans_of(argument, Part(str(part)))
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
