"""The schemes "srl" and "openie" by an AllenNLP tagger of spans: SRL (BERT or LSTM) and supervised Open IE.

The model tags the words of a sentence once for each of its predicates: where in the paragraph they stand, the
values, the entities and the phrases come from the shared parse.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import exp, log
from types import SimpleNamespace
from typing import Any

from extractors.annotate import Annotation, encodable
from extractors.arguments import ArgumentBuilder
from extractors.backends.allennlp_archive import load_archive
from extractors.dependencies import Tree
from extractors.losses import tokens_of, uncovered
from extractors.repairs import VERBAL
from extractors.table import Argument, Row

#: The types of model that tag spans around a predicate.
KINDS = frozenset({"srl", "srl_bert"})

#: Tokens that go through the model at once.
MAX_BATCH = 4_000

_PREDICATE = "V"
_VERB_PARTS = frozenset({"aux", "neg", "prt"})


#: The tags of a sentence's words, and the geometric mean of their probabilities.
Tagged = tuple[tuple[str, ...], float]


class AllenNlpTagger:
    """Rows by the model of an archive.

    Raises ``PipelineError`` where the archive cannot be used, as ``load_archive`` says.
    """

    version = "1"  # Changes whenever the same tags can give another table.

    def __init__(self, scheme: str, path: str, trusted: bool = False) -> None:
        archive = load_archive(path, KINDS, trusted)
        self.name = scheme
        self.maker = f"allennlp-{archive.hash}"
        self._tagger = _Tagger(archive.model, archive.reader)

    def rows(self, annotation: Annotation, tree: Tree) -> list[Row]:
        frames: list[_Frame] = []
        for first, end in annotation.sentences:
            words = [encodable(word) for word in annotation.words[first:end]]
            predicates = [i - first for i in _predicates(annotation, tree, first, end)]
            for predicate, tagged in zip(predicates, self._tagger.tag(words, predicates), strict=True):
                frames.append(_Frame(first + predicate, first, *tagged))
        return _rows(annotation, tree, [frame for frame in _joined(frames) if any(frame.spans())])


def _predicates(annotation: Annotation, tree: Tree, first: int, end: int) -> list[int]:
    """The verbs of a sentence, also those tagged as auxiliaries, but for what helps another verb."""
    return [i for i in range(first, end) if annotation.pos[i] in VERBAL and tree.relations[i] != "aux"]


@dataclass(frozen=True, slots=True)
class _Frame:
    """One predicate with BIO tags for the tokens of its sentence, which begins at ``first``."""

    predicate: int
    first: int
    tags: tuple[str, ...]
    confidence: float

    def spans(self) -> Iterator[tuple[str, int, int]]:
        """The arguments: label, first and last token. The pronoun of a relative clause is none: what it stands
        for is one already."""
        for label, first, last in self._runs():
            if label != _PREDICATE and not label.startswith(("R-", "C-V")):
                yield label.removeprefix("C-"), first, last

    def verbs(self) -> set[int]:
        runs = [range(first, last + 1) for label, first, last in self._runs() if label == _PREDICATE]
        return {self.predicate, *(i for run in runs for i in run)}

    def _runs(self) -> Iterator[tuple[str, int, int]]:
        start, label = 0, "O"
        for i, tag in enumerate([*self.tags, "O"]):
            if tag != f"I-{label}":
                if label != "O":
                    yield label, self.first + start, self.first + i - 1
                start, label = i, tag.partition("-")[2] or "O"


def _joined(frames: Sequence[_Frame]) -> list[_Frame]:
    """The frames, those that share a word of their predicates made one ("decided to run")."""
    joined: list[_Frame] = []
    for frame in frames:
        if joined and joined[-1].first == frame.first and joined[-1].verbs() & frame.verbs():
            joined[-1] = _union(joined[-1], frame)
        else:
            joined.append(frame)
    return joined


def _union(one: _Frame, other: _Frame) -> _Frame:
    verbs = one.verbs() | other.verbs()
    labels = [
        _PREDICATE if one.first + i in verbs else max(a, b, key=lambda tag: tag != "O").partition("-")[2]
        for i, (a, b) in enumerate(zip(one.tags, other.tags, strict=True))
    ]
    tags: list[str] = []
    for label, run in groupby(labels):
        count = len(list(run))
        tags += [f"B-{label}", *[f"I-{label}"] * (count - 1)] if label else ["O"] * count
    return replace(one, tags=tuple(tags), confidence=min(one.confidence, other.confidence))


def _rows(annotation: Annotation, tree: Tree, frames: Sequence[_Frame]) -> list[Row]:
    heads = [False] * len(annotation.words)
    for frame in frames:
        heads[frame.predicate] = True
    cells = ArgumentBuilder(annotation, tree, heads)
    sentences = {first: number for number, (first, _) in enumerate(annotation.sentences)}
    rows: dict[int, Row] = {}
    for frame in frames:
        arguments: dict[str, list[Argument]] = {}
        for label, first, last in frame.spans():
            cell = cells.build(_top(tree, first, last), first, last)
            arguments.setdefault(label, []).append(cell)
        rows[frame.predicate] = Row(
            cells.build(frame.predicate, *_verb_group(tree, frame)),
            sentences[frame.first],
            {label: tuple(found) for label, found in arguments.items()},
            frame.confidence,
        )
    for value in uncovered(annotation, rows.values()):
        first, last = tokens_of(annotation, value)
        owner = _owner(annotation, cells, rows, first)
        if owner is not None:
            row = rows[owner]
            kept = (*row.cell("dep"), cells.build(_top(tree, first, last), first, last))
            rows[owner] = replace(row, arguments={**row.arguments, "dep": kept})
    return list(rows.values())


def _owner(annotation: Annotation, cells: ArgumentBuilder, rows: Collection[int], token: int) -> int | None:
    """The predicate with a row that governs a token, or else the nearest one in its sentence."""
    governor = cells.clause_of(token)
    if governor in rows:
        return governor
    first, end = annotation.sentences[bisect_right(annotation.sentences, (token, len(annotation.words))) - 1]
    return min((i for i in rows if first <= i < end), key=lambda i: abs(i - token), default=None)


def _top(tree: Tree, first: int, last: int) -> int:
    """The token of a stretch that the others hang on: the first whose head lies outside."""
    return next(i for i in range(first, last + 1) if tree.heads[i] == i or not first <= tree.heads[i] <= last)


def _verb_group(tree: Tree, frame: _Frame) -> tuple[int, int]:
    """The predicate's words as the model has them, with the auxiliaries, negation and particle next to them."""
    i = frame.predicate
    parts = frame.verbs() | {k for k in tree.children[i] if tree.relations[k] in _VERB_PARTS}
    first = last = i
    while first - 1 in parts:
        first -= 1
    while last + 1 in parts:
        last += 1
    return first, last


