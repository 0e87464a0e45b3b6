"""The figures of the hand-made analysis, worked out by hand."""

from dataclasses import replace

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.analysis.judged import FormClass, QuestionClasses, Spuriousness
from drop_parsing.analysis.overview import Decomposed, overview, together
from drop_parsing.analysis.retention import Share
from tests.drop_parsing.spurious_cases import PASSAGES, analysis, questions, tables


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


def agreed(found: Spuriousness, agreement: dict[str, list[float]]) -> Spuriousness:
    """The analysis with decompositions of some questions; how far their classes agree with them, by scheme."""

    def judged(one: QuestionClasses) -> QuestionClasses:
        scores = agreement.get(f"{one.query_id} {one.scheme}", [])
        classes = [
            replace(each, scores={**each.scores, "qdmr": score})
            for each, score in zip(one.classes, scores, strict=False)
        ]
        return replace(one, classes=(*classes, *one.classes[len(classes) :]))

    ids = frozenset(key.partition(" ")[0] for key in agreement)
    return replace(found, questions=[*map(judged, found.questions)], decomposed=ids)


def test_only_a_kept_class_counts_as_agreeing() -> None:
    """Of q-hale's classes the first is kept; q-who has none."""
    for scores, agreeing in ([0.6, 0.1, 0.1], 1), ([0.59, 1.0, 1.0], 0):
        found = agreed(analysis(), {"q-hale syndep": scores, "q-who syndep": []})
        syndep, openie = overview(found, PASSAGES, tables())
        expected = Decomposed(Proportion(1, 2), Proportion(agreeing, 2))
        assert syndep.decomposed == together(found).decomposed == expected
        assert openie.decomposed == Decomposed(Proportion(0, 1), Proportion(0, 1))


def test_without_decompositions_nothing_agrees() -> None:
    nothing = Decomposed(Proportion(0, 0), Proportion(0, 0))
    assert together(analysis()).decomposed == nothing
    assert [each.decomposed for each in overview(analysis(), PASSAGES, tables())] == [nothing, nothing]


def test_a_contrast_set_is_answered_where_one_kind_of_form_is_kept_for_each_question() -> None:
    """Under one scheme; forms of one kind differ in their literals."""
    hale, _, who, *hostile = questions()
    right, accident, _ = hale.classes
    brook = replace(right, form=right.form.replace("hale", "brook"))

    def answered(*second: FormClass, scheme: str = "syndep") -> Proportion:
        members = [replace(hale, query_id="kicked_1"), replace(hale, query_id="kicked_2", classes=second)]
        other = replace(members[1], scheme=scheme)
        found = replace(analysis(), questions=[members[0], other, who, *hostile])
        both = together(found).contrast_sets
        if scheme == "syndep":
            assert overview(found, PASSAGES, tables())[0].contrast_sets == both
        return both

    assert answered(accident, brook) == Proportion(1, 1)
    assert answered(replace(accident, kept=True)) == Proportion(0, 1)
    assert answered(replace(brook, kept=False)) == Proportion(0, 1)
    assert answered() == Proportion(0, 1)
    assert answered(brook, scheme="srl") == Proportion(0, 1)
    assert together(analysis()).contrast_sets == Proportion(0, 0)
