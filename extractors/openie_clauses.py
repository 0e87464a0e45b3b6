"""The propositions of a paragraph, as token stretches: clause analysis over the collapsed tree.

A proposition is a predicate with its parts. Most are clauses: a verb, with what it shares with the clauses
around it (the subject of a coordinated verb, an infinitive or a participle, the antecedent of a relative
clause, the object that stands after the last of several verbs). Others are implied by a noun phrase: an
apposition or a title says what something is, a possessive what it has.
"""

from collections.abc import Iterator, Sequence

from extractors.annotate import Annotation
from extractors.clauses import RAISING, Phrase, SharedParts
from extractors.dependencies import NEIGHBOURS, SPEECH, SUBJECTS, Tree
from extractors.openie_nouns import Kind, NounPhrases, Part, Proposition, Stretch
from extractors.repairs import VERBAL

_CLAUSAL = frozenset(
    {"root", "acl", "acl:relcl", "advcl", "ccomp", "xcomp", "csubj", "parataxis", "conj", "dep"}
)
_NO_PART = frozenset({"punct", "aux", "cc", "det", "case", "mark", "expl"})
_IN_PREDICATE = frozenset({"aux", "neg", "prt", "advmod"})
# fmt: off
#: Adverbs that belong to the relation where they follow "be": "is also".
_AFTER_BE = frozenset({"also", "still", "often", "now", "never", "always", "only", "currently", "usually"})
# fmt: on