class _Tagger:
    """Runs the model. Equal words and predicates get equal tags, whatever was tagged before."""

    def __init__(self, model: Any, reader: Any) -> None:
        self._model = model
        self._reader = reader
        # Made anew at each look in current releases of transformers.
        pieces = reader.bert_tokenizer
        if pieces is not None:
            reader.bert_tokenizer = SimpleNamespace(
                wordpiece_tokenizer=pieces.wordpiece_tokenizer, vocab=dict(pieces.vocab)
            )
        encoder = getattr(model, "bert_model", None)
        self._limit = encoder.config.max_position_embeddings if encoder is not None else None
        self._stateful = [m for m in model.modules() if getattr(m, "stateful", False)]

    def tag(self, words: Sequence[str], predicates: Sequence[int]) -> Iterator[Tagged]:
        """Tags for each predicate, given by its place among the words of the sentence."""
        step = max(1, MAX_BATCH // max(1, len(words)))
        for start in range(0, len(predicates), step):
            windows = [self._window(words, i) for i in predicates[start : start + step]]
            for module in self._stateful:
                module.reset_states()
            outputs = self._model.forward_on_instances([instance for instance, _ in windows])
            for (_, before), output in zip(windows, outputs, strict=True):
                after = len(words) - before - len(output["tags"])
                tags = ("O",) * before + tuple(map(_clean, output["tags"])) + ("O",) * after
                yield tags, self._confidence(output)

    def _window(self, words: Sequence[str], predicate: int) -> tuple[Any, int]:
        """The instance of the sentence, or of so much of it around the predicate as the model takes, and how
        many words were left out before it."""
        from allennlp.data.tokenizers.token_class import Token

        first, end = 0, len(words)
        while True:
            marks = [int(i == predicate) for i in range(first, end)]
            instance = self._reader.text_to_instance([Token(word) for word in words[first:end]], marks)
            length = len(instance["tokens"])
            if self._limit is None or length <= self._limit or end - first == 1:
                return instance, first
            reach = max(0, (end - first) * self._limit // length // 2 - 1)
            first, end = max(first, predicate - reach), min(end, predicate + reach + 1)

    def _confidence(self, output: Any) -> float:
        places = output.get("wordpiece_offsets", range(len(output["tags"])))
        index = self._model.vocab.get_token_to_index_vocabulary("labels")
        probabilities = [
            max(float(output["class_probabilities"][place][index[tag]]), 1e-6)
            for place, tag in zip(places, output["tags"], strict=True)
        ]
        return round(exp(sum(map(log, probabilities)) / len(probabilities)), 4)


def _clean(tag: str) -> str:
    """A tag without the stray brackets that labels of Open IE come with."""
    kind, dash, label = tag.partition("-")
    return kind + dash + label.rpartition("(")[2].rstrip(")")
