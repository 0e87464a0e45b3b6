"""What speaks for a form once it is executed: what it denotes, the rows it rests on, and how these suit the question.

A decoder scores a form before it knows what the form denotes. These features, after those of Pasupat & Liang (2015),
see the denotation: whether it is of the kind that the question asks for, and how much the cells and rows that it was
read from have in common with the question. Each is a name with a value; names join what the question asks by (``how
many``), what of (``yard``) or one of its telling words with what the form does or denotes.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from drop_parsing.parser.choosing import plausibility, score_of, units_of
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.linking import Token
from extractors.table import Row, Span
from grammar.executor import cells_used, texts_of
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language
from grammar.types import Date, Denotation, String
from grammar.view import View, key, round_off

Features = dict[str, float]

#: Words that say nothing of what a question is about.
_STOP_WORDS = frozenset(
    "a an the of in on at by for from to with and or as than then that this these those there it its their his her"
    " be is are was were been do did does have has had will would can could not no how many much more most what"
    " which who whom whose when where why long old far s".split()
)
_ASKING = frozenset("how who whom whose where when why which what".split())
#: What may stand between "how many" and what is counted.
_BETWEEN = frozenset(
    "more most total the of all different other combined few less first second last long short".split()
)
#: Words that call for some functions or denotations.
_TELLING = frozenset(
    "more less few long short first last most least after before between than not difference total combine percent"
    " year point second third fourth quarter half large small high low average win only early late final both or each"
    " all number people age".split()
)


#: What is measured rather than counted, also where the table gives no number of it.
_MEASURES = frozenset(
    "yard point year month week day hour minute second percent percentage dollar mile meter metre foot kilometer km"
    " pound age score difference".split()
)
_PRONOUNS = frozenset(
    "he she it they him her them his their its who which that this these those we i you".split()
)


class RowWords:
    """The words of a table's rows, to be made once for all its questions."""

    def __init__(self, view: View) -> None:
        self.view = view
        rows = view.table.rows
        self.words = [_words(row) for row in rows]
        self.spans = [
            (min(c.start for _, c in row.cells()), max(c.end for _, c in row.cells())) for row in rows
        ]
        counts = Counter(word for words in self.words for word in words)
        self.weights = {word: math.log(1 + len(rows) / count) for word, count in counts.items()}
        self.labels = {key(e.text): e.label for row in rows for _, c in row.cells() for e in c.entities}
        #: Of each number in the table by its value, and by where it stands.
        self.units: dict[float, set[str]] = {}
        self.unit_at: dict[tuple[int, int], str] = {}
        for row in rows:
            for _, cell in row.cells():
                for number in cell.numbers:
                    unit = key(number.unit or "")
                    self.units.setdefault(round_off(number.value), set()).add(unit)
                    self.unit_at[number.start, number.end] = unit

    def units_in(self, cells: Sequence[Span]) -> set[str]:
        """The units of the numbers that stand in these cells."""
        return {
            unit
            for (start, end), unit in self.unit_at.items()
            if unit and any(c.start <= start and end <= c.end for c in cells)
        }

    def under(self, cells: Sequence[Span]) -> list[int]:
        """The rows that some of these cells lie in."""
        return [
            i
            for i, (start, end) in enumerate(self.spans)
            if any(start <= c.start and c.end <= end for c in cells)
        ]


class Asked:
    """A question beside the rows of a table: what it asks ``by`` and ``of``, and its words."""

    def __init__(self, question: QuestionInput, rows: RowWords) -> None:
        self.rows = rows
        self.by, self.of = asked_for(question.tokens)
        self.measured = self.of in _MEASURES or any(self.of in units for units in rows.units.values())
        self.lemmas = {token.lemma for token in question.tokens}
        self.keys = {token.key for token in question.tokens}
        self.text = f"_{'_'.join(token.key for token in question.tokens)}_"
        self._content = {lemma for lemma in self.lemmas - _STOP_WORDS if lemma in rows.weights}
        self._weight = sum(rows.weights[word] for word in self._content)
        self.overlaps = [self.overlap(words) for words in rows.words]
        self.similar = _standard(question.similar) if question.similar is not None else None

    def overlap(self, words: set[str]) -> float:
        """The share of the question's content words that are among these, the rare ones counting more."""
        shared = sum(self.rows.weights[word] for word in self._content & words)
        return shared / self._weight if self._weight else 0.0


def asked_for(tokens: Sequence[Token]) -> tuple[str, str]:
    """What a question asks by ("how many", "who", ...) and of ("yard"); empty where it does not say."""
    for i, token in enumerate(tokens):
        if token.key in _ASKING:
            following = [t for t in tokens[i + 1 :] if t.key]
            if token.key == "how" and following:
                return f"how {following[0].key}", _head(following[1:])
            return token.key, _head(following) if token.key in ("which", "what", "whose") else ""
    return "", ""


