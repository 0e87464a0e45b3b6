"""Cells: an ``Argument`` for a stretch of tokens, with the values, entities and phrases inside it."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.repairs import VERBAL
from extractors.table import Argument, Span
from extractors.values import Date, Number

Value = TypeVar("Value", Number, Date, Span)

#: First token, last token, label.
Stretch = tuple[int, int, str]

#: A cell of more tokens has no phrases: nothing asks for one of a text that the parser did not understand, and
#: nested cells would each hold the same ones again.
MAX_PHRASED = 200

_PREMODIFIERS = frozenset({"det", "amod", "nummod", "compound", "nmod:poss", "advmod", "neg", "cc", "dep"})
_CONTENTLESS_EDGE = frozenset({"punct", "cc", "case", "mark"})

_OPENING = {")": "(", "]": "[", "\u201d": "\u201c", '"': '"'}
_ARTICLES = frozenset({"a", "an", "the"})


class ArgumentBuilder:
    """Builds the cells of one paragraph.

    ``clauses`` says which tokens head a clause with a row of its own. The phrases inside a clause belong to
    that row's cells, so they are not repeated in the cells around it.
    """

    def __init__(self, annotation: Annotation, tree: Tree, clauses: Sequence[bool]) -> None:
        self._annotation = annotation
        self._tree = tree
        self._clauses = clauses
        self._cells: dict[tuple[int, int, int], Argument] = {}
        self._number_starts = [number.start for number in annotation.numbers]
        self._date_starts = [date.start for date in annotation.dates]
        self._entity_starts = [entity.start for entity in annotation.entities]
        self._owners = self._clause_of_each_token()
        self._phrases: list[list[Stretch] | None] = [None] * len(annotation.words)

    def build(self, head: int, first: int, last: int, phrases: Sequence[Stretch] | None = None) -> Argument:
        """The cell of the tokens ``first`` to ``last``, both included, whose syntactic head is ``head``.

        ``phrases`` replaces the constituents as the cell's phrases.
        """
        if phrases is not None:
            return self._build(head, first, last, phrases)
        key = (head, first, last)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = self._build(
                head, first, last, self._constituents_within(head, first, last)
            )
        return cell

    def clause_of(self, token: int) -> int:
        """The head of the clause that ``token`` belongs to."""
        return self._owners[token]

    def trim(self, first: int, last: int) -> tuple[int, int]:
        """The stretch without punctuation, conjunctions, prepositions and subordinators at its edges."""
        relations, pos = self._tree.relations, self._annotation.pos
        start, end = first, last
        while start < end and (relations[start] in _CONTENTLESS_EDGE or pos[start] == "PUNCT"):
            start += 1
        while end > start and (relations[end] in {"punct", "cc"} or pos[end] == "PUNCT"):
            if self.closes(start, end):
                break
            end -= 1
        return start, end

    def closes(self, start: int, end: int) -> bool:
        """Whether the token ``end`` closes a bracket or quotation opened after ``start``."""
        words = self._annotation.words
        opening = _OPENING.get(words[end])
        if opening is None:
            return False
        inside = words[start + 1 : end]
        if opening == words[end]:
            return inside.count(opening) % 2 == 1
        return inside.count(opening) > inside.count(words[end])

    def _build(self, head: int, first: int, last: int, phrases: Iterable[Stretch]) -> Argument:
        annotation = self._annotation
        start, end = annotation.starts[first], annotation.ends[last]
        return Argument(
            text=annotation.paragraph.text[start:end],
            start=start,
            end=end,
            lemmas=tuple(annotation.lemmas[first : last + 1]),
            head=annotation.lemmas[head],
            numbers=_within(annotation.numbers, self._number_starts, start, end),
            dates=_within(annotation.dates, self._date_starts, start, end),
            entities=self._entities(first, last, start, end),
            phrases=self._spans(first, last, phrases),
        )

    def _entities(self, first: int, last: int, start: int, end: int) -> tuple[Span, ...]:
        """The entities inside the cell, and those outside it that pronouns inside it stand for."""
        inside = _within(self._annotation.entities, self._entity_starts, start, end)
        antecedents = self._annotation.antecedents
        meant = {antecedents[i] for i in range(first, last + 1) if i in antecedents} if antecedents else ()
        return tuple(sorted({*inside, *meant}, key=lambda span: span.start)) if meant else inside

    def _clause_of_each_token(self) -> list[int]:
        """The nearest clause head at or above each token."""
        heads, clauses = self._tree.heads, self._clauses
        owners = [-1] * len(heads)
        for token in range(len(heads)):
            path = []
            i = token
            while owners[i] < 0 and not clauses[i] and heads[i] != i:
                path.append(i)
                i = heads[i]
            owner = owners[i] if owners[i] >= 0 else i
            owners[i] = owner
            for j in path:
                owners[j] = owner
        return owners

    def _spans(self, first: int, last: int, phrases: Iterable[Stretch]) -> tuple[Span, ...]:
        """The phrases inside the cell, in text order, each stretch once under its first label."""
        labels: dict[tuple[int, int], str] = {}
        for start, end, label in phrases:
            start, end = max(start, first), min(end, last)
            if start <= end and (start, end) != (first, last):
                labels.setdefault((start, end), label)
        text, starts, ends = self._annotation.paragraph.text, self._annotation.starts, self._annotation.ends
        return tuple(
            Span(text[starts[start] : ends[end]], starts[start], ends[end], label)
            for (start, end), label in sorted(labels.items())
        )

    def _constituents_within(self, head: int, first: int, last: int) -> Iterator[Stretch]:
        if last - first >= MAX_PHRASED:
            return
        owners, tree, clauses = self._owners, self._tree, self._clauses
        if clauses[head] and self._annotation.pos[head] in VERBAL:
            return
        owner = owners[head]
        for token in range(first, last + 1):
            if owners[token] == owner:
                for start, end, label in self._phrases_of(token):
                    if first <= start and end <= last:
                        yield start, end, "core" if token == head and label == tree.relations[head] else label
            elif clauses[token] and owners[tree.heads[token]] == owner:
                start, end = self.trim(tree.first[token], tree.last[token])
                if first <= start and end <= last:
                    yield start, end, tree.relations[token]

    def _phrases_of(self, token: int) -> list[Stretch]:
        found = self._phrases[token]
        if found is None:
            found = self._phrases[token] = list(self._constituents(token))
        return found

    def _constituents(self, token: int) -> list[Stretch]:
        """The phrases that ``token`` heads: whole; with fewer and fewer of its modifiers on the right, then
        on the left; with its preposition; and alone where others are coordinated with it."""
        tree = self._tree
        label = tree.relations[token]
        if label in {"punct", "cc", "case", "mark", "det", "aux", "expl", "neg", "prt"}:
            return []
        lefts: list[int] = []
        preposition = None
        left = token
        for child in tree.children[token]:
            relation = tree.relations[child]
            if child > token:
                break
            if relation == "case":
                preposition = tree.first[child] if preposition is None else preposition
            elif relation not in _CONTENTLESS_EDGE:
                if left == token:
                    left = tree.first[child]
                if self._annotation.lemmas[child] not in _ARTICLES:
                    lefts.append(tree.last[child] + 1)
        left, _ = self.trim(left, token)
        right = token
        rights = [token]
        coordinated: list[int] = []
        for child in tree.children[token]:
            if child < token or tree.relations[child] in {"punct", "cc"}:
                continue
            if tree.relations[child] in {"conj", "list"}:
                coordinated.append(child)
            if coordinated:
                continue
            # "65 years of age or older": without what is coordinated at the end, too.
            inner = [k for k in tree.children[child] if tree.relations[k] == "conj"]
            if inner and not self._clauses[child]:
                rights.append(tree.first[inner[0]] - 1)
            right = max(right, tree.last[child])
            rights.append(right)
        _, last = self.trim(left, tree.last[token])
        found: list[Stretch] = [(left, last, label)]
        if coordinated:
            found.append((left, self.trim(left, right)[1], "conj"))
            found.extend(self._pairs(coordinated))
        if preposition is not None and preposition < left:
            found.append((preposition, last, "pp"))
        ends = [self.trim(left, end)[1] for end in rights]
        if not self._annotation.words[token][0].isalnum():
            lefts = []  # A bare "%" says nothing.
        found.append((left, ends[0], label))
        found.extend((left, end, "part") for end in ends[1:])
        for start in lefts:
            start, _ = self.trim(min(start, token), token)
            if start > left:
                found.extend((start, end, "head") for end in ends)
        return found

    def _pairs(self, conjuncts: Sequence[int]) -> Iterator[Stretch]:
        """Neighbours in a list that only "and" or "or" joins: "arts, [bed and breakfast] and food"."""
        tree, pos = self._tree, self._annotation.pos
        for one, other in pairwise(conjuncts):
            if tree.last[one] < tree.first[other] and all(
                pos[i] == "CCONJ" for i in range(tree.last[one] + 1, tree.first[other])
            ):
                start, _ = self.trim(tree.first[one], one)
                yield start, self.trim(start, tree.last[other])[1], "conj"


def _within(values: Sequence[Value], starts: Sequence[int], start: int, end: int) -> tuple[Value, ...]:
    """The values whose characters all lie in ``[start, end)``."""
    first = bisect_left(starts, start)
    return tuple(v for v in values[first : bisect_left(starts, end)] if v.end <= end)
