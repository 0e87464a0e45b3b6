"""Beams in another order: what is fitted finds what sets right forms apart, and what speaks for a form is seen."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tables import argument, table

from drop_parsing.errors import InputError
from drop_parsing.parser.answering import answer
from drop_parsing.parser.evidence import Asked, RowWords, asked_for, evidence_of_beam
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.rescoring import Example, Rescorer, _Model, fit, fit_with
from grammar.executor import execute
from grammar.forms import parse
from grammar.language import Language
from tests.drop_parsing.parser_cases import question_over

BOATS, NETS = (
    f"(extract_number (filter_in all_structures relation:arg0 string:{name}) relation:arg1)"
    for name in ("hull", "leeds")
)


@pytest.fixture
def asked() -> tuple[QuestionInput, Language]:
    rows = [
        {"verb": argument("had"), "arg0": argument("hull", 0), "arg1": argument("70 boats", 9, [70.0])},
        {"verb": argument("sold"), "arg0": argument("leeds", 30), "arg1": argument("25 nets", 40, [25.0])},
    ]
    return question_over(table(*rows), ["how", "many", "boat", "had", "hull"])


def beam(asked: tuple[QuestionInput, Language], *forms: str) -> list[dict[str, float]]:
    parsed = [parse(form).form for form in forms]
    made = [(form, math.log(0.5), execute(form, asked[1])) for form in parsed]
    return evidence_of_beam(made, *asked, RowWords(asked[1].view))


def test_what_a_question_asks_for(asked: tuple[QuestionInput, Language]) -> None:
    assert asked_for(asked[0].tokens) == ("how many", "boat")
    assert asked_for(asked[0].tokens[2:]) == ("", "")


def test_rows_that_share_more_with_the_question_are_seen(asked: tuple[QuestionInput, Language]) -> None:
    right, wrong = beam(asked, BOATS, NETS)
    assert right["overlap of best row"] == 1
    assert wrong["overlap of best row"] == 0
    assert wrong["less than another row"] == 1
    assert right["named"] > wrong["named"]
    assert right["by how many: number"] == right["of boat: root extract_number"] == 1
    assert Asked(asked[0], RowWords(asked[1].view)).overlap(set()) == 0


def test_units_of_what_is_read_count_where_the_question_asks_for_a_measure() -> None:
    run = argument("70 yard", 5, [70.0])
    run = replace(run, numbers=(replace(run.numbers[0], unit="yard"),))
    question, language = question_over(table({"verb": argument("ran"), "arg1": run}), ["how", "many", "yard"])
    form = parse("(sum all_structures relation:arg1)").form
    (features,) = evidence_of_beam(
        [(form, 0.0, execute(form, language))], question, language, RowWords(language.view)
    )
    assert features["by how many measured: root sum"] == features["asked unit in cells"] == 1
    assert features["no unit in cells"] == 0


def test_rows_nearer_to_the_question_are_seen(asked: tuple[QuestionInput, Language]) -> None:
    near = replace(asked[0], similar=np.array([0.8, 0.2], dtype=np.float32))
    right, wrong = beam((near, asked[1]), BOATS, NETS)
    assert right["similarity of best row"] == pytest.approx(1 / 3)
    assert wrong["similarity of best row"] == pytest.approx(-1 / 3)
    assert wrong["less similar than another row"] == pytest.approx(2 / 3)
    assert "similarity of best row" not in beam(asked, BOATS)[0]


def test_a_pronoun_is_told() -> None:
    rows = table({"verb": argument("sold"), "arg0": argument("They", 20)})
    question, language = question_over(rows, ["who", "sold"])
    form = parse("(select all_structures relation:arg0)").form
    (features,) = evidence_of_beam(
        [(form, 0.0, execute(form, language))], question, language, RowWords(language.view)
    )
    assert features["by who: pronoun"] == 1


def test_forms_with_one_denotation_share_their_probability(asked: tuple[QuestionInput, Language]) -> None:
    one, same, other = beam(asked, BOATS, "(max all_structures relation:arg1)", NETS)
    name = "log probability of the denotation"
    assert one[name] == same[name] == pytest.approx(math.log(1.0) / 5)
    assert other[name] == pytest.approx(math.log(0.5) / 5)


def test_a_probability_counts_by_the_kind_of_the_denotation(asked: tuple[QuestionInput, Language]) -> None:
    number, text = beam(asked, BOATS, "(select all_structures relation:arg0)")
    assert number["number: log probability"] == number["log probability"] == text["text: log probability"]
    assert "text: log probability" not in number
    assert "number: log probability" not in text


def test_a_call_with_one_argument_twice_is_told(asked: tuple[QuestionInput, Language]) -> None:
    twice, inside, once = beam(
        asked, f"(diff {BOATS} {BOATS})", f"(add {NETS} (diff {BOATS} {BOATS}))", f"(diff {BOATS} {NETS})"
    )
    name = "twice the same"
    assert (twice[name], inside[name], once[name]) == (1, 1, 0)


def test_a_rescorer_orders_the_beam(asked: tuple[QuestionInput, Language]) -> None:
    forms = [(parse(NETS).form, math.log(0.6)), (parse(BOATS).form, math.log(0.4))]
    rows = RowWords(asked[1].view)
    assert answer(*asked, forms, 9).answer == ("25",)
    parsed = answer(*asked, forms, 9, Rescorer({"overlap of best row": 3.0}), rows)
    assert parsed.answer == ("70",)
    assert [candidate.probability for candidate in parsed.beam] == pytest.approx([0.4, 0.6])
    undefined = [(parse("(extract_number all_structures relation:arg0)").form, math.log(0.9)), *forms]
    assert answer(*asked, undefined, 9, Rescorer({"overlap of best row": 3.0}), rows).answer == ("70",)


def examples(number: int = 40) -> list[Example]:
    """Of three forms, the one with ``good`` is right, and the first has a greater probability."""
    made = []
    for i in range(number):
        forms = [({"log probability of the denotation": 0.2 * (place == 0)}, 0.0) for place in range(3)]
        forms[i % 3] = ({**forms[i % 3][0], "good": 1.0}, 1.0)
        made.append(forms)
    return made


def test_the_fit_finds_what_sets_right_forms_apart() -> None:
    rescorer = fit(examples())
    for example in examples():
        assert max(example, key=lambda form: rescorer.score(form[0]))[1] == 1
    assert rescorer.weights["good"] > 1
    assert fit([]).weights.keys() == {"log probability of the denotation"}


def test_the_fit_is_at_the_maximum_of_the_penalised_likelihood() -> None:
    rescorer = fit_with(examples(), 0.01)
    names = sorted(rescorer.weights)
    weights = torch.tensor(
        [rescorer.weights[name] for name in names], dtype=torch.float32, requires_grad=True
    )
    model = _Model(examples(), {name: place for place, name in enumerate(names)})
    loss = -model.log_likelihood(weights).mean() + 0.01 / 2 * weights.square().sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert weights.grad is not None
    assert float(weights.grad.abs().max()) < 1e-3


def test_the_likelihood_is_that_of_the_right_forms_each_as_right_as_it_is() -> None:
    model = _Model([[({"a": 1.0}, 0.5), ({"a": 2.0}, 0.0), ({}, 1.0)], [({"a": 3.0}, 1.0)]], {"a": 0})
    expected = math.log((0.5 * math.exp(0.7) + 1) / (math.exp(0.7) + math.exp(1.4) + 1))
    assert model.log_likelihood(torch.tensor([0.7])).tolist() == pytest.approx([expected, 0.0], abs=1e-6)


def test_weights_are_kept(tmp_path: Path) -> None:
    Rescorer({"ä": 0.25, "b": -1.0}).save(tmp_path / "rescorer.json")
    assert Rescorer.load(tmp_path / "rescorer.json").weights == {"ä": 0.25, "b": -1.0}
    (tmp_path / "rescorer.json").write_text("[1]")
    with pytest.raises(InputError, match="train the run again"):
        Rescorer.load(tmp_path / "rescorer.json")
