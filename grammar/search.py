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
from collections.abc import Iterator
from contextlib import contextmanager

from grammar.families import Pool
from grammar.filters import Filters
from grammar.forest import Found
from grammar.goal import Goal
from grammar.language import Language
from grammar.leaves import Leaves
from grammar.masks import TooMany
from grammar.readings import Readings
from grammar.rowsets import RowSets
from grammar.values import Values

#: The largest size that the canonical forms of rows are worked out for.
MAX_SIZE = 4
#: Pairs of row sets that may be combined at a time. A search that would need more stops at the size before. It is a
#: count and not a time, so that the same question has the same forms on every machine.
MAX_PAIRS = 4_000_000


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without Python's cycle collector: a search makes many objects and drops few before its end, and looking through
    them takes longer than the search. A search puts none of them in a cycle, so that nothing is left for it; what makes
    a forest out of columns does (``columns.Things``), and has to collect it."""
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
        return Search(language, goal).run(max_size, seconds)


class Search:
    """One search: size by size the row sets, the values read out of them, and the filters that compare with these."""

    def __init__(self, language: Language, goal: Goal) -> None:
        leaves = Leaves(language)
        readings = Readings(language, leaves, goal)
        self.rows = RowSets(language.view, leaves, readings, MAX_PAIRS)
        self.values = Values(language, leaves, readings, goal)
        self._filters = Filters(language, leaves)

    def run(self, max_size: int, seconds: float | None = None) -> Found:
        started = time.monotonic()
        filters: list[Pool] = []
        for size in range(max_size + 1):
            if size and seconds is not None and time.monotonic() - started > seconds:
                break
            try:
                self.rows.make(size, filters)
            except TooMany:
                break
            self.values.read(size, self.rows, last=size == max_size)
            if size < max_size:
                filters.append(self._filters.of_size(size, self.values.sizes[size]))
        return Found(self.values.answers(), len(self.values.sizes) - 1)
