"""PropBank frames of a parsed paragraph by the role model."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_decode import Choice, best_choices, probabilities
from extractors.srl_instances import Instances
from extractors.srl_model import (
    Floats,
    RoleModel,
    candidate_tokens,
    neighbours,
    predicate_tokens,
    word_vectors,
)

#: An argument is named where it is worth more than this: about half the F1 that can be had, which is where F1 is
#: greatest (Lipton et al., 2014).
THRESHOLD = 0.4

#: How much of an argument's worth is that the stretch is one, whatever its label: under a doubtful label it is still
#: better than none.
_STRETCH_SHARE = 0.25

#: A candidate whose best label gains no more than this over being no argument is passed over: its chance is about
#: a thousandth.
_LEAST_GAIN = -7.0

#: Closing brackets and quotation marks, and what opens them.
_OPENING = {")": "(", "]": "[", "}": "{", "-RRB-": "-LRB-", "”": "“", "''": "``", '"': '"'}


@dataclass(frozen=True, slots=True)
class Role:
    """An argument: tokens ``first`` to ``last``, both included, and how probable it is there."""

    label: str
    first: int
    last: int
    probability: float


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate, how probable it is one, and its arguments in text order."""

    predicate: int
    probability: float
    roles: tuple[Role, ...]


def find_frames(
    model: RoleModel, annotation: Annotation, tree: Tree, predicates: Sequence[int] | None = None
) -> list[Frame]:
    """The frames of a paragraph in text order: of ``predicates``, given in that order, or of those found."""
    inventory = model.inventory
    possible = predicates
    if possible is None:
        possible = [i for i in range(len(annotation.words)) if inventory.may_be_predicate(annotation, i)]
    if not possible:
        return []
    around = neighbours(annotation, tree)
    instances = Instances(annotation, tree, inventory)
    networks = model.networks_for(annotation)
    words, columns = word_vectors(annotation, model.pieces), model.column_rows(annotation, tree)
    states = [network.states(words, columns, around) for network in networks]
    tokens, ids = predicate_tokens(possible, around), instances.predicate_ids(possible)
    vectors = [one.predicates(state, tokens, ids) for one, state in zip(networks, states, strict=True)]
    odds = np.mean([one.log_odds(vector) for one, vector in zip(networks, vectors, strict=True)], axis=0)
    chosen = range(len(possible)) if predicates is not None else np.flatnonzero(odds > 0).tolist()
    found = [possible[k] for k in chosen]
    pairs = instances.pairs(found)
    tokens = candidate_tokens(pairs.candidates, around)
    scores = np.stack(
        [
            one.arguments(state, vector[chosen], tokens, pairs)
            for one, state, vector in zip(networks, states, vectors, strict=True)
        ]
    )
    gains = scores[:, :, 1:] - scores[:, :, :1]
    stretches = [pairs.candidates[c][1:3] for c in pairs.of_candidate.tolist()]
    edges = np.searchsorted(pairs.of_predicate, np.arange(len(found) + 1)).tolist()
    return [
        Frame(
            i,
            _logistic(float(odds[k])),
            tuple(_roles(model, annotation.words, i, stretches[start:end], gains[:, start:end])),
        )
        for k, i, start, end in zip(chosen, found, edges, edges[1:], strict=False)
    ]


def _roles(
    model: RoleModel,
    words: Sequence[str],
    predicate: int,
    stretches: Sequence[tuple[int, int]],
    gains: Floats,
) -> Iterator[Role]:
    """The arguments of a predicate, of (networks, N, labels without the first) gains of its candidates."""
    likely = np.flatnonzero(gains.max(axis=(0, 2), initial=_LEAST_GAIN) > _LEAST_GAIN).tolist()
    stretches = [stretches[k] for k in likely]
    chances = probabilities(stretches, gains[:, likely])
    worths = chances + _STRETCH_SHARE * (chances.sum(axis=1, keepdims=True) - chances)
    rows, labels = np.nonzero(worths > THRESHOLD)
    found = {}
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        choice = Choice(*stretches[row], model.labels[label + 1], float(worths[row, label]) - THRESHOLD)
        found[choice] = float(chances[row, label])
    best = best_choices(list(found))
    edges = sorted([*(choice.first for choice in best), predicate, len(words)])
    for choice in best:
        end = edges[bisect_right(edges, choice.last)]
        last = closed(words, choice.first, choice.last, end)
        yield Role(choice.label, choice.first, last, found[choice])


def closed(words: Sequence[str], first: int, last: int, end: int) -> int:
    """The last token of a stretch after it has taken in, before ``end``, the brackets and quotation marks that close
    what opened in it."""
    while last + 1 < end and (closing := words[last + 1]) in _OPENING:
        inside = words[first : last + 1]
        opening = _OPENING[closing]
        still_open = inside.count(opening) - (opening != closing and inside.count(closing))
        if still_open <= 0 or (opening == closing and still_open % 2 == 0):
            break
        last += 1
    return last


def _logistic(odds: float) -> float:
    return 1 / (1 + exp(-min(max(odds, -30), 30)))
