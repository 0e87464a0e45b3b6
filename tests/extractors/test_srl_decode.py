"""The best consistent arguments, against trying every subset."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.srl_decode import CORE, Choice, best_choices

CHOICES = st.lists(
    st.builds(
        lambda first, length, label, gain: Choice(first, first + length, label, gain / 8),
        st.integers(0, 7),
        st.integers(0, 4),
        st.sampled_from(["ARG0", "ARG1", "ARGM-TMP", "C-ARG1", "R-ARG0"]),
        st.integers(1, 40),
    ),
    max_size=9,
)


def consistent(chosen: tuple[Choice, ...]) -> bool:
    ordered = sorted(chosen)
    apart = all(one.last < other.first for one, other in pairwise(ordered))
    labels = [choice.label for choice in ordered]
    once = all(labels.count(role) <= 1 for role in CORE)
    follow = all(
        label[2:] in labels[:k] or label[2:] not in CORE
        for k, label in enumerate(labels)
        if label.startswith("C-")
    )
    return apart and once and follow


def best_by_trial(choices: list[Choice]) -> float:
    subsets = (s for n in range(len(choices) + 1) for s in combinations(choices, n))
    return max(sum(choice.gain for choice in s) for s in subsets if consistent(s))


@given(CHOICES)
def test_the_choice_is_consistent_and_no_subset_is_better(choices: list[Choice]) -> None:
    best = best_choices(choices)
    assert best == sorted(best)
    assert consistent(tuple(best))
    assert all(choice in choices for choice in best)
    assert sum(choice.gain for choice in best) == pytest.approx(best_by_trial(choices))


def test_a_worse_label_is_taken_where_the_better_is_used() -> None:
    choices = [Choice(0, 0, "ARG0", 3.0), Choice(2, 2, "ARG0", 2.0), Choice(2, 2, "ARG1", 1.5)]
    assert [(c.first, c.label) for c in best_choices(choices)] == [(0, "ARG0"), (2, "ARG1")]


def test_two_small_arguments_beat_one_that_covers_both() -> None:
    choices = [Choice(0, 5, "ARG1", 3.0), Choice(0, 2, "ARG1", 2.0), Choice(3, 5, "ARGM-TMP", 1.5)]
    assert [c.label for c in best_choices(choices)] == ["ARG1", "ARGM-TMP"]


def test_nothing_to_choose_from() -> None:
    assert best_choices([]) == []
