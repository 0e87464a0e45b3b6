"""The sheet of the manual study: the same draw whatever the order, judged in any spreadsheet, read back to figures."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from drop_parsing.analysis.intervals import Proportion, mean_interval, proportion
from drop_parsing.analysis.judged import QuestionClasses, Spuriousness
from drop_parsing.analysis.judgement import PAPER_STUDY, judge
from drop_parsing.analysis.sheet import (
    MOST_CHARACTERS,
    TOP_CLASSES,
    JudgedRow,
    read_sheet,
    sample,
    write_sheet,
)
from drop_parsing.errors import InputError
from tests.drop_parsing.spurious_cases import BROOK, HALE, RAIN, analysis, one_class, questions, tables

Answer = Callable[[str], str]


def many(number: int) -> list[QuestionClasses]:
    """Questions with a class each, under two schemes."""
    one_scheme = [replace(questions()[0], query_id=f"q{n}") for n in range(number)]
    return one_scheme + [replace(one, scheme="openie") for one in one_scheme]


def analysis_of(found: list[QuestionClasses]) -> Spuriousness:
    return replace(analysis(), questions=found)


def written(path: Path, found: list[QuestionClasses], seed: int = 7) -> list[dict[str, str]]:
    """The rows of the sheet of these questions, as a spreadsheet shows them."""
    write_sheet(path, found, analysis().paragraphs, tables(), seed)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill_in(path: Path, answer: Answer, separator: str = ",", encoding: str = "utf-8-sig") -> None:
    """Judge every form on a sheet, and save it as another program might."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        head, rows = list(reader.fieldnames or ()), list(reader)
    for row in rows:
        for place in range(1, TOP_CLASSES + 1):
            if row[f"form {place}"]:
                row[f"judgement {place}"] = answer(row[f"form {place}"])
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, head, delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


# ---- The sample ----


def test_the_draw_does_not_depend_on_the_order() -> None:
    found = many(200)
    drawn = sample(analysis_of(found), 60, seed=1)
    assert [one.query_id for one in sample(analysis_of(found[::-1]), 60, seed=1)][::2] == [
        one.query_id for one in drawn
    ][::2]
    assert len({one.query_id for one in drawn}) == 60
    assert len(drawn) == 120
    other = {one.query_id for one in sample(analysis_of(found), 60, seed=2)}
    assert 5 <= len(other & {one.query_id for one in drawn}) <= 35  # 18 are expected


def test_a_larger_sample_has_the_smaller_one() -> None:
    found = analysis_of(many(100))
    assert sample(found, 20, seed=3) == sample(found, 50, seed=3)[:40]


def test_only_questions_with_a_form_are_drawn() -> None:
    drawn = sample(analysis(), 60, seed=0)
    assert {(one.query_id, one.scheme) for one in drawn} == {
        ("q-hale", "syndep"),
        ("q & <i>=+", "syndep"),
        ("q & <i>=+", "openie"),
    }


# ---- Writing ----


def test_a_row_has_what_a_person_needs(tmp_path: Path) -> None:
    (row,) = written(tmp_path / "sheet.csv", questions()[:1])
    assert row["question"] == "How many goals did Hale kick?"
    assert row["answer"] == "3"
    assert row["table"].splitlines()[1] == "2. kicked | nsubj: Hale | obj: 3 goals"
    assert {row[f"form {place}"] for place in (1, 2, 3)} == {HALE, BROOK, RAIN}
    assert row["denotation 1"] == "3"
    assert [row[f"judgement {place}"] for place in range(1, TOP_CLASSES + 1)] == [""] * TOP_CLASSES
    assert row["form 4"] == ""


def test_a_place_says_nothing_about_the_score(tmp_path: Path) -> None:
    rows = written(tmp_path / "sheet.csv", many(60)[:60])
    best = [next(place for place in (1, 2, 3) if row[f"form {place}"] == HALE) for row in rows]
    assert all(10 <= best.count(place) <= 30 for place in (1, 2, 3))  # 20 each are expected
    assert "kept" not in rows[0]


