from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import argument, table, tables

from extractors.extractor import Extractor
from extractors.registry import make_extractor
from extractors.table import Argument, Paragraph, Table
from extractors.values import Date, format_number
from grammar.perturb import ChangedTable, changed_tables, chosen, differences
from grammar.rewriting import Edit, rewritten
from grammar.view import View

TEXT = (
    "Brook kicked 3 goals, Hale kicked a 38-yard field goal in 1911, and rain fell for 3 days in Carn. "
    "On 4 May 1913 Hale moved to Ulford with $4.2 million, 12% of it in silver."
)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return make_extractor("syndep")


@pytest.fixture(scope="module")
def real(extractor: Extractor) -> Table:
    return extractor.extract(Paragraph("p", TEXT))


def cells(made: Table) -> Iterator[Argument]:
    return (cell for row in made.rows for _, cell in row.cells())


def test_copies_are_the_same_for_the_same_seed_and_others_for_another(real: Table) -> None:
    assert changed_tables(real, 12, 0) == changed_tables(real, 12, 0)
    assert changed_tables(real, 12, 0) != changed_tables(real, 12, 1)


def test_each_copy_is_another_table_of_the_same_relations(real: Table) -> None:
    copies = changed_tables(real, 12, 0)
    assert len(copies) == 12
    tables = [real, *(copy.table for copy in copies)]
    assert all(a.rows != b.rows for i, a in enumerate(tables) for b in tables[:i])
    assert all(set(copy.table.relations) <= set(real.relations) for copy in copies)


def test_what_points_into_a_cell_points_into_it_on_a_copy_too(real: Table) -> None:
    for copy in changed_tables(real, 12, 3):
        for cell in cells(copy.table):
            assert len(cell.text) == cell.end - cell.start
            for span in (*cell.phrases, *cell.entities):
                assert cell.text[span.start - cell.start : span.end - cell.start] == span.text
            for value in (*cell.numbers, *cell.dates):
                assert cell.start <= value.start < value.end <= cell.end


def test_a_number_drawn_anew_is_the_same_in_text_lemmas_and_value_in_every_cell(real: Table) -> None:
    copy = changed_tables(real, 1, 0)[0]
    assert "drawn anew" in copy.changed
    by_place: dict[int, set[float]] = {}
    for cell in cells(copy.table):
        for number in cell.numbers:
            written = cell.text[number.start - cell.start : number.end - cell.start].strip("$%")
            assert format_number(number.value) == written.removesuffix("th")
            assert any(written in lemma for lemma in cell.lemmas)
    for before, after in zip(real.rows, copy.table.rows, strict=True):
        for (_, old), (_, new) in zip(before.cells(), after.cells(), strict=True):
            for mine, theirs in zip(old.numbers, new.numbers, strict=True):
                by_place.setdefault(mine.start, set()).add(theirs.value)
                assert (mine.unit, mine.kind) == (theirs.unit, theirs.kind)
    assert by_place
    assert all(len(values) == 1 for values in by_place.values())


def test_a_bare_year_changes_as_date_and_number_alike() -> None:
    year = argument("in 1911", 10, [1911], [Date(1911, None, None, None, 13, 17)])
    made = table(
        {"verb": argument("shut"), "obl:in": year}, {"verb": argument("fell"), "obj": argument("9", 30, [9])}
    )
    for copy in changed_tables(made, 12, 0):
        for cell in cells(copy.table):
            for date in cell.dates:
                assert str(date.year) in cell.text
                assert all(number.value == date.year for number in cell.numbers)


def test_exchanged_cells_are_those_of_the_same_relation(real: Table) -> None:
    copy = next(c for c in changed_tables(real, 12, 0) if c.changed.startswith("cells"))
    for relation in real.relations:
        before = Counter(cell.text for row in real.rows for cell in row.cell(relation))
        assert before == Counter(cell.text for row in copy.table.rows for cell in row.cell(relation))


def test_names_keep_their_type(real: Table) -> None:
    copy = next(c for c in changed_tables(real, 12, 0) if "names exchanged" in c.changed)
    labels = [[span.label for cell in cells(t) for span in cell.entities] for t in (real, copy.table)]
    assert labels[0] == labels[1]


def test_differences_say_what_was_done(real: Table) -> None:
    dropped = next(c for c in changed_tables(real, 12, 0) if c.changed == "rows left out")
    missing = set(range(len(real.rows))) - set(dropped.sources)
    assert {each.row for each in differences(real, dropped)} == missing
    assert {each.new for each in differences(real, dropped)} == {"left out"}
    drawn = changed_tables(real, 1, 0)[0]
    assert any(each.old == "3 goals" and each.new != "3 goals" for each in differences(real, drawn))
    assert differences(real, ChangedTable(real, "nothing", tuple(range(len(real.rows))))) == []


@settings(deadline=None, max_examples=60)
@given(tables(max_rows=3), st.integers(0, 5))
def test_any_table_has_copies_that_can_be_looked_at(made: Table, seed: int) -> None:
    copies = changed_tables(made, 6, seed)
    assert all(copy.table.rows != made.rows for copy in copies)
    for copy in copies:
        view = View(copy.table)
        assert [view.cells, view.numbers, view.dates, view.part_names, view.first_dates]
        assert len(copy.sources) == len(copy.table.rows)
        differences(made, copy)


def test_an_empty_table_has_no_copies() -> None:
    assert changed_tables(table(), 6, 0) == []


def test_an_edit_moves_what_stands_behind_it() -> None:
    cell = argument("3 red boats", 10, [3], phrases=[("3", "nummod"), ("red", "amod"), ("red boats", "core")])
    changed = rewritten(cell, [Edit(10, 11, "3", "1200", number=1200.0)])
    assert changed.text == "1200 red boats"
    assert [(p.text, p.start, p.end) for p in changed.phrases] == [
        ("1200", 10, 14),
        ("red", 15, 18),
        ("red boats", 15, 24),
    ]
    assert (changed.numbers[0].value, changed.numbers[0].start, changed.numbers[0].end) == (1200.0, 10, 14)
    assert changed.lemmas[0] == "1200"


def test_the_copies_chosen_tell_most_apart_first() -> None:
    told = [[1, 1, 1, 1], [1, 2, 1, 2], [1, 2, 3, 3], [1, 1, 2, 2]]
    assert chosen(told, 2, [0, 0, 0, 0]) == [2, 1]
    assert chosen(told, 9, [0, 0, 0, 0]) == [2, 1, 0, 3]
    assert chosen([], 3, [0, 0]) == []


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=5), st.integers(1, 5)
)
def test_choosing_never_tells_less_apart_than_the_best_alone(told: list[list[int]], number: int) -> None:
    picked = chosen(told, number, [0] * 5)
    assert len(picked) == len(set(picked)) == min(number, len(told))
    apart = len(set(zip(*(told[c] for c in picked), strict=True)))
    assert apart >= max(len(set(each)) for each in told)
