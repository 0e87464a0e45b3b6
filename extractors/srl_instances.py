"""What one paragraph gives the role model to score: predicates, candidates and pairs of the two, as numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_candidates import Candidate, candidates, paths
from extractors.srl_features import Described, Features

#: Rows of the table of feature vectors, (instances, templates).
Ids = NDArray[np.int32]

#: The groups of feature templates.
GROUPS = ("predicate", "candidate", "pair")


@dataclass(frozen=True, slots=True)
class Inventory:
    """What training found worth looking at.

    ``steps`` numbers the paths (see ``paths``), ``arguments`` holds the pairs of path and kind of candidate
    that have been arguments, ``nouns`` the lemmas of predicates that are no verbs. ``features`` numbers, for
    each group and template, the known features; unknown ones have the template's own number, counted over
    all groups.
    """

    steps: Mapping[tuple[int, str], int]
    arguments: frozenset[tuple[int, str]]
    nouns: frozenset[str]
    features: Mapping[str, Sequence[Mapping[str, int]]]

    def may_be_predicate(self, annotation: Annotation, i: int) -> bool:
        tag = annotation.tags[i][:1]
        if tag == "V" or annotation.pos[i] in {"VERB", "AUX"}:
            return True
        return tag in {"N", "J"} and annotation.lemmas[i] in self.nouns


@dataclass(frozen=True, slots=True)
class Pairs:
    """``N`` pairs of predicates and ``C`` candidates; those of one predicate stand together.

    ``of_predicate`` (N,) counts the predicates that were asked for, ``of_candidate`` (N,) the candidates.
    """

    candidates: Sequence[Candidate]
    candidate_ids: Ids
    pair_ids: Ids
    of_predicate: NDArray[np.int32]
    of_candidate: NDArray[np.int32]


class Instances:
    """Makes the instances of one paragraph."""

    def __init__(self, annotation: Annotation, tree: Tree, inventory: Inventory) -> None:
        self._annotation = annotation
        self._tree = tree
        self._inventory = inventory
        self._features = Features(annotation, tree)
        self._described: dict[int, Described] = {}
        self._templates: dict[str, list[tuple[int, Callable[[str, int], int]]]] = {}
        count = 0
        for group in GROUPS:
            templates = inventory.features[group]
            self._templates[group] = [(k, known.get) for k, known in enumerate(templates, count)]
            count += len(templates)

    def predicate_ids(self, predicates: Sequence[int]) -> Ids:
        """(predicates, templates)."""
        describe = self._features.describe
        self._described.update((i, describe(i)) for i in predicates)
        rows = (self._features.predicate(self._described[i]) for i in predicates)
        return self._ids("predicate", rows)

    def pairs(self, predicates: Sequence[int]) -> Pairs:
        """The pairs of predicates, in text order, that ``predicate_ids`` was called for."""
        described = [self._described[i] for i in predicates]
        used: dict[Candidate, int] = {}
        found = list(self._found(predicates))
        of_candidate = [used.setdefault(candidate, len(used)) for _, candidate, _ in found]
        pair, candidate = self._features.pair, self._features.candidate
        return Pairs(
            candidates=list(used),
            candidate_ids=self._ids("candidate", map(candidate, used)),
            pair_ids=self._ids("pair", (pair(described[k], c, path) for k, c, path in found)),
            of_predicate=np.array([k for k, _, _ in found], np.int32),
            of_candidate=np.array(of_candidate, np.int32),
        )

    def _found(self, predicates: Sequence[int]) -> Iterator[tuple[int, Candidate, int]]:
        """Each predicate's number, a candidate of it and the path there."""
        arguments, steps = self._inventory.arguments, self._inventory.steps
        numbered = enumerate(predicates)
        k, i = next(numbered, (0, None))
        for start, end in self._annotation.sentences:
            if i is None or i >= end:
                continue
            headed: dict[int, list[Candidate]] = {}
            for candidate in candidates(self._tree, start, end):
                headed.setdefault(candidate.head, []).append(candidate)
            while i is not None and i < end:
                for token, path in paths(self._tree, i, steps).items():
                    for candidate in headed.get(token, ()):
                        inside = candidate.first <= i <= candidate.last
                        if not inside and (path, candidate.kind) in arguments:
                            yield k, candidate, path
                k, i = next(numbered, (0, None))

    def _ids(self, group: str, rows: Iterator[list[str]]) -> Ids:
        templates = self._templates[group]
        numbers = [
            [get(string, unknown) for (unknown, get), string in zip(templates, strings, strict=False)]
            for strings in rows
        ]
        return np.array(numbers, np.int32).reshape(-1, len(templates))
