"""Trains the role model of ``extractors.srl_model`` (needs torch: the extra ``models``).

The gold words are parsed first, so that training sees the mistakes that the parser will make. What the model
looks at is what these parses show often enough: paths, kinds of candidates, features, words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from drop_parsing.training.srl_encoder import Pretrained, Report, narrowed, read
from drop_parsing.training.srl_network import Example, Options, fit
from extractors.annotate import Annotation, SpacyAnnotator
from extractors.dependencies import Tree, collapsed_tree
from extractors.srl_candidates import candidates, paths
from extractors.srl_data import DataError, GoldFrame, GoldSentence, read_sentences
from extractors.srl_encoder import Floats
from extractors.srl_feature_index import FeatureHash
from extractors.srl_features import COUNTS, EMPTY, TEMPLATES, Columns, Numbers
from extractors.srl_instances import GROUPS, Instances, Inventory
from extractors.srl_model import (
    COLUMNS,
    Network,
    RoleModel,
    candidate_tokens,
    neighbours,
    predicate_tokens,
    token_columns,
)
from extractors.srl_pieces import NO_PIECES, PieceVectors
from extractors.table import Paragraph

#: MASC's roles are aligned by heuristic, and its labels are older: it counts half.
MASC_WEIGHT = 0.5

#: How many principal components of a word's static vector the network sees.
VECTOR_SIZE = 64


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sentences and how much each counts in the loss: aligned by heuristic, a corpus deserves less."""

    sentences: Sequence[GoldSentence]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class _Parsed:
    gold: GoldSentence
    annotation: Annotation
    tree: Tree
    weight: float

    @property
    def frames(self) -> list[GoldFrame]:
        """The frames that the model learns, in text order, one a word."""
        frames = {frame.predicate: frame for frame in self.gold.frames if not frame.auxiliary}
        return [frames[i] for i in sorted(frames)]


@contextmanager
def _repeatable() -> Iterator[None]:
    """In here torch chooses ways of working that give the same each time."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@_repeatable()
def train(
    corpora: Sequence[Corpus],
    annotator: SpacyAnnotator,
    pretrained: Pretrained | None,
    options: Options,
    texts: Iterable[Paragraph] = (),
    report: Report = lambda line: None,
) -> RoleModel:
    """A model from gold roles over the parses of ``annotator``, with a narrow copy of the ``pretrained`` encoder, which
    is changed. The copy also learns from ``texts``, which have no roles. The same input and seed give the same model.

    Raises ``DataError`` where the corpora have no argument to learn from.
    """
    parsed = [
        _Parsed(gold, annotation, collapsed_tree(annotation), corpus.weight)
        for corpus in corpora
        for gold, annotation in zip(
            corpus.sentences, annotator.annotate_words(s.words for s in corpus.sentences), strict=True
        )
    ]
    report(f"parsed {len(parsed)} sentences")
    labels = _labels(parsed, options)
    inventory = _inventory(parsed, options)
    columns = _columns(parsed, options)
    report(f"{inventory.rows} features, {len(labels)} labels")
    pieces = pretrained.pieces if pretrained else NO_PIECES
    middle, directions = components = _principal(pieces.vectors, VECTOR_SIZE)
    examples = [_example(one, inventory, labels, columns, pieces, components) for one in parsed]
    sentences = [one.annotation.words for one in parsed]
    del parsed

    whole = pretrained.encoder if pretrained else None
    weights = fit(examples, inventory, len(labels), columns, whole, options, report)
    # A word's vector goes through the components and the network's own layer at once.
    weights["token.static.weight"] = directions @ weights["token.static.weight"]
    weights["token.static.bias"] = weights["token.static.bias"] - middle @ weights["token.static.weight"]
    encoder = None
    if pretrained:
        for annotation in annotator.annotate(texts):
            sentences += [annotation.words[first:end] for first, end in annotation.sentences]
        heard = torch.from_numpy(weights["token.encoder.weight"])
        encoder = narrowed(pretrained, heard, sentences, options.encoder, report).exported()
    return RoleModel(labels, inventory, columns, pieces, Network(weights), encoder)


def _principal(vectors: Floats, size: int) -> tuple[Floats, Floats]:
    """The mean of the vectors, and the directions (width, size) of their first principal components, which have unit
    variance overall along them."""
    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32), np.eye(vectors.shape[1], dtype=np.float32)
    middle: Floats = vectors.mean(axis=0, dtype=np.float32)
    centred = vectors - middle
    values, directions = np.linalg.eigh(centred.T @ centred)
    directions = directions[:, np.argsort(-values)[:size]]
    directions /= max(float((centred @ directions).std()), 1e-8)
    return middle, np.ascontiguousarray(directions, np.float32)


def read_corpora(data: Path) -> list[Corpus]:
    """``ewt_train`` and, if it is there, ``masc`` in a folder. Raises ``DataError`` without the first."""
    corpora = []
    for name, weight in (("ewt_train", 1.0), ("masc", MASC_WEIGHT)):
        found = [path for path in (data / f"{name}.jsonl.gz", data / f"{name}.jsonl") if path.is_file()]
        if found:
            corpora.append(Corpus(list(read_sentences(found[0])), weight))
        elif name == "ewt_train":
            raise DataError(f"There is no {name}.jsonl or {name}.jsonl.gz in {data}.")
    return corpora


def _labels(parsed: Sequence[_Parsed], options: Options) -> list[str]:
    counts = Counter(a.label for one in parsed for frame in one.frames for a in frame.arguments)
    labels = [label for label, count in sorted(counts.items()) if count >= options.least_label]
    if not labels:
        raise DataError("The sentences have too few arguments to learn from.")
    return ["", *labels]


class _Growing(dict[tuple[int, str], int]):
    """Steps of paths that grow as they are walked, up to a length."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self._longest = longest
        self._length = {0: 0}

    def get(self, key: tuple[int, str], default: object = None) -> int | None:  # type: ignore[override]
        if key not in self:
            if self._length[key[0]] >= self._longest:
                return None
            self[key] = len(self) + 1
            self._length[self[key]] = self._length[key[0]] + 1
        return self[key]


