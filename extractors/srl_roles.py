"""PropBank frames of a parsed paragraph by the role model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_decode import Choice, best_choices
from extractors.srl_instances import Instances, Pairs
from extractors.srl_model import (
    Floats,
    RoleModel,
    candidate_tokens,
    neighbours,
    predicate_tokens,
    word_vectors,
)


@dataclass(frozen=True, slots=True)
class Role:
    """An argument: tokens ``first`` to ``last``, both included, and how probable it is there
    beside the candidates that overlap it."""

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
    odds = _mean([one.log_odds(vector) for one, vector in zip(networks, vectors, strict=True)])
    chosen = range(len(possible)) if predicates is not None else np.flatnonzero(odds > 0).tolist()
    found = [possible[k] for k in chosen]
    pairs = instances.pairs(found)
    tokens = candidate_tokens(pairs.candidates, around)
    scores = _mean(
        [
            one.arguments(state, vector[chosen], tokens, pairs)
            for one, state, vector in zip(networks, states, vectors, strict=True)
        ]
    )
    edges = np.searchsorted(pairs.of_predicate, np.arange(len(found) + 1)).tolist()
    return [
        Frame(i, _logistic(float(odds[k])), tuple(_roles(model, pairs, scores, start, end)))
        for k, i, start, end in zip(chosen, found, edges, edges[1:], strict=False)
    ]


def _roles(model: RoleModel, pairs: Pairs, scores: Floats, start: int, end: int) -> Iterator[Role]:
    """The arguments of the predicate whose pairs are ``start`` to ``end``."""
    gains = scores[start:end, 1:] - scores[start:end, :1]
    stretches = [pairs.candidates[c] for c in pairs.of_candidate[start:end].tolist()]
    rows, labels = np.nonzero(gains > 0)
    choices = [
        Choice(stretches[row].first, stretches[row].last, model.labels[label + 1], gain)
        for row, label, gain in zip(rows.tolist(), labels.tolist(), gains[rows, labels].tolist(), strict=True)
    ]
    weights = np.exp(np.minimum(gains, 50)).sum(axis=1).tolist()
    for choice in best_choices(choices):
        rivals = (
            weight
            for weight, other in zip(weights, stretches, strict=True)
            if other.first <= choice.last and choice.first <= other.last
        )
        probability = exp(min(choice.gain, 50)) / (1 + sum(rivals))
        yield Role(choice.label, choice.first, choice.last, probability)


def _mean(arrays: Sequence[Floats]) -> Floats:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total / np.float32(len(arrays))


def _logistic(odds: float) -> float:
    return 1 / (1 + exp(-min(max(odds, -30), 30)))
