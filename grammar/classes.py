"""The classes of a question's forms: those of one class denote the same on the real table and on every copy.

What a form denotes on several tables is a *vector*. Forms are told apart by their vectors over the real table and the
copies: all of them where they are few or their packed forest can be taken apart (``grammar.refinement``), otherwise
those of a sample, with the bounds of their sizes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, sqrt
from typing import cast

from grammar.executor import texts_of
from grammar.forest import Found, Node
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.masks import TooMany
from grammar.refinement import refined
from grammar.types import Date, Denotation
from grammar.view import key
from grammar.worlds import Vector, Worlds

#: A vector as it is compared: by the texts that answer, without their order. The number and the date 1693 are alike.
Meaning = tuple[object, ...]

#: Forests of more forms are too wide to be taken apart; trying takes longer than looking at a sample.
MOST_FORMS = 10**5
#: Each class has an example, which is looked at by itself.
MOST_CLASSES = 1000
#: The standard normal quantile of a two-sided 95% interval.
Z = 1.959963984540054


class Meanings:
    """What the forms of one question denote on some of the tables, by their numbers; parts that forms share are
    executed once."""

    def __init__(self, worlds: Worlds, language: Language, tables: Sequence[int]) -> None:
        self.tables = tuple(tables)
        self._worlds = worlds
        self._language = language
        self._known: dict[Form, Vector] = {}

    def on(self, places: Sequence[int]) -> "Meanings":
        """On some of these tables, by their places among them, with what is known already."""
        some = Meanings(self._worlds, self._language, [self.tables[place] for place in places])
        some._known = {form: tuple(vector[place] for place in places) for form, vector in self._known.items()}
        return some

    def vector(self, form: Form) -> Vector:
        """Raises ValueError for a leaf that is not the language's."""
        known = self._known.get(form)
        if known is None:
            known = self._known[form] = self._vector(form)
        return known

    def _vector(self, form: Form) -> Vector:
        function = FUNCTIONS.get(form.name)
        if function is None:
            leaf = self._language.leaf(form.name)
            if leaf is None:
                raise ValueError(f"{form.name!r} is neither a function nor a leaf of this language")
            return (cast(Denotation, leaf[1]),) * len(self.tables)  # relations and parts are arguments only
        arguments = [self.vector(argument) for argument in form.arguments]
        by_table = zip(*arguments, strict=True) if arguments else ((),) * len(self.tables)
        pairs = zip(self.tables, by_table, strict=True)
        return tuple(self._worlds.apply(function, table, values) for table, values in pairs)

    def parts(self, found: Found) -> dict[Vector, Node] | None:
        """All forms by their vectors, packed; None where they are too many to take apart or in too many classes."""
        if found.count > MOST_FORMS:
            return None
        try:
            parts = refined(found.root, self._worlds, self._language, self.tables)
        except TooMany:
            return None
        return parts if len(parts) <= MOST_CLASSES else None

    def rows_read(self, form: Form) -> list[int]:
        """The row sets that values are read from on the first of the tables; of a function that looks at the first
        row alone, that row."""
        read = []
        for sub in form.subforms():
            function = FUNCTIONS.get(sub.name)
            if function is not None and function.result != "Rows" and function.arguments[:1] == ("Rows",):
                rows = cast(int, self.vector(sub.arguments[0])[0] or 0)
                read.append(rows & -rows if function.scope in ("first", "first part") else rows)
        return read


def meaning(vector: Vector) -> Meaning:
    return tuple(map(_alike, vector))


def _alike(denotation: Denotation | None) -> object:
    if denotation is None or isinstance(denotation, int):
        return denotation
    if isinstance(denotation, tuple) and not isinstance(denotation, Date):
        return frozenset(text.key for text in denotation)
    return frozenset(map(key, texts_of(denotation)))


@dataclass(slots=True)
class EquivalenceClass:
    """Forms that denote the same on all tables. ``examples`` are some of them, in the order in which they were given.
    ``forms`` is how many there are, ``share`` of all; ``low`` and ``high`` bound it with 95% where it is estimated.
    """

    vector: Vector
    examples: list[Form] = field(default_factory=list)
    forms: int = 0
    low: int = 0
    high: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Partition:
    """The classes of a question's forms in order of their first example; ``exact`` where these are all the classes
    and their sizes are counted."""

    classes: tuple[EquivalenceClass, ...]
    exact: bool


def told_apart(forms: Iterable[Form], meanings: Meanings) -> dict[Meaning, EquivalenceClass]:
    """The classes of some forms by what they denote, uncounted, in order of their first form."""
    classes: dict[Meaning, EquivalenceClass] = {}
    for form in forms:
        vector = meanings.vector(form)
        classes.setdefault(meaning(vector), EquivalenceClass(vector)).examples.append(form)
    return classes


def partition(found: Found, best: Iterable[Form], meanings: Meanings, sample: int, seed: int) -> Partition:
    """The classes of the forms found: all, counted exactly, where the forest can be taken apart; else those met among
    the ``best`` and a sample of so many forms, each as likely as any other.

    A class with a share of the forms is missed by the sample with probability (1 - share) ** sample.
    """
    classes = told_apart(best, meanings)
    parts = meanings.parts(found)
    if parts is None:
        return Partition(_sampled(found, classes, meanings, sample, seed), exact=False)
    for vector, node in parts.items():
        one = classes.setdefault(meaning(vector), EquivalenceClass(vector))
        one.forms += node.count
        one.examples = one.examples or [node.form(0)]
    for one in classes.values():
        one.low = one.high = one.forms
        one.share = one.forms / found.count
    return Partition(tuple(classes.values()), exact=True)


def _sampled(
    found: Found, classes: dict[Meaning, EquivalenceClass], meanings: Meanings, sample: int, seed: int
) -> tuple[EquivalenceClass, ...]:
    hits: Counter[Meaning] = Counter()
    for form in found.sample(sample, seed):
        vector = meanings.vector(form)
        hits[meaning(vector)] += 1
        one = classes.setdefault(meaning(vector), EquivalenceClass(vector))
        if form not in one.examples:
            one.examples.append(form)
    for own, one in classes.items():
        one.share = hits[own] / sample
        one.forms, one.low, one.high = _size(hits[own], sample, found.count)
        # What a single draw shows, it has picked out itself: that bounds nothing from below.
        one.low = max(one.low if hits[own] > 1 else 0, len(one.examples))
        one.forms = max(one.forms, one.low)
    return tuple(classes.values())


def _size(drawn: int, sample: int, count: int) -> tuple[int, int, int]:
    """How many forms of ``count`` are of a class that has so many of the sample, with Wilson's bounds."""
    low, high = wilson(drawn, sample)
    # Shares are floats; counts may be far beyond their precision, which the bounds can spare.
    scale = 1 << 53
    return count * drawn // sample, count * floor(low * scale) // scale, count * ceil(high * scale) // scale


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share, 0 to 1 without trials."""
    if not trials:
        return 0.0, 1.0
    share, square = hits / trials, Z * Z
    middle = share + square / (2 * trials)
    spread = Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    low, high = (middle - spread) / (1 + square / trials), (middle + spread) / (1 + square / trials)
    return (0.0 if hits == 0 else max(0.0, low)), (1.0 if hits == trials else min(1.0, high))
