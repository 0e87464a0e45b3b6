"""From a beam to an answer, and why there is none; on real questions with random weights, no form is ill-typed."""

import math
from pathlib import Path

import pytest
import torch
from tables import argument, table

from drop_parsing.data.reading import read_all
from drop_parsing.parser.answering import answer, parse_questions
from drop_parsing.parser.batch import Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.model import ParserSizes, make_parser
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor, schemes
from extractors.table import Paragraph
from grammar.executor import execute
from grammar.forms import Form, parse
from grammar.language import Language
from grammar.view import View
from tests.drop_parsing.parser_cases import question_over, read_over, small_parser

Question = tuple[QuestionInput, Language]


@pytest.fixture
def boats() -> Question:
    rows = [
        {"verb": argument("had"), "arg0": argument("hull", 0), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold"), "arg0": argument("leeds", 30), "arg1": argument("25 boats", 40, [25.0])},
    ]
    return question_over(table(*rows), ["how", "many", "boats", "hull"])


def beam(*forms: tuple[str, float]) -> list[tuple[Form, float]]:
    return [(parse(form).form, math.log(probability)) for form, probability in forms]


def test_the_best_form_that_has_a_denotation_answers(boats: Question) -> None:
    forms = beam(
        ("(extract_number all_structures relation:arg0)", 0.6),  # no number there
        ("(extract_number (filter_in all_structures relation:arg0 string:hull) relation:arg1)", 0.3),
        ("(count_structures all_structures)", 0.1),
    )
    parsed = answer(*boats, forms, 9)
    assert parsed.answer == ("70",)
    assert parsed.form == forms[1][0]
    assert [cell.text for cell in parsed.cells] == ["hull", "70 boats"]
    assert [candidate.denotation for candidate in parsed.beam] == [(), ("70",), ("2",)]
    assert parsed.reason is None
    explained = parsed.to_json()
    assert explained["logical_form"] == str(forms[1][0])
    assert explained["cells"][1] == {"relation": "arg1", "text": "70 boats", "start": 9, "end": 17}
    assert [row["probability"] for row in explained["beam"]] == [0.6, 0.3, 0.1]


def test_of_equal_forms_the_shorter_comes_first_whatever_their_order(boats: Question) -> None:
    forms = beam(
        ("(max all_structures relation:arg1)", 0.30000001),
        ("(count_structures all_structures)", 0.3),
        ("(min all_structures relation:arg1)", 0.3),
    )
    for order in (forms, forms[::-1]):
        assert [str(candidate.form) for candidate in answer(*boats, order, 9).beam] == [
            "(count_structures all_structures)",
            "(max all_structures relation:arg1)",
            "(min all_structures relation:arg1)",
        ]


def test_without_a_denotation_the_answer_is_empty_and_says_why(boats: Question) -> None:
    parsed = answer(*boats, beam(("(extract_number all_structures relation:arg0)", 1.0)), 9)
    assert (parsed.answer, parsed.form) == ((), None)
    assert parsed.reason == "none of the 1 forms that were found has a denotation"


@pytest.mark.parametrize("width", [1, 5])
def test_a_limit_below_the_shortest_form_is_the_reason(boats: Question, width: int) -> None:
    parser, collate = small_parser([boats[0]], 0)
    (none,) = parse_questions(parser, collate, [boats], width, max_length=1)
    assert none.reason == "a form may have 1 productions, but the shortest has 2"
    (some,) = parse_questions(parser, collate, [boats], width, max_length=2)
    assert some.answer == ("2",)


def test_an_empty_table_still_has_an_answer() -> None:
    asked = question_over(table(), [])
    parser, collate = small_parser([asked[0]], 0)
    (parsed,) = parse_questions(parser, collate, [asked], 3)
    assert parsed.form is not None or parsed.reason is not None


@pytest.mark.parametrize("scheme", schemes())
def test_no_form_of_real_questions_is_ill_typed(scheme: str, shared_data: Path) -> None:
    passages = read_all([shared_data / "drop" / "dev.json"])[0][::100]
    extractor, nlp = make_extractor(scheme), load_pipeline()
    asked: list[Question] = []
    for passage in passages:
        entities = TableEntities(View(extractor.extract(Paragraph(passage.id, passage.text))))
        asked += [read_over(nlp(q.text), entities, id=q.id) for q in passage.questions[:8]]
    questions = [question for question, _ in asked]
    torch.manual_seed(0)
    words = Vocabulary.of(word for question in questions for word in words_of(question))
    leaves = Vocabulary.of(leaf for question in questions for leaf in leaves_of(question))
    sizes = ParserSizes(embedded=20, dim=20, production_dim=20)
    parser = make_parser(sizes, torch.randn(len(words), 20), len(leaves))
    with torch.no_grad():
        parser.decoder.select.weight.mul_(8)  # far from uniform, so that beams go deep
    parsed = list(parse_questions(parser, Collator(words, leaves), asked, 10))
    assert len(parsed) == len(asked) > 20
    for (_, language), each in zip(asked, parsed, strict=True):
        assert len(each.beam) == 10
        for candidate in each.beam:
            assert language.check(str(candidate.form)) == candidate.form
            assert len(language.actions(candidate.form)) <= sizes.max_length
            execute(candidate.form, language)  # raises where a type is wrong
    assert max(len(c.form.arguments and str(c.form).split()) for each in parsed for c in each.beam) > 5
