"""The marginal likelihood against the sum over forms written out, and its gradient against finite differences."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import argument, table

from drop_parsing.parser.batch import Batch, Collator
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.likelihood import form_log_likelihoods, marginal_log_likelihood
from drop_parsing.parser.model import Parser
from drop_parsing.parser.targets import targets_of
from grammar.language import Language
from tests.drop_parsing.parser_cases import question_over, questions, small_parser
from tests.drop_parsing.parser_reference import ReferenceDecoder

LIMIT = 9


def with_targets(question: QuestionInput, forms: list[list[int]], prior: list[float]) -> QuestionInput:
    return replace(question, targets=targets_of(forms, prior, question.shortest))


def some_forms(parser: Parser, collate: Collator, question: QuestionInput, count: int) -> list[list[int]]:
    beams = parser.decode(collate([question]), count, LIMIT)
    kept = beams.productions[0][beams.scores[0] > -math.inf]
    return [[production for production in row if production] for row in kept.tolist()]


def likelihood(parser: Parser, batch: Batch) -> torch.Tensor:
    assert batch.trees is not None
    problem = parser.decoder.problem(batch, parser.encoder(batch), LIMIT)
    return marginal_log_likelihood(parser.decoder, problem, batch.trees)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(questions(), min_size=1, max_size=3),
    st.integers(0, 2**31),
    st.lists(st.integers(1, 12), min_size=3, max_size=3),
    st.lists(st.floats(-3, 0), min_size=12, max_size=12),
)
def test_equals_the_sum_over_forms(
    asked: list[tuple[QuestionInput, Language]], seed: int, counts: list[int], prior: list[float]
) -> None:
    inputs = [question for question, _ in asked]
    parser, collate = small_parser(inputs, seed)
    forms = [some_forms(parser, collate, q, count) for q, count in zip(inputs, counts, strict=False)]
    trained = [with_targets(q, made, prior[: len(made)]) for q, made in zip(inputs, forms, strict=True)]
    batch = collate(trained)
    with torch.no_grad():
        found = likelihood(parser, batch)
        for place, question in enumerate(trained):
            reference = ReferenceDecoder(parser, question, batch, place, LIMIT)
            total = sum(math.exp(reference.score(f) + p) for f, p in zip(forms[place], prior, strict=False))
            assert found[place].item() == pytest.approx(math.log(total), abs=1e-6)


@pytest.fixture
def trained() -> tuple[Parser, Batch]:
    rows = [
        {"verb": argument("had"), "arg0": argument("hull"), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold"), "arg0": argument("leeds"), "arg1": argument("25 boats", 40, [25.0])},
    ]
    first, _ = question_over(
        table(*rows),
        ["how", "many", "boats", "hull"],
        [
            "(count_structures all_structures)",
            "(count_structures (filter_in all_structures relation:arg0 string:hull))",
            "(count_structures (filter_in all_structures relation:arg1 string:boats))",
            "(diff (max all_structures relation:arg1) (min all_structures relation:arg1))",
        ],
    )
    second, _ = question_over(table(*rows[:1]), ["hull"], ["(select all_structures relation:arg0)"])
    parser, collate = small_parser([first, second], 3)
    return parser, collate([first, second])


def test_the_gradient_is_that_of_finite_differences(trained: tuple[Parser, Batch]) -> None:
    parser, batch = trained
    likelihood(parser, batch).sum().backward()
    step = 1e-6
    draw = np.random.default_rng(0)
    for name, parameter in parser.named_parameters():
        assert parameter.grad is not None, name
        flat, grads = parameter.data.view(-1), parameter.grad.view(-1)
        for place in draw.choice(len(flat), min(3, len(flat)), replace=False).tolist():
            before = flat[place].item()
            sides = []
            for value in (before + step, before - step):
                flat[place] = value
                with torch.no_grad():
                    sides.append(likelihood(parser, batch).sum().item())
            flat[place] = before
            expected = (sides[0] - sides[1]) / (2 * step)
            assert grads[place].item() == pytest.approx(expected, abs=1e-5, rel=1e-4), name


def test_shared_prefixes_are_read_once(trained: tuple[Parser, Batch]) -> None:
    """Of the first question's forms, two share their first three productions, and a third the first of these."""
    _, batch = trained
    assert batch.trees is not None
    assert [level.width for level in batch.trees.levels] == [1, 2, 2, 2, 3, 1, 1]


def test_learning_raises_the_likelihood(trained: tuple[Parser, Batch]) -> None:
    parser, batch = trained
    optimizer = torch.optim.Adam(parser.parameters(), 0.02)
    first = parser.loss(batch).item()
    for _ in range(60):
        optimizer.zero_grad()
        loss = parser.loss(batch)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1 < first
    # And the beam finds what was learnt.
    best = parser.decode(batch, 3).scores[:, 0].exp()
    assert (best > 0.2).all()


def test_the_likelihood_of_one_form_is_its_score(trained: tuple[Parser, Batch]) -> None:
    parser, batch = trained
    assert batch.trees is not None
    with torch.no_grad():
        problem = parser.decoder.problem(batch, parser.encoder(batch), LIMIT)
        single = form_log_likelihoods(parser.decoder, problem, batch.trees)[1, 0]
        assert likelihood(parser, batch)[1].item() == pytest.approx(single.item())


def test_a_question_without_forms_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one form"):
        targets_of([], [], np.zeros(0))


def test_bfloat16_changes_the_loss_and_gradient_little(trained: tuple[Parser, Batch]) -> None:
    parser, batch = trained
    parser = parser.float()
    made = []
    for enabled in (False, True):
        parser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            loss = parser.loss(batch)
        loss.backward()
        gradient = torch.cat([p.grad.flatten() for p in parser.parameters() if p.grad is not None])
        made.append((loss.item(), gradient))
    (exact, gradient), (low, rounded) = made
    assert low == pytest.approx(exact, rel=0.03)
    assert torch.cosine_similarity(gradient, rounded, dim=0) > 0.98
