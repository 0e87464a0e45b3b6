"""The judges, each by itself."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drop_parsing.analysis.combined import FEATURES, calibrate, combined
from drop_parsing.analysis.grounding import Asked
from drop_parsing.analysis.qdmr import Decomposition, agreement, question_key, read_decompositions
from drop_parsing.analysis.votes import UNDEFINED, prior_weights, vote
from drop_parsing.errors import InputError
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor
from extractors.table import Paragraph
from grammar.forms import Form, parse
from grammar.view import View

TEXT = (
    "Brook kicked a 25-yard field goal in 1911. Hale kicked a 38-yard field goal in 1913. "
    "Ada sold 7 boats to Ulford."
)


def form(text: str) -> Form:
    return parse(text).form


@pytest.fixture(scope="module")
def view() -> View:
    return View(make_extractor("syndep").extract(Paragraph("p", TEXT)))


def asked(question: str, view: View) -> Asked:
    return Asked(load_pipeline()(question), view)


# Votes.


def test_most_weight_wins_each_table() -> None:
    shares = vote([("a", "x"), ("a", "y"), ("b", "y"), (None, None)], [0.4, 0.3, 0.2, 0.1])
    assert shares == pytest.approx([(1 + 0.4 / 0.5) / 2, 1.0, (0.2 / 0.7 + 1) / 2, UNDEFINED])


def test_an_undefined_majority_elects_nothing() -> None:
    assert vote([(None,), (None,)], [0.9, 0.1]) == [UNDEFINED, UNDEFINED]
    assert vote([("a",), (None,)], [0.1, 0.9]) == [1, UNDEFINED]


def test_without_tables_all_are_elected() -> None:
    assert vote([(), ()], [0.5, 0.5]) == [1, 1]
    assert vote([], []) == []


@given(st.lists(st.floats(-40, 40), min_size=1, max_size=6))
def test_weights_add_up_and_rise_with_the_score(scores: list[float]) -> None:
    weights = prior_weights(scores)
    assert sum(weights) == pytest.approx(1)
    assert weights[scores.index(max(scores))] == max(weights)


# Grounding.


def test_words_are_accounted_for_by_literals_and_by_what_they_call_for(view: View) -> None:
    question = asked("How many yards was the longest field goal?", view)
    right = form("(max (filter_in all_structures relation:obj string:field_goal) relation:obj)")
    less = form("(max all_structures relation:obj)")
    wrong = form("(min all_structures relation:obj)")
    everything = view.all
    assert question.grounding(right, [everything]) == 1
    assert question.grounding(right, []) > question.grounding(less, []) > question.grounding(wrong, [])
    assert question.calls(right) == question.calls(less) == 1
    assert question.calls(wrong) == 0.5


def test_a_word_that_every_row_read_has_counts_half(view: View) -> None:
    question = asked("Who sold boats?", view)
    reading = form("(select all_structures relation:nsubj)")
    assert question.grounding(reading, []) == 0
    assert question.grounding(reading, [view.contains(view.relations[0], "sell")]) == 0.5
    assert question.grounding(reading, [view.all]) == 0


def test_a_number_of_another_unit_is_not_called_for(view: View) -> None:
    yards = form("(extract_number all_structures relation:obj)")
    assert asked("How many yards did Brook kick?", view).calls(yards) == 1
    assert asked("How many points did Brook score?", view).calls(yards) < 1


def test_a_comparison_takes_what_the_question_offers(view: View) -> None:
    question = asked("Who kicked the longer field goal, Brook or Hale?", view)
    assert question.calls(form("(compare_greater all_structures relation:obj string:brook string:hale)")) == 1
    assert question.calls(form("(compare_greater all_structures relation:obj string:field string:kick)")) < 1


def test_what_stands_before_a_comma_is_no_alternative(view: View) -> None:
    question = asked("Who kicked a field goal in 1911, Brook or Hale?", view)
    assert (
        question.calls(form("(compare_earlier all_structures string:brook string:hale)")) < 1
    )  # no word of time
    later = asked("Who was later to kick a field goal, Brook or Hale?", view)
    assert later.calls(form("(compare_later all_structures string:brook string:hale)")) == 1
    assert later.calls(form("(compare_later all_structures string:field_goal string:hale)")) < 1


def test_a_superlative_of_amounts_is_none_of_dates(view: View) -> None:
    longest = asked("Who kicked the longest field goal?", view)
    last = asked("Who kicked the last field goal?", view)
    amount = form("(select (argmax all_structures relation:obj) relation:nsubj)")
    time = form("(select (argmax all_structures relation:obl:in) relation:nsubj)")
    assert longest.calls(amount) == last.calls(time) == 1
    assert longest.calls(time) < 1
    assert last.calls(amount) < 1


def test_arithmetic_of_a_count_and_a_number_is_suspect(view: View) -> None:
    question = asked("How many boats and goals were there in total?", view)
    mixed = "(add (count_structures all_structures) (sum all_structures relation:obj))"
    alike = "(add (count_structures all_structures) (count_structures all_structures))"
    assert question.calls(form(mixed)) < question.calls(form(alike)) == 1


def test_a_question_without_content_words_is_not_grounded(view: View) -> None:
    assert asked("How many?", view).grounding(form("(count_structures all_structures)"), []) == 0


# Decompositions.


def steps(text: str) -> Decomposition:
    return Decomposition.parse(text)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("return goals that Hale kicked ;return number of #1", {"number"}),
        ("return year of #1 ;return year of #2 ;return difference of #4 and #3", {"time", "difference"}),
        ("return percent of #2 ;return the difference of 100 and #3", {"number", "complement"}),
        ("return when was #1 ;return when was #2 ;return which is lowest of #3 , #4", {"time", "compare"}),
        ("return field goals ;return the longest of #1", {"superlative"}),
        ("return #2 where #3 is higher than 18", {"threshold"}),
        ("return the average of #3", {"average"}),
        ("return #2 , #3", {"union"}),
        ("return refugees ;return #1 besides #2", {"negation"}),
        ("return the ferry", set()),
    ],
)
def test_operations_of_steps(text: str, operations: set[str]) -> None:
    assert steps(text).operations == operations


def test_a_form_agrees_by_operations_and_literals() -> None:
    decomposition = steps("return field goals ;return yards of #1 ;return the longest of #2")
    right = form("(max (filter_in all_structures relation:obj string:field_goal) relation:obj)")
    other_way = form("(min (filter_in all_structures relation:obj string:field_goal) relation:obj)")
    count = form("(count_structures all_structures)")
    assert (
        agreement(right, decomposition)
        > agreement(other_way, decomposition)
        > agreement(count, decomposition)
    )


def test_without_content_words_the_operations_decide() -> None:
    assert agreement(form("(count_structures all_structures)"), steps("return number of #1")) == 1
    assert agreement(form("(select all_structures relation:obj)"), steps("return number of #1")) == 0


def test_decompositions_are_found_by_the_text_of_the_question(tmp_path: Path) -> None:
    file = tmp_path / "qdmr.csv"
    file.write_text(
        "question_id,question_text,decomposition\n1,How  many Goals?,return goals ;return number of  #1\n",
        "utf-8",
    )
    assert read_decompositions(file) == {
        question_key("how many goals?"): steps("return goals ;return number of #1")
    }


@pytest.mark.parametrize("content", [b"question_text,operators\nq,x\n", b"", b"\xff\xfe\x00"])
def test_a_file_that_is_none_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "qdmr.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"qdmr\.csv"):
        read_decompositions(file)
    with pytest.raises(InputError, match=r"none\.csv"):
        read_decompositions(tmp_path / "none.csv")


def test_the_real_decompositions_ask_for_operations(shared_data: Path) -> None:
    found = read_decompositions(shared_data / "drop" / "qdmr_dev.csv")
    assert len(found) > 550
    assert sum(bool(each.operations) for each in found.values()) / len(found) > 0.85


# The combination.


def test_each_judge_that_speaks_for_a_class_raises_its_score() -> None:
    undecided = combined({})
    for name in FEATURES:
        assert combined({name: 0.1}) <= undecided <= combined({name: 0.9})
        assert combined({name: None}) == undecided


def test_calibration_finds_what_decides() -> None:
    random = Random(0)
    judged = []
    for _ in range(400):
        scores = {"vote": random.random(), "grounding": random.random(), "calls": 0.5, "qdmr": None}
        judged.append((scores, scores["vote"] + 0.1 * random.gauss(0, 1) > 0.6))
    _, weights = calibrate(judged)
    assert weights["vote"] > 5
    assert abs(weights["grounding"]) < 1
    assert weights["calls"] == weights["qdmr"] == 0


def test_calibration_needs_both_kinds() -> None:
    with pytest.raises(ValueError, match="all right or all wrong"):
        calibrate([({"vote": 1.0}, True)])
