"""The grammar of one (table, question): literals, productions, type checking, action sequences.

The functions are those of ``grammar.functions``; the relations and the parts of cells are the table's; strings,
numbers and dates are the question's. A production rewrites a type as a function applied to types
(``Number -> count_structures Rows``) or as a leaf (``Relation -> relation:nsubj``).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from grammar.forms import Form, FormError, Placed, parse, short
from grammar.functions import FUNCTIONS, Function
from grammar.types import ANSWER_TYPES, Date, Denotation, Number, Part, Relation, Text
from grammar.view import View, key, round_off

# Longer numbers are no amounts; unbounded ones would overflow.
_NUMBER = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?", re.ASCII)
_DATE_PARTS = re.compile(r"(x|-?\d{1,5})(_(x|-?\d{1,5})){0,4}", re.ASCII)
_PREFIXES = ("relation", "string", "date", "part")


@dataclass(frozen=True, slots=True)
class Literals:
    """What a question contributes to the language: its texts, numbers and dates."""

    strings: tuple[Text, ...] = ()
    numbers: tuple[Number, ...] = ()
    dates: tuple[Date, ...] = ()


@dataclass(frozen=True, slots=True)
class Production:
    """``type -> name`` (a leaf) or ``type -> name arguments`` (a function of those types)."""

    type: str
    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.type, "->", self.name, *self.arguments))


class Language:
    """The language over one table for one question."""

    def __init__(self, view: View, literals: Literals | None = None) -> None:
        self.view = view
        self.literals = literals or Literals()
        self._surfaces = {text.key: text for text in self.literals.strings}

    @cached_property
    def productions(self) -> dict[str, tuple[Production, ...]]:
        """Type -> its productions, the functions first, in the order in which they are defined."""
        productions: dict[str, list[Production]] = {}
        for function in FUNCTIONS.values():
            production = Production(function.result, function.name, function.arguments)
            productions.setdefault(function.result, []).append(production)
        leaves: list[tuple[str, Iterable[str]]] = [
            ("Relation", map(relation_leaf, self.view.relations)),
            ("Part", map(part_leaf, self.view.parts)),
            ("String", (string_leaf(text.key) for text in self.literals.strings)),
            ("Number", map(number_leaf, self.literals.numbers)),
            ("Date", map(date_leaf, self.literals.dates)),
        ]
        for type_name, names in leaves:
            productions.setdefault(type_name, []).extend(Production(type_name, name) for name in names)
        return {type_name: tuple(rules) for type_name, rules in productions.items()}

    def leaf(self, name: str) -> tuple[str, Denotation | Relation | Part] | None:
        """The type and value of a leaf, or None where there is no such leaf. Any number and any string may
        stand in a form; relations and parts must be the table's."""
        if _NUMBER.fullmatch(name):
            return "Number", round_off(float(name))
        prefix, colon, value = name.partition(":")
        if not colon or not value:
            return None
        if prefix == "relation" and value in self.view.relations:
            return "Relation", Relation(value)
        if prefix == "part" and value in self.view.parts:
            return "Part", Part(value)
        if prefix == "date" and _DATE_PARTS.fullmatch(value):
            date = Date(*(None if part == "x" else int(part) for part in value.split("_")))
            return ("Date", date) if date.is_possible() else None
        if prefix == "string" and key(value):
            return "String", (self._surfaces.get(value) or Text(value.replace("_", " "), key(value)),)
        return None

    def offered(self, function: Function) -> list[Relation]:
        """The relations that a search or a decoder offers to a function: those some cell of which holds what it
        needs. Elsewhere the function is well typed but always empty or undefined."""
        return [name for name, rows in self.view.holding[function.needs].items() if rows]

    def check(self, text: str) -> Form:
        """Parse and type-check a form. Raises FormError with the place of the fault."""
        placed = parse(text)
        found = self._type_of(placed, text)
        if found not in (*ANSWER_TYPES, "Rows"):
            raise FormError(f"a form must be a number, a date, a string or rows, not a {found}", text, 0)
        return placed.form

    def _type_of(self, placed: Placed, text: str) -> str:
        name, position = placed.form.name, placed.position
        function = FUNCTIONS.get(name)
        if function is None:
            leaf = None if placed.arguments else self.leaf(name)
            if leaf is None:
                raise FormError(self._unknown(name, bool(placed.arguments)), text, position)
            return leaf[0]
        if len(placed.arguments) != len(function.arguments):
            raise FormError(
                f"{name} takes {len(function.arguments)} arguments ({', '.join(function.arguments) or 'none'}), "
                f"not {len(placed.arguments)},",
                text,
                position,
            )
        for number, (argument, expected) in enumerate(
            zip(placed.arguments, function.arguments, strict=True), 1
        ):
            found = self._type_of(argument, text)
            if found != expected:
                raise FormError(
                    f"argument {number} of {name} must be a {expected}, not a {found},",
                    text,
                    argument.position,
                )
        return function.result

    def _unknown(self, name: str, applied: bool) -> str:
        prefix = name.partition(":")[0]
        if not applied and prefix in ("relation", "part"):
            known = self.view.relations if prefix == "relation" else self.view.parts
            return f"the table has no {short(name)!r} (it has: {', '.join(known) or 'none'})"
        if applied or ":" not in name:
            near = get_close_matches(name, FUNCTIONS, n=3) if len(name) < 60 else []
            return f"there is no function {short(name)!r}" + (f" (near: {', '.join(near)})" if near else "")
        beginnings = ", ".join(f"{prefix}:" for prefix in _PREFIXES)
        return f"a leaf begins with one of {beginnings} or is a number; unknown: {short(name)!r}"

    # Action sequences: the leftmost derivation of a form, as a decoder makes it.

    def actions(self, form: Form) -> list[Production]:
        """The productions that derive a well-typed form, leftmost first."""
        function = FUNCTIONS.get(form.name)
        if function is not None:
            steps = [Production(function.result, function.name, function.arguments)]
            return steps + [step for argument in form.arguments for step in self.actions(argument)]
        leaf = self.leaf(form.name)
        if leaf is None:
            raise FormError(self._unknown(form.name, bool(form.arguments)), str(form), 0)
        return [Production(leaf[0], form.name)]

    def form_of(self, actions: Sequence[Production]) -> Form:
        """The form that a leftmost derivation makes. Raises ValueError where it ends early, late or ill-typed."""
        steps = iter(actions)
        form = _derive(steps, None)
        if next(steps, None) is not None:
            raise ValueError("the action sequence goes on after its form is complete")
        return form


def _derive(steps: Iterator[Production], expected: str | None) -> Form:
    step = next(steps, None)
    if step is None:
        raise ValueError("the action sequence ends before its form is complete")
    if expected is not None and step.type != expected:
        raise ValueError(f"the action sequence has {step} where a {expected} must be made")
    return Form(step.name, tuple(_derive(steps, argument) for argument in step.arguments))


def relation_leaf(relation: str) -> str:
    return f"relation:{relation}"


def part_leaf(part: str) -> str:
    return f"part:{part}"


def string_leaf(string_key: str) -> str:
    return f"string:{string_key}"


def number_leaf(number: float) -> str:
    """``20``, ``-5``, ``4.25``: plain decimals, never an exponent."""
    return f"{number:.8f}".rstrip("0").rstrip(".")


def date_leaf(date: Date) -> str:
    """``date:2004_7_12``: year, month, day, quarter and last year, ``x`` for a part that is not known; the unknown
    ones at the end are left out."""
    known = max(i for i, part in enumerate(date) if part is not None)
    return "date:" + "_".join("x" if part is None else str(part) for part in date[: known + 1])
