"""Encoders and heads: independent of the batch, and their likelihoods those of a count by hand."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.cpu_kernels import depthwise, ragged_attention
from drop_parsing.reader.decoding import predict
from drop_parsing.reader.dropout import Dropout
from drop_parsing.reader.encoding import Encoded
from drop_parsing.reader.heads import HEAD_NAMES, DecodingConfig, Pooled
from drop_parsing.reader.qanet import QANetEncoder, sinusoids
from drop_parsing.reader.sign_head import SignHead
from drop_parsing.reader.span_heads import best_span, span_log_likelihood
from drop_parsing.reader.tagging_head import TaggingHead
from tests.drop_parsing.reader_cases import (
    BIDAF,
    DATA,
    PASSAGES,
    QANET,
    make,
    save_contextual,
    save_tiny_bert,
)

ENCODERS = ["qanet", "contextual", "bidaf", "transformer"]


def encoder_config(name: str, folder: Path) -> object:
    if name == "contextual":
        return save_contextual(folder / "bert")
    return {"qanet": QANET, "bidaf": BIDAF}.get(name) or save_tiny_bert(folder / "bert")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_question_scores_the_same_in_any_batch(name: str, tmp_path: Path) -> None:
    """S14, with padding of passages, questions and numbers, and passages shared between questions."""
    reader, collator = make(encoder_config(name, tmp_path), cache=tmp_path)  # type: ignore[arg-type]
    reader.eval()
    questions = [5, 0, 3, 4, 1, 2]
    with torch.no_grad():
        together = reader.log_likelihood(collator(questions))
        decoded = reader.decode(collator(questions))
        for row, question in enumerate(questions):
            alone = collator([question])
            assert torch.allclose(reader.log_likelihood(alone), together[row], atol=1e-4)
            best = reader.decode(alone)
            assert torch.allclose(
                best.head_log_probabilities[0], decoded.head_log_probabilities[row], atol=1e-5
            )
            for head, one in best.best.items():
                choice = decoded.best[head].choice[row]
                assert torch.equal(one.choice[0].flatten(), choice.flatten()[: one.choice[0].numel()])


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("heads", [HEAD_NAMES, ("passage-span",), ("count", "add-subtract")])
def test_every_weight_that_trains_gets_a_gradient(name: str, heads: tuple, tmp_path: Path) -> None:  # type: ignore[type-arg]
    reader, collator = make(encoder_config(name, tmp_path), heads, cache=tmp_path)  # type: ignore[arg-type]
    reader.eval()  # no layer is left out
    likelihood = reader.log_likelihood(collator(range(6)))
    likelihood.clamp(min=-1e5).sum().backward()
    without = {n for n, weight in reader.named_parameters() if weight.requires_grad and weight.grad is None}
    # One head needs no choice between heads, and so no vector of the question.
    allowed = ("pool_passage", "pool_question")
    assert all(name.startswith(allowed) and len(heads) == 1 for name in without), without


@given(st.integers(1, 3), st.integers(1, 6), st.sampled_from([1.0, 30.0]), st.randoms())
@settings(deadline=None, max_examples=40)
def test_attention_is_that_of_torch(batch: int, length: int, size: float, random: Random) -> None:
    """With scores that may be exponentiated as they are, and with ones that may not."""
    lengths = [random.randint(1, length) for _ in range(batch)]
    packed = (torch.randn(batch, length, 3, 2, 3, dtype=torch.double) * size).requires_grad_()
    mask = torch.arange(length) < torch.tensor(lengths)[:, None]
    queries, keys, values = packed.permute(2, 0, 3, 1, 4)
    theirs = F.scaled_dot_product_attention(queries, keys, values, mask[:, None, None, :], scale=0.5)
    theirs = theirs.transpose(1, 2).flatten(2) * mask.unsqueeze(-1)
    ours = ragged_attention(packed, lengths, 0.5)
    assert torch.allclose(ours, theirs)
    weights = torch.randn_like(ours)
    gradients = [torch.autograd.grad((one * weights).sum(), packed)[0] for one in (ours, theirs)]
    assert torch.allclose(*gradients)


@given(st.integers(1, 7), st.integers(1, 9))
@settings(deadline=None, max_examples=40)
def test_depthwise_filters_are_those_of_torch(width: int, length: int) -> None:
    inputs = torch.randn(2, length, 4, dtype=torch.double, requires_grad=True)
    filters = torch.randn(4, width, dtype=torch.double, requires_grad=True)
    bias = torch.randn(4, dtype=torch.double, requires_grad=True)
    padded = F.pad(inputs.transpose(1, 2), (width // 2, (width - 1) // 2))
    theirs = F.conv1d(padded, filters.unsqueeze(1), bias, groups=4).transpose(1, 2)
    ours = depthwise(inputs, filters, bias)
    assert torch.allclose(ours, theirs)
    weights = torch.randn_like(ours)
    for one, other in zip(
        torch.autograd.grad((ours * weights).sum(), (inputs, filters, bias)),
        torch.autograd.grad((theirs * weights).sum(), (inputs, filters, bias)),
        strict=True,
    ):
        assert torch.allclose(one, other)


def test_positions_are_sines_then_cosines() -> None:
    positions = sinusoids(20, 6)
    assert positions.shape == (20, 6)
    assert positions[7, 1].item() == pytest.approx(math.sin(7 / 100))
    assert positions[7, 5].item() == pytest.approx(math.cos(7 / 10_000))
    assert sinusoids(4, 5)[:, 4].abs().sum() == 0


def test_an_encoder_takes_any_length() -> None:
    encoder = QANetEncoder(
        8, blocks=1, convolutions=1, kernel_size=3, heads=2, dropout=0.1, layer_dropout=0.1
    )
    for length in (1, 700):
        encoded = encoder(torch.randn(2, length, 8), torch.ones(2, length, dtype=torch.bool))
        assert encoded.shape == (2, length, 8)


def test_dropout_keeps_the_mean_and_obeys_the_seed() -> None:
    dropout = Dropout(0.3)
    inputs = torch.ones(1000, 333)
    torch.manual_seed(5)
    first = dropout(inputs)
    torch.manual_seed(5)
    assert torch.equal(first, dropout(inputs))
    assert (first == 0).float().mean().item() == pytest.approx(0.3, abs=0.005)
    assert first.mean().item() == pytest.approx(1, abs=0.01)
    assert torch.equal(dropout.eval()(inputs), inputs)
    with pytest.raises(ValueError, match="below 1"):
        Dropout(1.0)


def pooled(length: int, batch: int = 2) -> Pooled:
    mask = torch.ones(batch, length, dtype=torch.bool)
    mask[-1, -1] = length == 1
    passes = (torch.randn(batch, length, 4),) * 4
    question = torch.randn(batch, 3, 4)
    encoded = Encoded(passes, mask, question, torch.ones(batch, 3, dtype=torch.bool))
    return Pooled(encoded, torch.randn(batch, 4), torch.randn(batch, 4))


def batch_of(mask: torch.Tensor, numbers: torch.Tensor, number_mask: torch.Tensor) -> Batch:
    return Batch(torch.arange(len(mask)), mask, mask, numbers, number_mask)


def gold(**tensors: torch.Tensor) -> Gold:
    nothing = torch.empty(2, 0, 2, dtype=torch.long)
    default = {
        "passage_spans": nothing,
        "question_spans": nothing,
        "counts": nothing[..., 0],
        "signs": nothing,
    }
    return Gold(**{**default, "tags": torch.empty(2, 0, 0, 2, dtype=torch.long), **tensors})


@pytest.mark.parametrize("longest", [None, 1, 3, 9])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_best_span_is_the_best_of_all(length: int, longest: int | None) -> None:
    torch.manual_seed(length)
    logits = torch.randn(20, 2, length)
    mask = torch.arange(length) < torch.randint(1, length + 1, (20, 1))
    best = best_span(logits, mask, longest)
    for row in range(20):
        spans = [
            (a, b)
            for a, b in product(range(length), repeat=2)
            if a <= b < a + (longest or length) and mask[row, b]
        ]
        scores = {
            span: span_log_likelihood(logits[row : row + 1], mask[row : row + 1], torch.tensor([[span]]))
            for span in spans
        }
        expected = max(scores, key=lambda span: scores[span].item())
        assert tuple(best.choice[row].tolist()) == expected
        assert best.log_probabilities[row].item() == pytest.approx(scores[expected].item(), abs=1e-5)


def test_the_likelihood_of_signs_is_a_sum_over_assignments() -> None:
    torch.manual_seed(0)
    head, inputs = SignHead(4), pooled(6)
    numbers = torch.tensor([[0, 2, 5], [1, -1, 0]])
    batch = batch_of(inputs.encoded.passage_mask, numbers, torch.tensor([[True] * 3, [True, True, False]]))
    logits = head(inputs, batch)
    signs = torch.tensor([[[1, -2], [3, 0]], [[-1, 2], [0, 0]]])
    log = logits.log_softmax(-1)
    first = (log[0, 0, 1] + log[0, 1, 2] + log[0, 2, 0]).exp() + (
        log[0, 0, 0] + log[0, 1, 0] + log[0, 2, 1]
    ).exp()
    second = (log[1, 0, 2] + log[1, 1, 1]).exp()
    found = head.log_likelihood(logits, inputs, batch, gold(signs=signs))
    assert torch.allclose(found.exp(), torch.stack([first, second]))
    best = head.best(logits, inputs, batch, DecodingConfig())
    assert best.choice[1, 2] == 0
    assert set(best.choice.flatten().tolist()) <= {-1, 0, 1}
    everything = torch.tensor([[[1, 2, 3]] * 2] * 2)
    assert (head.log_likelihood(logits, inputs, batch, gold(signs=everything[:, :0])) < -1e6).all()


@pytest.mark.parametrize("seed", range(20))
def test_signs_are_the_likeliest_whose_sum_is_not_below_zero(seed: int) -> None:
    torch.manual_seed(seed)
    head, inputs = SignHead(4), pooled(6)
    mask = torch.tensor([[True] * 3, [True, True, False]])
    values = torch.tensor([[3.0, 5.0, 40.0], [7.0, 7.5, 0.0]], dtype=torch.float64)
    batch = batch_of(inputs.encoded.passage_mask, torch.tensor([[0, 2, 5], [1, -1, 0]]), mask)
    batch = replace(batch, number_values=values)
    logits = 3 * torch.randn(2, 3, 3)
    best = head.best(logits, inputs, batch, DecodingConfig(sums_below_zero=False))
    log = logits.log_softmax(-1)
    for row, count in enumerate(mask.sum(1).tolist()):
        likeliest = log[row, :count].argmax(-1).tolist()
        scores = {
            places: sum(log[row, number, place].item() for number, place in enumerate(places))
            for places in product(range(3), repeat=count)
            if sum(values[row, n].item() * (0, 1, -1)[place] for n, place in enumerate(places)) >= 0
            and sum(a != b for a, b in zip(places, likeliest, strict=True)) <= 2
        }
        if scores:
            expected = max(scores, key=lambda places: scores[places])
            assert best.choice[row, :count].tolist() == [(0, 1, -1)[place] for place in expected]
            assert best.log_probabilities[row].item() == pytest.approx(scores[expected], abs=1e-5)
        else:
            assert best.choice[row, :count].min() >= 0


def test_the_likelihood_of_tags_is_a_sum_over_taggings() -> None:
    torch.manual_seed(0)
    head, inputs = TaggingHead(4), pooled(5)
    batch = batch_of(
        inputs.encoded.passage_mask, torch.zeros(2, 0, dtype=torch.long), torch.zeros(2, 0, dtype=torch.bool)
    )
    logits = head(inputs, batch)
    log = logits.log_softmax(-1)

    def probability(row: int, tags: list[int]) -> torch.Tensor:
        return torch.stack([log[row, place, tag] for place, tag in enumerate(tags)]).sum().exp()

    tags = torch.full((2, 2, 2, 2), -1)
    tags[0, 0] = torch.tensor([[0, 1], [3, 3]])
    tags[0, 1, 0] = torch.tensor([2, 4])
    tags[1, 0, 0] = torch.tensor([3, 3])
    found = head.log_likelihood(logits, inputs, batch, gold(tags=tags)).exp()
    assert found[0].item() == pytest.approx(
        (probability(0, [1, 2, 0, 1, 0]) + probability(0, [0, 0, 1, 2, 2])).item()
    )
    assert found[1].item() == pytest.approx(probability(1, [0, 0, 0, 1]).item())


def test_tags_always_name_a_span() -> None:
    head, inputs = TaggingHead(4), pooled(4)
    batch = batch_of(
        inputs.encoded.passage_mask, torch.zeros(2, 0, dtype=torch.long), torch.zeros(2, 0, dtype=torch.bool)
    )
    outside = torch.tensor([5.0, 0, 0]).expand(2, 4, 3).clone()
    outside[:, 2, 1] = 1
    assert head.best(outside, inputs, batch, DecodingConfig()).choice.tolist() == [[0, 0, 1, 0]] * 2
    inside = torch.tensor([0.0, 0, 5]).expand(2, 4, 3)
    assert head.best(inside, inputs, batch, DecodingConfig()).choice.tolist() == [[1, 2, 2, 2], [1, 2, 2, 0]]


def test_a_reader_learns_a_few_questions() -> None:
    reader, collator = make(QANET)
    optimizer = torch.optim.Adam(reader.parameters(), lr=0.01)
    batch = collator(range(6))
    reader.train()
    losses = []
    for _ in range(60):
        loss = -reader.log_likelihood(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_a_blanked_input_is_not_seen() -> None:
    """The question-only reader cannot tell one passage from another of the same length."""
    data = replace(DATA, blank="passage")
    other = replace(PASSAGES[0], id="other", text=PASSAGES[0].text.replace("Carn", "Hull"))
    reader, collator = make(QANET, data=data, passages=[PASSAGES[0], other])
    with torch.no_grad():
        seen = [reader.eval()(collator([question])).head_log_probabilities for question in (0, 4)]
    assert torch.equal(*seen)
    reader, collator = make(QANET, passages=[PASSAGES[0], other])
    with torch.no_grad():
        seen = [reader.eval()(collator([question])).head_log_probabilities for question in (0, 4)]
    assert not torch.equal(*seen)


def test_an_answer_is_shown_with_its_signed_numbers() -> None:
    """S21: which head, which numbers with which sign, and where each stands."""
    passage = Passage(
        "carn",
        "Carn had 70 boats and sold 25.",
        (Question("left", "How many boats were left?", Answer(number="45")),),
    )
    reader, collator = make(QANET, ("add-subtract", "count"), passages=[passage])
    optimizer = torch.optim.Adam(reader.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        (-reader.log_likelihood(collator([0])).mean()).backward()
        optimizer.step()
    ((prediction,),) = predict(reader.eval(), collator, [passage], 4, torch.device("cpu"))
    assert (prediction.head, prediction.answer) == ("add-subtract", "45")
    assert [(e.text, e.sign, e.start, e.end) for e in prediction.evidence] == [
        ("70", 1, 9, 11),
        ("25", -1, 27, 29),
    ]
    assert prediction.summary().startswith("45 (add-subtract, ")
    assert "+70 -25 at passage[9:11], passage[27:29]" in prediction.summary()
    assert prediction.probability <= prediction.heads["add-subtract"]
