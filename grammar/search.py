"""Every consistent logical form up to a size, by dynamic programming over denotations.

After Pasupat & Liang (2016): each denotation is kept once, with all the ways of reaching it; only distinct
denotations are combined. What comes out is packed: counted exactly, read out on demand.

**The space.** A reading's *size* is how many row operations it takes: none for ``all_structures``, one for each
function that makes rows out of rows or compares two texts over them, wherever in the reading it stands; reading a
value out of rows adds nothing. A search of size N holds every well-typed form, by its canonical form
(``grammar.canonical``), whose readings have size at most N each, and in which

- the string arguments of filters and comparisons are the question's, two different ones in a comparison;
- the number and date arguments of filters are the question's, or are read from rows by one function;
- operations on values (``diff``, ``add``, ``complement``, ``year`` and the date differences, ``both``) stand
  at the root, over values read from rows or, for at most one operand, the question's;
- a function is applied to the relations that hold what it needs (``Language.offered``): no filter on numbers
  where there are none;
- the root is not a literal: an answer must come from the table.
"""

import gc
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Protocol, TypeVar, cast

import numpy as np

from grammar.alike import KEYS
from grammar.canonical import AGGREGATES, ALL, COMMUTING, EXTREMES
from grammar.families import Aspect, Block, Family, Pool, See, Seen, TooMany, group, to_words, width
from grammar.forest import Apply, Filtered, Found, Leaf, Node, Packed, Pairs, Rows, seen_of, sets_of
from grammar.forms import Form
from grammar.functions import FUNCTIONS, Function
from grammar.language import Language, date_leaf, number_leaf, part_leaf, relation_leaf, string_leaf
from grammar.types import Date, Denotation, Number, Part, Relation, String, Text
from grammar.view import round_off

K = TypeVar("K", bound=Hashable)

#: The largest size that the canonical forms of rows are worked out for.
MAX_SIZE = 4
#: Pairs of row sets that may be combined at a time, for tables of up to 64 rows; for longer ones as many fewer as a set
#: takes more words. A search that would need more stops at the size before. It is a count and not a time, so that the
#: same question has the same forms on every machine.
MAX_PAIRS = 4_000_000


class Goal(Protocol):
    """The answers that a form may reach."""

    @property
    def numbers(self) -> frozenset[Number]:
        """The numbers among them: arithmetic is solved for these, and no other number is accepted."""
        ...

    def accepts(self, denotation: Denotation) -> bool:
        """Whether a denotation is one of the answers."""
        ...

    @property
    def partial(self) -> bool:
        """Whether texts that no answer holds may stand beside some that one does."""
        ...

    def may_hold(self, text: Text) -> bool:
        """Whether an answer may hold the text."""
        ...

    def may_serve(self, string: String) -> bool:
        """Whether texts can be an answer, alone or together with others."""
        ...


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without Python's cycle collector: a search makes many objects and drops few before its end, and looking through
    them takes longer than the search. None of them are in a cycle, so that nothing is left for it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What was made counts as old: looking through it at once is what was to be avoided.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def search(language: Language, goal: Goal, max_size: int = 3, seconds: float | None = None) -> Found:
    """Every form of the space above whose denotation the goal accepts, up to ``max_size`` or the size before the
    one that would combine more than ``MAX_PAIRS``.

    With ``seconds``, no size is begun after that time: how far the search goes then depends on the machine, so that
    nothing that is kept is searched so. Raises ValueError where ``max_size`` is not between 0 and ``MAX_SIZE``.
    """
    if not 0 <= max_size <= MAX_SIZE:
        raise ValueError(f"max_size is {max_size}: it must be between 0 and {MAX_SIZE}.")
    with collector_paused():
        return _Search(language, goal).run(max_size, seconds)


#: Rows by the outermost function of their form, where they have one row at most: ``argmax``'s with its relation.
Kind = tuple[str, str]
_EMPTY: Kind = ("empty", "")
_FILTERED: Kind = ("filter", "")


