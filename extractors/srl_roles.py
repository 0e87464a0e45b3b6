"""PropBank frames of a parsed paragraph by the role model."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from operator import itemgetter

import numpy as np

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_decode import Choice, best_choices, probabilities
from extractors.srl_instances import Instances
from extractors.srl_model import (
    RoleModel,
    candidate_tokens,
    neighbours,
    predicate_tokens,
)

#: An argument is named where it is worth more than this: somewhat more than half the F1 that can be had, where F1 would
#: be greatest if the probabilities were true (Lipton et al., 2014); they are somewhat too sure.
THRESHOLD = 0.45

#: How much of an argument's worth is that the stretch is one, whatever its label: under a doubtful label it is still
#: better than none.
_STRETCH_SHARE = 0.25

#: A candidate whose best label gains no more than this over being no argument is passed over: its chance is about
#: a thousandth.
_LEAST_GAIN = -7.0

#: Closing brackets and quotation marks, and what opens them.
_OPENING = {
    ")": "(", "]": "[", "}": "{", "-RRB-": "-LRB-", "”": "“", "''": "``", "’": "‘", '"': '"', "'": "'",
}  # fmt: skip


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
    instances = Instances(annotation, tree, around, inventory)
    indexes, network, static = inventory.indexes, model.network, model.pieces.of_words(annotation.words)
    encoded = model.encoder(static, annotation.sentences) if model.encoder else None
    states = network.states(static, encoded, model.column_rows(annotation, tree), around)
    columns = instances.predicates(possible)
    ids = indexes["predicate"].rows(columns)
    vectors = network.predicates(states, predicate_tokens(possible, around), ids)
    odds = network.log_odds(vectors)
    chosen = range(len(possible)) if predicates is not None else np.flatnonzero(odds > 0).tolist()
    found = [possible[k] for k in chosen]
    pairs = instances.pairs(found, {name: column[chosen] for name, column in columns.items()})
    scores = network.arguments(
        states,
        vectors[chosen],
        candidate_tokens(pairs.spans, around),
        indexes["candidate"].rows(pairs.candidate_columns),
        indexes["pair"].rows(pairs.pair_columns),
        pairs,
    )
    gains = scores[:, 1:] - scores[:, :1]
    likely = np.flatnonzero(gains.max(axis=1, initial=_LEAST_GAIN) > _LEAST_GAIN)
    owners, spans = pairs.of_predicate[likely], pairs.spans[pairs.of_candidate[likely], 1:]
    # Moved apart, the candidates of different predicates can all be chosen: one pass does for all.
    apart = spans + owners[:, None] * (len(annotation.words) + 1)
    chances = probabilities(list(map(tuple, apart.tolist())), gains[likely])
    worths = chances + _STRETCH_SHARE * (chances.sum(axis=1, keepdims=True) - chances)
    choices: list[dict[Choice, float]] = [{} for _ in found]
    for row, label in np.argwhere(worths > THRESHOLD).tolist():
        first, last = spans[row].tolist()
        choice = Choice(first, last, model.labels[label + 1], float(worths[row, label]) - THRESHOLD)
        choices[owners[row]][choice] = float(chances[row, label])
    return [
        Frame(i, _logistic(float(odds[k])), tuple(_roles(annotation, i, own)))
        for k, i, own in zip(chosen, found, choices, strict=True)
    ]


def _roles(annotation: Annotation, predicate: int, choices: Mapping[Choice, float]) -> Iterator[Role]:
    """The arguments of a predicate, of its choices and how probable each is."""
    best = best_choices(list(choices))
    words, sentences = annotation.words, annotation.sentences
    sentence, _ = sentences[bisect_right(sentences, predicate, key=itemgetter(0)) - 1]
    # What lies between an argument and its neighbours is free for its marks.
    lasts = sorted([sentence - 1, *(choice.last for choice in best), predicate])
    firsts = sorted([*(choice.first for choice in best), predicate, len(words)])
    for choice in best:
        start = lasts[bisect_left(lasts, choice.first) - 1] + 1
        end = firsts[bisect_right(firsts, choice.last)]
        first, last = marked(words, choice.first, choice.last, start, end, sentence)
        yield Role(choice.label, first, last, choices[choice])


def marked(
    words: Sequence[str], first: int, last: int, start: int, end: int, sentence: int
) -> tuple[int, int]:
    """A stretch of a sentence, which begins at ``sentence``, with the marks that belong to it.

    It gives up a full stop or comma at its end, and takes in, from ``start`` on and before ``end``, the brackets and
    quotation marks that close what opened in it and those that stand around it.
    """
    while last > first and words[last] in {".", ","}:
        last -= 1
    while last + 1 < end and (opening := _OPENING.get(words[last + 1])):
        closing = words[last + 1]
        if _is_open(words[first : last + 1], opening, closing):
            last += 1
        elif (
            first > start
            and words[first - 1] == opening
            and _is_open(words[sentence:first], opening, closing)
        ):
            first, last = first - 1, last + 1
        else:
            break
    return first, last


def _is_open(words: Sequence[str], opening: str, closing: str) -> bool:
    """Whether the words leave something open."""
    if opening == closing:
        return words.count(opening) % 2 == 1
    return words.count(opening) > words.count(closing)


def _logistic(odds: float) -> float:
    return 1 / (1 + exp(-min(max(odds, -30), 30)))
