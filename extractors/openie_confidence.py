"""How sure the scheme "openie" is of a proposition: a logistic model over what the clause looks like.

The weights say how well propositions of each look agree with the gold extractions of CaRB's development
half (``benchmarks/carb_confidence.py`` fits and prints them): a proposition's target is its precision in the
one-to-one matching of CaRB's rule. A confidence is therefore about the share of its words that people would
write in the same places.
"""

import math
from collections.abc import Iterator

from extractors.openie_nouns import Kind, Proposition

BIAS = "bias"
WEIGHTS: dict[str, float] = {
    "0 parts": -1.28,
    "1 parts": 0.51,
    "2 parts": 0.21,
    "3 parts": 0.04,
    "apposition": -0.23,
    "bias": -0.52,
    "clause acl": -0.17,
    "clause acl:relcl": 0.12,
    "clause advcl": -0.04,
    "clause ccomp": -0.15,
    "clause conj": 0.62,
    "clause csubj": -0.11,
    "clause other": -0.43,
    "clause parataxis": 0.27,
    "clause root": 0.92,
    "clause xcomp": -0.42,
    "coordination": -0.11,
    "copula": 0.14,
    "long part": -0.64,
    "no subject": -1.68,
    "possessive": -0.86,
    "shared subject": -0.11,
    "title": -0.04,
    "verb": 0.47,
}

_CLAUSES = frozenset({"root", "conj", "ccomp", "acl:relcl", "acl", "advcl", "xcomp", "csubj", "parataxis"})
_MANY_PARTS = 3
_LONG = 12  # tokens


def confidence(proposition: Proposition) -> float:
    """Between 0 and 1, to two decimals."""
    score = sum(WEIGHTS.get(feature, 0.0) for feature in features(proposition))
    return round(1 / (1 + math.exp(-score)), 2)


def features(proposition: Proposition) -> Iterator[str]:
    """What the model sees of a proposition."""
    yield BIAS
    yield proposition.kind.value
    if proposition.kind in {Kind.VERB, Kind.COPULA}:
        yield f"clause {proposition.clause}" if proposition.clause in _CLAUSES else "clause other"
    if proposition.subject is None:
        yield "no subject"
    elif proposition.subject.shared:
        yield "shared subject"
    yield f"{min(len(proposition.parts), _MANY_PARTS)} parts"
    if any(len(part.stretches) > 1 for part in proposition.parts):
        yield "coordination"
    if any(last - first >= _LONG for part in proposition.parts for _, first, last in part.stretches):
        yield "long part"