class _Numbering(dict[str, int]):
    """Numbers strings as they are looked up."""

    def get(self, key: str, default: int | None = None) -> int:  # type: ignore[override]
        return self.setdefault(key, EMPTY + len(self))


def _inventory(parsed: Sequence[_Parsed], options: Options) -> Inventory:
    steps, arguments = _arguments(parsed, options)
    nouns = frozenset(
        one.annotation.lemmas[frame.predicate] for one in parsed for frame in one.frames if not frame.verbal
    )
    symbols = _Numbering({"": EMPTY})
    probe = Inventory(steps, arguments, nouns, symbols, {})
    seen: dict[str, list[Columns]] = {group: [] for group in GROUPS}
    for one in parsed:
        instances = Instances(one.annotation, one.tree, neighbours(one.annotation, one.tree), probe)
        predicates = [frame.predicate for frame in one.frames]
        pairs = instances.pairs(predicates, instances.predicates(predicates))
        seen["predicate"].append(instances.predicates(_possible(one, probe)))
        seen["candidate"].append(pairs.candidate_columns)
        seen["pair"].append(pairs.pair_columns)
    known = {group: _known(group, seen.pop(group), options.least_feature) for group in GROUPS}
    # The strings of known features alone, numbered anew.
    used = {
        number
        for group in GROUPS
        for template, numbers in zip(TEMPLATES[group], known[group], strict=True)
        for name, column in zip(template, numbers.T, strict=True)
        if name not in COUNTS
        for number in np.unique(column).tolist()
    }
    kept = {
        string: k
        for k, string in enumerate(sorted({"", *(s for s, n in symbols.items() if n in used)}), EMPTY)
    }
    renumbered = np.zeros(len(symbols) + 1, np.int64)
    for string, number in kept.items():
        renumbered[symbols[string]] = number
    features = {
        group: [
            np.unique(
                np.stack(
                    [
                        column if name in COUNTS else renumbered[column]
                        for name, column in zip(template, numbers.T, strict=True)
                    ],
                    axis=1,
                ),
                axis=0,
            )
            for template, numbers in zip(TEMPLATES[group], known[group], strict=True)
        ]
        for group in GROUPS
    }
    return Inventory(steps, arguments, nouns, kept, features)


def _known(group: str, seen: Sequence[Columns], least: int) -> list[Numbers]:
    """For each template the numbers (features, columns) of the features that are seen often enough."""
    columns = {
        name: np.concatenate([one[name] for one in seen])
        for template in TEMPLATES[group]
        for name in template
    }
    keys = FeatureHash(group).keys(columns)
    known = []
    for template, own in zip(TEMPLATES[group], keys.T, strict=True):
        _, firsts, counts = np.unique(own, return_index=True, return_counts=True)
        often = firsts[counts >= least]
        known.append(np.stack([columns[name][often] for name in template], axis=1))
    return known


