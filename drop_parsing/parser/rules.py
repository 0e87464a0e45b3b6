"""The grammar as tables of integers: what a decoder needs to know of the language, for all questions and for one.

A *symbol* is a type of the language; ``Relation`` is split by what a function needs of it (``Relation:number``), so
that a filter on numbers is never started where no relation holds one. Productions are numbered: 0 ends a form that
is complete, the functions follow in the order of their definition (the *global* productions, the same for every
question), then come the question's own leaves (the *instance* productions).
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grammar.functions import FUNCTIONS
from grammar.language import Production
from grammar.types import ANSWER_TYPES

#: Stands under every stack: when it is on top, the form is complete.
COMPLETE = 0
#: What a form is derived from: any function that gives a type of answer.
ANSWER = 1
#: The production that a complete form repeats, with probability 1.
END = 0
#: Productions that no length is enough for.
NEVER = 10_000

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Rules(NamedTuple):
    """The global productions. S symbols, G productions (``END`` included), M arguments at most.

    ``expands[s, p]`` is whether production p may expand symbol s; ``pushes[p]`` are the symbols of its arguments, the
    last one first and the first one last, so that it comes to lie on top of a stack, filled up with 0; ``arity[p]``
    counts them.
    """

    symbols: tuple[str, ...]
    productions: tuple[Production, ...]
    expands: Bools  # (S, G)
    pushes: Ints  # (G, M)
    arity: Ints  # (G,)

    def serves(self, type_name: str, needs: Sequence[str] = ()) -> Bools:
        """(S,) whether a leaf of a type may stand for each symbol; ``needs`` are those that a relation meets."""
        wanted = {f"{type_name}:{need}" for need in needs} if type_name == "Relation" else {type_name}
        return np.array([symbol in wanted for symbol in self.symbols])


@cache
def rules() -> Rules:
    """The rules of the language as it stands, the same for every table."""
    arguments = {
        name: tuple(f"{a}:{function.needs}" if a == "Relation" else a for a in function.arguments)
        for name, function in FUNCTIONS.items()
    }
    types = dict.fromkeys(function.result for function in FUNCTIONS.values())
    types.update((a, None) for symbols in arguments.values() for a in symbols)
    symbols = ("", "@answer", *types)
    number = {symbol: i for i, symbol in enumerate(symbols)}
    productions = [Production("", "@end")]
    expands = np.zeros((len(symbols), len(FUNCTIONS) + 1), dtype=bool)
    pushes = np.zeros((len(FUNCTIONS) + 1, max(map(len, arguments.values()))), dtype=np.int64)
    expands[COMPLETE, END] = True
    for i, function in enumerate(FUNCTIONS.values(), 1):
        productions.append(Production(function.result, function.name, function.arguments))
        expands[number[function.result], i] = True
        expands[ANSWER, i] = function.result in ANSWER_TYPES
        for j, symbol in enumerate(reversed(arguments[function.name])):
            pushes[i, j] = number[symbol]
    return Rules(symbols, tuple(productions), expands, pushes, (pushes > 0).sum(axis=1))


def shortest(rules: Rules, has_leaf: Bools) -> Ints:
    """(S,) the fewest productions that complete each symbol, where ``has_leaf[s]`` says which symbols some leaf
    expands; ``NEVER`` where none do."""
    lengths: Ints = np.where(has_leaf, 1, NEVER).astype(np.int64)
    lengths[COMPLETE] = 0
    while True:
        through = 1 + lengths[rules.pushes].sum(axis=1)  # (G,)
        by_function = np.where(rules.expands, through, NEVER).min(axis=1)
        shorter: Ints = np.minimum(lengths, by_function)
        shorter[COMPLETE] = 0
        if (shorter == lengths).all():
            return shorter
        lengths = shorter
