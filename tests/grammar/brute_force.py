"""The oracle of the search: every form of its space, written out one by one and run by the executor.

It shares nothing with the search but the language and the rules of canonical forms: no masks, no grouping, no packing.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from grammar.canonical import applied, canonical
from grammar.executor import execute
from grammar.forms import Form
from grammar.functions import FUNCTIONS, Function
from grammar.language import Language, date_leaf, number_leaf, part_leaf, relation_leaf, string_leaf
from grammar.types import Denotation


def readings(language: Language, max_size: int) -> dict[Form, Denotation]:
    """Each canonical form that reads a value out of rows, of size at most ``max_size``, with its denotation where it
    has one."""
    forms = canonicals(Space(language).up_to(max_size))
    denotations = {form: execute(form, language) for form in forms}
    return {form: value for form, value in denotations.items() if value is not None}


def canonicals(forms: list[Form]) -> list[Form]:
    """The canonical forms of some, each once. What is part of several is worked out once; by identity, since a form's
    hash looks through all of it: what is known is kept alive."""
    known: dict[int, Form] = {}
    made: dict[tuple[str, tuple[int, ...]], Form] = {}
    kept: dict[Form, Form] = {}

    def of(form: Form) -> Form:
        if id(form) not in known:
            arguments = tuple(map(of, form.arguments))
            call = (form.name, tuple(map(id, arguments)))
            if call not in made:
                found = applied(form.name, arguments)
                made[call] = kept.setdefault(found, found)
            known[id(form)] = made[call]
        return known[id(form)]

    return list({id(found): found for found in map(of, forms)}.values())


def operations(language: Language, read: dict[Form, Denotation]) -> Iterator[tuple[Form, Denotation]]:
    """Each canonical operation over readings, at most one operand being a literal, with its denotation where it has
    one."""
    leaves = Space(language).leaves
    for function in FUNCTIONS.values():
        if function.name == "date" or not set(function.arguments) <= {"Number", "Date", "String"}:
            continue
        pools = []
        for type_name in function.arguments:
            literals = [(form, execute(form, language), False) for form in leaves[type_name]]
            pools.append([(f, v, True) for f, v in read.items() if _result(f) == type_name] + literals)
        for operands in product(*pools) if pools else ():
            if any(is_read for _, _, is_read in operands):
                value = function.call(language.view, *(value for _, value, _ in operands))
                form = Form(function.name, tuple(form for form, _, _ in operands))
                if value is not None and canonical(form) == form:
                    yield form, value


class Space:
    """The forms of the search's space by size, canonical or not."""

    def __init__(self, language: Language) -> None:
        literals = language.literals
        self.language = language
        self.leaves = {
            "Part": [Form(part_leaf(p)) for p in language.view.parts],
            "String": [Form(string_leaf(t.key)) for t in literals.strings],
            "Number": [Form(number_leaf(n)) for n in literals.numbers],
            "Date": [Form(date_leaf(d)) for d in literals.dates],
        }
        self.rows = cache(self._rows)
        self.readings = cache(self._readings)

    def up_to(self, size: int) -> list[Form]:
        return [form for i in range(size + 1) for form in self.readings(i)]

    def _rows(self, size: int) -> list[Form]:
        """The forms of type Rows of exactly this size."""
        if size == 0:
            return [Form("all_structures")]
        made = []
        for function in FUNCTIONS.values():
            if function.result == "Rows" and function.arguments:
                made += self._applied(function, size - 1)
        return made

    def _readings(self, size: int) -> list[Form]:
        made = []
        for function in FUNCTIONS.values():
            if function.result == "Rows" or "Rows" not in function.arguments:
                continue
            if function.name.startswith("compare_"):
                forms = self._applied(function, size - 1) if size else []
                made += [f for f in forms if f.arguments[-1] != f.arguments[-2]]
            else:
                made += self._applied(function, size)
        return made

    def _applied(self, function: Function, size: int) -> list[Form]:
        """The function over arguments whose sizes make this one together."""
        forms: list[tuple[tuple[Form, ...], int]] = [((), 0)]
        for type_name in function.arguments:
            forms = [
                ((*before, form), taken + more)
                for before, taken in forms
                for form, more in self._pool(function, type_name, size - taken)
            ]
        return [Form(function.name, arguments) for arguments, taken in forms if taken == size]

    def _pool(self, function: Function, type_name: str, size: int) -> list[tuple[Form, int]]:
        """What an argument may be, up to a size, with its size."""
        if type_name == "Rows":
            return [(f, i) for i in range(size + 1) for f in self.rows(i)]
        if type_name == "Relation":
            return [(Form(relation_leaf(r)), 0) for r in self.language.offered(function)]
        leaves = [(f, 0) for f in self.leaves[type_name]]
        if function.result == "Rows" and type_name in ("Number", "Date"):
            return leaves + [
                (f, i) for i in range(size + 1) for f in self.readings(i) if _result(f) == type_name
            ]
        return leaves


def _result(form: Form) -> str:
    return FUNCTIONS[form.name].result