def _arguments(
    parsed: Sequence[_Parsed], options: Options
) -> tuple[dict[tuple[int, str], int], frozenset[tuple[int, str]]]:
    """The steps of the paths that lead to arguments, and the kinds of candidate that are some at their end."""
    growing = _Growing(options.longest_path)
    seen: Counter[tuple[int, str]] = Counter()
    right: Counter[tuple[int, str]] = Counter()
    for one in parsed:
        found = candidates(one.tree, 0, len(one.annotation.words))
        for frame in one.frames:
            gold = {(a.first, a.last) for a in frame.arguments}
            reached = paths(one.tree, frame.predicate, growing)
            for c in found:
                if c.head in reached and not c.first <= frame.predicate <= c.last:
                    key = reached[c.head], c.kind
                    seen[key] += 1
                    right[key] += (c.first, c.last) in gold
    kept = {key for key, count in right.items() if count >= max(1, options.least_share * seen[key])}
    before = {longer: path for (path, _), longer in growing.items()}
    needed = {0}
    for path, _ in kept:
        while path not in needed:
            needed.add(path)
            path = before[path]
    # Numbered anew, in the order in which they were met.
    number = {path: k for k, path in enumerate(sorted(needed))}
    steps = {
        (number[path], step): number[longer] for (path, step), longer in growing.items() if longer in needed
    }
    return steps, frozenset((number[path], kind) for path, kind in kept)


def _possible(one: _Parsed, inventory: Inventory) -> list[int]:
    """The tokens that may be predicates, and those that are, in text order."""
    count = len(one.annotation.words)
    possible = {i for i in range(count) if inventory.may_be_predicate(one.annotation, i)}
    return sorted(possible | {frame.predicate for frame in one.frames})


def _columns(parsed: Sequence[_Parsed], options: Options) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in COLUMNS}
    for one in parsed:
        for name, strings in token_columns(one.annotation, one.tree).items():
            counts[name].update(strings)
    return {
        name: {s: k for k, s in enumerate(sorted(s for s, n in count.items() if n >= options.least_word), 1)}
        for name, count in counts.items()
    }


def _example(
    one: _Parsed,
    inventory: Inventory,
    labels: Sequence[str],
    columns: Mapping[str, Mapping[str, int]],
    pieces: PieceVectors,
    components: tuple[Floats, Floats],
) -> Example:
    number = {label: k for k, label in enumerate(labels)}
    around = neighbours(one.annotation, one.tree)
    instances = Instances(one.annotation, one.tree, around, inventory)
    possible = _possible(one, inventory)
    predicates = [frame.predicate for frame in one.frames]
    pairs = instances.pairs(predicates, instances.predicates(predicates))
    gold = [{(a.first, a.last): number.get(a.label, 0) for a in frame.arguments} for frame in one.frames]
    firsts, lasts = pairs.spans[pairs.of_candidate, 1:].T
    order = np.lexsort((firsts, lasts, pairs.of_predicate))
    firsts, lasts = firsts[order], lasts[order]
    owners = pairs.of_predicate[order]
    starts = np.searchsorted(owners, owners)
    before = [
        np.searchsorted(lasts[start:end], first)
        for start, end, first in zip(starts, np.searchsorted(owners, owners, "right"), firsts, strict=True)
    ]
    middle, directions = components
    centred: Floats = pieces.of_words(one.annotation.words) - middle
    vectors: Floats = centred @ directions
    strings = token_columns(one.annotation, one.tree)
    place = {i: k for k, i in enumerate(possible)}
    return Example(
        vectors=vectors,
        reading=read(one.annotation.words, pieces) if pieces.pieces else None,
        columns=np.array([[columns[n].get(s, 0) for s in strings[n]] for n in COLUMNS], np.int64).T,
        around=around,
        predicate_ids=inventory.indexes["predicate"].rows(instances.predicates(possible)),
        predicate_tokens=predicate_tokens(possible, around),
        known=np.isin(possible, predicates).astype(np.float32),
        candidate_ids=inventory.indexes["candidate"].rows(pairs.candidate_columns),
        candidate_tokens=candidate_tokens(pairs.spans, around),
        pair_ids=inventory.indexes["pair"].rows(pairs.pair_columns)[order],
        of_predicate=np.array([place[predicates[k]] for k in owners], np.int64),
        of_candidate=pairs.of_candidate[order],
        gold=np.array(
            [
                gold[k].get((first, last), 0)
                for k, first, last in zip(owners.tolist(), firsts.tolist(), lasts.tolist(), strict=True)
            ],
            np.int64,
        ),
        slot=np.arange(len(owners)) - starts,
        before=np.array(before, np.int64),
        weight=one.weight,
    )
