"""What the role model sees: features of predicates, of candidate arguments, and of pairs of the two.

A feature is what the columns of one template say together ("the lemma is this and the voice that"); the model
sums a learned vector for each. A column holds a number for each predicate, candidate or pair: a count, or the
number of a string.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, repeat

import numpy as np
from numpy.typing import NDArray

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_candidates import family

Numbers = NDArray[np.int64]
Columns = Mapping[str, Numbers]

#: The number of a string that no known feature has, and of the empty string.
UNKNOWN, EMPTY = 0, 1

_BETWEEN = ("between 1", "between 2", "between 3", "between 4")
_PHRASE = ("word 1", "word 2", "word 3", "word 4")

#: The columns of each template, for each group of them.
TEMPLATES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "predicate": (
        ("lemma",),
        ("phrasal verb",),
        ("tag",),
        ("tag", "relation", "voice"),
        ("lemma", "voice"),
        ("relations",),
        ("frame",),
        ("lemma", "filled"),
        ("helpers",),
        ("relation", "governor"),
        ("governor's tag",),
        ("word before", "tag"),
        ("tag", "word after"),
        ("word",),
    ),
    "candidate": (
        ("lemma",),
        ("lead", "lemma"),
        ("lead", "tag"),
        ("relation", "tag"),
        ("label", "lead"),
        ("lead",),
        ("kind",),
        ("kind", "relation"),
        ("first word",),
        ("last word",),
        ("first tag", "last tag"),
        ("tag before",),
        ("tag after",),
        ("word before",),
        ("word after",),
        ("value",),
        ("lead", "value"),
        ("length", "relation"),
        _PHRASE,
        ("first word", "second word"),
        ("governor", "relation"),
        ("lead", "governor's tag"),
        ("kind", "word before", "last part of speech"),
        ("kind", "branches"),
    ),
    "pair": (
        ("path", "kind"),
        ("path", "class", "voice", "filled"),
        ("path", "lead"),
        ("path", "predicate"),
        ("predicate", "lead", "side"),
        ("predicate", "relation", "side", "voice"),
        ("path", "type", "lead"),
        ("place", "voice"),
        ("side", "gap", "class"),
        ("side", "verbs", "points"),
        ("side", "gap", *_BETWEEN, "class"),
        ("predicate", "lemma"),
        ("path", "tag"),
        ("path", "label", "predicate's tag"),
        ("path", "governor", "filled"),
    ),
}

#: The columns of predicates and candidates that their pairs have, too.
OF_PREDICATE = ("class", "voice", "filled", "lemma", "tag", "governor")
OF_CANDIDATE = ("kind", "lemma", "tag", "label", "relation")

#: The columns that hold no strings.
COUNTS = frozenset({"path", "side", "gap", "verbs", "points", "length"})

_OBJECTS = frozenset({"obj", "attr", "xcomp", "ccomp", "iobj"})
_NO_BRANCH = frozenset({"punct", "det", "aux", "neg", "cc", "mark", "case", "prt"})
_RELATIVE = frozenset({"WRB", "WDT", "WP"})

#: A word with more branches than this has no frame: it is no clause but a list.
_MOST_BRANCHES = 12

#: Gaps and lengths above four are told apart only this far.
_COARSE = np.array([0, 1, 2, 3, 4, 8, 8, 8, 8, *[16] * 8, 17])


class Features:
    """The features of one paragraph, whose tokens stand beside those of ``around`` (``srl_model.neighbours``).
    ``symbols`` numbers the strings."""

    def __init__(
        self, annotation: Annotation, tree: Tree, around: Numbers, symbols: Mapping[str, int]
    ) -> None:
        self._tree = tree
        self._around = around
        self._number = symbols.get
        self._words = [word.lower() for word in annotation.words]
        self._lemmas = annotation.lemmas
        self._tags = annotation.tags
        self._labels = annotation.dependencies
        self._families = [family(relation) for relation in tree.relations]
        self._case, case_starts, mark = self._function_words()
        types = _types(annotation)
        self._heads = np.array(tree.heads, np.int64)
        self._case_starts = np.array(case_starts, np.int64)
        self._next_typed = _next_typed(types)
        # One number a token and, at the end, which is also at -1, one for no token.
        self._word = self._numbers(self._words)
        self._lemma = self._numbers(self._lemmas)
        self._tag = self._numbers(self._tags)
        self._pos = self._numbers(annotation.pos)
        self._label = self._numbers(self._labels)
        self._family = self._numbers(self._families)
        self._type = self._numbers(types)
        self._lead_case = self._numbers(self._case)
        self._lead_mark = self._numbers(mark)
        self._branches = self._numbers(
            " ".join([self._families[k] for k in children[:_MOST_BRANCHES]]) for children in tree.children
        )
        self._verbs = np.array([*accumulate((p in {"VERB", "AUX"} for p in annotation.pos), initial=0)])
        self._points = np.array([*accumulate((p == "PUNCT" for p in annotation.pos), initial=0)])

    def _numbers(self, strings: Iterable[str]) -> Numbers:
        return np.array([*map(self._number, strings, repeat(UNKNOWN)), EMPTY], np.int64)

    def _function_words(self) -> tuple[list[str], list[int], list[str]]:
        """For each token: the prepositions in front of it, where they begin, and the subordinator or
        relative word of its clause."""
        tree, words = self._tree, self._words
        case, starts, mark = [""] * len(words), list(range(len(words))), [""] * len(words)
        for i, relation in enumerate(tree.relations):
            head = tree.heads[i]
            if relation == "case" and i < head:
                starts[head] = i if not case[head] else starts[head]
                case[head] += f"_{words[i]}" if case[head] else words[i]
            elif not mark[head] and (relation == "mark" or self._tags[i] in _RELATIVE):
                mark[head] = words[i]
        return case, starts, mark

    def predicates(self, tokens: Sequence[int]) -> Columns:
        """Columns of the predicates ``tokens``."""
        tree, lemmas, own = self._tree, self._lemmas, np.array(tokens, np.int64)
        before, after, _ = self._around[own].T
        frames = [self._frame(i) for i in tokens]
        particles = [
            "_".join(self._words[k] for k in tree.children[i] if tree.relations[k] == "prt") for i in tokens
        ]
        helpers = [
            " ".join(lemmas[k] for k in tree.children[i] if tree.relations[k] in {"aux", "mark"} and k < i)
            for i in tokens
        ]
        strings = {
            "phrasal verb": [p and f"{lemmas[i]} {p}" for i, p in zip(tokens, particles, strict=True)],
            "class": [self._tags[i][:1] for i in tokens],
            "voice": [self._voice(i) for i in tokens],
            "filled": [self._filled(i) for i in tokens],
            "helpers": helpers,
            "relations": [
                " ".join(self._families[k] if name != "V" else "V" for k, name in f) for f in frames
            ],
            "frame": [" ".join(name for _, name in frame) for frame in frames],
        }
        return {
            **{name: self._numbers(column)[:-1] for name, column in strings.items()},
            "lemma": self._lemma[own],
            "tag": self._tag[own],
            "word": self._word[own],
            "relation": self._family[own],
            "governor": self._lemma[self._heads[own]],
            "governor's tag": self._tag[self._heads[own]],
            "word before": self._word[before],
            "word after": self._word[after],
        }

    def _frame(self, i: int) -> list[tuple[int, str]]:
        """The branches of a predicate and itself in text order, as token and relation with preposition."""
        tree, case, families = self._tree, self._case, self._families
        branches = [k for k in tree.children[i] if tree.relations[k] not in _NO_BRANCH]
        if len(branches) > _MOST_BRANCHES:
            return []
        return sorted(
            [*((k, f"{families[k]}:{case[k]}" if case[k] else families[k]) for k in branches), (i, "V")]
        )

    def _filled(self, i: int) -> str:
        """Whether a subject ("s") or an object ("o") is among the branches of a predicate."""
        names = {self._families[k] for k in self._tree.children[i]}
        return ("s" if "nsubj" in names else "") + ("" if _OBJECTS.isdisjoint(names) else "o")

    def _voice(self, i: int) -> str:
        children = self._tree.children[i]
        if any(self._labels[k] in {"auxpass", "aux:pass"} for k in children):
            return "passive"
        if self._tags[i] != "VBN":
            return "active"
        auxiliaries = [self._lemmas[k] for k in children if self._tree.relations[k] == "aux"]
        return "participle" if not auxiliaries else "passive?" if "be" in auxiliaries else "active"

    def candidates(self, spans: Numbers, kinds: Sequence[str]) -> Columns:
        """Columns of candidates: ``spans`` (C, 3) are head, first and last token, both included."""
        head, first, last = spans.T
        before, after = self._around[first, 0], self._around[last, 1]
        length = last - first + 1
        cased = (first <= self._case_starts[head]) & (self._case_starts[head] < head)
        typed = self._next_typed[first]
        governor = self._heads[head]
        phrase = np.where(length <= len(_PHRASE), length, 0)
        return {
            "lemma": self._lemma[head],
            "tag": self._tag[head],
            "relation": self._family[head],
            "label": self._label[head],
            "lead": np.where(cased, self._lead_case[head], self._lead_mark[head]),
            "kind": self._numbers(kinds)[:-1],
            "branches": self._branches[head],
            "first word": self._word[first],
            "second word": self._word[np.where(length > 1, first + 1, -1)],
            "last word": self._word[last],
            "first tag": self._tag[first],
            "last tag": self._tag[last],
            "last part of speech": self._pos[last],
            "word before": self._word[before],
            "word after": self._word[after],
            "tag before": self._tag[before],
            "tag after": self._tag[after],
            "value": np.where(
                self._type[head] != EMPTY, self._type[head], self._type[np.where(typed <= last, typed, -1)]
            ),
            "length": _coarse(length),
            "governor": self._lemma[governor],
            "governor's tag": self._tag[governor],
            **{name: self._word[np.where(k < phrase, first + k, -1)] for k, name in enumerate(_PHRASE)},
        }

    def pairs(
        self, tokens: Numbers, predicates: Columns, spans: Numbers, candidates: Columns, paths: Numbers
    ) -> Columns:
        """Columns of N pairs: of the predicates ``tokens`` (N,) with their columns, the candidates ``spans`` (N, 3)
        with theirs, and the paths between them (N,)."""
        head, first, last = spans.T
        before = last < tokens
        low, high = np.where(before, last + 1, tokens + 1), np.where(before, tokens, first)
        gap = high - low
        between = np.where(gap <= len(_BETWEEN), gap, 0)
        case = self._lead_case[head]
        return {
            "path": paths,
            "kind": candidates["kind"],
            "class": predicates["class"],
            "voice": predicates["voice"],
            "filled": predicates["filled"],
            "predicate": predicates["lemma"],
            "predicate's tag": predicates["tag"],
            "governor": predicates["governor"],
            "lead": np.where(case != EMPTY, case, self._lead_mark[head]),
            "lemma": candidates["lemma"],
            "tag": candidates["tag"],
            "label": candidates["label"],
            "relation": candidates["relation"],
            "type": self._type[head],
            "place": np.where(self._heads[head] == tokens, self._places(tokens)[head], EMPTY),
            "side": before.astype(np.int64),
            "gap": _coarse(gap),
            "verbs": np.minimum(self._verbs[high] - self._verbs[low], 3),
            "points": np.minimum(self._points[high] - self._points[low], 3),
            **{name: self._tag[np.where(k < between, low + k, -1)] for k, name in enumerate(_BETWEEN)},
        }

    def _places(self, tokens: Numbers) -> Numbers:
        """For each branch of the predicates the relations of all of them, its own marked."""
        places = np.full(len(self._words), EMPTY, np.int64)
        for i in np.unique(tokens).tolist():
            frame = self._frame(i)
            names = [name.partition(":")[0] for _, name in frame]
            places[self._tree.children[i]] = self._number(" ".join(names), UNKNOWN)
            for place, (k, name) in enumerate(frame):
                if k != i:
                    marked = [*names[:place], f"[{name}]", *names[place + 1 :]]
                    places[k] = self._number(" ".join(marked), UNKNOWN)
        return places


def _coarse(counts: Numbers) -> Numbers:
    return _COARSE[np.minimum(counts, len(_COARSE) - 1)]


def _next_typed(types: Sequence[str]) -> Numbers:
    """For each token the first from it on that has a type."""
    places = np.where([kind != "" for kind in types], np.arange(len(types)), len(types))
    return np.minimum.accumulate(places[::-1])[::-1]


def _types(annotation: Annotation) -> list[str]:
    """What kind of value or name each token is in: an entity's type, else "date" or "number"."""
    types = [""] * len(annotation.words)
    starts = annotation.starts
    stretches: Iterable[tuple[int, int, str]] = (
        *((number.start, number.end, "number") for number in annotation.numbers),
        *((date.start, date.end, "date") for date in annotation.dates),
        *((entity.start, entity.end, entity.label) for entity in annotation.entities),
    )
    for start, end, label in stretches:
        for i in range(max(bisect_right(starts, start) - 1, 0), bisect_left(starts, end)):
            types[i] = label
    return types
