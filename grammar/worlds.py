"""Several tables at once: the real one and fictitious ones, on which forms are executed side by side."""

from collections.abc import Sequence
from typing import cast

from grammar.functions import Function
from grammar.types import Denotation, Rows
from grammar.view import View

#: What a form denotes on each table, None where it is undefined.
Vector = tuple[Denotation | None, ...]


class Worlds:
    """Several tables with the same relations: the real one first, then copies. What a filter keeps of all rows of a
    table is worked out once for every relation and argument, and kept from question to question."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)
        self._kept: list[dict[tuple[str, object, object], int]] = [{} for _ in views]

    def apply(self, function: Function, table: int, arguments: Sequence[object]) -> Denotation | None:
        """A function applied on one table; undefined where an argument is."""
        if None in arguments:
            return None
        if function.scope != "each":
            return function.call(self.views[table], *arguments)
        rows, relation, value = arguments
        kept, condition = self._kept[table], (function.name, relation, value)
        if condition not in kept:
            view = self.views[table]
            kept[condition] = cast(int, function.call(view, view.all, relation, value))
        return Rows(cast(int, rows) & kept[condition])
