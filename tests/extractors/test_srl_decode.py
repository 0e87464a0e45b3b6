"""The best consistent arguments and the probabilities of labels, against trying every subset."""

from itertools import combinations, pairwise, product
from math import exp, fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.srl_decode import CORE, Choice, best_choices, probabilities
from extractors.srl_roles import marked

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


STRETCHES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), unique=True, max_size=5)


def chances_by_trial(stretches: list[tuple[int, int]], gains: np.ndarray) -> np.ndarray:
    """Every way to give each stretch a label or none, those that overlap left out."""
    weights = np.zeros_like(gains, dtype=float)
    whole = []
    for labels in product(range(gains.shape[1] + 1), repeat=len(stretches)):
        chosen = sorted((stretches[k], k, label - 1) for k, label in enumerate(labels) if label)
        if all(one[0][1] < other[0][0] for one, other in pairwise(chosen)):
            whole.append(exp(fsum(float(gains[k, label]) for _, k, label in chosen)))
            for _, k, label in chosen:
                weights[k, label] += whole[-1]
    return weights / fsum(whole)


@given(STRETCHES, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_label_is_as_probable_as_the_choices_that_hold_it(
    stretches: list[tuple[int, int]], labels: int, seed: int
) -> None:
    stretches = [(first, first + length) for first, length in stretches]
    gains = np.random.default_rng(seed).normal(scale=3, size=(len(stretches), labels))
    found = probabilities(stretches, gains.astype(np.float32))
    assert found.shape == (len(stretches), labels)
    np.testing.assert_allclose(found, chances_by_trial(stretches, gains), atol=1e-5)


def test_large_gains_do_not_overflow() -> None:
    stretches = [(k, k) for k in range(400)]
    found = probabilities(stretches, np.full((400, 2), 500, np.float32))
    np.testing.assert_allclose(found, 0.5)
    assert probabilities(stretches, np.full((400, 2), -500, np.float32)).max() < 1e-30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[the fort ( now a mill] ) fell", "the fort ( now a mill )"),
        ('[the club " The Oars] " won', 'the club " The Oars "'),
        ("[the boat “ Eel ( II] ) ” sank", "the boat “ Eel ( II ) ”"),
        ('Ada ( [the keeper] ) said " [yes] "', "( the keeper )"),
        ('said " [he left " Hull "] " .', '" he left " Hull " "'),
        ("[the fort ( a mill )] ) fell", "the fort ( a mill )"),
        ('read " [The Mill] " aloud', '" The Mill "'),
        ("read ( “ [The Mill] ” ) aloud", "( “ The Mill ” )"),
        ('left " Hull " and " [Leith] "', '" Leith "'),
        ('left " Hull " and " [Leith .] "', "Leith"),
        ('left " Hull [and] " Leith', "and"),
        ("sold [the boats ,] and", "the boats"),
        ("[.] left", "."),
    ],
)
def test_a_stretch_has_its_marks(text: str, expected: str) -> None:
    words: list[str] = []
    edges = []
    for part in text.split():
        if part.startswith("[") and len(part) > 1:
            edges.append(len(words))
            part = part[1:]
        if part.endswith("]") and len(part) > 1:
            edges.append(len(words))
            part = part[:-1]
        words.append(part)
    start, end = edges[:2]
    first, last = marked(words, start, end, 0, len(words), 0)
    assert " ".join(words[first : last + 1]) == expected
    # Where its neighbours leave no room it takes in nothing.
    first, last = marked(words, start, end, start, end + 1, 0)
    assert start == first <= last <= end