def test_the_best_classes_are_on_the_sheet(tmp_path: Path) -> None:
    classes = tuple(one_class(f"(form {n})", ("3",), (), (), 1 - n / 10) for n in range(9))
    (row,) = written(tmp_path / "sheet.csv", [replace(questions()[0], classes=classes)])
    assert {row[f"form {place}"] for place in range(1, TOP_CLASSES + 1)} == {
        f"(form {n})" for n in range(TOP_CLASSES)
    }


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        written(file, many(20), seed)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    one = replace(questions()[0], query_id="=1+1", question="@SUM(A1)", answer=("-3",))
    (row,) = written(tmp_path / "sheet.csv", [one])
    assert (row["query_id"], row["question"], row["answer"]) == ("'=1+1", "'@SUM(A1)", "'-3")
    assert read_sheet(tmp_path / "sheet.csv")[0].query_id == "=1+1"


def test_a_long_cell_is_cut_before_a_spreadsheet_cuts_it(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, questions()[:1], {"goals": "x" * 200_000}, {}, 0)
    with path.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["paragraph"].endswith("x ... (cut)")
    assert len(row["paragraph"]) < MOST_CHARACTERS + 20
    assert len(read_sheet(path)) == 1


#: Cells as spreadsheets keep them; some turn other ends of lines into theirs.
TEXTS = st.text(st.characters(exclude_characters="\r\n"), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(ids=st.lists(TEXTS, min_size=1, max_size=5, unique=True), data=st.data())
def test_what_was_judged_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    forms = data.draw(st.lists(TEXTS, min_size=1, max_size=TOP_CLASSES, unique=True))
    said = data.draw(st.lists(st.sampled_from([True, False, None]), min_size=len(forms), max_size=len(forms)))
    classes = tuple(one_class(form, ("3",), (), (), 0.7) for form in forms)
    found = [replace(questions()[0], query_id=id, classes=classes) for id in ids]
    write_sheet(path, found, analysis().paragraphs, {}, 0)

    head, *rows = csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
    for place, judged in enumerate(said, 1):
        for row in rows:
            row[head.index(f"judgement {place}")] = {True: "Right", False: " no ", None: ""}[judged]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])

    back = read_sheet(path)
    assert [row.query_id for row in back] == ids
    for row in back:
        assert set(row.judgements) == set(forms)
        assert list(row.judgements.values()) == said


# ---- Reading ----


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_sheets_of_any_spreadsheet(tmp_path: Path, separator: str, encoding: str) -> None:
    path = tmp_path / "sheet.csv"
    written(path, sample(analysis(), 60, 0))
    fill_in(path, lambda form: "Right" if form == HALE else "0", separator, encoding)
    rows = {(row.query_id, row.scheme): row for row in read_sheet(path)}
    assert rows["q-hale", "syndep"].judgements == {HALE: True, BROOK: False, RAIN: False}
    assert rows["q & <i>=+", "openie"].has_right is False


