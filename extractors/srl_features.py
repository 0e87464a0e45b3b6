"""What the role model sees: features of predicates, of candidate arguments, and of pairs of the two.

A feature is a string under one template; the model sums a learned vector for each. The features of a
predicate or a candidate are computed once however many pairs it is in.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.srl_candidates import Candidate, family

#: How many features, one a template, the three groups have.
TEMPLATES = {"predicate": 14, "candidate": 24, "pair": 15}

_OBJECTS = frozenset({"obj", "attr", "xcomp", "ccomp", "iobj"})
_NO_BRANCH = frozenset({"punct", "det", "aux", "neg", "cc", "mark", "case", "prt"})
_RELATIVE = frozenset({"WRB", "WDT", "WP"})

#: A word with more branches than this has no frame: it is no clause but a list.
_MOST_BRANCHES = 12


@dataclass(frozen=True, slots=True)
class Described:
    """A predicate as its pairs see it. ``frame`` holds its branches and itself in text order, as token and
    relation with preposition; ``filled`` says whether a subject ("s") or an object ("o") is among them.
    ``governor`` is the lemma that it hangs on."""

    token: int
    lemma: str
    tag: str
    kind: str
    voice: str
    filled: str
    governor: str
    frame: tuple[tuple[int, str], ...]


class Features:
    """The features of one paragraph."""

    def __init__(self, annotation: Annotation, tree: Tree) -> None:
        self._tree = tree
        self._words = [word.lower() for word in annotation.words]
        self._lemmas = annotation.lemmas
        self._tags = annotation.tags
        self._pos = annotation.pos
        self._labels = annotation.dependencies
        self._families = [family(relation) for relation in tree.relations]
        self._types = _types(annotation)
        self._case, self._case_start, self._mark = self._function_words()
        self._verbs = list(accumulate((pos in {"VERB", "AUX"} for pos in annotation.pos), initial=0))
        self._points = list(accumulate((pos == "PUNCT" for pos in annotation.pos), initial=0))

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

    def describe(self, i: int) -> Described:
        """What the pairs of the predicate ``i`` need to know of it."""
        tree, case, families = self._tree, self._case, self._families
        branches = [k for k in tree.children[i] if tree.relations[k] not in _NO_BRANCH]
        names = [families[k] for k in branches]
        frame = [(k, f"{families[k]}:{case[k]}" if case[k] else families[k]) for k in branches]
        return Described(
            token=i,
            lemma=self._lemmas[i],
            tag=self._tags[i],
            kind=self._tags[i][:1],
            voice=self._voice(i),
            filled=("s" if "nsubj" in names else "") + ("" if _OBJECTS.isdisjoint(names) else "o"),
            governor=self._lemmas[tree.heads[i]],
            frame=tuple(sorted([*frame, (i, "V")])) if len(frame) <= _MOST_BRANCHES else (),
        )

    def _voice(self, i: int) -> str:
        children = self._tree.children[i]
        if any(self._labels[k] in {"auxpass", "aux:pass"} for k in children):
            return "passive"
        if self._tags[i] != "VBN":
            return "active"
        auxiliaries = [self._lemmas[k] for k in children if self._tree.relations[k] == "aux"]
        return "participle" if not auxiliaries else "passive?" if "be" in auxiliaries else "active"

    def predicate(self, one: Described) -> list[str]:
        tree, i, lemma, tag = self._tree, one.token, one.lemma, one.tag
        relation, head = self._families[i], tree.heads[i]
        relations = [self._families[k] if k != i else "V" for k, _ in one.frame]
        particle = "_".join(self._words[k] for k in tree.children[i] if tree.relations[k] == "prt")
        helpers = [k for k in tree.children[i] if tree.relations[k] in {"aux", "mark"} and k < i]
        return [
            lemma,
            particle and f"{lemma} {particle}",
            tag,
            f"{tag} {relation} {one.voice}",
            f"{lemma} {one.voice}",
            " ".join(relations),
            " ".join(name for _, name in one.frame),
            f"{lemma} {one.filled}",
            " ".join(self._lemmas[k] for k in helpers),
            f"{relation} {one.governor}",
            self._tags[head],
            f"{self._words[i - 1] if i else ''} {tag}",
            f"{tag} {self._words[i + 1] if i + 1 < len(self._words) else ''}",
            self._words[i],
        ]

    def candidate(self, c: Candidate) -> list[str]:
        tree, words, tags = self._tree, self._words, self._tags
        head, first, last, kind = c
        lemma, tag, relation = self._lemmas[head], tags[head], self._families[head]
        lead = self._case[head] if first <= self._case_start[head] < head else self._mark[head]
        length = last - first + 1
        types = [t for t in self._types[first : last + 1] if t]
        value = self._types[head] or (types[0] if types else "")
        before = words[first - 1] if first else ""
        after = words[last + 1] if last + 1 < len(words) else ""
        branches = [self._families[k] for k in tree.children[head][:_MOST_BRANCHES] if first <= k <= last]
        return [
            lemma,
            f"{lead} {lemma}",
            f"{lead} {tag}",
            f"{relation} {tag}",
            f"{self._labels[head]} {lead}",
            lead,
            kind,
            f"{kind} {relation}",
            words[first],
            words[last],
            f"{tags[first]} {tags[last]}",
            tags[first - 1] if first else "",
            tags[last + 1] if last + 1 < len(words) else "",
            before,
            after,
            value,
            f"{lead} {value}",
            f"{_bucket(length)} {relation}",
            " ".join(words[first : last + 1]) if length <= 4 else "",
            f"{words[first]} {words[first + 1]}" if length > 1 else "",
            f"{self._lemmas[tree.heads[head]]} {relation}",
            f"{lead} {tags[tree.heads[head]]}",
            f"{kind} {before} {self._pos[last]}",
            " ".join(branches),
        ]

    def pair(self, one: Described, c: Candidate, path: int) -> list[str]:
        i, lemma, voice, kind = one.token, one.lemma, one.voice, one.kind
        head = c.head
        side, low, high = ("<", c.last + 1, i) if c.last < i else (">", i + 1, c.first)
        gap = high - low
        verbs = self._verbs[high] - self._verbs[low]
        points = self._points[high] - self._points[low]
        lead = self._case[head] or self._mark[head]
        place = ""
        if self._tree.heads[head] == i:
            names = [f"[{name}]" if k == head else name.partition(":")[0] for k, name in one.frame]
            place = f"{' '.join(names)} {voice}"
        return [
            f"{path} {c.kind}",
            f"{path} {kind} {voice} {one.filled}",
            f"{path} {lead}",
            f"{path} {lemma}",
            f"{lemma} {lead} {side}",
            f"{lemma} {self._families[head]}{side} {voice}",
            f"{path} {self._types[head]} {lead}",
            place,
            f"{side} {_bucket(gap)} {kind}",
            f"{side} {min(verbs, 3)} {min(points, 3)}",
            f"{side} {' '.join(self._tags[low:high]) if gap <= 4 else ''} {kind}",
            f"{lemma} {self._lemmas[head]}",
            f"{path} {self._tags[head]}",
            f"{path} {self._labels[head]} {one.tag}",
            f"{path} {one.governor} {one.filled}",
        ]


def _bucket(count: int) -> str:
    """A number of tokens, coarser as it grows."""
    if count <= 4:
        return str(count)
    return "8" if count <= 8 else "16" if count <= 16 else "many"


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
