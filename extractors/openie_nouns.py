"""The noun phrases of a paragraph: where their cells begin and end, and what they imply without a verb.

The right end is what takes care: what is coordinated gets a stretch of its own, and what has a proposition of
its own (a relative clause, an apposition) is left to that.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from extractors.annotate import Annotation
from extractors.clauses import SharedParts
from extractors.dependencies import PREPOSITIONS, Tree
from extractors.repairs import VERBAL

_NOMINAL_PARTS = frozenset({"nmod", "obl", "appos", "conj", *(f"nmod:{p}" for p in PREPOSITIONS)})
#: What an apposition that says something has at its head.
_TELLING = frozenset({"NOUN", "PROPN", "NUM", "ADJ", "VERB", "SYM"})
#: The entity types of places.
PLACES = frozenset({"GPE", "LOC", "FAC"})
#: These before a name are no title that somebody has.
_ADDRESSES = frozenset({"mr.", "mrs.", "ms.", "mr", "mrs", "ms", "miss", "messrs."})


class Kind(Enum):
    """What makes a proposition."""

    VERB = "verb"
    COPULA = "copula"
    APPOSITION = "apposition"  # is
    TITLE = "title"  # is
    POSSESSIVE = "possessive"  # has
    ITEM = "item"  # of a list of shares, or a verbless sentence


class Stretch(NamedTuple):
    """The tokens ``first`` to ``last``, both included, and the token that heads them."""

    head: int
    first: int
    last: int


class Part(NamedTuple):
    """What fills one place beside a predicate: several stretches where they are coordinated.

    ``relation`` is that of the tree. ``shared`` tells that it hangs on another clause in the text.
    """

    relation: str
    stretches: tuple[Stretch, ...]
    shared: bool = False


class Proposition(NamedTuple):
    """A predicate, its subject and its other parts: those after the predicate first, then the fronted ones.

    ``clause`` is the relation by which a clause hangs on what is above it.
    """

    kind: Kind
    predicate: Stretch
    subject: Part | None
    parts: tuple[Part, ...]
    negation: int | None = None
    clause: str = ""


class NounPhrases:
    """The noun phrases of one paragraph. ``clauses`` says which tokens head a clause with a proposition."""

    def __init__(
        self, annotation: Annotation, tree: Tree, shared: SharedParts, clauses: Sequence[bool]
    ) -> None:
        self._annotation = annotation
        self._tree = tree
        self._clauses = clauses
        self._shared = shared
        self._titles = dict(self._find_titles())

    def stretches(self, i: int) -> tuple[Stretch, ...]:
        """The phrase of ``i``; one stretch for each of several coordinated nouns, unless a preposition or a
        negation is in front: "Norway, Malta and Ural" are three, "between Hull and Leeds" and "neither Hull nor
        Leeds" one."""
        tree = self._tree
        if self._annotation.pos[i] in VERBAL:
            return (Stretch(i, tree.first[i], tree.last[i]),)
        conjuncts = [k for k in tree.children[i] if tree.relations[k] == "conj" and not self._clauses[k]]
        opening = tree.first[i]
        prepositional = tree.relations[i].startswith(("obl", "nmod")) and tree.relations[opening] == "case"
        if prepositional or self._annotation.words[opening].lower() in {"between", "neither"}:
            return (Stretch(i, tree.first[i], max([self._end(i), *map(self._end, conjuncts)])),)
        return tuple(Stretch(k, tree.first[k], self._end(k)) for k in (i, *conjuncts))

    def _end(self, i: int) -> int:
        """The last token of a noun phrase, less what is coordinated with its head and what has a proposition
        of its own at its right edge."""
        tree, nested = self._tree, False
        while True:
            last = -1
            for k in tree.children[i]:
                if k < i or tree.relations[k] in {"punct", "cc"}:
                    continue
                if self._is_apart(i, k) and not (nested and tree.relations[k] == "conj"):
                    break
                last = k
            if last < 0:
                return i
            if self._clauses[last] or tree.relations[last] not in _NOMINAL_PARTS:
                return tree.last[last]
            i, nested = last, True

    def _is_apart(self, i: int, k: int) -> bool:
        relation = self._tree.relations[k]
        if relation == "appos":
            # Not "the liner Norway", nor "March, 1938".
            apart = self._annotation.pos[i + 1] == "PUNCT" and not self._is_within_value(i, k)
            return apart and self._tells(i, k)
        return relation in {"conj", "list", "parataxis"} or (relation.startswith("acl") and self._clauses[k])

    def before(self, noun: int, i: int) -> Stretch:
        """The phrase of a noun up to the clause ``i`` that describes it, less a preposition in front."""
        first, last = self._tree.first[noun], min(self._end(noun), i - 1)
        while first < noun and self._tree.relations[first] in {"case", "cc", "punct"}:
            first += 1
        return Stretch(noun, first, max(last, noun))

    def implied(self, i: int) -> Proposition | None:
        """What the noun phrase around ``i`` says without a verb, told by one of its tokens."""
        tree, relation, noun = self._tree, self._tree.relations[i], self._tree.heads[i]
        sign = Stretch(i, i, i)
        if i in self._titles:
            title, name = self._titles[i]
            return Proposition(Kind.TITLE, sign, Part("nsubj", (name,)), (Part("attr", (title,)),))
        if relation == "appos" and noun < i and self._is_apposition(noun, i):
            subject = Part("nsubj", (self.before(noun, tree.first[i]),))
            return Proposition(Kind.APPOSITION, sign, subject, (Part("attr", self.stretches(i)),))
        if relation == "case" and self._annotation.tags[i] == "POS" and tree.relations[noun] == "nmod:poss":
            owner, thing = Stretch(noun, tree.first[noun], i - 1), tree.heads[noun]
            if tree.first[noun] < i < thing:
                had = Part("obj", (Stretch(thing, i + 1, self._end(thing)),))
                return Proposition(Kind.POSSESSIVE, sign, Part("nsubj", (owner,)), (had,))
        return None

    def _is_apposition(self, noun: int, i: int) -> bool:
        """Whether ``i`` says what ``noun`` is. Without punctuation that says it once, not down a chain of nouns."""
        chained = self._tree.relations[noun] == "appos" and self._annotation.pos[noun + 1] != "PUNCT"
        listed = self._shared.is_item(noun) or self._is_within_value(noun, i)
        return not chained and not listed and self._tells(noun, i)

    def _tells(self, noun: int, i: int) -> bool:
        """Whether an apposition says something: not "the king himself", nor "Hull, Yorkshire"."""
        tree, pos = self._tree, self._annotation.pos
        if tree.first[i] == tree.last[i] and pos[i] not in _TELLING:
            return False
        named = all(pos[k] in {"PROPN", "PUNCT"} for k in range(tree.first[i], tree.last[i] + 1))
        return not (named and self._is_place(i) and self._is_place(noun))

    def _is_place(self, i: int) -> bool:
        start, named = self._annotation.starts[i], self._annotation.pos[i] == "PROPN"
        return named and any(
            e.label in PLACES and e.start <= start < e.end for e in self._annotation.entities
        )

    def _find_titles(self) -> Iterator[tuple[int, tuple[Stretch, Stretch]]]:
        """For the last word of a title its stretch, and that of the name it stands before: "captain Hale"."""
        tree, starts, ends = self._tree, self._annotation.starts, self._annotation.ends
        for entity in self._annotation.entities:
            if entity.label != "PERSON":
                continue
            first, last = bisect_left(starts, entity.start), bisect_left(ends, entity.end)
            start = first
            while start > 0 and tree.heads[start - 1] == last and tree.relations[start - 1] == "compound":
                start = tree.first[start - 1]
            if start < first and self._annotation.lemmas[first - 1] not in _ADDRESSES:
                yield first - 1, (Stretch(first - 1, start, first - 1), Stretch(last, first, last))

    def _is_within_value(self, i: int, k: int) -> bool:
        """Whether two tokens are parts of one date."""
        start, end = self._annotation.starts[i], self._annotation.ends[k]
        return any(date.start <= start and end <= date.end for date in self._annotation.dates)
