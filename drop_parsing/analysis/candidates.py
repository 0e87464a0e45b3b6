"""The forms that may mean a question: of all that reach its answer, the best of each outermost function.

A forest may hold 10**20 forms, most of which mean nothing. Those that mean a question are short: the best of each
outermost function, so that none crowds out the others, are looked for among the forms with readings of at most
``SIZE`` row operations, and only the best of all among those with more.
"""

from collections.abc import Iterator
from math import sqrt

from drop_parsing.analysis.grounding import CALLS, PLAIN, Asked
from drop_parsing.ordering import EVASIVE
from grammar.columns import things_of
from grammar.forest import Apply, Found, Node, Packed, Pairs, up_to
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.ranking import Ranking, Scorer

#: The largest readings looked at, in row operations.
SIZE = 2
#: How many forms of each outermost function, and of all together.
EACH, ALL = 12, 60

#: What a literal of the question earns: a filter costs a little more than it earns, or a little less.
FEW, MANY = 0.9, 1.15
_FUNCTION, _CALLED, _LONGER, _EVASIVE = -1.0, 0.7, 0.1, -1.0


def candidates(found: Found, asked: Asked) -> list[Form]:
    """Forms that reach the answer, each once."""
    if not found.count:
        return []
    groups: dict[str, list[Node]] = {}
    for part in _parts(up_to(found.root, SIZE)):
        groups.setdefault(part.name if isinstance(part, Apply | Pairs) else "", []).append(part)
    things, _ = things_of(found)
    forms: list[Form] = []
    for named, number in ((MANY, ALL), (FEW, 0)):
        wanted = [(found.root, number), *((Packed(group), EACH) for group in groups.values())]
        for ranked in Ranking(things, _scorer(asked, named)).best(*wanted):
            forms += [form for _, form in ranked]
    return list(dict.fromkeys(forms))


def brevity(form: Form) -> float:
    """One for a single function over all rows, less for each further one."""
    functions = sum(sub.name in FUNCTIONS and sub.name != "all_structures" for sub in form.subforms())
    return 1 / sqrt(max(1, functions))


def _parts(node: Node) -> Iterator[Node]:
    """The alternatives of a union, and of the unions in it."""
    if isinstance(node, Packed):
        for alternative in node.alternatives:
            yield from _parts(alternative)
    elif node.count:
        yield node


def _scorer(asked: Asked, named: float) -> Scorer:
    """An additive score of forms for ``grammar.ranking``; ``named`` is what a literal of the question earns."""

    def score(name: str, leaves: tuple[str, ...]) -> float:
        called = name in PLAIN or name in asked.called
        total = _FUNCTION + _CALLED * (called and name in CALLS) + _EVASIVE * (name in EVASIVE)
        for leaf in leaves:
            total += _EVASIVE * (leaf in EVASIVE)
            if not leaf.startswith(("relation:", "part:")) and name not in EVASIVE:
                total += named + _LONGER * min(leaf.count("_"), 3)
        return total

    return score
