"""Trains the role model of ``extractors.srl_model`` (needs torch: the extra ``models``).

The gold words are parsed first, so that training sees the mistakes that the parser will make. What the model
looks at is what these parses show often enough: paths, kinds of candidates, features, words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from drop_parsing.training.srl_network import Example, Options, Report, fit
from extractors.annotate import Annotation, SpacyAnnotator
from extractors.dependencies import Tree, collapsed_tree
from extractors.srl_candidates import candidates, paths
from extractors.srl_data import DataError, GoldFrame, GoldSentence, read_sentences
from extractors.srl_features import TEMPLATES
from extractors.srl_instances import GROUPS, Instances, Inventory
from extractors.srl_model import (
    COLUMNS,
    Network,
    RoleModel,
    candidate_tokens,
    neighbours,
    predicate_tokens,
    token_columns,
    word_vectors,
)
from extractors.srl_pieces import PieceVectors, reduced

#: MASC's roles are aligned by heuristic, and its labels are older: it counts half.
MASC_WEIGHT = 0.5

#: The size that vectors of word pieces are reduced to.
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


def train(
    corpora: Sequence[Corpus],
    annotator: SpacyAnnotator,
    pieces: PieceVectors,
    options: Options,
    report: Report = lambda line: None,
) -> RoleModel:
    """A model from gold roles over the parses of ``annotator``. The same input and seed give the same model.

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
    report(
        f"{sum(len(rows) for g in GROUPS for rows in inventory.features[g])} features, {len(labels)} labels"
    )
    examples = [_example(one, inventory, labels, columns, pieces) for one in parsed]
    source = parsed[0].annotation.context.source if parsed[0].annotation.context else ""
    del parsed
    # The first network does without the parser's vectors, so that the model works over any parser.
    widths = [pieces.size, *[examples[0].vectors.shape[1]] * (options.members - 1)]
    networks = [
        Network(fit(examples, inventory, len(labels), columns, width, options, member, report))
        for member, width in enumerate(widths)
    ]
    return RoleModel(labels, inventory, columns, pieces, networks, source)


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


def read_pieces(folder: Path) -> PieceVectors:
    """The input vectors of an uncased BERT-like model, reduced, from its ``vocab.txt`` and
    ``model.safetensors``. Raises ``DataError`` where they are missing or do not belong together."""
    try:
        pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        tensors = load_file(folder / "model.safetensors")
    except (OSError, UnicodeDecodeError, SafetensorError) as error:
        raise DataError(f"No vectors of word pieces can be read from {folder}: {error}.") from error
    tables = [tensor for name, tensor in tensors.items() if name.endswith("word_embeddings.weight")]
    if len(tables) != 1 or len(tables[0]) != len(pieces):
        raise DataError(f"{folder / 'model.safetensors'} has no input vectors for the pieces of vocab.txt.")
    return PieceVectors(pieces, reduced(tables[0].astype(np.float32), VECTOR_SIZE))


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


class _Counting(dict[str, int]):
    """Features that are counted as they are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def get(self, key: str, default: int | None = None) -> int:  # type: ignore[override]
        self.counts[key] += 1
        return 0


def _inventory(parsed: Sequence[_Parsed], options: Options) -> Inventory:
    steps, arguments = _arguments(parsed, options)
    nouns = frozenset(
        one.annotation.lemmas[frame.predicate] for one in parsed for frame in one.frames if not frame.verbal
    )
    counting = {group: [_Counting() for _ in range(TEMPLATES[group])] for group in GROUPS}
    probe = Inventory(steps, arguments, nouns, counting)
    for one in parsed:
        instances = Instances(one.annotation, one.tree, probe)
        instances.predicate_ids(_possible(one, probe))
        instances.pairs([frame.predicate for frame in one.frames])
    row = sum(len(templates) for templates in counting.values())
    features: dict[str, list[dict[str, int]]] = {group: [] for group in GROUPS}
    for group in GROUPS:
        for template in counting[group]:
            kept = sorted(s for s, n in template.counts.items() if s and n >= options.least_feature)
            features[group].append({string: row + k for k, string in enumerate(kept)})
            row += len(kept)
    return Inventory(steps, arguments, nouns, features)


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
) -> Example:
    number = {label: k for k, label in enumerate(labels)}
    around = neighbours(one.annotation, one.tree)
    instances = Instances(one.annotation, one.tree, inventory)
    possible = _possible(one, inventory)
    predicate_ids = instances.predicate_ids(possible)
    predicates = [frame.predicate for frame in one.frames]
    pairs = instances.pairs(predicates)
    gold = [{(a.first, a.last): number.get(a.label, 0) for a in frame.arguments} for frame in one.frames]
    stretches = np.array([(c.first, c.last) for c in pairs.candidates], np.int64).reshape(-1, 2)
    firsts, lasts = stretches[pairs.of_candidate].T
    order = np.lexsort((firsts, lasts, pairs.of_predicate))
    firsts, lasts = firsts[order], lasts[order]
    owners = pairs.of_predicate[order]
    starts = np.searchsorted(owners, owners)
    before = [
        np.searchsorted(lasts[start:end], first)
        for start, end, first in zip(starts, np.searchsorted(owners, owners, "right"), firsts, strict=True)
    ]
    strings = token_columns(one.annotation, one.tree)
    place = {i: k for k, i in enumerate(possible)}
    return Example(
        vectors=word_vectors(one.annotation, pieces),
        columns=np.array([[columns[n].get(s, 0) for s in strings[n]] for n in COLUMNS], np.int64).T,
        around=around,
        predicate_ids=predicate_ids,
        predicate_tokens=predicate_tokens(possible, around),
        known=np.isin(possible, predicates).astype(np.float32),
        candidate_ids=pairs.candidate_ids,
        candidate_tokens=candidate_tokens(pairs.candidates, around),
        pair_ids=pairs.pair_ids[order],
        of_predicate=np.array([place[predicates[k]] for k in owners], np.int64),
        of_candidate=pairs.of_candidate[order].astype(np.int64),
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