class _Search:
    """One search. For each size: the row sets of the forms of that size, the filters whose argument has that size,
    and the values read out of the rows."""

    def __init__(self, language: Language, goal: Goal) -> None:
        self.view = language.view
        self.goal = goal
        self.budget = MAX_PAIRS // width(self.view.size)
        self.offered = {name: language.offered(function) for name, function in FUNCTIONS.items()}
        self.relations = {name: Leaf(Form(relation_leaf(name))) for name in self.view.relations}
        self.parts = {name: Leaf(Form(part_leaf(name))) for name in self.view.parts}
        literals = language.literals
        self.literals: dict[str, dict[Denotation, Node]] = {
            "String": {(text,): Leaf(Form(string_leaf(text.key))) for text in literals.strings},
            "Number": {number: Leaf(Form(number_leaf(number))) for number in literals.numbers},
            "Date": {date: Leaf(Form(date_leaf(date))) for date in literals.dates},
        }
        self.all = Pool([(self.view.all, Leaf(ALL))], self.view.size)
        #: Rows that may be many: under filters alone, and those under a union.
        self.conjunctions: list[Family] = []
        self.unions: list[Family] = []
        #: Rows of one row at most: kind -> mask -> forms.
        self.singles: list[dict[Kind, dict[int, Packed]]] = []
        self.filters: list[Pool] = []
        self.values: list[dict[str, dict[Denotation, Packed]]] = []
        self.masks: dict[tuple[str, Relation, object], int] = {}
        self.operands: dict[int, Pool] = {}
        self.bases: dict[int, Pool] = {}
        self.readable: dict[tuple[int, str], Family] = {}
        self.held: dict[Text, bool] = {}
        self.readers = self._make_readers()
        self.extremes = {
            (name, relation): _Reader(
                FUNCTIONS[name], (relation,), (), See(self.view.holding["value"][relation])
            )
            for name in sorted(EXTREMES)
            for relation in self.offered[name]
        }

    def run(self, max_size: int, seconds: float | None = None) -> Found:
        started = time.monotonic()
        for size in range(max_size + 1):
            if size and seconds is not None and time.monotonic() - started > seconds:
                break
            try:
                self._make_rows(size)
            except TooMany:
                break
            self.values.append(self._read(size, last=size == max_size))
            if size < max_size:
                self.filters.append(self._make_filters(size))
        answers: dict[Denotation, Packed] = {}
        for denotation, forms in self._roots():
            _add(answers, denotation, forms)
        return Found(answers, len(self.values) - 1)

    # Rows.

    def _make_rows(self, size: int) -> None:
        """The row sets of the forms of exactly this size. Raises TooMany where the budget does not reach so far."""
        conjunctions: list[tuple[Pool, ...]] = [(self.all, *pools) for pools in self._filter_sets(size)]
        unions: list[tuple[Pool, ...]] = []
        for i in range(1, size):
            joined_rows = Pool((), self.view.size, [self.unions[size - i]])
            unions += [(joined_rows, *pools) for pools in self._filter_sets(i) if len(joined_rows)]
        joined = [(self._operands(i), self._operands(size - 1 - i)) for i in range(1, (size - 1) // 2 + 1)]
        rows = self.view.size
        conjunction = Family([Block(pools) for pools in conjunctions], rows, self.budget)
        blocks = [Block(pools, "union") for pools in joined] + [Block(pools) for pools in unions]
        union = Family(blocks, rows, self.budget)
        for family, sizes in ((conjunction, self.conjunctions), (union, self.unions)):
            family.sets  # noqa: B018  # TooMany is raised here
            sizes.append(family)
        self.singles.append(self._make_singles(size) if size else {})

    def _filter_sets(self, size: int) -> list[tuple[Pool, ...]]:
        """The ways in which filters make this size together; a filter's size is one more than its argument's."""
        sets = []
        for number in range(size + 1):
            for sizes in combinations_with_replacement(range(size), number):
                if sum(sizes) + number == size:
                    sets.append(tuple(self.filters[i] for i in sizes))
        return [pools for pools in sets if all(map(len, pools))]

    def _operands(self, size: int) -> Pool:
        """What a union takes: rows of this size that are neither all nor none by their form."""
        if size not in self.operands:
            self.operands[size] = Pool(self._single(size, {_EMPTY}), self.view.size, self._many(size))
        return self.operands[size]

    def _many(self, size: int) -> list[Family]:
        return [family for family in (self.conjunctions[size], self.unions[size]) if len(family)]

    def _single(self, size: int, without: Set[Kind]) -> Iterator[tuple[int, Node]]:
        """The rows that are one at most by their form, but for some kinds."""
        for kind, rows in self.singles[size].items():
            if kind not in without:
                yield from rows.items()

    def _make_singles(self, size: int) -> dict[Kind, dict[int, Packed]]:
        below = size - 1
        made: dict[Kind, dict[int, Packed]] = {}

        def add(kind: Kind, mask: int, forms: Node) -> None:
            _add(made.setdefault(kind, {}), mask, forms)

        for family in self._many(below):
            forms: Node
            for mask, forms in seen_of(family, See(self.view.all, "first")):
                add(("first", ""), mask, Apply("first", forms))
                add(("previous", "") if below else _EMPTY, mask >> 1, Apply("previous", forms))
            for mask, forms in seen_of(family, See(self.view.all, "last")):
                add(("last", ""), mask, Apply("last", forms))
                if below:
                    add(("next", ""), mask << 1 & self.view.all, Apply("next", forms))
        for mask, forms in self._single(below, {_EMPTY, ("first", "")}):
            add(("previous", ""), mask >> 1, Apply("previous", forms))
        for mask, forms in self._single(below, {_EMPTY, ("last", "")}):
            add(("next", ""), mask << 1 & self.view.all, Apply("next", forms))
        for (name, relation), reader in self.extremes.items():
            others = self._single(below, {_EMPTY, *((extreme, relation) for extreme in EXTREMES)})
            seen = [pair for family in self._many(below) for pair in self._read_rows(reader, family)]
            chosen = [(self._value(reader, mask & reader.see.mask), forms) for mask, forms in others]
            for row, forms in [*seen, *chosen]:
                add((name, relation), cast(int, row), Apply(name, forms, self.relations[relation]))
        for i in range(1, size):
            family = self.conjunctions[i]
            for mask, forms in self._single(size - i, {_EMPTY, _FILTERED}):
                for kept, filters in seen_of(family, See(mask)):
                    add(_FILTERED, kept, Filtered(forms, filters))
        for i in range(1, below // 2 + 1):
            mine, theirs = self._bases(i), self._bases(below - i)
            family = Family([Block((mine, theirs), "intersection")], self.view.size, self.budget)
            for mask, forms in sets_of(family):
                add(("intersection", ""), mask, forms)
        return made

    def _bases(self, size: int) -> Pool:
        """What an intersection takes: rows with no filter outermost, neither all nor none by their form."""
        if size not in self.bases:
            self.bases[size] = Pool(self._single(size, {_EMPTY, _FILTERED}), self.view.size)
        return self.bases[size]

    def _mask(self, function: Function, *arguments: object) -> int:
        """Call a function that makes rows: these are always defined."""
        return cast(int, function.call(self.view, *arguments))

    # Filters.

    def _make_filters(self, size: int) -> Pool:
        """Mask -> the filters that keep just these rows of the table, of those whose argument has this size; each is
        a form without its rows. A filter decides row by row, so that its mask over all serves for every set."""
        made: dict[int, Packed] = {}
        numbers = sorted(self._arguments("Number", size), key=lambda pair: cast(float, pair[0]))
        for relation in self.view.relations:
            arguments: dict[str, list[tuple[object, Denotation, Node]]] = {
                "Number": list(self._alike(relation, numbers)),
                "String": [(value, value, forms) for value, forms in self._arguments("String", size)],
                "Date": [(value, value, forms) for value, forms in self._arguments("Date", size)],
            }
            for function in FILTERS:
                if relation not in self.offered[function.name]:
                    continue
                for key, value, forms in arguments[function.arguments[2]]:
                    place = (function.name, relation, key)
                    if place not in self.masks:
                        self.masks[place] = self._mask(function, self.view.all, relation, value)
                    _add(made, self.masks[place], Apply(function.name, self.relations[relation], forms))
        return Pool(made.items(), self.view.size)

    def _arguments(self, type_name: str, size: int) -> list[tuple[Denotation, Node]]:
        """What filters may compare with: the question's literals (size 0), numbers and dates that are read."""
        literals = self.literals[type_name].items() if size == 0 else ()
        read = self.values[size][type_name].items() if type_name != "String" else ()
        return [*literals, *read]

    def _alike(
        self, relation: Relation, numbers: Sequence[tuple[Denotation, Node]]
    ) -> Iterator[tuple[object, Denotation, Node]]:
        """Numbers (sorted) that no comparison with the first numbers under the relation tells apart, together: how
        they stand to these, one of them, and the forms of all. Literals stand alone: they are leaves of the filter."""
        values = [value for value, _ in numbers]
        bounds = sorted({cell[0] for cell in self.view.numbers[relation] if cell})
        ends = [end for bound in bounds for end in (bisect_left(values, bound), bisect_right(values, bound))]
        for stands, (start, end) in enumerate(pairwise([0, *ends, len(values)])):
            nodes = [forms for _, forms in numbers[start:end]]
            literals = [node for node in nodes if isinstance(node, Leaf)]
            read = [node for node in nodes if not isinstance(node, Leaf)]
            for node in [*literals, *([Packed(read)] if len(read) > 1 else read)]:
                yield stands, values[start], node

    # Values.

    def _rows(self, size: int, without: str) -> Family:
        """The rows of this size, but for those with ``first`` outermost (``first``) or those that are one at most by
        their form (``single``)."""
        key = (size, without)
        if key not in self.readable:
            families = self._many(size)
            if without == "single" and len(families) == 1:
                self.readable[key] = families[0]
            else:
                kinds = {("first", "")} if without == "first" else frozenset[Kind]()
                singles = self._single(size, kinds) if without != "single" else ()
                pool = Pool(singles, self.view.size, families)
                self.readable[key] = Family([Block((pool,))], self.view.size, self.budget)
        return self.readable[key]

    def _make_readers(self) -> list["_Reader"]:
        """What reads values out of rows: each function with the relation and the leaves that it takes."""
        readers = []
        for function in FUNCTIONS.values():
            if function.arguments == ("Rows",) and function.result == "Number":
                readers.append(_Reader(function, (), (), See(self.view.all, "number")))
            if function.scope not in READING:
                continue
            for relation in self.offered[function.name]:
                for mask, values, leaves in self._further(function, relation):
                    see = See(mask, READING[function.scope])
                    reader = _Reader(function, (relation, *values), (self.relations[relation], *leaves), see)
                    if function.result == "String":
                        self._note_texts(reader)
                    if function.result != "String" or reader.holds:
                        readers.append(reader)
        return readers

    def _further(
        self, function: Function, relation: Relation
    ) -> Iterator[tuple[int, tuple[object, ...], tuple[Node, ...]]]:
        """The rows that a reader can see, and what it takes after (rows, relation) with its forms."""
        match function.arguments[2:]:
            case ():
                seen = (
                    self.view.all
                    if function.scope == "first"
                    else self.view.holding[function.needs][relation]
                )
                yield seen, (), ()
            case ("Part",):
                for part in self.view.part_names[relation]:
                    seen = self.view.all if function.scope == "first" else self.view.with_part(relation, part)
                    yield seen, (part,), (self.parts[part],)
            case ("String",):
                for value, forms in self.literals["String"].items():
                    sought = cast(String, value)[0].key
                    rows = range(self.view.size)
                    if any(self.view.number_near(relation, row, sought) is not None for row in rows):
                        yield self.view.all, (value,), (forms,)

    def _note_texts(self, reader: "_Reader") -> None:
        """Which rows an answer's texts may be read from, and which rows spoil it."""
        relation = cast(Relation, reader.arguments[0])
        if not any(map(self._may_hold, self.view.read[relation])):
            return
        for row in range(self.view.size):
            if reader.see.mask >> row & 1:
                value = reader.function.call(self.view, 1 << row, *reader.arguments)
                texts = cast(String, value or ())
                if reader.function.name == "mode":
                    texts = self.view.texts[relation][row]
                reader.holds |= any(map(self._may_hold, texts)) << row
                reader.spoils |= (bool(texts) and not self._may_serve(texts)) << row
        if self.goal.partial or not reader.function.gathers:
            reader.spoils = 0

    def _read(self, size: int, last: bool) -> dict[str, dict[Denotation, Packed]]:
        """The values read out of the row sets of this size, and the texts chosen over those of the size below.

        Texts are kept only where an answer may hold them: nothing else in the space takes texts that are read.
        """
        made: dict[str, dict[Denotation, Packed]] = {"Number": {}, "Date": {}, "String": {}}
        # Numbers of the last size serve only as an answer or in one.
        useless = {"Number"} if last and not self.goal.numbers else set()
        for reader in self.readers:
            name = reader.function.name
            if reader.function.result in useless:
                continue
            without = "first" if reader.function.scope == "first" else "single" if name in AGGREGATES else ""
            for value, rows in self._read_rows(reader, self._rows(size, without)):
                _add(made[reader.function.result], value, Apply(name, rows, *reader.leaves))
        if size:
            self._compare(size - 1, made["String"])
        return made

    def _read_rows(self, reader: "_Reader", family: Family) -> Iterator[tuple[Denotation, Rows]]:
        """The values that are read out of a family, each with the forms of the rows."""
        seen = family.seen(reader.see)
        for value, places in self._read_sets(reader, seen).items():
            count = seen.counts[places[0]] if len(places) == 1 else sum(map(seen.counts.__getitem__, places))
            yield value, Rows(family, reader.see, places, count)

    def _read_sets(self, reader: "_Reader", seen: Seen) -> dict[Denotation, list[int]]:
        """Value -> where among the sets seen it is read."""
        found: dict[Denotation, list[int]] = {}
        if reader.see.aspect in ("first", "last"):
            for mask, value in self._one_by_one(reader):
                if mask in seen.index:
                    found.setdefault(value, []).append(seen.index[mask])
            return found
        for places in self._alike_sets(reader, seen):
            read = self._value(reader, seen.masks[places[0]])
            if read is not None:
                found.setdefault(read, []).extend(places)
        return found

    def _one_by_one(self, reader: "_Reader") -> list[tuple[int, Denotation]]:
        """What is read out of no rows and out of each row."""
        if reader.each is None:
            masks = [0, *(1 << row for row in range(self.view.size) if reader.see.mask >> row & 1)]
            values = [(mask, self._value(reader, mask)) for mask in masks]
            reader.each = [(mask, value) for mask, value in values if value is not None]
        return reader.each

    def _alike_sets(self, reader: "_Reader", seen: Seen) -> Iterable[Sequence[int]]:
        """The sets seen that may serve, those together of which the same is read for sure."""
        words = seen.sets.words
        if reader.function.result == "String":
            holds, spoils = to_words([reader.holds, reader.spoils], self.view.size)
            useful = (words & holds).any(axis=1) & ~(words & spoils).any(axis=1)
            return [(place,) for place in np.flatnonzero(useful).tolist()]
        keys = KEYS.get(reader.function.name) if len(seen) > FEW else None
        if keys is not None:
            relation, part = (*reader.arguments, None)[:2]
            key = keys(self.view, words, cast(Relation, relation), cast(Part | None, part))
            if key is not None:
                groups = group(key)
                return [groups.items(g).tolist() for g in range(len(groups))]
        return [(place,) for place in range(len(seen))]

    def _value(self, reader: "_Reader", mask: int) -> Denotation | None:
        """What is read out of some rows, where that can serve."""
        if mask not in reader.values:
            value = reader.function.call(self.view, mask, *reader.arguments)
            reader.values[mask] = value if value is not None and self._may_serve(value) else None
        return reader.values[mask]

    def _may_serve(self, value: Denotation) -> bool:
        """Whether a value can be an answer or be used in one."""
        return not _is_string(value) or self.goal.may_serve(cast(String, value))

    def _may_hold(self, text: Text) -> bool:
        if text not in self.held:
            self.held[text] = self.goal.may_hold(text)
        return self.held[text]

    def _compare(self, below: int, made: dict[Denotation, Packed]) -> None:
        """Choose between two texts of the question, one of which is an answer."""
        strings = sorted(self.literals["String"].items(), key=lambda item: str(item[1].form(0)))
        for (one, mine), (two, theirs) in combinations(strings, 2):
            if not (self._may_serve(one) or self._may_serve(two)):
                continue
            mentions = [self.view.mentions(cast(String, text)[0].key) for text in (one, two)]
            for mask, rows in seen_of(self._rows(below, ""), See(mentions[0] | mentions[1])):
                for function in COMPARISONS:
                    relations = self.offered[function.name] if "Relation" in function.arguments else [None]
                    for relation in relations:
                        given = () if relation is None else (relation,)
                        value = function.call(self.view, mask, *given, one, two)
                        if value is not None and self._may_serve(value):
                            leaves = [self.relations[name] for name in given]
                            _add(made, value, Apply(function.name, rows, *leaves, mine, theirs))

    # Roots.

    def _roots(self) -> Iterator[tuple[Denotation, Node]]:
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
            pools = [(read[name], read[name]), (read[name], literals), (literals, read[name])]
            # Of operands that commute, those in one order: the other pairs are the same forms.
            for mine, theirs in pools[:2] if function.name in COMMUTING else pools:
                for pair in self._operand_pairs(function, mine, theirs):
                    yield from self._root(function, *pair)

    def _root(
        self, function: Function, *operands: tuple[Denotation, Node]
    ) -> Iterator[tuple[Denotation, Node]]:
        values, forms = [value for value, _ in operands], [forms for _, forms in operands]
        value = function.call(self.view, *values)
        if value is not None and self.goal.accepts(value):
            alike = function.name in COMMUTING and forms[0] is forms[1]
            yield value, Pairs(function.name, forms[0]) if alike else Apply(function.name, *forms)

    def _operand_pairs(
        self, function: Function, mine: dict[Denotation, Node], theirs: dict[Denotation, Node]
    ) -> Iterator[tuple[tuple[Denotation, Node], tuple[Denotation, Node]]]:
        """The pairs of operands worth trying: for arithmetic, those that solve for a number of the goal."""
        once = function.name in COMMUTING and mine is theirs
        solve = SECOND_OPERAND.get(function.name)
        if solve is None:
            yield from (
                combinations_with_replacement(mine.items(), 2)
                if once
                else product(mine.items(), theirs.items())
            )
            return
        for value, forms in mine.items():
            first = cast(Number, value)
            for other in {solve(goal, first) for goal in self.goal.numbers}:
                if other in theirs and not (once and other < first):
                    yield (value, forms), (other, theirs[other])


class _Reader:
    """A function that reads a value out of rows: what it takes beside them, what it sees of them, and what it has
    read. Of texts an answer needs a row of ``holds`` and none of ``spoils``."""

    __slots__ = ("arguments", "each", "function", "holds", "leaves", "see", "spoils", "values")

    def __init__(
        self, function: Function, arguments: tuple[object, ...], leaves: tuple[Node, ...], see: See
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.leaves = leaves
        self.see = see
        self.holds = 0
        self.spoils = 0
        self.each: list[tuple[int, Denotation]] | None = None
        self.values: dict[int, Denotation | None] = {}


#: What a reader sees of rows, by its scope.
READING: dict[str, Aspect] = {
    "first": "first",
    "holding": "rows",
    "part": "rows",
    "first part": "first",
    "last part": "last",
}
#: So few sets are read one by one.
FEW = 32
FILTERS = [function for function in FUNCTIONS.values() if function.scope == "each"]
COMPARISONS = [
    function
    for function in FUNCTIONS.values()
    if function.arguments[-2:] == ("String", "String") and "Rows" in function.arguments
]

#: Arithmetic, solved for its second operand: (result, first operand) -> second operand.
SECOND_OPERAND: dict[str, Callable[[Number, Number], Number]] = {
    "add": lambda result, first: round_off(result - first),
    "diff": lambda result, first: round_off(first - result),
}


def _is_string(value: object) -> bool:
    return isinstance(value, tuple) and not isinstance(value, Date)


def _add(made: dict[K, Packed], value: K, forms: Node) -> None:
    packed = made.get(value)
    if packed is None:
        packed = made[value] = Packed()
    packed.add(forms)


def _merged(levels: Sequence[dict[Denotation, Packed]]) -> dict[Denotation, Node]:
    """Every value of any size, with its forms of each size."""
    merged: dict[Denotation, tuple[list[Node], list[int]]] = {}
    for size, level in enumerate(levels):
        for value, forms in level.items():
            nodes, sizes = merged.setdefault(value, ([], []))
            nodes.append(forms)
            sizes.append(size)
    return {value: Packed(nodes, sizes) for value, (nodes, sizes) in merged.items()}
