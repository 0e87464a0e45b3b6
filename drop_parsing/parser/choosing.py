"""Which of a question's consistent forms to learn from, of the many that there are, and with what weight.

Most consistent forms are spurious, and the best ones by any one score are variants of each other. So the forms of the
highest plausibility are taken in turn from each *skeleton*, the form without its leaves: few of each kind, of many
kinds. Marginal likelihood then finds the kinds that other questions share. Left to itself it would find the shortest,
such as the first person of the table for "who", for they are the easiest to learn: so forms that name nothing of what
the question says are learnt only where hardly another one is there.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple

from drop_parsing.errors import InputError
from drop_parsing.ordering import TRIGGERS
from drop_parsing.searching import Consistent
from extractors.store import atomic_file
from grammar.forms import Form, FormError
from grammar.functions import FUNCTIONS
from grammar.language import Language, Literals, string_leaf
from grammar.packing import ForestError
from grammar.ranking import Scorer, best
from grammar.search import collector_paused
from grammar.view import View

#: Functions that a question need not call for to mean them.
_FREE = frozenset(
    "count_structures count_phrases count_entities sum first last extract_date both max min argmax argmin year".split()
)
#: Functions that count what stands within cells, which is often the answer by accident.
_COUNTING = frozenset({"count_phrases", "count_entities"})
#: Functions that a question rarely means.
_ODD = frozenset(
    "mode extract_number_in extract_entity_in union intersection date filter_number_not_equals"
    " filter_date_not_equals filter_number_equals last_phrase".split()
)
_MEASURED = re.compile(r"how many (?:more |fewer |less |total |of the )*(\w+)")
_CALLED, _PLAIN, _UNCALLED, _RARE, _STRAY = -0.4, -1.0, -1.3, -2.0, -2.5
_NAMED, _INNER, _VAGUE, _PART, _MEASURE, _WITHIN = 1.0, -0.2, -0.2, -0.1, -1.0, -0.8
#: Taken off for a literal that stands in a form again, other than as what a number is near to.
_REPEATED = 1.0
#: Taken off for a form that names nothing of the question.
_BARE = 2.5
#: So many of the best forms are looked at for each that is kept.
_LOOKED_AT = 5
#: Forms that are so much less plausible than the best are not learnt from.
_GAP = 3.5

_LEAF = re.compile(r"(relation|part|string|date):[^\s()]+|(?<![\w:])-?\d[\d.]*")
_LITERAL = re.compile(r"(?:string|date):[^\s()]+|(?<![\w:])-?\d[\d.]*")


class Weighted(NamedTuple):
    """A form with the logarithm of its weight, 0 for the most plausible."""

    form: Form
    log_weight: float


def plausibility(question: str, literals: Literals, units: Set[str]) -> Scorer:
    """The score of forms for a question, without learning; ``units`` are those of the table's numbers.

    It likes short forms, functions that the question's words call for and the question's literals (of those within
    each other, the longest), and dislikes functions that need to be called for and are not, and counting what the
    table gives as a number.
    """
    asked = question.lower()
    called = {name for name, pattern in TRIGGERS.items() if re.search(pattern, asked)}
    keys = [text.key for text in literals.strings]
    inner = {string_leaf(k) for k in keys if any(k != other and f"_{k}_" in f"_{other}_" for other in keys)}
    counted = _MEASURED.search(asked)
    measured = counted is not None and not units.isdisjoint({counted[1], counted[1].removesuffix("s")})

    def score(name: str, leaves: tuple[str, ...]) -> float:
        if name in called:
            total = _CALLED
        elif name in _ODD:
            total = _RARE
        elif name in _FREE:
            total = _UNCALLED
        else:
            total = _STRAY if name in TRIGGERS else _PLAIN
        if measured and name.startswith("count_"):
            total += _MEASURE
        if name in _COUNTING:
            total += _WITHIN
        for leaf in leaves:
            if leaf.startswith("part:"):
                total += _PART
            elif leaf.startswith("relation:"):
                total += _VAGUE * (leaf in ("relation:dep", "relation:clause"))
            else:
                total += _INNER if leaf in inner else _NAMED
        return total

    return score


def choose(
    consistent: Consistent, question: str, language: Language, number: int, units: Set[str]
) -> list[Weighted]:
    """At most ``number`` of a question's consistent forms, the most plausible first: out of the whole forest where the
    cache has it, else of the forms that it keeps. Raises InputError for a damaged forest."""
    scorer = plausibility(question, language.literals, units)
    try:
        found = consistent.found()
    except ForestError as error:
        raise InputError(f"question {consistent.question}: {error}") from error
    if found is None:
        kept = checked((form.logical_form for form in consistent.forms), language)
        return diverse(((score_of(form, scorer), form) for form in kept), number)
    with collector_paused():
        scored = [(score, form) for score, form in best(found, scorer, _LOOKED_AT * number)]
    return diverse(scored, number)


def checked(forms: Iterable[str], language: Language) -> Iterator[Form]:
    """The forms that the language has: those of another version of it may be gone."""
    for text in forms:
        try:
            yield language.check(text)
        except FormError:
            continue


def score_of(form: Form, scorer: Scorer) -> float:
    """A whole form's score, as a ranking adds it up."""
    total = 0.0
    for sub in form.subforms():
        if sub.name in FUNCTIONS and sub.name != "all_structures":
            leaves = (a.name for a in sub.arguments if not a.arguments and a.name != "all_structures")
            total += scorer(sub.name, tuple(leaves))
    return total


