"""Canonical forms: of the forms that mean the same on every table by the rules below, one stands for all.

Every rule holds for any table and any literals on which its left side is defined (``tests/grammar/test_canonical.py``
tries them on random ones); the right side may be defined where the left is not, since a filter by a value that is not
there has gone. Applied from left to right no rule makes a form larger. Forms that no rule joins stay apart, even where
they mean the same: nothing is left out because it looks odd.

*Rows.* ``X`` and ``Y`` are any rows, ``f`` and ``g`` any filters with their relation and argument.

- ``f (g X) = g (f X)`` and ``f (f X) = f X``: filters that follow one another stand in order, each once.
- ``union X Y = union Y X``, ``intersection X Y = intersection Y X``, ``union X X = intersection X X = X``.
- ``union all_structures X = all_structures``, ``intersection all_structures X = X``.
- ``intersection (f X) Y = f (intersection X Y)``: an intersection is filtered from outside.
- ``first X = last X = X`` where X has one row at most by its form (``is_single``).
- ``argmax (argmax X r) r = argmax X r``, with ``argmin`` for either or both: one row that has a value stays.
- ``previous (first X) = previous X``, ``next (last X) = next X``.
- No row comes before the first of all or after the last: ``previous all_structures = next all_structures``. This is
  the one form of no rows (``EMPTY``); what is made of no rows alone is no rows, and ``union EMPTY X = X``.

*Values.*

- A reader that looks at the first row alone reads ``X`` for ``first X``.
- ``max``, ``min``, ``sum`` and ``average`` of one row at most are ``extract_number``.
- ``add`` and ``both`` commute (the texts of ``both`` are a set), as do the two texts of every comparison.
"""

from grammar.forms import Form
from grammar.functions import FUNCTIONS

ALL = Form("all_structures")
#: The form of no rows.
EMPTY = Form("previous", (ALL,))
#: What is ``extract_number`` over one row at most.
AGGREGATES = frozenset({"max", "min", "sum", "average"})
EXTREMES = frozenset({"argmax", "argmin"})
#: Operations on values whose operands may change places.
COMMUTING = frozenset({"add", "both"})

_SINGLE = frozenset({"first", "last", "previous", "next", *EXTREMES})


def canonical(form: Form) -> Form:
    """The form that stands for a well-typed form."""
    return applied(form.name, tuple(map(canonical, form.arguments)))


def applied(name: str, arguments: tuple[Form, ...]) -> Form:
    """The form that stands for a function over canonical arguments, or for a leaf."""
    function = FUNCTIONS.get(name)
    if function is None or not arguments:
        return Form(name, arguments)
    if function.result == "Rows":
        return _rows(name, arguments)
    if function.scope == "first" or name in AGGREGATES:
        return _reading(name, arguments)
    if name in COMMUTING:
        return Form(name, ordered(arguments))
    if function.arguments[-2:] == ("String", "String"):
        return Form(name, (*arguments[:-2], *ordered(arguments[-2:])))
    return Form(name, arguments)


def is_filter(name: str) -> bool:
    """Whether a function keeps or drops every row by itself."""
    return name in FUNCTIONS and FUNCTIONS[name].scope == "each"


def is_single(form: Form) -> bool:
    """Whether canonical rows have one row at most by their form."""
    if is_filter(form.name):
        return is_single(form.arguments[0])
    if form.name == "intersection":
        return any(map(is_single, form.arguments))
    return form.name in _SINGLE


def ordered(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """Forms in the order of their text."""
    return tuple(sorted(forms, key=str))


def filtered(rows: Form, conditions: set[Form]) -> Form:
    """Rows under filters, each given as a form without its rows: in order, the first innermost."""
    for condition in ordered(tuple(conditions)):
        rows = Form(condition.name, (rows, *condition.arguments))
    return rows


def unfiltered(rows: Form) -> tuple[Form, set[Form]]:
    """The rows under the filters of a form, and these filters without them."""
    conditions = set()
    while is_filter(rows.name):
        conditions.add(Form(rows.name, rows.arguments[1:]))
        rows = rows.arguments[0]
    return rows, conditions


def _rows(name: str, arguments: tuple[Form, ...]) -> Form:
    """A function that makes rows, over canonical arguments."""
    if name == "union":
        return _union(*arguments)
    if name == "intersection":
        return _intersection(*arguments)
    rows = arguments[0]
    if rows == EMPTY:
        return EMPTY
    if is_filter(name):
        base, conditions = unfiltered(rows)
        return filtered(base, {*conditions, Form(name, arguments[1:])})
    if name in ("first", "last") and is_single(rows):
        return rows
    if name in EXTREMES and rows.name in EXTREMES and rows.arguments[1] == arguments[1]:
        return rows
    if (name, rows.name) in (("previous", "first"), ("next", "last")):
        return _rows(name, rows.arguments)
    if name == "next" and rows == ALL:
        return EMPTY
    return Form(name, arguments)


def _union(rows: Form, others: Form) -> Form:
    if ALL in (rows, others):
        return ALL
    if EMPTY in (rows, others):
        return others if rows == EMPTY else rows
    return rows if rows == others else Form("union", ordered((rows, others)))


def _intersection(rows: Form, others: Form) -> Form:
    (mine, conditions), (theirs, more) = unfiltered(rows), unfiltered(others)
    if EMPTY in (mine, theirs):
        return EMPTY
    if ALL in (mine, theirs):
        base = theirs if mine == ALL else mine
    else:
        base = mine if mine == theirs else Form("intersection", ordered((mine, theirs)))
    return filtered(base, conditions | more)


def _reading(name: str, arguments: tuple[Form, ...]) -> Form:
    """A reader of the first row, or an aggregate, over canonical arguments."""
    rows, *others = arguments
    if name in AGGREGATES:
        if not is_single(rows):
            return Form(name, arguments)
        name = "extract_number"
    return Form(name, (rows.arguments[0] if rows.name == "first" else rows, *others))
