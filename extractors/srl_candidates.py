"""What may be an argument: stretches of tokens read off the tree, and the paths that lead to them.

A candidate is a constituent, a constituent without some of its outer branches ("the man" in "the man who
left"), or a run of branches that hang on one word ("him laugh" in "they made him laugh"). A predicate's
candidates are those that do not hold it.
"""

import itertools
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from extractors.dependencies import Tree

_EDGES = frozenset({"punct", "cc", "case", "mark"})

#: Branches that a constituent may be cut short by, on either side.
_MOST_CUTS = 4

#: Tokens that a predicate looks at, nearest in the tree first: what bounds the work in a list of thousands.
_MOST_REACHED = 400


class Candidate(NamedTuple):
    """The tokens ``first`` to ``last``, both included; ``head`` is the syntactic head, ``kind`` says which
    branches of the head's constituent were left out or added."""

    head: int
    first: int
    last: int
    kind: str


@cache
def family(relation: str) -> str:
    """A relation without its preposition."""
    return relation if relation in {"obl:agent", "nmod:poss"} else relation.partition(":")[0]


def candidates(tree: Tree, start: int, end: int) -> list[Candidate]:
    """The candidates of the sentence of tokens ``start`` to ``end``, ``end`` excluded, each stretch once."""
    found: dict[tuple[int, int], Candidate] = {}
    for head in range(start, end):
        for first, left in _left_edges(tree, head):
            for last, right in _right_edges(tree, head):
                if (first, last) not in found:
                    found[first, last] = Candidate(head, first, last, f"{left}|{right}")
    for head in range(start, end):
        for first, last, child, kind in _runs(tree, head):
            if (first, last) not in found:
                found[first, last] = Candidate(child, first, last, kind)
    return list(found.values())


def _left_edges(tree: Tree, head: int) -> list[tuple[int, str]]:
    edges = [(tree.first[head], "")]
    inner = 0
    for child in tree.children[head]:
        edge = tree.last[child] + 1
        if child > head or edge > head or len(edges) > _MOST_CUTS:
            break
        if tree.relations[child] in _EDGES and not inner:
            edges.append((edge, "function"))
        else:
            inner += 1
            edges.append((edge, family(tree.relations[child])))
    return edges


def _right_edges(tree: Tree, head: int) -> list[tuple[int, str]]:
    edges = [(tree.last[head], "")]
    for child in reversed(tree.children[head]):
        edge = tree.first[child] - 1
        if child < head or edge < head or len(edges) > _MOST_CUTS:
            break
        edges.append((edge, family(tree.relations[child])))
    return edges


def _runs(tree: Tree, head: int) -> list[tuple[int, int, int, str]]:
    """Two neighbouring branches after ``head``, or one with all that follow it."""
    after = [k for k in tree.children[head] if tree.first[k] > head]
    inner = [k for k in after if tree.relations[k] != "punct"]
    found = []
    for one, other in itertools.pairwise(inner):
        name = f"{family(tree.relations[one])}+{family(tree.relations[other])}"
        found.append((tree.first[one], tree.last[other], one, name))
        if other != inner[-1]:
            found.append((tree.first[one], tree.last[inner[-1]], one, f"{name}+"))
    return found


def paths(tree: Tree, predicate: int, steps: Mapping[tuple[int, str], int]) -> dict[int, int]:
    """The path from ``predicate`` to each token that a known one leads to.

    A path is the relations walked through, up and then down, as a number: ``steps`` gives (path so far,
    relation) -> path, 0 being the empty one. Relations walked up begin with "^".
    """
    relations, heads = tree.relations, tree.heads
    reached = {predicate: 0}
    queue = [(predicate, True)]
    for token, rising in queue:
        if len(reached) > _MOST_REACHED:
            break
        path = reached[token]
        for child in tree.children[token]:
            if child not in reached:
                longer = steps.get((path, family(relations[child])))
                if longer is not None:
                    reached[child] = longer
                    queue.append((child, False))
        head = heads[token]
        if rising and head != token:
            longer = steps.get((path, "^" + family(relations[token])))
            if longer is not None:
                reached[head] = longer
                queue.append((head, True))
    return reached
