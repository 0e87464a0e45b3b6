"""The scheme "openie": one row for each proposition, an n-ary tuple of text.

The predicate is the relation phrase, one stretch of the text: the verb with its auxiliaries, modals,
negation, particle and the adverbs between them, and an infinitive that follows at once ("wanted to leave").
``ARG0`` is the subject, also of a passive; ``ARG1``, ``ARG2``, ... are the object, the complement and the
prepositional phrases, with their prepositions: those after the predicate in text order, then the fronted ones.
When and where stand under ``ARGM-TMP`` and ``ARGM-LOC``, adverbs and adverbial clauses under the other
modifiers, a negation also under ``ARGM-NEG``. What the stretch of the predicate does not reach (the particle in
"gave it up") is an argument.

A fact is one row, however long: coordinated subjects and objects are several arguments of one cell. A clause
inside an argument has its own row; a relative clause, an apposition and a bare participle ("Leeds lost, scoring
once") only that. Every row has a confidence (``extractors.openie_confidence``).

Relations that the text implies have a predicate in the text all the same. An apposition or a title ("Ada
Brook, a miller", "captain Hale") has its head noun, which lies inside ``ARG1``, and is read "is"; a
possessive has its marker ("'s") and is read "has".
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from extractors.annotate import Annotation
from extractors.arguments import ArgumentBuilder
from extractors.dependencies import Tree
from extractors.losses import tokens_of, uncovered
from extractors.openie_clauses import Clauses
from extractors.openie_confidence import confidence
from extractors.openie_nouns import PLACES, Part, Proposition, Stretch
from extractors.table import Argument, Row
from extractors.values import Date, Number

NEGATION = "ARGM-NEG"
TIME = "ARGM-TMP"
PLACE = "ARGM-LOC"

_POSSESSIVE_MARKERS = frozenset({"'s", "\u2019s", "'", "\u2019"})
# fmt: off
_TIME_NOUNS = frozenset({
    "second", "minute", "hour", "day", "week", "month", "season", "year", "decade", "century", "time",
    "today", "yesterday", "tomorrow", "morning", "afternoon", "evening", "night", "noon", "midnight",
    "weekend", "quarter", "half", "overtime", "period", "era", "spring", "summer", "autumn", "winter",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february",
    "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "end", "beginning", "start", "moment",
})
_TIME_ADVERBS = frozenset({
    "now", "then", "later", "soon", "earlier", "already", "still", "again", "once", "recently", "finally",
    "previously", "formerly", "currently", "today", "yesterday", "tomorrow", "afterwards", "eventually",
    "ago", "never", "always", "often", "sometimes", "initially", "originally", "when",
})
_TIME_PREPOSITIONS = frozenset({
    "during", "until", "since", "before", "after", "till", "when", "while", "once",
    "following",
})
_PLACE_PREPOSITIONS = frozenset({
    "in", "at", "on", "near", "inside", "within", "along", "across", "above", "behind", "beside",
    "outside", "around", "throughout", "under", "over", "off", "between", "where",
})
_PLACE_NOUNS = frozenset({
    "area", "city", "town", "village", "country", "region", "county", "state", "province", "district",
    "street", "road", "river", "sea", "island", "coast", "border", "north", "south", "east", "west",
    "field", "stadium", "home", "house", "school", "church", "hospital", "camp", "court",
    "valley", "mountain", "harbour", "port", "park", "centre", "center", "world",
})
_PLACE_ADVERBS = frozenset({"here", "there", "elsewhere", "nearby", "abroad", "home", "north", "south", "east", "west"})
# fmt: on
_TIME_ENTITIES = frozenset({"DATE", "TIME"})


def implied_relation(row: Row) -> str | None:
    """The relation "is" or "has" where the text only implies it, else None."""
    if row.predicate.text.lower() in _POSSESSIVE_MARKERS:
        return "has"
    complement = row.cell("ARG1")
    inside = any(a.start <= row.predicate.start and row.predicate.end <= a.end for a in complement)
    return "is" if inside else None


class OpenIE:
    """Open information extraction by rules over a parse."""

    name = "openie"
    maker = ""
    version = "3"  # Changes whenever the rules can give another table for the same parse.

    def rows(self, annotation: Annotation, tree: Tree) -> list[Row]:
        return _Rows(annotation, tree).rows()


def propositions(annotation: Annotation, tree: Tree) -> list[tuple[Proposition, Row]]:
    """The propositions of a paragraph with the rows they give: what the confidence is fitted to."""
    return [(proposition, row) for _, proposition, row in _Rows(annotation, tree).propositions()]


class _Rows:
    """The rows of one paragraph."""

    def __init__(self, annotation: Annotation, tree: Tree) -> None:
        self._annotation = annotation
        self._tree = tree
        self._clauses = Clauses(annotation, tree)
        self._cells = ArgumentBuilder(annotation, tree, self._clauses.heads)

    def rows(self) -> list[Row]:
        rows = {i: row for i, _, row in self.propositions()}
        for value in uncovered(self._annotation, rows.values()):
            self._keep(value, rows)
        return [rows[i] for i in sorted(rows, key=lambda i: (rows[i].predicate.start, i))]

    def propositions(self) -> Iterator[tuple[int, Proposition, Row]]:
        """The propositions that say something of anything, with their tokens and rows."""
        for i, proposition in self._clauses.propositions():
            row = self._row(i, proposition)
            if row.arguments:
                yield i, proposition, row

    def _keep(self, value: Number | Date, rows: dict[int, Row]) -> None:
        """Give a value in no cell one of its own, in the row of its clause; where there is none, a verbless
        sentence gets a row."""
        first, last = tokens_of(self._annotation, value)
        owner = first
        while owner not in rows and self._tree.heads[owner] != owner:
            owner = self._tree.heads[owner]
        row = rows.get(owner) or self._row(owner, self._clauses.item(owner))
        if not any(cell.start <= value.start and value.end <= cell.end for _, cell in row.cells()):
            relation = TIME if isinstance(value, Date) else _next_free(row)
            cells = (*row.cell(relation), self._cells.build(first, first, last))
            row = replace(row, arguments={**row.arguments, relation: cells})
        rows[owner] = row

    def _row(self, i: int, proposition: Proposition) -> Row:
        cells: dict[str, list[Argument]] = {}
        if proposition.subject is not None and (found := self._cells_of(proposition.subject)):
            cells["ARG0"] = found
        number = 1
        for part in proposition.parts:
            found = self._cells_of(part)
            if not found:
                continue
            relation = self._modifier(part, found[0])
            if relation is None:
                relation = f"ARG{number}"
                number += 1
            cells.setdefault(relation, []).extend(found)
        negation = proposition.negation
        if negation is not None:
            cells[NEGATION] = [self._cells.build(negation, negation, negation)]
        return Row(
            self._cells.build(*proposition.predicate),
            bisect_right(self._annotation.sentences, (i, len(self._tree.heads))) - 1,
            {relation: tuple(dict.fromkeys(cell)) for relation, cell in cells.items()},
            confidence(proposition),
        )

    def _cells_of(self, part: Part) -> list[Argument]:
        return [
            self._cells.build(stretch.head, *trimmed)
            for stretch in part.stretches
            if (trimmed := self._trim(stretch)) is not None
        ]

    def _trim(self, stretch: Stretch) -> tuple[int, int] | None:
        """The stretch without punctuation and conjunctions at its edges, None where nothing else is there."""
        relations, pos = self._tree.relations, self._annotation.pos
        _, first, last = stretch
        while first <= last and (relations[first] in {"punct", "cc"} or pos[first] == "PUNCT"):
            first += 1
        if first > last:
            return None
        last = self._cells.trim(first, last)[1]
        if last + 1 < len(pos) and self._cells.closes(first, last + 1):
            last += 1
        return first, last

    def _modifier(self, part: Part, cell: Argument) -> str | None:
        """The modifier that a part with this first cell is, None for an argument proper."""
        relation, head = part.relation, part.stretches[0].head
        first = bisect_left(self._annotation.starts, cell.start)
        word, lemma = self._annotation.words[first].lower(), self._annotation.lemmas[head]
        if relation in {"when", "where"}:
            return TIME if relation == "when" else PLACE
        if relation == "advcl":
            if word in _TIME_PREPOSITIONS or word == "as":
                return TIME
            return "ARGM-PRP" if word == "to" else "ARGM-CAU" if word == "because" else "ARGM-ADV"
        if relation == "advmod":
            return TIME if lemma in _TIME_ADVERBS else PLACE if lemma in _PLACE_ADVERBS else "ARGM-ADV"
        if not relation.startswith("obl") or relation == "obl:agent":
            return None
        timed = word in _TIME_PREPOSITIONS or relation == "obl:as_of"
        if timed or lemma in _TIME_NOUNS or self._is_date(head):
            return TIME
        if word in _PLACE_PREPOSITIONS and (lemma in _PLACE_NOUNS or self._is_named(head, PLACES)):
            return PLACE
        return None

    def _is_date(self, i: int) -> bool:
        start, end = self._annotation.starts[i], self._annotation.ends[i]
        dated = any(date.start <= start and end <= date.end for date in self._annotation.dates)
        return dated or self._is_named(i, _TIME_ENTITIES)

    def _is_named(self, i: int, labels: frozenset[str]) -> bool:
        start = self._annotation.starts[i]
        return any(e.label in labels and e.start <= start < e.end for e in self._annotation.entities)


def _next_free(row: Row) -> str:
    number = 1
    while f"ARG{number}" in row.arguments:
        number += 1
    return f"ARG{number}"
