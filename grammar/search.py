"""Every consistent logical form up to a size, by dynamic programming over denotations.

After Pasupat & Liang (2016): for each nesting, each denotation is kept once, with all the ways of reaching
it; only distinct denotations are combined. What comes out is packed: counted exactly, listed on demand.

**The space.** A form's *size* is its nesting of row operations: 0 for ``all_structures``, one more for each
function that makes rows out of rows or compares two texts over them; reading a value out of rows adds
nothing. A search of size N holds every well-typed form of size at most N in which

- the string arguments of filters and comparisons are the question's, two different ones in a comparison;
- the number and date arguments of filters are the question's, or are read from rows by one function;
- operations on values (``diff``, ``add``, ``complement``, ``year`` and the date differences, ``both``) stand
  at the root, over values read from rows or, for at most one operand, the question's;
- a function is applied to the relations that hold what it needs (``Language.offered``): no filter on numbers
  where there are none;
- the root is not a literal: an answer must come from the table.
"""

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Protocol, TypeVar, cast

from grammar.forest import Apply, Filtered, Forms, Found, Leaf, Packed
from grammar.forms import Form
from grammar.functions import FUNCTIONS, Function
from grammar.language import Language, date_leaf, number_leaf, part_leaf, relation_leaf, string_leaf
from grammar.types import Date, Denotation, Number, Part, Relation, Rows, String, Text
from grammar.view import ENTITY, round_off

K = TypeVar("K", bound=Hashable)

#: Pairs of row sets and filters that one size may combine: about a second's work. It is a count, not a time, so
#: that the same question has the same forms on every machine.
MAX_PAIRS = 1_000_000


class Goal(Protocol):
    """The answers that a form may reach."""

    @property
    def numbers(self) -> frozenset[Number]:
        """The numbers among them: arithmetic is solved for these, and no other number is accepted."""
        ...

    def accepts(self, denotation: Denotation) -> bool:
        """Whether a denotation is one of the answers."""
        ...

    def may_hold(self, text: Text) -> bool:
        """Whether an answer may hold the text."""
        ...

    def may_serve(self, string: String) -> bool:
        """Whether texts can be an answer, alone or together with others."""
        ...


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without Python's cycle collector: a search makes millions of objects and no cycle among them, and looking
    for one takes longer than the search."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def search(language: Language, goal: Goal, max_size: int = 2) -> Found:
    """Every form of the space above whose denotation the goal accepts, up to ``max_size`` or the size before the
    one that would combine more than ``MAX_PAIRS``."""
    with collector_paused():
        return _Search(language, goal).run(max_size)


