"""Our NAQANet computes what that of allennlp-models does, with the same weights on real questions.

The paper's size is compared by ``benchmarks/reader_speed.py --parity``.
"""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("allennlp_models")

from tests.drop_parsing.reader_reference import ABILITIES, FIXTURE, Compared, compare

TOLERANCE = 1e-4

pytestmark = pytest.mark.filterwarnings("ignore:.*W108:UserWarning")  # spaCy: no tagger before its lemmatizer


@pytest.fixture(scope="module")
def compared(shared_data: Path) -> Compared:
    return compare(shared_data / "drop" / "train.json", passages=5, questions=6, sizes=FIXTURE)


def test_every_logit_is_the_same(compared: Compared) -> None:
    scores = compared.scores()
    assert len(compared.references) >= 20
    for row, reference in enumerate(compared.references):
        assert torch.allclose(scores.head_log_probabilities[row], reference.heads, atol=TOLERANCE, rtol=0)
        for head, theirs in reference.logits.items():
            ours = scores.logits[head][row][tuple(slice(size) for size in theirs.shape)]  # type: ignore[index]
            assert torch.allclose(ours, theirs, atol=TOLERANCE, rtol=0), head


def test_the_loss_is_the_same(compared: Compared) -> None:
    for loss, reference in zip(compared.losses(), compared.references, strict=True):
        if math.isinf(reference.loss):
            assert loss > 1e6
        else:
            assert loss == pytest.approx(reference.loss, abs=TOLERANCE)
    assert sum(math.isfinite(reference.loss) for reference in compared.references) >= 20


@pytest.mark.parametrize("head", ABILITIES.values())
def test_the_best_answer_of_every_head_is_the_same(compared: Compared, head: str) -> None:
    signed = 0
    for ours, theirs in compared.answers(head):
        if theirs["answer_type"] == "arithmetic" and not any(n["sign"] for n in theirs["numbers"]):
            assert ours.head != head  # a sum of no number is no answer; the reference says 0
            continue
        assert ours.head == head
        assert ours.answer == str(answer_of(theirs))
        signed += 1
        if head == "add-subtract":
            signs = [(*n["span"], n["sign"]) for n in theirs["numbers"] if n["sign"]]
            assert [(e.start, e.end, e.sign) for e in ours.evidence] == signs
    assert signed >= 20


def answer_of(reference: dict[str, Any]) -> object:
    return reference["count"] if reference["answer_type"] == "count" else reference["value"]
