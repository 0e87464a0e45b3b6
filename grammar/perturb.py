"""Fictitious tables: changed copies of a table on which forms of different meaning come apart.

After Pasupat & Liang (2016). A copy keeps the types of the table and stays plausible: it has other numbers and dates at
the same places, names exchanged, cells of one relation exchanged between rows, or rows left out, doubled or in another
order. A number, a date or a name is changed at its *place* in the paragraph, in every cell that holds it alike. A copy
is there to execute forms on: its cells agree with themselves, but are no longer the paragraph's.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from extractors.table import PREDICATE, Argument, Row, Table
from grammar.places import Places
from grammar.rewriting import Edit, rewritten

#: What is changed in each candidate; they are tried in this order, several times with other random choices.
RECIPES: tuple[tuple[str, ...], ...] = (
    ("numbers", "dates"),
    ("names",),
    ("cells",),
    ("numbers", "dates", "names"),
    ("dropped",),
    ("numbers", "dates", "cells"),
    ("doubled",),
    ("exchanged", "names"),
    ("order",),
    ("numbers", "dates", "dropped"),
    ("exchanged", "order"),
    ("numbers", "dates", "doubled"),
)


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """A fictitious table. ``changed`` says in words what was done; ``sources`` has for each row the one of the real
    table that it was made of."""

    table: Table
    changed: str
    sources: tuple[int, ...]


def changed_tables(table: Table, number: int, seed: int) -> list[ChangedTable]:
    """So many candidates, the same ones for the same table and seed; fewer where the table has too little to change."""
    places = Places(table)
    made: list[ChangedTable] = []
    for i in range(2 * number):
        recipe = RECIPES[i % len(RECIPES)]
        random = Random(f"{seed} {table.hash} {table.scheme} {i}")
        candidate = _changed(table, places, recipe, random)
        if candidate.table.rows not in (table.rows, *(other.table.rows for other in made)):
            made.append(candidate)
        if len(made) == number:
            break
    return made


def chosen(told: Sequence[Sequence[Hashable]], number: int, before: Sequence[Hashable]) -> list[int]:
    """Which candidates tell forms apart best: at most ``number`` places in ``told``, greedily by how many classes
    they make of a sample of forms. ``told[c][f]`` is what form f denotes on candidate c, ``before[f]`` what is known
    of it already. Of candidates that make as many classes the first."""
    classes = list(before)
    left = list(range(len(told)))
    picked: list[int] = []
    while left and len(picked) < number:
        best = max(left, key=lambda c: (len(set(zip(classes, told[c], strict=True))), -c))
        left.remove(best)
        picked.append(best)
        numbered: dict[Hashable, int] = {}
        pairs = zip(classes, told[best], strict=True)
        classes = [numbered.setdefault(pair, len(numbered)) for pair in pairs]
    return picked


def _changed(table: Table, places: Places, recipe: Sequence[str], random: Random) -> ChangedTable:
    edits: list[Edit] = []
    words: list[str] = []
    for change in recipe:
        if change in _EDITS:
            made = [edit for edit in _EDITS[change](places, random) if not any(map(edit.overlaps, edits))]
            edits += made
            if made:
                words.append(f"{len(made)} {_SAID[change][len(made) != 1]}")
    rows = list(enumerate(_edited(table.rows, edits)))
    for change in recipe:
        if change in _ROWS:
            before = rows
            rows = _ROWS[change](rows, random)
            if rows != before:
                words.append(_SAID[change][0])
    sources = tuple(source for source, _ in rows)
    changed = replace(table, rows=tuple(row for _, row in rows))
    return ChangedTable(changed, ", ".join(words) or "nothing", sources)


_SAID = {
    "numbers": ("number drawn anew", "numbers drawn anew"),
    "dates": ("date drawn anew", "dates drawn anew"),
    "exchanged": ("number or date exchanged", "numbers and dates exchanged"),
    "names": ("name exchanged", "names exchanged"),
    "cells": ("cells of a relation exchanged between rows",),
    "dropped": ("rows left out",),
    "doubled": ("rows doubled",),
    "order": ("rows in another order",),
}

_EDITS: dict[str, Callable[[Places, Random], Iterable[Edit]]] = {
    "numbers": Places.redrawn_numbers,
    "dates": Places.redrawn_dates,
    "exchanged": Places.exchanged_values,
    "names": Places.exchanged_names,
}


def _edited(rows: Iterable[Row], edits: Sequence[Edit]) -> list[Row]:
    if not edits:
        return list(rows)
    made: dict[int, Argument] = {}

    def edited(argument: Argument) -> Argument:
        if id(argument) not in made:
            made[id(argument)] = rewritten(argument, edits)
        return made[id(argument)]

    return [
        replace(
            row,
            predicate=edited(row.predicate),
            arguments={name: tuple(map(edited, cell)) for name, cell in row.arguments.items()},
        )
        for row in rows
    ]


#: Rows with the number of the real table's row that each was made of.
_Numbered = list[tuple[int, Row]]

#: How likely a row is left out or doubled.
_SHARE = 0.3


def _exchange_cells(rows: _Numbered, random: Random) -> _Numbered:
    """Under each relation but the predicate's, the cells of the rows that have one in another order."""
    arguments = [dict(row.arguments) for _, row in rows]
    for relation in dict.fromkeys(name for row in arguments for name in row):
        holders = [row for row in arguments if relation in row]
        cells = [row[relation] for row in holders]
        random.shuffle(cells)
        for row, cell in zip(holders, cells, strict=True):
            row[relation] = cell
    pairs = zip(rows, arguments, strict=True)
    return [(source, replace(row, arguments=changed)) for (source, row), changed in pairs]


def _drop(rows: _Numbered, random: Random) -> _Numbered:
    kept = [row for row in rows if random.random() >= _SHARE]
    return kept or rows[:1]


def _double(rows: _Numbered, random: Random) -> _Numbered:
    return [row for row in rows for _ in range(1 + (random.random() < _SHARE))]


def _reorder(rows: _Numbered, random: Random) -> _Numbered:
    return random.sample(rows, len(rows))


_ROWS: dict[str, Callable[[_Numbered, Random], _Numbered]] = {
    "cells": _exchange_cells,
    "dropped": _drop,
    "doubled": _double,
    "order": _reorder,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell of the real table that is another in a copy; ``relation`` is blank where the whole row was left out,
    doubled or moved, which ``new`` then says."""

    row: int
    relation: str
    old: str
    new: str


def differences(table: Table, changed: ChangedTable) -> list[Difference]:
    """What differs, by the rows of the real table."""
    found = []
    moved = list(changed.sources) != sorted(changed.sources)
    for number, row in enumerate(table.rows):
        places = [place for place, source in enumerate(changed.sources) if source == number]
        if len(places) != 1 or (moved and places[0] != number):
            how = "left out" if not places else "doubled" if len(places) > 1 else f"now row {places[0] + 1}"
            found.append(Difference(number, "", _shown(row.cell(PREDICATE)), how))
        if not places:
            continue
        copy = changed.table.rows[places[0]]
        for relation in dict.fromkeys((PREDICATE, *row.arguments, *copy.arguments)):
            old, new = _shown(row.cell(relation)), _shown(copy.cell(relation))
            if old != new:
                found.append(Difference(number, relation, old, new))
    return found


def _shown(cell: tuple[Argument, ...]) -> str:
    return "; ".join(argument.text for argument in cell)
