"""The order in which the sources of a ranking are opened, and forests with nothing in them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grammar.families import Block, Family, Pool, See
from grammar.forest import Apply, Filtered, Found, Leaf, Node, Packed, Pairs, Rows
from grammar.forms import Form
from grammar.packing import from_bytes, to_bytes
from grammar.ranking import Scored, _falling, best

LEAF = Leaf(Form("all_structures"))
FAMILY = Family([Block((Pool([(3, LEAF)], 5),))], 5)
NO_ROWS, ALL_ROWS = Rows(FAMILY, See(31), ()), Rows(FAMILY, See(31), (0,))
EMPTY: list[Node] = [
    Packed(),
    Packed([Packed()]),
    NO_ROWS,
    Rows(Family([], 5), See(31), ()),
    Packed([NO_ROWS]),
    Apply("diff", NO_ROWS, ALL_ROWS),
    Pairs("add", NO_ROWS),
    Filtered(ALL_ROWS, Packed()),
]


def level(name: str, leaves: tuple[str, ...]) -> float:
    return -1.0


@given(st.lists(st.integers(-3, 3), max_size=400))
@example(list(range(400)))
@example([0] * 400)
def test_sources_are_opened_from_the_greatest_bound_on_and_equals_in_order(numbers: list[int]) -> None:
    """However many there are: the greatest are sorted by themselves."""
    bounds = np.array([number if number > -3 else -np.inf for number in numbers], np.float64)
    assert list(_falling(bounds)) == sorted(range(len(bounds)), key=lambda place: -bounds[place])


@pytest.mark.parametrize("node", EMPTY)
def test_nothing_has_no_best_form(node: Node) -> None:
    assert node.count == 0
    assert best(node, level, 3) == []
    found = Found({1.0: node}, 0)
    assert best(found, level, 3) == best(from_bytes(to_bytes(found)), level, 3) == []
    assert best(Found({}, 0), level, 3) == []


@pytest.mark.parametrize("node", EMPTY)
def test_nothing_beside_a_form_changes_nothing(node: Node) -> None:
    beside = [Scored(0.0, LEAF.form())]
    for alternatives in ([node, ALL_ROWS], [ALL_ROWS, node], [node, LEAF, node]):
        assert best(Packed(alternatives), level, 3) == beside
