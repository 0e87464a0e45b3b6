"""What one paragraph gives the role model to score: predicates, candidates and pairs of the two, as numbers."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_candidates import Candidate, candidates, paths
from extractors.srl_feature_index import FeatureIndex
from extractors.srl_features import OF_CANDIDATE, OF_PREDICATE, Columns, Features, Numbers

#: The groups of feature templates.
GROUPS = ("predicate", "candidate", "pair")


@dataclass(frozen=True)
class Inventory:
    """What training found worth looking at.

    ``steps`` numbers the paths (see ``paths``), ``arguments`` holds the pairs of path and kind of candidate
    that have been arguments, ``nouns`` the lemmas of predicates that are no verbs. ``symbols`` numbers the strings
    of features. ``features`` holds, for each group and template, the numbers (features, columns) of the known ones;
    their vectors follow those of the unknown ones, of which each template has one.
    """

    steps: Mapping[tuple[int, str], int]
    arguments: frozenset[tuple[int, str]]
    nouns: frozenset[str]
    symbols: Mapping[str, int]
    features: Mapping[str, Sequence[Numbers]]

    def may_be_predicate(self, annotation: Annotation, i: int) -> bool:
        tag = annotation.tags[i][:1]
        if tag == "V" or annotation.pos[i] in {"VERB", "AUX"}:
            return True
        return tag in {"N", "J"} and annotation.lemmas[i] in self.nouns

    @cached_property
    def kinds_at(self) -> Mapping[int, Container[str]]:
        """The kinds of ``arguments`` at the end of each path."""
        kinds: dict[int, set[str]] = {}
        for path, kind in self.arguments:
            kinds.setdefault(path, set()).add(kind)
        return kinds

    @cached_property
    def indexes(self) -> Mapping[str, FeatureIndex]:
        """What finds the features of each group."""
        found = {}
        unknown, row = 0, sum(len(self.features[group]) for group in GROUPS)
        for group in GROUPS:
            known = self.features[group]
            found[group] = FeatureIndex(group, known, row, unknown)
            unknown, row = unknown + len(known), row + sum(map(len, known))
        return found

    @property
    def rows(self) -> int:
        """How many vectors the features need."""
        return sum(len(known) + sum(map(len, known)) for known in self.features.values())


@dataclass(frozen=True, slots=True)
class Pairs:
    """``N`` pairs of predicates and ``C`` candidates; those of one predicate stand together.

    ``of_predicate`` (N,) counts the predicates that were asked for, ``of_candidate`` (N,) the candidates, whose
    ``spans`` (C, 3) are head, first and last token, both included.
    """

    spans: Numbers
    of_predicate: Numbers
    of_candidate: Numbers
    candidate_columns: Columns
    pair_columns: Columns


class Instances:
    """Makes the instances of one paragraph; ``around`` are the neighbours of its tokens."""

    def __init__(self, annotation: Annotation, tree: Tree, around: Numbers, inventory: Inventory) -> None:
        self._annotation = annotation
        self._tree = tree
        self._inventory = inventory
        self._features = Features(annotation, tree, around, inventory.symbols)

    def predicates(self, tokens: Sequence[int]) -> Columns:
        """The columns of predicates."""
        return self._features.predicates(tokens)

    def pairs(self, tokens: Sequence[int], columns: Columns) -> Pairs:
        """The pairs of predicates, in text order, that have these columns."""
        found, pairs = self._found(tokens)
        of_predicate, places, paths = np.array(pairs, np.int64).reshape(-1, 3).T
        used, of_candidate = np.unique(places, return_inverse=True)
        spans = np.array([found[k][:3] for k in used.tolist()], np.int64).reshape(-1, 3)
        candidates = self._features.candidates(spans, [found[k].kind for k in used.tolist()])
        return Pairs(
            spans=spans,
            of_predicate=of_predicate,
            of_candidate=of_candidate,
            candidate_columns=candidates,
            pair_columns=self._features.pairs(
                np.array(tokens, np.int64)[of_predicate],
                {name: columns[name][of_predicate] for name in OF_PREDICATE},
                spans[of_candidate],
                {name: candidates[name][of_candidate] for name in OF_CANDIDATE},
                paths,
            ),
        )

    def _found(self, predicates: Sequence[int]) -> tuple[list[Candidate], list[tuple[int, int, int]]]:
        """Candidates, and pairs: each predicate's number, the place of a candidate of it and the path there."""
        kinds_at, steps = self._inventory.kinds_at, self._inventory.steps
        found: list[Candidate] = []
        pairs: list[tuple[int, int, int]] = []
        numbered = enumerate(predicates)
        k, i = next(numbered, (0, None))
        for start, end in self._annotation.sentences:
            if i is None or i >= end:
                continue
            headed: dict[int, list[int]] = {}
            for place, candidate in enumerate(candidates(self._tree, start, end), len(found)):
                headed.setdefault(candidate.head, []).append(place)
                found.append(candidate)
            while i is not None and i < end:
                for token, path in paths(self._tree, i, steps).items():
                    kinds = kinds_at.get(path, ())
                    for place in headed.get(token, ()):
                        _, first, last, kind = found[place]
                        if kind in kinds and not first <= i <= last:
                            pairs.append((k, place, path))
                k, i = next(numbered, (0, None))
        return found, pairs