def evidence_of_beam(
    forms: Sequence[tuple[Form, float, Denotation | None]],
    question: QuestionInput,
    language: Language,
    rows: RowWords,
) -> list[Features]:
    """The features of each form of a beam, given with its log probability; each must have a denotation."""
    asked = Asked(question, rows)
    scorer = plausibility(
        " ".join(token.text for token in question.tokens), language.literals, units_of(language.view)
    )
    total: dict[tuple[str, ...], float] = {}
    for _, score, denotation in forms:
        texts = texts_of(denotation)
        total[texts] = total.get(texts, 0.0) + math.exp(score)
    made = []
    for place, (form, score, denotation) in enumerate(forms):
        assert denotation is not None
        features = _of_form(form, denotation, asked)
        _add_rows(features, cells_used(form, language), asked)
        likely = {
            "log probability": score / 5,
            "log probability of the denotation": math.log(max(total[texts_of(denotation)], 1e-30)) / 5,
        }
        features |= likely
        # A decoder is surer of some kinds of answers than of others.
        kind = next(kind for kind in ("text", "number", "date") if kind in features)
        features |= {f"{kind}: {name}": value for name, value in likely.items()}
        features["first"] = float(place == 0)
        features["plausibility"] = score_of(form, scorer) / 3
        made.append(features)
    return made


def _of_form(form: Form, denotation: Denotation, asked: Asked) -> Features:
    names = [sub.name for sub in form.subforms()]
    functions = {name for name in names if name in FUNCTIONS and name != "all_structures"}
    kinds = list(_kinds(denotation, asked))
    said = [*kinds, *(f"has {name}" for name in functions), f"root {form.name}"]
    features = dict.fromkeys(said, 1.0)
    of_what = f"by {asked.by} {'measured' if asked.measured else 'counted'}"
    for scope in (f"by {asked.by}", of_what, f"of {asked.of}", *(asked.lemmas & _TELLING)):
        features |= dict.fromkeys((f"{scope}: {what}" for what in said), 1.0)
    literals = {name for name in names if ":" in name and not name.startswith(("relation:", "part:"))}
    features["twice the same"] = float(any(_repeats(sub.arguments) for sub in form.subforms()))
    features["functions"] = sum(name in FUNCTIONS for name in names) / 5
    features["literals"] = len(literals) / 3
    features["named"] = asked.overlap({w for name in literals for w in name.partition(":")[2].split("_")})
    if isinstance(denotation, float):
        units = asked.rows.units.get(denotation, set()) - {""}
        features["asked unit"] = float(bool(units & asked.lemmas))
        features["unit asked for"] = float(asked.of in units)
        features["other unit"] = float(bool(units) and not units & asked.lemmas)
    return features


def _repeats(arguments: Sequence[Form]) -> bool:
    """Whether a call has one argument twice, as a difference of a number and itself has."""
    return len(arguments) == 2 and arguments[0] == arguments[1]


def _add_rows(features: Features, cells: Sequence[Span], asked: Asked) -> None:
    """What the cells that a form rests on, and the rows that they are in, share with the question."""
    features["cells"] = min(len(cells), 20) / 20
    features["overlap of cells"] = asked.overlap(
        {word for cell in cells for word in key(cell.text).split("_")}
    )
    if asked.measured:
        units = asked.rows.units_in(cells)
        features["asked unit in cells"] = float(asked.of in units)
        features["no unit in cells"] = float(not units)
    under = asked.rows.under(cells)
    used = [asked.overlaps[i] for i in under]
    if under and asked.similar is not None:
        similar = asked.similar[under]
        features["similarity of best row"] = float(similar.max())
        features["similarity of rows"] = float(similar.mean())
        features["less similar than another row"] = float(asked.similar.max() - similar.max())
    if used:
        features["rows"] = math.log(len(used)) / 3
        features["overlap of best row"] = max(used)
        features["overlap of rows"] = sum(used) / len(used)
        features["less than another row"] = max(asked.overlaps) - max(used)


def _kinds(denotation: Denotation, asked: Asked) -> Iterator[str]:
    """What a denotation is, in words, from the general to the special."""
    if isinstance(denotation, Date):
        yield "date"
        yield "date " + "".join("x" if part is None else "d" for part in denotation[:4])
    elif isinstance(denotation, float):
        yield "number"
        if denotation < 0:
            yield "negative"
        elif not denotation.is_integer():
            yield "fraction"
        elif denotation <= 10:
            yield "few"
            yield f"number {denotation:g}"
        else:
            yield "like a year" if 1000 <= denotation <= 2100 else f"{len(f'{denotation:.0f}')} digits"
        if f"{denotation:g}" in asked.keys:
            yield "number of the question"
    elif not isinstance(denotation, int):
        yield from _text_kinds(denotation, asked)


def _text_kinds(texts: String, asked: Asked) -> Iterator[str]:
    yield "text"
    yield f"{min(len(texts), 4)} texts"
    first = texts[0]
    words = first.key.split("_")
    yield f"{len(words) if len(words) < 7 else 5 * min(len(words) // 5, 4)} words"
    yield f"entity {asked.rows.labels.get(first.key, 'none')}"
    yield "capital" if first.surface[:1].isupper() else "small"
    if any(character.isdigit() for character in first.surface):
        yield "with digits"
    if first.key in _PRONOUNS:
        yield "pronoun"
    if f"_{first.key}_" in asked.text:
        yield "text of the question"
    elif asked.lemmas.intersection(words) - _STOP_WORDS:
        yield "text partly of the question"


def _standard(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Values less their mean, in units of three standard deviations."""
    return (values - values.mean()) / (3 * max(float(values.std()), 1e-6)) if len(values) else values


def _head(tokens: Sequence[Token]) -> str:
    return next((token.lemma for token in tokens[:3] if token.lemma not in _BETWEEN), "")


def _words(row: Row) -> set[str]:
    words: set[str] = set()
    for _, cell in row.cells():
        words.update(key(cell.text).split("_"), map(key, cell.lemmas))
    return words - {""}
