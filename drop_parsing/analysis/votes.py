"""Majority vote over execution results (after Lee, Kim and Jung, EMNLP 2023).

On each fictitious table the forms vote for what they denote there, each with its prior weight. Forms that reach the
answer by accident scatter on other tables, each its own way; those that mean the question agree.
"""

from collections.abc import Hashable, Sequence
from math import exp


def prior_weights(scores: Sequence[float], temperature: float = 1.0) -> list[float]:
    """Log-odds as weights that add up to 1."""
    most = max(scores, default=0.0)
    weights = [exp((score - most) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


#: How far a table speaks for a class that is undefined there: it may be right and lack what it reads.
UNDEFINED = 0.35


def vote(denotations: Sequence[Sequence[Hashable]], weights: Sequence[float]) -> list[float]:
    """For each class how far the votes go its way: the mean over the tables of the weight of what it denotes there
    beside the weight of what most denote. ``denotations[c][t]`` is class c on table t, None where undefined: that is
    never elected and counts as ``UNDEFINED``. 1 is a class with the majority everywhere; without tables all are."""
    if not denotations or not denotations[0]:
        return [1.0] * len(denotations)
    shares = [[UNDEFINED] * len(denotations[0]) for _ in denotations]
    for table in range(len(denotations[0])):
        votes: dict[Hashable, float] = {}
        for own, weight in zip(denotations, weights, strict=True):
            if own[table] is not None:
                votes[own[table]] = votes.get(own[table], 0.0) + weight
        most = max(votes.values(), default=0.0)
        for share, own in zip(shares, denotations, strict=True):
            if own[table] is not None:
                share[table] = votes[own[table]] / most if most else 0.0
    return [sum(share) / len(share) for share in shares]
