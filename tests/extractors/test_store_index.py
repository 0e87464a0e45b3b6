"""The index of the cache, against a dictionary of sets."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from extractors.key_index import QUERY, KeyIndex

KEY = st.text(st.characters(exclude_categories=()) | st.sampled_from("\ud800\x00a"), max_size=3)
STEP = st.tuples(st.just("add"), st.lists(KEY, max_size=4), st.integers(0, 3)) | st.tuples(
    st.just("remove"), st.just([]), st.integers(0, 3)
)


@given(st.lists(STEP, max_size=12))
def test_it_holds_what_a_dictionary_of_sets_holds(steps: list[tuple[str, list[str], int]]) -> None:
    index = KeyIndex()
    oracle: dict[str, set[int]] = defaultdict(set)
    for step, keys, place in steps:
        if step == "add":
            new = {key for key in keys if place not in oracle[key]}
            assert index.add(keys, place) == len(new)
            for key in keys:
                oracle[key].add(place)
        else:
            index.remove(place)
            for places in oracle.values():
                places.discard(place)
    held = {key: sorted(places) for key, places in oracle.items() if places}
    assert index.places([*oracle, "absent key"]) == held
    assert sorted(index) == sorted(held)


def test_more_keys_than_one_query_takes() -> None:
    index = KeyIndex()
    keys = [str(number) for number in range(3 * QUERY + 1)]
    assert index.add(keys, 5) == len(keys)
    assert index.places(keys) == {key: [5] for key in keys}