class Clauses:
    """The clause analysis of one paragraph.

    ``heads`` says which tokens head a clause with a proposition of its own. An infinitive that makes one
    relation with the verb before it ("wanted to leave") heads none.
    """

    def __init__(self, annotation: Annotation, tree: Tree) -> None:
        self._annotation = annotation
        self._tree = tree
        self._shared = SharedParts(annotation, tree)
        self._chains: dict[int, list[int]] = {}
        self._governors: dict[int, int] = {}
        self.heads = [self._heads_clause(i) for i in range(len(annotation.words))]
        for i in range(len(annotation.words)):
            if self.heads[i]:
                self._chain(i)
        for i in self._governors:
            self.heads[i] = False
        self._starts = frozenset(first for first, _ in annotation.sentences)
        self._nouns = NounPhrases(annotation, tree, self._shared, self.heads)

    def propositions(self) -> Iterator[tuple[int, Proposition]]:
        """Each with the token that it belongs to, in text order of these."""
        for i, heads_clause in enumerate(self.heads):
            if heads_clause:
                yield i, self._clause(i)
            else:
                implied = self.item(i) if self._shared.is_item(i) else self._nouns.implied(i)
                if implied is not None:
                    yield i, implied

    # Clauses: which there are, and their predicates.

    def _heads_clause(self, i: int) -> bool:
        tree, relation = self._tree, self._tree.relations[i]
        if not self._shared.is_verb(i):
            return False
        complement = self._annotation.dependencies[i] == "pcomp" and relation != "compound"
        if relation in _CLAUSAL or tree.heads[i] == i or complement:
            return True
        return relation not in _NO_PART and any(
            tree.relations[k] in {"obj", "nsubj", "nsubj:pass"} for k in tree.children[i]
        )

    def _chain(self, i: int) -> None:
        """Find the words that make one relation with the verb ``i``: "is able to swim", "began to sing"."""
        if i in self._governors:
            return
        chain = self._chains[i] = [i]
        while (following := self._continuation(chain[-1])) is not None:
            chain.append(following)
            self._governors[following] = i

    def _continuation(self, i: int) -> int | None:
        tree = self._tree
        for k in tree.children[i]:
            if k < i or not self._joins(i, k):
                continue
            between = range(i + 1, k)
            if all(
                tree.heads[j] in {i, k} and tree.relations[j] in {*_IN_PREDICATE, "mark"} for j in between
            ):
                return k
        return None

    def _joins(self, i: int, k: int) -> bool:
        relation, tags = self._tree.relations[k], self._annotation.tags
        if relation == "xcomp":
            return self._annotation.pos[k] in VERBAL and all(
                self._tree.relations[j] not in SUBJECTS for j in self._tree.children[k]
            )
        if relation != "attr" or self._annotation.lemmas[i] not in {"be", "get"}:
            return False
        if tags[k] in {"VBN", "VBG"} and self._annotation.pos[k] == "VERB":
            return True
        return self._annotation.lemmas[k] in RAISING and self._continuation(k) is not None

    def _predicate(self, i: int) -> Stretch:
        """The stretch of the verb with the auxiliaries, negation, particle and adverbs next to it."""
        tree, chain = self._tree, self._chains[i]
        first = i
        while first > 0 and self._is_part(first - 1, chain):
            first -= 1
        while first < i and tree.relations[first] == "advmod" and self._opens(first):
            first += 1
        last = chain[-1]
        copula = self._annotation.lemmas[last] == "be"
        while last + 1 < len(tree.heads) and self._is_part(last + 1, chain):
            adverb = tree.relations[last + 1] == "advmod"
            if adverb and not (copula and self._annotation.lemmas[last + 1] in _AFTER_BE):
                break
            last += 1
        return Stretch(chain[-1], first, last)

    def _opens(self, i: int) -> bool:
        """Whether an adverb opens its sentence: "Then came pit C"."""
        return i == 0 or self._tree.relations[i - 1] in {"punct", "cc", "mark"} or i in self._starts

    def _is_part(self, i: int, chain: Sequence[int]) -> bool:
        tree = self._tree
        relation = tree.relations[i]
        if relation not in _IN_PREDICATE or tree.heads[i] not in chain or tree.children[i]:
            return False
        return relation != "advmod" or (self._annotation.pos[i] == "ADV" and not self._shared.is_relative(i))

    # Clauses: their parts.

    def _clause(self, i: int) -> Proposition:
        tree, chain = self._tree, self._chains[i]
        predicate = self._predicate(i)
        antecedent = self._antecedent(i)
        subject = self._subject(i)
        parts = [antecedent] if antecedent is not None and antecedent.relation != "nsubj" else []
        negation = None
        for verb in chain:
            for k in tree.children[verb]:
                relation = tree.relations[k]
                if relation == "neg":
                    negation = k
                within = k in chain or predicate.first <= k <= predicate.last
                if within or relation in _NO_PART or self._shared.is_sign(k):
                    continue
                if relation in NEIGHBOURS and (self.heads[k] or relation == "list"):
                    continue
                if (subject is not None and k == subject.stretches[0].head) or self._is_participial(k):
                    continue
                if self._shared.is_relative(k) and (antecedent is not None or relation == "advmod"):
                    continue
                parts.append(Part(relation, self._nouns.stretches(k)))
        shared = self._shared.object(chain[-1])
        if shared is not None:
            parts.append(Part("obj", self._nouns.stretches(shared), shared=True))
        parts.extend(self._quoted(i, parts))
        # What is fronted comes last: the first part is the one after the verb.
        parts.sort(key=lambda part: (part.stretches[0].first < predicate.first, part.stretches[0].first))
        kind = Kind.COPULA if self._annotation.lemmas[chain[-1]] == "be" else Kind.VERB
        parts = [_around(part, *self._told_by(part, predicate, subject)) for part in parts]
        kept = tuple(part for part in parts if part.stretches)
        if subject is not None:
            subject = _beside(subject, predicate)
        return Proposition(kind, predicate, subject, kept, negation, tree.relations[i])

    def _told_by(self, part: Part, predicate: Stretch, subject: Part | None) -> tuple[int, int]:
        """The tokens of the clause that may stand in the middle of what it tells: "The mill, she said, is old"."""
        own = [] if subject is None or subject.shared else subject.stretches
        stretches = [predicate, *(s for s in own if part.stretches[0].first <= s.first)]
        return min(s.first for s in stretches), max(s.last for s in stretches)

    def _quoted(self, i: int, parts: Sequence[Part]) -> Iterator[Part]:
        """What an inserted clause attributes: "The mill, she said, is old"."""
        governor = self._tree.heads[i]
        told = any(part.relation in {"ccomp", "obj"} for part in parts)
        if self._tree.relations[i] == "parataxis" and self._annotation.lemmas[i] in SPEECH and not told:
            yield Part("ccomp", (Stretch(governor, self._tree.first[governor], self._tree.last[governor]),))

    def _subject(self, i: int) -> Part | None:
        """The subject of clause ``i``: its own, or the one that it shares."""
        phrase = self._shared.subjects(i)
        if not phrase.nouns:
            return None
        if phrase.before is not None:
            return Part("nsubj", self._described(phrase), shared=True)
        noun = phrase.nouns[-1]
        return Part("nsubj", self._nouns.stretches(noun), shared=self._tree.heads[noun] != i)

    def _antecedent(self, i: int) -> Part | None:
        """What a relative or participial clause describes, where that is a part of the clause itself."""
        antecedent = self._shared.antecedent(i)
        if antecedent is None or not antecedent.direct:
            return None
        relation = "nsubj" if antecedent.relation in SUBJECTS else antecedent.relation
        return Part(relation, self._described(antecedent.phrase), shared=True)

    def _described(self, phrase: Phrase) -> tuple[Stretch, ...]:
        limit = len(self._tree.heads) if phrase.before is None else phrase.before
        return tuple(self._nouns.before(noun, limit) for noun in phrase.nouns)

    def _is_participial(self, i: int) -> bool:
        """Whether ``i`` heads a clause without a word that links it: "Leeds lost, scoring once". It is a fact
        of its own about the same subject."""
        tree = self._tree
        linked = any(tree.relations[k] in {"mark", "case", "advmod"} for k in tree.children[i] if k < i)
        return tree.relations[i] == "advcl" and self._annotation.tags[i] in {"VBG", "VBN"} and not linked

    def item(self, i: int) -> Proposition:
        """An item of a list, or a verbless sentence: its head with the modifiers in front, and the rest."""
        tree = self._tree
        first = last = i
        for k in reversed(tree.children[i]):
            if (
                k < i
                and tree.last[k] == first - 1
                and tree.relations[k] in {"nummod", "compound", "amod", "advmod"}
            ):
                first = tree.first[k]
        parts = [
            Part(tree.relations[k], self._nouns.stretches(k))
            for k in tree.children[i]
            if not first <= k <= last and tree.relations[k] not in {*_NO_PART, "list"} and not self.heads[k]
        ]
        return Proposition(Kind.ITEM, Stretch(i, first, last), self._subject(i), tuple(parts))


def _beside(part: Part, predicate: Stretch) -> Part:
    """The part without what stands on the other side of the predicate from its head, and without the predicate."""

    def clipped(stretch: Stretch) -> Stretch:
        head, first, last = stretch
        if not first <= predicate.first <= predicate.last <= last:
            return stretch
        if head < predicate.first:
            return Stretch(head, first, predicate.first - 1)
        return Stretch(head, predicate.last + 1, last) if head > predicate.last else stretch

    return part._replace(stretches=tuple(map(clipped, part.stretches)))


def _around(part: Part, first: int, last: int) -> Part:
    """The part without the tokens ``first`` to ``last``, where it stands on both sides of them."""
    stretches: list[Stretch] = []
    for stretch in part.stretches:
        head, start, end = stretch
        if not start <= first <= last <= end:
            stretches.append(stretch)
            continue
        sides = [(a, b) for a, b in ((start, first - 1), (last + 1, end)) if a <= b]
        stretches.extend(Stretch(head if a <= head <= b else b, a, b) for a, b in sides)
    return part._replace(stretches=tuple(stretches))
