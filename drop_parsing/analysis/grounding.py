"""Lexical grounding: which content words of a question a form accounts for, and whether the question calls for what
the form does."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from spacy.tokens import Doc, Token

from drop_parsing.ordering import TRIGGERS
from extractors.values import find_values
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import date_leaf, number_leaf
from grammar.types import Relation
from grammar.view import View, as_date, key, round_off

_MEASURED = (
    r"yards?|points?|years?|months?|days?|weeks?|hours?|minutes?|percent(age)?|percentage points|miles"
)

#: What in a question calls for a function, where that is stricter than what ranks it, or not said there.
CALLS: Mapping[str, str] = {
    **TRIGGERS,
    "count_structures": rf"how many (?!(more|fewer|less|{_MEASURED})\b)|number of|\b(more|fewer) times",
    "count_phrases": rf"how many (?!(more|fewer|less|{_MEASURED})\b)|number of",
    "count_entities": rf"how many (?!(more|fewer|less|{_MEASURED})\b)|number of",
    "sum": r"total|combined|altogether|in all\b|sum\b|how many (points|yards|goals)",
    "add": r"total|combined|together|\band\b|\bboth\b|either|\bor\b",
    "diff": r"differen|\b(more|fewer|less|longer|shorter|larger|higher|lower|older|younger)\b|left\b|than\b|decreas|"
    r"increas|between",
    "complement": r"(?:percent.*(?:\bnot\b|n't\b|\bnon|other))|(?:(?:\bnot\b|n't\b|\bnon).*percent)",
    "mode": r"most\b|common|usual",
    "union": r"\bor\b|\band\b|both|either",
    "intersection": r"\band\b|both|also",
    "last_phrase": r"\blast\b|\bfinal|\bend\b|latest|second\b",
    "filter_number_not_equals": r"\bnot\b|n't\b|other than|except",
    "filter_date_not_equals": r"\bnot\b|n't\b|other than|except",
    "filter_date_greater_equals": r"after|since|later|from\b|start",
    "filter_date_lesser_equals": r"before|until|earlier|\bby\b|\bto\b",
    "year_diff": r"how (many years|long)|years (passed|between|after|before|did)|how much (earlier|later|older)",
}

#: Functions that a question needs no word for.
PLAIN = frozenset(
    {
        "all_structures", "extract_date", "extract_entity", "extract_entity_in", "extract_number",
        "extract_number_in", "extract_phrase", "filter_date_equals", "filter_in", "filter_number_equals",
        "first_phrase", "number_near", "select", "year",
    }
)  # fmt: skip

NUMBER_READERS = frozenset(
    {"extract_number", "extract_number_in", "number_near", "max", "min", "sum", "average"}
)
#: What parts an alternative from what was said before it.
_PAUSE = frozenset({",", ":", ";", "?"})
#: Superlatives of time.
_IN_TIME = re.compile(r"\b(first|last|earliest|latest|earlier|later|recent)\b")

#: What names the entities of a part in a question.
PART_WORDS: Mapping[str, frozenset[str | None]] = {
    "person": frozenset(
        {"player", "person", "people", "man", "woman", "king", "leader", "quarterback", "kicker"}
    ),
    "gpe": frozenset({"country", "city", "state", "place", "nation", "town", "county", "region", "area"}),
    "org": frozenset({"team", "group", "company", "party", "organization", "side", "club"}),
    "norp": frozenset({"group", "nationality", "people", "race", "ethnicity", "ancestry"}),
    "event": frozenset({"event", "war", "battle", "game"}),
    "date": frozenset({"year", "date", "month", "day"}),
}

_CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV", "X", "SYM"}
_ASKING = {"how", "many", "much", "which", "what", "who", "whom", "whose", "when", "where", "why"}
_LIGHT = {"be", "do", "have", "get", "there", "then"}


class Asked:
    """A question by its content words over a table; a form is measured against it."""

    def __init__(self, question: Doc, view: View) -> None:
        self.words = [token for token in question if _is_content(token)]
        self._weights = [2 if _is_name(word) else 1 for word in self.words]
        self._text = question.text.lower()
        self._doc = question
        self._view = view
        self._accounts: dict[str, frozenset[int]] = {}
        self._relation_units: dict[str, frozenset[str | None]] = {}

    def grounding(self, form: Form, rows: Sequence[int]) -> float:
        """The share of the content words that the form accounts for: they stand in its literals, call for its
        functions, or name a unit of its numbers or the kind of its entities. Half a word for one that stands in every
        row of one of ``rows``, the row sets that the form reads. A name counts twice. 0 where the question has no
        content word."""
        if not self.words:
            return 0.0
        accounted = set(self._accounted(form))
        implied = {
            place
            for place, mask in enumerate(self._mentions)
            if place not in accounted and any(read and not read & ~mask for read in rows)
        }
        found = sum(self._weights[place] for place in accounted)
        return (found + sum(self._weights[place] for place in implied) / 2) / sum(self._weights)

    def calls(self, form: Form) -> float:
        """One where the question calls for every function of the form; a half, a third, ... where one, two, ... are
        not called for. Arithmetic over a count and a number that is read counts as one of these."""
        uncalled = sum(not self._is_called(sub) for sub in form.subforms() if sub.name in FUNCTIONS)
        return 1 / (1 + uncalled + sum(map(_is_mixed, form.subforms())))

    @cached_property
    def _mentions(self) -> list[int]:
        """For each content word the rows that mention it."""
        return [self._view.mentions(key(w.lemma_)) | self._view.mentions(key(w.text)) for w in self.words]

    @cached_property
    def called(self) -> dict[str, list[tuple[int, int]]]:
        """The functions that the question calls for, with the characters that call."""
        found = {
            name: [m.span() for m in re.finditer(pattern, self._text)] for name, pattern in CALLS.items()
        }
        return {name: spans for name, spans in found.items() if spans}

    def _is_called(self, form: Form) -> bool:
        name = form.name
        if name in NUMBER_READERS and self._is_misread(form):
            return False
        if name in PLAIN:
            return True
        if name not in self.called:
            return False
        if name.startswith("filter_number"):
            # A comparison of cells with a number that is itself read or counted is rarely what is asked.
            return not form.arguments[-1].arguments
        if name.startswith("compare_"):
            return self._is_choice(*form.arguments[-2:])
        if name in ("argmax", "argmin"):
            return self._is_dated(form.arguments[1]) == bool(_IN_TIME.search(self._text))
        return True

    def _is_misread(self, form: Form) -> bool:
        """Whether all numbers under the relation count or measure what the question does not name."""
        units = self._units(form.arguments[1].name.partition(":")[2])
        named = {name for word in self.words for name in _keys(word)}
        return bool(units) and None not in units and named.isdisjoint(filter(None, units))

    def _is_choice(self, *texts: Form) -> bool:
        """Whether the question offers the two texts as alternatives: one stands before an "or", with no comma or
        colon between, the other behind it."""
        places = [[self.words[i].i for i in self._of(text.name)] for text in texts]
        if not all(places):
            return False
        first, second = sorted(places)
        for token in self._doc[first[0] : second[-1]]:
            if token.lower_ in ("or", "and"):
                before = [place for place in first if place < token.i]
                behind = any(place > token.i for place in second)
                if (
                    behind
                    and before
                    and not _PAUSE.intersection(t.text for t in self._doc[max(before) : token.i])
                ):
                    return True
        return False

    def _is_dated(self, relation: Form) -> bool:
        """Whether a superlative under the relation is one of dates."""
        name = Relation(relation.name.partition(":")[2])
        return self._view.with_dates[name].bit_count() > self._view.with_numbers[name].bit_count()

    def _accounted(self, form: Form) -> Iterator[int]:
        yield from self._of(form.name)
        ignored = form.name == "filter_not_in" and form.name not in self.called
        for argument in form.arguments[:1] if ignored else form.arguments:
            yield from self._accounted(argument)

    def _of(self, name: str) -> frozenset[int]:
        if name not in self._accounts:
            self._accounts[name] = frozenset(self._find(name))
        return self._accounts[name]

    def _find(self, name: str) -> Iterable[int]:
        if name in FUNCTIONS:
            spans = self.called.get(name, ())
            return (
                i
                for i, word in enumerate(self.words)
                if any(s < word.idx + len(word) and word.idx < e for s, e in spans)
            )
        prefix, colon, rest = name.partition(":")
        if not colon or prefix == "date":
            return self._at_value(name)
        if prefix == "string":
            return self._at_text(rest)
        names = self._units(rest) if prefix == "relation" else PART_WORDS.get(rest, frozenset())
        return (i for i, word in enumerate(self.words) if not names.isdisjoint(_keys(word)))

    def _at_text(self, text: str) -> set[int]:
        """The words of a literal, and the words beside them that all rows with the literal have: "field" stands for
        "field goals" where there are no other fields."""
        pieces, rows = frozenset(text.split("_")), self._view.mentions(text)
        found = {i for i, word in enumerate(self.words) if not pieces.isdisjoint(_keys(word))}
        while True:
            beside = {
                i
                for i, word in enumerate(self.words)
                if i not in found and rows and not rows & ~self._mentions[i]
                and any(abs(self.words[other].i - word.i) == 1 for other in found)
            }  # fmt: skip
            if not beside:
                return found
            found |= beside

    def _at_value(self, leaf: str) -> Iterable[int]:
        return (i for i, word in enumerate(self.words) if leaf in self._values.get(word.i, ()))

    @cached_property
    def _values(self) -> dict[int, set[str]]:
        """Token -> the leaves of the numbers and dates there."""
        found: dict[int, set[str]] = {}
        numbers, dates = find_values(self._doc.text)
        leaves = [(n.start, n.end, number_leaf(round_off(n.value))) for n in numbers]
        leaves += [(d.start, d.end, date_leaf(as_date(d))) for d in dates]
        for start, end, leaf in leaves:
            for token in self._doc:
                if start < token.idx + len(token) and token.idx < end:
                    found.setdefault(token.i, set()).add(leaf)
        return found

    def _units(self, relation: str) -> frozenset[str | None]:
        """What the numbers under a relation count or measure, None among them where some do not say."""
        if relation not in self._relation_units:
            cells = self._view.cells.get(Relation(relation), ())
            units = {number.unit for cell in cells for argument in cell for number in argument.numbers}
            units |= {"percent", "percentage"} if "%" in units else set()
            self._relation_units[relation] = frozenset(units)
        return self._relation_units[relation]


def _is_mixed(form: Form) -> bool:
    """Whether arithmetic joins a count and something that is no count."""
    if form.name not in ("add", "diff"):
        return False
    return len({argument.name.startswith("count_") for argument in form.arguments if argument.arguments}) > 1


def _keys(word: Token) -> tuple[str, str]:
    return key(word.lemma_), key(word.text)


def _is_name(word: Token) -> bool:
    """A tagger takes many a name for something else in a question, but for its capital."""
    return word.pos_ == "PROPN" or (word.i > 0 and word.text[0].isupper())


def _is_content(token: Token) -> bool:
    lemma = token.lemma_.lower()
    return token.pos_ in _CONTENT and lemma not in _ASKING and lemma not in _LIGHT and bool(key(token.text))
