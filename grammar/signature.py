"""How a typed Python function becomes a function of the language: its signature in the language's types."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args, get_type_hints

from grammar.types import TYPE_NAMES, Denotation
from grammar.view import View

#: What of its rows a function depends on: a search evaluates it once for all row sets that agree on that.
#: ``each``: it keeps or drops every row by itself, whatever the others are. ``first``: the first row alone.
#: ``number``: how many rows. ``holding``: the rows that hold under the relation what the function needs.
#: ``part``: the rows that have the part under the relation; ``first part`` and ``last part``: the first or last of
#: these. ``all``: the set as a whole.
Scope = Literal["each", "first", "number", "holding", "part", "first part", "last part", "all"]

#: What some cell under a relation must hold for the function to be offered for it (``value``: a number or a date).
Needs = Literal["cell", "number", "date", "value", "entity"]

Call = TypeVar("Call", bound=Callable[..., Denotation | None])


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language with its signature in type names. ``gathers``: its texts are those of each row."""

    name: str
    arguments: tuple[str, ...]
    result: str
    scope: Scope
    needs: Needs
    call: Callable[..., Denotation | None]
    doc: str
    gathers: bool


#: Every function of the language by name, in order of definition.
FUNCTIONS: dict[str, Function] = {}


def function(scope: Scope = "all", needs: Needs = "cell", gathers: bool = False) -> Callable[[Call], Call]:
    """Add a typed function to the language. Raises TypeError on a name that is taken, or on an annotation
    that the language has no type for."""

    def define(call: Call) -> Call:
        name = call.__name__.rstrip("_")
        if name in FUNCTIONS:
            raise TypeError(f"the language already has a function named {name!r}")
        hints = get_type_hints(call)
        view, *parameters = (hints.get(parameter) for parameter in inspect.signature(call).parameters)
        result = _type_name(hints.get("return"))
        arguments = [_type_name(annotation) for annotation in parameters]
        if view is not View or result is None or None in arguments:
            raise TypeError(f"the language has no types for the signature of {name!r}")
        doc = " ".join((call.__doc__ or "").split())
        signature = tuple(a for a in arguments if a)
        FUNCTIONS[name] = Function(name, signature, result, scope, needs, call, doc, gathers)
        return call

    return define


def _type_name(annotation: object) -> str | None:
    """The type that an annotation names; ``X | None`` (may be undefined) names X."""
    if annotation in TYPE_NAMES:
        return TYPE_NAMES[annotation]
    return next((TYPE_NAMES[part] for part in get_args(annotation) if part in TYPE_NAMES), None)
