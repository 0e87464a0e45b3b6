"""The filters of a search, by what they keep of the table.

A filter decides row by row, so that its mask over all rows serves for every set.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from grammar.families import Pool
from grammar.forest import Apply, Leaf, Node, Packed, add_forms
from grammar.functions import FUNCTIONS, Function
from grammar.language import Language
from grammar.leaves import Leaves
from grammar.types import Denotation, Relation

_FILTERS = [function for function in FUNCTIONS.values() if function.scope == "each"]


class Filters:
    """Makes the filters of a language, size by size; a mask is worked out once."""

    def __init__(self, language: Language, leaves: Leaves) -> None:
        self._view = language.view
        self._leaves = leaves
        self._offered = {function.name: language.offered(function) for function in _FILTERS}
        self._masks: dict[tuple[str, Relation, object], int] = {}

    def of_size(self, size: int, read: Mapping[str, Mapping[Denotation, Node]]) -> Pool:
        """Mask -> the filters that keep just these rows of the table, of those whose argument has this size; each is
        a form without its rows. ``read`` are the values of this size that are read out of rows, by type."""
        made: dict[int, Packed] = {}
        numbers = sorted(self._arguments("Number", size, read), key=lambda pair: cast(float, pair[0]))
        strings, dates = self._arguments("String", size, {}), self._arguments("Date", size, read)
        for relation in self._view.relations:
            arguments: dict[str, list[tuple[object, Denotation, Node]]] = {
                "Number": list(self._alike(relation, numbers)),
                "String": [(value, value, forms) for value, forms in strings],
                "Date": [(value, value, forms) for value, forms in dates],
            }
            for function in _FILTERS:
                if relation not in self._offered[function.name]:
                    continue
                for key, value, forms in arguments[function.arguments[2]]:
                    mask = self._mask(function, relation, key, value)
                    add_forms(made, mask, Apply(function.name, self._leaves.relations[relation], forms))
        return Pool(made.items(), self._view.size)

    def _arguments(
        self, type_name: str, size: int, read: Mapping[str, Mapping[Denotation, Node]]
    ) -> list[tuple[Denotation, Node]]:
        """What filters may compare with: the question's literals (size 0) and what is read."""
        literals = self._leaves.literals[type_name].items() if size == 0 else ()
        return [*literals, *read.get(type_name, {}).items()]

    def _mask(self, function: Function, relation: Relation, key: object, value: Denotation) -> int:
        place = (function.name, relation, key)
        if place not in self._masks:
            # A filter is defined whatever it takes.
            self._masks[place] = cast(int, function.call(self._view, self._view.all, relation, value))
        return self._masks[place]

    def _alike(
        self, relation: Relation, numbers: Sequence[tuple[Denotation, Node]]
    ) -> Iterator[tuple[object, Denotation, Node]]:
        """Numbers (sorted) that no comparison with the first numbers under the relation tells apart, together: how
        they stand to these, one of them, and the forms of all. Literals stand alone: they are leaves of the filter."""
        values = [value for value, _ in numbers]
        bounds = sorted({cell[0] for cell in self._view.numbers[relation] if cell})
        ends = [end for bound in bounds for end in (bisect_left(values, bound), bisect_right(values, bound))]
        for stands, (start, end) in enumerate(pairwise([0, *ends, len(values)])):
            nodes = [forms for _, forms in numbers[start:end]]
            literals = [node for node in nodes if isinstance(node, Leaf)]
            read = [node for node in nodes if not isinstance(node, Leaf)]
            for node in [*literals, *([Packed(read)] if len(read) > 1 else read)]:
                yield stands, values[start], node
