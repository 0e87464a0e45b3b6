"""The forms that a question is trained on, as one tree of shared prefixes.

A form is the sequence of the numbers of its productions (see ``rules``). A *node* of the tree is a proper prefix:
something has still to be chosen there. Nodes are kept level by level, as a decoder reaches them: level t holds the
prefixes of t productions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drop_parsing.parser.rules import ANSWER, COMPLETE, rules

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Targets:
    """N nodes, level by level, and F forms of at most T productions.

    ``levels`` (N,) is each node's level, ``parents`` (N,) the node before it and ``choices`` (N,) the production that
    leads to it (both 0 for the root), ``tops`` (N,) the symbol to expand there, ``later`` (N,) the fewest productions
    that complete the other open symbols. ``path_nodes`` (F, T) are the nodes at which each production of a form is
    chosen, ``path_choices`` (F, T) these productions, ``rules.END`` after a form's end; ``prior`` (F,) are the
    logarithms of the forms' weights.
    """

    levels: Ints
    parents: Ints
    choices: Ints
    tops: Ints
    later: Ints
    path_nodes: Ints
    path_choices: Ints
    prior: npt.NDArray[np.float32]


def targets_of(forms: Sequence[Sequence[int]], prior: Sequence[float], shortest: Ints) -> Targets:
    """The tree of some forms' productions; of equal forms the first is kept. ``shortest`` is as in ``QuestionInput``.
    Raises ValueError without forms."""
    if not forms:
        raise ValueError("a question is trained on at least one form")
    weights: dict[tuple[int, ...], float] = {}
    for form, weight in zip(map(tuple, forms), prior, strict=True):
        weights.setdefault(form, weight)
    longest = max(map(len, weights))
    prefixes = {form[:t]: None for t in range(longest) for form in weights if t < len(form)}
    nodes = {prefix: place for place, prefix in enumerate(prefixes)}
    stacks = [_open_symbols(prefix) for prefix in nodes]
    path_nodes = np.zeros((len(weights), longest), dtype=np.int64)
    path_choices = np.zeros_like(path_nodes)
    for f, form in enumerate(weights):
        path_nodes[f, : len(form)] = [nodes[form[:t]] for t in range(len(form))]
        path_choices[f, : len(form)] = form
    return Targets(
        np.array([len(prefix) for prefix in nodes]),
        np.array([nodes[prefix[:-1]] for prefix in nodes]),
        np.array([prefix[-1] if prefix else 0 for prefix in nodes]),
        np.array([stack[-1] for stack in stacks]),
        np.array([shortest[stack[:-1]].sum() for stack in stacks]),
        path_nodes,
        path_choices,
        np.array(list(weights.values()), dtype=np.float32),
    )


def _open_symbols(productions: Sequence[int]) -> list[int]:
    """The stack of symbols still open after these productions, the one to expand last."""
    stack = [COMPLETE, ANSWER]
    for production in productions:
        stack.pop()
        if production < len(rules().productions):
            stack += rules().pushes[production, : rules().arity[production]].tolist()
    return stack
