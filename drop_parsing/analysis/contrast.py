"""Consistency across a contrast set: forms of one family that answer a question and its contrasts.

The questions of a contrast set ask for the same things with a small change, so that a form that means one of them
has, but for its literals and the direction of a comparison, a counterpart for each other.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from grammar.forms import Form

#: The contrasts of a question are numbered: ``<id of the original>_<number>``.
_NUMBERED = re.compile(r"(.+)_\d+")
_OPPOSITE: Mapping[str, str] = {
    "argmin": "argmax", "min": "max", "last": "first", "next": "previous", "last_phrase": "first_phrase",
    "compare_lesser": "compare_greater", "compare_later": "compare_earlier",
    "filter_number_lesser": "filter_number_greater",
    "filter_number_lesser_equals": "filter_number_greater_equals", "filter_date_lesser": "filter_date_greater",
    "filter_date_lesser_equals": "filter_date_greater_equals",
}  # fmt: skip


def family(form: Form) -> str:
    """A form without its literals and without the direction of its comparisons."""
    if form.arguments:
        return f"({_OPPOSITE.get(form.name, form.name)} {' '.join(map(family, form.arguments))})"
    prefix, colon, _ = form.name.partition(":")
    if not colon:
        return form.name if form.name == "all_structures" else "number"
    return form.name if prefix in ("relation", "part") else prefix


def contrast_sets(ids: Iterable[str]) -> list[list[str]]:
    """The contrast sets of at least two among these query ids; the original, where it is there, is one of its set."""
    held = list(ids)
    originals = {id: match[1] for id in held if (match := _NUMBERED.fullmatch(id))}
    sets: dict[str, list[str]] = {original: [] for original in originals.values()}
    for id in held:
        original = originals.get(id, id)
        if original in sets:
            sets[original].append(id)
    return [each for each in sets.values() if len(each) > 1]


def contrasts(ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Query id -> the others of its contrast set; without those that have none."""
    return {id: tuple(other for other in each if other != id) for each in contrast_sets(ids) for id in each}


def consistency(forms: Sequence[Form], others: Sequence[frozenset[str]]) -> float:
    """For the forms of a class, the greatest share of the other questions that a form of the same family answers;
    ``others`` has the families of each of these that do."""
    return max(sum(family(form) in each for each in others) / len(others) for form in forms)
