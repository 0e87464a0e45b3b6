"""The values of a search: read out of its row sets, size by size, and combined into answers at the root of a form."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, combinations_with_replacement, product
from typing import cast

from grammar.canonical import AGGREGATES, COMMUTING
from grammar.families import See
from grammar.forest import Apply, Node, Packed, Pairs, add_forms, seen_of
from grammar.functions import FUNCTIONS, Function
from grammar.goal import Goal
from grammar.language import Language
from grammar.leaves import Leaves
from grammar.readings import Readings
from grammar.rowsets import RowSets
from grammar.types import Denotation, Number, String
from grammar.view import round_off

_COMPARISONS = [
    function
    for function in FUNCTIONS.values()
    if function.arguments[-2:] == ("String", "String") and "Rows" in function.arguments
]

#: Arithmetic, solved for its second operand: (result, first operand) -> second operand.
SECOND_OPERAND: dict[str, Callable[[Number, Number], Number]] = {
    "add": lambda result, first: round_off(result - first),
    "diff": lambda result, first: round_off(first - result),
}


class Values:
    """The values of each size so far: type -> denotation -> forms."""

    def __init__(self, language: Language, leaves: Leaves, readings: Readings, goal: Goal) -> None:
        self._language = language
        self._view = language.view
        self._leaves = leaves
        self._readings = readings
        self._goal = goal
        self.sizes: list[dict[str, dict[Denotation, Packed]]] = []

    def read(self, size: int, rows: RowSets, last: bool) -> None:
        """Read the values out of the row sets of a size, the next one, and choose texts over those of the size below.
        Of the ``last`` size, numbers serve only as an answer or in one.

        Texts are kept only where an answer may hold them: nothing else in the space takes texts that are read.
        """
        made: dict[str, dict[Denotation, Packed]] = {"Number": {}, "Date": {}, "String": {}}
        useless = {"Number"} if last and not self._goal.numbers else set()
        for reader in self._readings.of_values:
            function = reader.function
            if function.result in useless:
                continue
            if function.scope == "first":
                family = rows.of(size, without="first")
            else:
                family = rows.of(size, without="single" if function.name in AGGREGATES else "")
            for value, forms in self._readings.read(reader, family):
                add_forms(made[function.result], value, Apply(function.name, forms, *reader.leaves))
        if size:
            self._compare(size - 1, rows, made["String"])
        self.sizes.append(made)

    def _compare(self, below: int, rows: RowSets, made: dict[Denotation, Packed]) -> None:
        """Choose between two texts of the question, one of which is an answer."""
        strings = sorted(self._leaves.literals["String"].items(), key=lambda item: str(item[1].form()))
        may_serve = self._readings.may_serve
        for (one, mine), (two, theirs) in combinations(strings, 2):
            if not (may_serve(one) or may_serve(two)):
                continue
            mentions = [self._view.mentions(cast(String, text)[0].key) for text in (one, two)]
            for mask, forms in seen_of(rows.of(below), See(mentions[0] | mentions[1])):
                for function in _COMPARISONS:
                    takes_relation = "Relation" in function.arguments
                    for relation in self._language.offered(function) if takes_relation else [None]:
                        given = () if relation is None else (relation,)
                        value = function.call(self._view, mask, *given, one, two)
                        if value is not None and may_serve(value):
                            leaves = [self._leaves.relations[name] for name in given]
                            add_forms(made, value, Apply(function.name, forms, *leaves, mine, theirs))

    def answers(self) -> dict[Denotation, Packed]:
        """The answers with the forms that reach them: values as read, then operations on values."""
        answers: dict[Denotation, Packed] = {}
        for denotation, forms in self._roots():
            add_forms(answers, denotation, forms)
        return answers

    def _roots(self) -> Iterator[tuple[Denotation, Node]]:
        read = {name: self._of_any_size(name) for name in ("Number", "Date", "String")}
        for values in read.values():
            for value, forms in values.items():
                if self._goal.accepts(value):
                    yield value, forms
        for function in FUNCTIONS.values():
            name = next(iter(function.arguments), "")
            if name not in read or function.arguments not in ((name,), (name, name)):
                continue  # no operation on values
            if function.result == "Number" and not self._goal.numbers:
                continue
            if len(function.arguments) == 1:
                for value, forms in read[name].items():
                    yield from self._root(function, (value, forms))
                continue
            own, literals = read[name], dict[Denotation, Node](self._leaves.literals[name])
            pools = [(own, own), (own, literals), (literals, own)]
            # Of operands that commute, those in one order: the other pairs are the same forms.
            for mine, theirs in pools[:2] if function.name in COMMUTING else pools:
                for pair in self._operand_pairs(function, mine, theirs):
                    yield from self._root(function, *pair)

    def _of_any_size(self, type_name: str) -> dict[Denotation, Node]:
        """Every value of a type, with its forms of each size."""
        merged: dict[Denotation, tuple[list[Node], list[int]]] = {}
        for size, values in enumerate(self.sizes):
            for value, forms in values[type_name].items():
                nodes, sizes = merged.setdefault(value, ([], []))
                nodes.append(forms)
                sizes.append(size)
        return {value: Packed(nodes, sizes) for value, (nodes, sizes) in merged.items()}

    def _root(
        self, function: Function, *operands: tuple[Denotation, Node]
    ) -> Iterator[tuple[Denotation, Node]]:
        values, forms = [value for value, _ in operands], [forms for _, forms in operands]
        value = function.call(self._view, *values)
        if value is not None and self._goal.accepts(value):
            alike = function.name in COMMUTING and forms[0] is forms[1]
            yield value, Pairs(function.name, forms[0]) if alike else Apply(function.name, *forms)

    def _operand_pairs(
        self, function: Function, mine: Mapping[Denotation, Node], theirs: Mapping[Denotation, Node]
    ) -> Iterator[tuple[tuple[Denotation, Node], tuple[Denotation, Node]]]:
        """The pairs of operands worth trying: for arithmetic, those that solve for a number of the goal."""
        once = function.name in COMMUTING and mine is theirs
        solve = SECOND_OPERAND.get(function.name)
        if solve is None:
            pairs = (
                combinations_with_replacement(mine.items(), 2)
                if once
                else product(mine.items(), theirs.items())
            )
            yield from pairs
            return
        for value, forms in mine.items():
            first = cast(Number, value)
            for other in {solve(goal, first) for goal in self._goal.numbers}:
                if other in theirs and not (once and other < first):
                    yield (value, forms), (other, theirs[other])