def test_blank_rows_and_open_judgements(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    written(path, questions()[:1])
    fill_in(path, lambda form: "wrong" if form == RAIN else "")
    path.write_text(path.read_text("utf-8-sig") + ",,,,,\n\n", "utf-8")
    (row,) = read_sheet(path)
    assert row.judgements == {HALE: None, BROOK: None, RAIN: False}
    assert row.has_right is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "does not begin with the column query_id"),
        ("PK\x03\x04", "does not begin with the column query_id"),
        ("question,answer\nWho?,Ada\n", "does not begin with the column query_id"),
        ("query_id,scheme\nq,syndep\n", "must have these columns once each: judgement 1"),
        ("query_id,scheme,form 1,judgement 1\n", "columns once each: denotation 1"),
        (
            "query_id,scheme,form 1,denotation 1,judgement 1\nq,s,(f),3,maybe\n",
            "'maybe' in row 2, column 'judgement 1'",
        ),
        (
            "query_id,scheme,form 1,denotation 1,judgement 1\nq,s,,,right\n",
            "no form in row 2, column 'judgement 1'",
        ),
        (
            "query_id,scheme,form 1,denotation 1,judgement 1\nq,s,(f),3,y,z\n",
            "more cells in row 2 than columns",
        ),
        (
            "query_id,scheme,form 1,denotation 1,judgement 1\nq,s,(f),3,y\n\nq,s,(f),3,y\n",
            "row 2 and again in row 4",
        ),
        ('query_id,scheme,form 1,denotation 1,judgement 1\n"q,s\n', "not well-formed CSV"),
    ],
)
def test_a_bad_sheet_is_told_in_one_sentence(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(content, "utf-8", newline="")
    with pytest.raises(InputError) as told:
        read_sheet(path)
    sentence = str(told.value)
    assert says in sentence
    assert str(path) in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_sheets_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_sheet(tmp_path / "absent.csv")
    (tmp_path / "latin.csv").write_bytes(b"query_id,\xe9")
    with pytest.raises(InputError, match="not UTF-8"):
        read_sheet(tmp_path / "latin.csv")


# ---- Figures ----


def test_the_figures_of_a_judged_sheet() -> None:
    """By hand: of three questions one has a right form under one scheme, one has none, one is open."""
    found = [
        *questions(),
        replace(questions()[0], query_id="open"),
        replace(questions()[0], query_id="later", scheme="openie"),
    ]
    rows = [
        JudgedRow("q-hale", "syndep", {HALE: True, BROOK: False, RAIN: True}),
        JudgedRow("q-hale", "openie", {"(not in this analysis)": False}),
        JudgedRow("later", "openie", {HALE: False, BROOK: False}),
        JudgedRow("open", "syndep", {HALE: None, BROOK: False}),
    ]
    figures = judge(rows, found)
    assert figures.with_right == {"syndep": Proportion(1, 1), "openie": Proportion(0, 2)}
    assert figures.together == Proportion(1, 2)
    assert figures.precision == Proportion(1, 2)  # kept are both HALE
    assert figures.recall == Proportion(1, 2)  # right are HALE and RAIN
    assert figures.dropped == Proportion(3, 4)  # wrong are BROOK three times and HALE once
    assert (figures.undecided, figures.unmatched) == (1, 1)


def test_the_committed_sheet() -> None:
    """Judged to the end, without DROP's texts; the README's figures can be made of it."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "spuriousness_judged.csv"
    rows = read_sheet(path)
    figures = judge(rows, [])
    assert figures.undecided == 0
    assert figures.together == Proportion(25, 60)
    assert figures.with_right == {
        "syndep": Proportion(21, 60),
        "openie": Proportion(23, 58),
        "srl": Proportion(21, 59),
    }
    head = path.read_text("utf-8").splitlines()[0].split(",")
    assert {"question", "answer", "paragraph", "table"}.isdisjoint(head)


@given(st.integers(0, 300), st.integers(1, 300))
def test_wilson_is_that_of_scipy(successes: int, total: int) -> None:
    successes = min(successes, total)
    low, high = Proportion(successes, total).interval
    theirs = binomtest(successes, total).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-7)


def test_wilson_of_the_paper_and_of_nothing() -> None:
    assert PAPER_STUDY.interval == pytest.approx((0.069, 0.242), abs=5e-4)
    assert proportion([]).interval == (0, 1)
    assert proportion([]).share is None


def test_the_mean_of_independent_values_has_the_normal_interval() -> None:
    values = np.random.default_rng(0).random(400)
    bounds = mean_interval(enumerate(values))
    half = 1.96 * values.std() / 20
    assert bounds == pytest.approx((values.mean() - half, values.mean() + half), abs=0.005)
    assert bounds == mean_interval(enumerate(values))


def test_values_that_go_together_are_less_sure() -> None:
    values = np.random.default_rng(0).random(40)
    each = [(place, float(value)) for place, value in enumerate(values)]
    alone = mean_interval(each)
    together = mean_interval([pair for pair in each for _ in range(10)])
    as_if_alone = mean_interval([((pair, n), pair[1]) for pair in each for n in range(10)])
    assert alone is not None
    assert together == pytest.approx(alone, abs=1e-12)
    assert as_if_alone is not None
    assert as_if_alone[1] - as_if_alone[0] < 0.5 * (alone[1] - alone[0])


def test_the_mean_of_nothing_has_no_interval() -> None:
    assert mean_interval([]) is None