def units_of(view: View) -> set[str]:
    """The units of the numbers of a table."""
    cells = (cell for row in view.table.rows for _, cell in row.cells())
    return {number.unit for cell in cells for number in cell.numbers if number.unit}


def read_weights(path: Path, scheme: str) -> dict[str, dict[str, float]]:
    """Question id -> form -> weight (0 to 1), from a file of JSON lines ``{"query_id", "scheme", "forms": {form:
    weight}}``, such as the votes of a spuriousness analysis; lines of other schemes are left out.

    Raises InputError for a file that cannot be read, or is no such file.
    """
    weights: dict[str, dict[str, float]] = {}
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                number += 1
                row = json.loads(line)
                if row["scheme"] == scheme:
                    forms = {str(form): float(weight) for form, weight in row["forms"].items()}
                    if not all(0 <= weight <= 1 for weight in forms.values()):
                        raise ValueError("a weight is not between 0 and 1")
                    weights[str(row["query_id"])] = forms
    except OSError as error:
        raise InputError(f"The form weights {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}, line {number}: no form weights ({error}); "
            'a line is {"query_id": ..., "scheme": ..., "forms": {form: weight}}.'
        ) from error
    return weights


def save_weights(path: Path, scheme: str, forms: Iterable[tuple[str, Iterable[Weighted]]]) -> None:
    """Write a file for ``read_weights``: the forms of each question, by its id."""
    with atomic_file(path) as file:
        for question, chosen in forms:
            weights = {str(form): math.exp(min(log_weight, 0.0)) for form, log_weight in chosen}
            row = {"query_id": question, "scheme": scheme, "forms": weights}
            file.write(f"{json.dumps(row)}\n".encode())


def weighted(forms: Mapping[str, float], language: Language, number: int) -> list[Weighted]:
    """The ``number`` forms of the greatest weights, in that order; none of weight 0."""
    kept = [(weight, form) for text, weight in forms.items() if weight for form in checked([text], language)]
    kept.sort(key=lambda pair: (-pair[0], str(pair[1])))
    return [Weighted(form, math.log(weight)) for weight, form in kept[:number]]


def diverse(scored: Iterable[tuple[float, Form]], number: int) -> list[Weighted]:
    """At most ``number`` of some scored forms, in turn from each skeleton."""
    by_skeleton: dict[str, list[tuple[float, Form]]] = {}
    for score, form in sorted(
        ((score - _off(str(form)), form) for score, form in scored), key=lambda pair: -pair[0]
    ):
        by_skeleton.setdefault(skeleton(str(form)), []).append((score, form))
    turns = [(turn, -score, form) for same in by_skeleton.values() for turn, (score, form) in enumerate(same)]
    chosen = sorted(turns, key=lambda entry: entry[:2])[:number]
    highest = max((-lost for _, lost, _ in chosen), default=0.0)
    kept = [Weighted(form, -lost - highest) for _, lost, form in chosen if -lost >= highest - _GAP]
    return sorted(kept, key=lambda weighted: -weighted.log_weight)


def skeleton(form: str) -> str:
    """A form with the types of its leaves in place of the leaves."""
    return _LEAF.sub(lambda leaf: (leaf[1] or "number")[0].upper(), form)


def _off(form: str) -> float:
    """What is taken off the score of a form for what its parts do not tell."""
    named = _LITERAL.findall(form)
    if not named:
        return _BARE
    return _REPEATED * max(len(named) - len(set(named)) - form.count("number_near"), 0)
