"""The figures of the hand-made analysis, worked out by hand."""

from dataclasses import replace

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.analysis.overview import overview, together
from drop_parsing.analysis.retention import Share
from tests.drop_parsing.spurious_cases import PASSAGES, analysis, tables


def test_coverage_and_retention_by_answer_type() -> None:
    syndep, openie = overview(analysis(), PASSAGES, tables())
    assert list(syndep.kinds) == ["number", "spans"]
    assert syndep.kinds["number"].covered == Proportion(2, 2)
    assert syndep.kinds["number"].kept == Proportion(1, 2)
    # The hand-made cells hold no values, but "Brook" and "Hale" lie inside of them.
    assert syndep.kinds["number"].retention == Share(0, 3)
    assert syndep.kinds["spans"].retention == Share(2, 2)
    assert list(openie.kinds) == ["number"]
    assert openie.kinds["number"].covered == Proportion(1, 3)
    assert openie.kinds["number"].retention == Share(0, 2)  # of the passage that has a table


def test_medians_are_over_covered_questions() -> None:
    syndep, openie = overview(analysis(), PASSAGES, tables())
    assert sorted(syndep.classes) == [0, 1, 3]
    assert (syndep.median_forms, syndep.median_classes) == (1, 1)
    assert (openie.median_forms, openie.median_classes) == (1, 1)
    nothing = analysis()
    uncovered = replace(nothing, questions=[one for one in nothing.questions if not one.covered])
    assert overview(uncovered, PASSAGES, tables())[0].median_forms == 0


def test_the_interval_is_that_of_the_questions_rates() -> None:
    """One passage has nearly all forms dropped, the other all of them."""
    syndep, openie = overview(analysis(), PASSAGES, tables())
    assert syndep.interval is not None
    assert 1 - 1e-13 < syndep.interval[0] <= syndep.interval[1] == 1
    assert openie.interval == (1, 1)


def test_questions_count_once_over_all_schemes() -> None:
    both = together(analysis())
    assert both.covered == Proportion(2, 4)
    assert both.kept == Proportion(1, 4)
    twice = analysis()
    other = [replace(one, scheme="srl") for one in twice.questions if one.scheme == "syndep"]
    assert together(replace(twice, questions=[*twice.questions, *other])) == both