class _Search:
    """One search. The chart has, for each type and size, denotation -> the forms of that size that have it."""

    def __init__(self, language: Language, goal: Goal) -> None:
        self.view = language.view
        self.goal = goal
        self.offered = {name: language.offered(function) for name, function in FUNCTIONS.items()}
        self.relations = {name: Leaf(Form(relation_leaf(name))) for name in self.view.relations}
        self.parts = {name: Leaf(Form(part_leaf(name))) for name in self.view.parts}
        literals = language.literals
        self.literals: dict[str, dict[Denotation, Forms]] = {
            "String": {(text,): Leaf(Form(string_leaf(text.key))) for text in literals.strings},
            "Number": {number: Leaf(Form(number_leaf(number))) for number in literals.numbers},
            "Date": {date: Leaf(Form(date_leaf(date))) for date in literals.dates},
        }
        self.rows: list[dict[Rows, Packed]] = []
        self.filters: list[dict[Rows, Packed]] = []
        self.values: list[dict[str, dict[Denotation, Packed]]] = []

    def run(self, max_size: int) -> Found:
        for size in range(max_size + 1):
            if self._pairs_ahead(size) > MAX_PAIRS:
                break
            self.rows.append(self._make_rows(size))
            self.values.append(self._read(size, last=size == max_size))
            if size < max_size:
                self.filters.append(self._make_filters(size))
        found = Packed()
        reached: dict[Denotation, None] = {}
        for denotation, forms in self._roots():
            for alternative in forms.alternatives if isinstance(forms, Packed) else [forms]:
                found.add(alternative)
            reached[denotation] = None
        return Found(found, tuple(reached), len(self.rows) - 1)

    # Rows.

    def _pairs_ahead(self, size: int) -> int:
        """How many pairs the row sets of this size combine."""
        pairs = _pairs(size - 1) if size else []
        return sum(len(self.rows[i]) * (len(self.filters[j]) + 2 * len(self.rows[j])) for i, j in pairs)

    def _make_rows(self, size: int) -> dict[Rows, Packed]:
        """The row sets of the forms of exactly this size."""
        made: dict[Rows, Packed] = {}
        if size == 0:
            _add(made, self.view.all, Leaf(Form("all_structures")))
            return made
        below = self.rows[size - 1]
        for i, j in _pairs(size - 1):
            for rows, forms in self.rows[i].items():
                for mask, filters in self.filters[j].items():
                    _add(made, Rows(rows & mask), Filtered(filters, forms))
        for function in _functions("Rows", "Rows"):
            for rows, forms in below.items():
                _add(made, self._rows_of(function, rows), Apply(function.name, forms))
        for function in _functions("Rows", "Rows", "Relation"):
            for relation in self.offered[function.name]:
                for rows, group in _grouped(below, _within(self.view.holding[function.needs][relation])):
                    extreme = Apply(function.name, group, self.relations[relation])
                    _add(made, self._rows_of(function, rows, relation), extreme)
        for function in _functions("Rows", "Rows", "Rows"):
            for i, j in _pairs(size - 1):
                for (mine, forms), (theirs, others) in product(self.rows[i].items(), self.rows[j].items()):
                    _add(made, self._rows_of(function, mine, theirs), Apply(function.name, forms, others))
        return made

    def _make_filters(self, size: int) -> dict[Rows, Packed]:
        """Mask -> the filters that keep just these rows of the table, of those whose argument has this size.

        A filter decides row by row, so that its mask over the whole table serves for every set of rows.
        """
        made: dict[Rows, Packed] = {}
        arguments = {name: self._arguments(name, size) for name in ("String", "Number", "Date")}
        for function in (f for f in FUNCTIONS.values() if f.scope == "each"):
            for relation in self.offered[function.name]:
                for value, forms in arguments[function.arguments[2]]:
                    mask = self._rows_of(function, self.view.all, relation, value)
                    _add(made, mask, Apply(function.name, self.relations[relation], forms))
        return made

    def _arguments(self, type_name: str, size: int) -> list[tuple[Denotation, Forms]]:
        """What filters may compare with: the question's literals (size 0), numbers and dates that are read."""
        literals = self.literals[type_name].items() if size == 0 else ()
        read = self.values[size][type_name].items() if type_name != "String" else ()
        return [*literals, *read]

    # Values.

    def _read(self, size: int, last: bool) -> dict[str, dict[Denotation, Packed]]:
        """The values read out of the row sets of this size, and the texts chosen over those of the size below.

        Texts are kept only where an answer may hold them: nothing else in the space takes texts that are read.
        """
        rows = self.rows[size]
        made: dict[str, dict[Denotation, Packed]] = {"Number": {}, "Date": {}, "String": {}}
        # Numbers of the last size serve only as an answer or in one.
        useless = {"Number"} if last and not self.goal.numbers else set()
        by_first = _grouped(rows, lambda r: r & -r)
        by_number = _grouped(rows, lambda r: (1 << r.bit_count()) - 1)
        by_mask: dict[int, list[tuple[Rows, Packed]]] = {}
        for function in _functions("Number", "Rows"):
            for key, group in by_number if "Number" not in useless else ():
                count = self._call(function, key)
                if count is not None:
                    _add(made["Number"], count, Apply(function.name, group))
        for function in FUNCTIONS.values():
            if function.result in useless or function.scope not in ("first", "holding", "part"):
                continue
            for relation in self.offered[function.name]:
                for seen, values, leaves in self._further(function, relation):
                    if function.scope == "first":
                        groups = by_first
                    elif seen in by_mask:
                        groups = by_mask[seen]
                    else:
                        groups = by_mask[seen] = _grouped(rows, _within(seen))
                    for key, group in groups:
                        value = self._call(function, key, relation, *values)
                        if value is not None and self._may_serve(value):
                            forms = Apply(function.name, group, self.relations[relation], *leaves)
                            _add(made[function.result], value, forms)
        if size:
            self._compare(self.rows[size - 1], made["String"])
        return made

    def _further(
        self, function: Function, relation: Relation
    ) -> Iterator[tuple[Rows, tuple[object, ...], tuple[Forms, ...]]]:
        """What a reader takes after (rows, relation), with its forms, and the rows that it can see.

        A function that makes texts is left out where none of them can be part of an answer.
        """
        match function.arguments[2:]:
            case ():
                seen = self.view.holding[function.needs][relation]
                if self._reads_answers(function, relation):
                    yield seen, (), ()
            case ("Part",):
                for part in self.view.part_names[relation]:
                    seen = self.view.with_part(relation, part)
                    if self._reads_answers(function, relation, part):
                        yield seen, (part,), (self.parts[part],)
            case ("String",):
                for value, forms in self.literals["String"].items():
                    sought = cast(String, value)[0].key
                    if any(
                        self.view.number_near(relation, row, sought) is not None
                        for row in range(self.view.size)
                    ):
                        yield self.view.all, (value,), (forms,)

    def _reads_answers(self, function: Function, relation: Relation, part: Part | None = None) -> bool:
        """Whether a function that makes texts can make one that an answer may hold."""
        if function.result != "String":
            return True
        if part is None:
            sources = (self.view.texts[relation], self.view.parts_of(relation, ENTITY))
        else:
            sources = (self.view.parts_of(relation, part), self.view.entities_in(relation, part))
        return any(self.goal.may_hold(text) for source in sources for texts in source for text in texts)

    def _may_serve(self, value: Denotation) -> bool:
        """Whether a value can be an answer or be used in one."""
        return not _is_string(value) or self.goal.may_serve(cast(String, value))

    def _compare(self, rows: dict[Rows, Packed], made: dict[Denotation, Packed]) -> None:
        """Choose between two texts of the question, one of which is an answer."""
        strings = self.literals["String"]
        for (one, mine), (two, theirs) in product(strings.items(), strings.items()):
            if one == two or not (self._may_serve(one) or self._may_serve(two)):
                continue
            either = self.view.mentions(cast(String, one)[0].key) | self.view.mentions(
                cast(String, two)[0].key
            )
            for key, group in _grouped(rows, _within(either)):
                for function in _functions("String", "Rows", "String", "String"):
                    value = self._call(function, key, one, two)
                    if value is not None and self._may_serve(value):
                        _add(made, value, Apply(function.name, group, mine, theirs))
                for function in _functions("String", "Rows", "Relation", "String", "String"):
                    for relation in self.offered[function.name]:
                        value = self._call(function, key, relation, one, two)
                        if value is not None and self._may_serve(value):
                            leaf = self.relations[relation]
                            _add(made, value, Apply(function.name, group, leaf, mine, theirs))

    # Roots.

    def _roots(self) -> Iterator[tuple[Denotation, Forms]]:
        """The answers with the forms that reach them: values as read, then operations on values."""
        read = {
            name: _merged([level[name] for level in self.values]) for name in ("Number", "Date", "String")
        }
        for values in read.values():
            for value, forms in values.items():
                if self.goal.accepts(value):
                    yield value, forms
        for function in FUNCTIONS.values():
            name = next(iter(function.arguments), "")
            if name not in read or function.arguments not in ((name,), (name, name)):
                continue  # no operation on values
            if function.result == "Number" and not self.goal.numbers:
                continue
            if len(function.arguments) == 1:
                for value, forms in read[name].items():
                    yield from self._root(function, (value, forms))
                continue
            literals = self.literals[name]
            for mine, theirs in ((read[name], read[name]), (read[name], literals), (literals, read[name])):
                for pair in self._operand_pairs(function, mine, theirs):
                    yield from self._root(function, *pair)

    def _root(
        self, function: Function, *operands: tuple[Denotation, Forms]
    ) -> Iterator[tuple[Denotation, Forms]]:
        value = self._call(function, *(value for value, _ in operands))
        if value is not None and self.goal.accepts(value):
            yield value, Apply(function.name, *(forms for _, forms in operands))

    def _operand_pairs(
        self, function: Function, mine: dict[Denotation, Forms], theirs: dict[Denotation, Forms]
    ) -> Iterator[tuple[tuple[Denotation, Forms], tuple[Denotation, Forms]]]:
        """The pairs of operands worth trying: for arithmetic, those that solve for a number of the goal."""
        solve = SECOND_OPERAND.get(function.name)
        if solve is None:
            yield from product(mine.items(), theirs.items())
            return
        for value, forms in mine.items():
            for other in {solve(goal, cast(Number, value)) for goal in self.goal.numbers}:
                if other in theirs:
                    yield (value, forms), (other, theirs[other])

    def _call(self, function: Function, *arguments: object) -> Denotation | None:
        return function.call(self.view, *arguments)

    def _rows_of(self, function: Function, *arguments: object) -> Rows:
        """Call a function that makes rows: these are always defined."""
        return cast(Rows, function.call(self.view, *arguments))


