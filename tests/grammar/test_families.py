"""Families of row sets against sets and counts made one by one."""

from collections import Counter
from itertools import combinations, product
from math import comb, isnan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables

from extractors.table import Table
from grammar.alike import TELLERS
from grammar.families import Aspect, Block, Family, Pool, See
from grammar.forest import Leaf, Packed, combination, sets_of
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.masks import Scores, Sets, Words, combined, to_masks, to_words
from grammar.view import View, round_off

ROWS = 70
masks = st.integers(0, 2**3 - 1).map(lambda bits: bits & 3 | (bits >> 2) << 68)
#: Row sets with the number of forms of each.
members = st.lists(st.tuples(masks, st.integers(1, 3)), max_size=4)


def pool(given_members: list[tuple[int, int]]) -> Pool:
    """So many different forms of each row set."""
    nodes = []
    for place, (mask, count) in enumerate(given_members):
        leaves = [Leaf(Form("f", (Form(f"{place}"), Form(f"{i}")))) for i in range(count)]
        nodes.append((mask, Packed(leaves)))
    return Pool(nodes, ROWS)


@settings(deadline=None)
@given(members, members, st.integers(1, 3), st.sampled_from(["", "union"]))
def test_a_block_counts_every_choice_once(
    mine: list[tuple[int, int]], theirs: list[tuple[int, int]], times: int, join: str
) -> None:
    rows, filters = pool(mine), pool(theirs)
    block = Block((rows, *[filters] * times), join)
    expected: Counter[int] = Counter()
    each = [mask for mask, count in theirs for _ in range(count)]
    for (mask, count), chosen in product(mine, combinations(each, times)):
        for other in chosen:
            mask = mask | other if join == "union" else mask & other
        expected[mask] += count
    sets = block.sets(10**6)
    assert dict(zip(to_masks(sets.words), sets.counts.tolist(), strict=True)) == expected
    for mask, count in expected.items():
        choices = block.choices(mask)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("grammar.families._CHOICES", 2)
            few_at_a_time = block.choices(mask)
        assert [*map(list, few_at_a_time.picks)] == [*map(list, choices.picks)]
        ways = [
            prod(comb(node.count, number) for node, number in choices.choice(place))
            for place in range(len(choices))
        ]
        assert choices.counts.tolist() == ways
        assert sum(ways) == count


@settings(deadline=None)
@given(members, members, st.booleans(), st.sampled_from([(0, 2), (0, 2**19), (4096, 2)]))
def test_sets_are_combined_alike_however_many_at_a_time(
    mine: list[tuple[int, int]], theirs: list[tuple[int, int]], union: bool, limits: tuple[int, int]
) -> None:
    """Told apart by sorting or by hashing, all pairs at once or few."""
    counted: Counter[int] = Counter()
    greatest: dict[int, float] = {}
    for (one, count), (other, more) in product(mine, theirs):
        made = one | other if union else one & other
        counted[made] += count * more
        greatest[made] = max(greatest.get(made, 0), count + more)

    def combine() -> tuple[Sets, tuple[Words, Scores]]:
        words = [to_words([mask for mask, _ in some], ROWS) for some in (mine, theirs)]
        scores = [np.array([float(count) for _, count in some]) for some in (mine, theirs)]
        first, second = zip(words, scores, strict=True)
        return pool(mine).sets.combined(pool(theirs).sets, union), combined(first, second, union, "max")

    sets, (words, scores) = combine()
    assert dict(zip(to_masks(sets.words), sets.counts.tolist(), strict=True)) == counted
    assert dict(zip(to_masks(words), scores.tolist(), strict=True)) == greatest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grammar.masks._FEW", limits[0])
        patch.setattr("grammar.masks._PAIRS", limits[1])
        again, (words_again, scores_again) = combine()
    assert again.words.tolist() == sets.words.tolist() == words.tolist() == words_again.tolist()
    assert again.counts.tolist() == sets.counts.tolist()
    assert scores_again.tolist() == scores.tolist()


@settings(deadline=None)
@given(members.filter(bool), members, masks, st.sampled_from(["rows", "first", "last", "number"]))
def test_what_is_seen_of_the_sets(
    mine: list[tuple[int, int]], wider: list[tuple[int, int]], mask: int, aspect: Aspect
) -> None:
    family = Family([Block((pool(mine),))], ROWS)
    for other, _ in wider:  # what was seen before is built upon
        family.seen(See(other))
    see = See(mask, aspect)
    expected: Counter[int] = Counter()
    for rows, count in mine:
        seen = rows & mask
        match aspect:
            case "first":
                seen &= -seen
            case "last":
                seen = 1 << seen.bit_length() - 1 if seen else 0
            case "number":
                seen = (1 << seen.bit_count()) - 1
        expected[seen] += count
    seen_sets = family.seen(see)
    assert dict(zip(seen_sets.masks, seen_sets.counts, strict=True)) == expected
    for seen_at, rows in enumerate(seen_sets.masks):
        places = family.seen_as(see, [seen_at]).tolist()
        assert all(to_masks(see.of(family.sets.words[[place]])) == [rows] for place in places)
        assert sum(int(family.sets.counts[place]) for place in places) == expected[rows]


@settings(deadline=None)
@given(members.filter(bool))
def test_the_forms_of_a_set_are_numbered(mine: list[tuple[int, int]]) -> None:
    filters = pool(mine)
    family = Family(
        [Block((Pool([(2**ROWS - 1, Leaf(Form("all_structures")))], ROWS), filters, filters))], ROWS
    )
    for _, node in sets_of(family):
        forms = [node.form(i) for i in range(node.count)]
        assert len(set(forms)) == node.count


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(4, 9))
def test_combinations_are_numbered(length: int, size: int) -> None:
    numbered = {tuple(combination(i, length)) for i in range(comb(size, length))}
    assert numbered == set(combinations(range(size), length))


@settings(max_examples=60, deadline=None)
@given(tables(max_rows=5))
def test_sets_with_the_same_key_are_alike_to_the_function(made: Table) -> None:
    view = View(made)
    everything = list(range(1 << view.size))
    words = to_words(everything, view.size)
    for name, tell in TELLERS.items():
        function = FUNCTIONS[name]
        for relation in view.relations:
            for part in view.part_names[relation] if "Part" in function.arguments else [None]:
                alike = tell(view, words, relation, part)
                if alike is None:
                    continue
                given_arguments = [relation] if part is None else [relation, part]
                found: dict[tuple[int, ...], object] = {}
                for mask, each in zip(everything, alike.key.tolist(), strict=True):
                    value = function.call(view, mask, *given_arguments)
                    assert found.setdefault(tuple(each), value) == value
                    if alike.numbers is not None:
                        told = float(alike.numbers[mask])
                        assert value == (None if isnan(told) else round_off(told))
