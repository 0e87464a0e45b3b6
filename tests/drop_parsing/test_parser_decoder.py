"""The batched decoder against a slow one, and what holds for every decoded form."""

import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import argument, table

from drop_parsing.parser.beam import Beams
from drop_parsing.parser.inputs import QuestionInput, is_derivation, productions_of
from drop_parsing.parser.rules import END
from grammar.executor import execute
from grammar.language import Language
from tests.drop_parsing.parser_cases import question_over, questions, small_parser
from tests.drop_parsing.parser_reference import ReferenceDecoder

slow = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
several = st.lists(questions(), min_size=1, max_size=3)
Question = tuple[QuestionInput, Language]


def decoded(rows: torch.Tensor, scores: torch.Tensor) -> list[tuple[list[int], float]]:
    """The forms of one question: productions without END, and score."""
    return [
        ([production for production in row if production != END], score)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        if score > -math.inf
    ]


@slow
@given(several, st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 9))
def test_equals_the_reference(asked: list[Question], seed: int, width: int, limit: int) -> None:
    inputs = [question for question, _ in asked]
    parser, collate = small_parser(inputs, seed)
    batch = collate(inputs)
    beams = parser.decode(batch, width, limit)
    with torch.no_grad():
        for place, question in enumerate(inputs):
            expected = ReferenceDecoder(parser, question, batch, place, limit).beam(width)
            found = decoded(beams.productions[place], beams.scores[place])
            assert [form for form, _ in found] == [form for form, _ in expected]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-5)


@slow
@given(several, st.integers(0, 2**31), st.integers(2, 9))
def test_every_form_is_well_typed_and_executes(asked: list[Question], seed: int, limit: int) -> None:
    parser, collate = small_parser([question for question, _ in asked], seed)
    beams = parser.decode(collate([question for question, _ in asked]), 5, limit)
    for (question, language), rows, scores in zip(asked, beams.productions, beams.scores, strict=True):
        forms = [question.form(form) for form, _ in decoded(rows, scores)]
        assert forms
        assert len(set(forms)) == len(forms)
        for form in forms:
            assert language.check(str(form)) == form
            assert len(language.actions(form)) <= limit
            execute(form, language)  # raises where a type is wrong


@slow
@given(several, st.integers(0, 2**31), st.integers(1, 9))
def test_a_wider_beam_is_never_worse(asked: list[Question], seed: int, limit: int) -> None:
    inputs = [question for question, _ in asked]
    parser, collate = small_parser(inputs, seed)
    batch = collate(inputs)
    best = torch.stack([parser.decode(batch, width, limit).scores[:, 0] for width in (1, 2, 5, 12)])
    assert (best[1:] >= best[:-1] - 1e-9).all()


@slow
@given(questions(max_rows=2), st.integers(0, 2**31), st.integers(2, 3))
def test_the_probabilities_of_all_forms_sum_to_1(asked: Question, seed: int, limit: int) -> None:
    parser, collate = small_parser([asked[0]], seed)
    beams = parser.decode(collate([asked[0]]), 400, limit)
    assert beams.scores[0, -1] == -math.inf  # the beam holds all there are
    assert beams.scores.exp().sum().item() == pytest.approx(1)


@slow
@given(several, questions(), st.integers(0, 2**31))
def test_does_not_depend_on_the_batch(asked: list[Question], one: Question, seed: int) -> None:
    inputs = [one[0], *(question for question, _ in asked)]
    parser, collate = small_parser(inputs, seed)
    alone = parser.decode(collate(inputs[:1]), 4)
    among = parser.decode(collate(inputs), 4)
    first, second = (decoded(beams.productions[0], beams.scores[0]) for beams in (alone, among))
    assert [form for form, _ in first] == [form for form, _ in second]
    assert [score for _, score in first] == pytest.approx([score for _, score in second], abs=1e-9)


@pytest.fixture
def boats() -> Question:
    rows = [
        {"verb": argument("had"), "arg0": argument("hull"), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold"), "arg0": argument("leeds"), "arg1": argument("25 boats", 40, [25.0])},
        {"verb": argument("built"), "arg0": argument("hull"), "arg1": argument("3 boats", 60, [3.0])},
    ]
    return question_over(table(*rows), ["how", "many", "boats", "hull", "2"])


@pytest.mark.parametrize("width", [1, 5])
def test_a_limit_below_the_shortest_form_gives_none(boats: Question, width: int) -> None:
    """The shortest forms, such as ``(count_structures all_structures)``, have two productions."""
    parser, collate = small_parser([boats[0]], 0)
    assert decoded(*_one(parser.decode(collate([boats[0]]), width, 1))) == []
    forms = {
        str(boats[0].form(form)) for form, _ in decoded(*_one(parser.decode(collate([boats[0]]), width, 2)))
    }
    assert forms
    assert forms <= {"(count_structures all_structures)", "(complement 2)"}


@pytest.mark.parametrize("limit", range(2, 15))
def test_what_is_begun_is_completed_within_any_limit(boats: Question, limit: int) -> None:
    parser, collate = small_parser([boats[0]], limit)
    with torch.no_grad():
        parser.decoder.select.bias[-30:] += 5  # prefer functions to leaves: forms that would never end
    for form, _ in decoded(*_one(parser.decode(collate([boats[0]]), 5, limit))):
        assert 2 <= len(form) <= limit
        assert is_derivation(form, boats[0].expands)
        assert productions_of(boats[0].form(form), boats[0].entities) == form


def _one(beams: Beams) -> tuple[torch.Tensor, torch.Tensor]:
    return beams.productions[0], beams.scores[0]