#: Arithmetic, solved for its second operand: (result, first operand) -> second operand.
SECOND_OPERAND: dict[str, Callable[[Number, Number], Number]] = {
    "add": lambda result, first: round_off(result - first),
    "diff": lambda result, first: round_off(first - result),
}


def _functions(result: str, *arguments: str) -> list[Function]:
    """The functions of that signature, but for those that decide row by row."""
    return [
        f for f in FUNCTIONS.values() if (f.result, f.arguments) == (result, arguments) and f.scope != "each"
    ]


def _pairs(size: int) -> list[tuple[int, int]]:
    """The pairs of sizes of which the greater is ``size``."""
    return [(i, j) for i in range(size + 1) for j in range(size + 1) if max(i, j) == size]


def _is_string(value: object) -> bool:
    return isinstance(value, tuple) and not isinstance(value, Date)


def _add(made: dict[K, Packed], value: K, forms: Forms) -> None:
    packed = made.get(value)
    if packed is None:
        packed = made[value] = Packed()
    packed.add(forms)


def _grouped(rows: dict[Rows, Packed], key: Callable[[Rows], int]) -> list[tuple[Rows, Packed]]:
    """The row sets by what a function sees of them."""
    groups: dict[Rows, Packed] = {}
    for mask, forms in rows.items():
        _add(groups, Rows(key(mask)), forms)
    return list(groups.items())


def _within(mask: int) -> Callable[[Rows], int]:
    """See of a row set only the rows in the mask."""
    return lambda rows: rows & mask


def _merged(levels: list[dict[Denotation, Packed]]) -> dict[Denotation, Forms]:
    """Every value of any size, with its forms of all sizes."""
    merged: dict[Denotation, Packed] = {}
    for level in levels:
        for value, forms in level.items():
            _add(merged, value, forms)
    return cast(dict[Denotation, Forms], merged)
