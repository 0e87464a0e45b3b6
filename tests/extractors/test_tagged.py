"""The original baseline's table files: read as it reads them, written so that they come back."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extractors.registry import make_extractor, schemes
from extractors.table import Argument, Paragraph, Row, Span, Table, text_hash
from extractors.tagged import FIELDS, file_name, read_tagged, write_tagged
from extractors.values import Date, Number

SAMPLE = "reference_language/sample_paragraph.tagged"


def test_the_sample_is_read_whole(shared_data: Path) -> None:
    table, text = read_tagged(shared_data / SAMPLE)
    assert (table.paragraph_id, table.hash) == ("sample_paragraph", text_hash(text))
    assert len(table.rows) == 16
    assert table.relations == (
        *("verb", "arg0", "arg1", "argm_loc", "argm_tmp", "arg2", "argm_neg", "argm_prp", "argm_mnr"),
    )
    assert [row.predicate.text for row in table.rows[:3]] == ["started", "allowed", "caused"]
    assert text.splitlines()[3] == "recovered they one of which"
    for row in table.rows:
        for _, cell in row.cells():
            assert text[cell.start : cell.end] == cell.text
            for span in cell.entities:
                assert text[span.start : span.end] == span.text
    [they] = table.rows[3].arguments["arg0"]
    assert they.lemmas == ("-pron-",)
    [preseason] = table.rows[0].arguments["arg1"]
    assert [entity.text for entity in preseason.entities] == ["first"]


def test_the_number_column_is_read_as_the_original_does(shared_data: Path) -> None:
    table, text = read_tagged(shared_data / SAMPLE)
    found = {
        cell.text: [(number.value, text[number.start : number.end]) for number in cell.numbers]
        for row in table.rows
        for cell in row.cell("arg1")
    }
    assert found["only six points"] == []
    assert found["four fumbles , one of which they recovered"] == [(4.0, "four"), (1.0, "one")]
    assert found["a 1-yard rushing touchdown"] == [(1.0, "1-yard")]


def test_the_date_column_says_which_dates_count(shared_data: Path) -> None:
    table, text = read_tagged(shared_data / SAMPLE)
    dates = [date for row in table.rows for _, cell in row.cells() for date in cell.dates]
    assert [(date.month, date.day, text[date.start : date.end]) for date in dates] == [
        (8, 11, "August 11"),
        *[(None, None, "1st half")] * 3,
    ]


def test_null_cells_are_kept_on_request(shared_data: Path) -> None:
    table, text = read_tagged(shared_data / SAMPLE, null_cells=True)
    assert all(len(row.arguments) == 8 for row in table.rows)
    [missing] = table.rows[0].arguments["arg2"]
    assert (missing.text, missing.lemmas, text[missing.start : missing.end]) == ("NULL", ("null",), "NULL")


def written(folder: Path, *lines: str) -> Path:
    path = folder / "p.tagged"
    path.write_text("\n".join(["\t".join(FIELDS), "-1\t0\trelation:verb\tverb", *lines]))
    return path


def numbers(folder: Path, field: str, content: str = "x") -> list[float]:
    table, _ = read_tagged(written(folder, f"0\t0\tid\t{content}\t\tx\t\t\t\t{field}"))
    return [number.value for number in table.rows[0].predicate.numbers]


def test_numbers_in_every_form_of_the_column(tmp_path: Path) -> None:
    assert numbers(tmp_path, "ten|third|zero") == [10.0, 3.0, 0.0]
    assert numbers(tmp_path, "1,234|4.5 million|10-15|-3") == [1234.0, 4.5, 10.0, 15.0, 3.0]
    assert numbers(tmp_path, "Two|$5|twenty|half-dozen") == []


def test_repeated_numbers_stand_at_their_own_places(tmp_path: Path) -> None:
    table, text = read_tagged(written(tmp_path, "0\t0\tid\t3 and 3 of 12\t\tx\t\t\t\t3|3|99"))
    spans = [(number.start, number.end) for number in table.rows[0].predicate.numbers]
    assert spans == [(0, 1), (6, 7), (0, len(text))]


def test_a_sentence_column_is_used(tmp_path: Path) -> None:
    path = written(tmp_path, "-1\t1\trelation:sentence_id\tsentence_id", "0\t1\t2\t2", "0\t0\tran\tran")
    [row] = read_tagged(path)[0].rows
    assert (row.sentence, row.predicate.text, row.arguments) == (2, "ran", {})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_paragraph_is_an_empty_table(tmp_path: Path, end: str) -> None:
    path = tmp_path / "p.tagged"
    path.write_bytes(("\t".join(FIELDS) + end + "-1\t0\trelation:verb\tverb" + end).encode())
    table, text = read_tagged(path)
    assert (table.rows, text) == ((), "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x\t0\tid\tran", "line 3: a whole number is expected in place of 'x'"),
        ("0\t7\tid\tran", "line 3: column 7 has no name"),
        ("0\t0\tid", "line 3: 3 tab-separated fields where the header has 14"),
        ("0\t0\ta\ta\n0\t0\tb\tb", "line 4: the cell at row 0 and column 0 is given twice"),
        ("-1\t1\trelation:sentence_id\ts\n0\t1\tid\tsoon", "line 4: a whole number .* 'soon'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, line)
    with pytest.raises(ValueError, match=f"p.tagged, {message}"):
        read_tagged(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"id": 1}', "line 1: the header of a .tagged file is expected"),
        (b"", "line 1: the header of a .tagged file is expected"),
        (b"row\xff", "not UTF-8 text at byte 3"),
        (None, "cannot be read"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, data: bytes | None, message: str) -> None:
    path = tmp_path / "p.tagged"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_tagged(path)


TEXT = st.just("NULL") | st.text(
    st.characters(codec="utf-8") | st.sampled_from("\t\n\r|\\n"), min_size=1, max_size=5
)
ARGUMENT = st.builds(
    lambda text, lemmas, values: Argument(
        text, 0, len(text), tuple(lemmas), numbers=tuple(Number(value, 0, len(text)) for value in values)
    ),
    TEXT,
    st.lists(TEXT.map(str.lower).filter(lambda lemma: lemma == lemma.lower()), max_size=3),
    st.lists(st.floats(0, allow_infinity=False), max_size=2),
)
ROW = st.builds(
    Row,
    ARGUMENT,
    st.just(0),
    st.dictionaries(
        TEXT.filter(lambda name: name not in ("verb", "sentence_id")),
        ARGUMENT.map(lambda a: (a,)),
        max_size=3,
    ),
)


@given(st.lists(ROW, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_comes_back(tmp_path: Path, rows: list[Row]) -> None:
    table = Table("p", "0", "syndep", "test", "1", tuple(rows))
    back, text = read_tagged(write_tagged(table, tmp_path))

    def content(table: Table) -> list[dict[str, tuple[str, tuple[str, ...], list[float]]]]:
        return [
            {name: (cell.text, cell.lemmas, [n.value for n in cell.numbers]) for name, cell in row.cells()}
            for row in table.rows
        ]

    assert content(back) == content(table)
    assert back.relations == table.relations
    assert all(text[cell.start : cell.end] == cell.text for row in back.rows for _, cell in row.cells())


def test_a_date_comes_back(tmp_path: Path) -> None:
    text = "on 3 June 1911 and in 1914"
    dates = (Date(1911, 6, 3, None, 103, 114), Date(1914, None, None, None, 122, 126))
    row = Row(Argument("fell", 95, 99), 0, {"tmp": (Argument(text, 100, 126, dates=dates),)})
    table, back = read_tagged(write_tagged(Table("p", "0", "s", "e", "1", (row,)), tmp_path))
    found = table.rows[0].arguments["tmp"][0].dates
    assert [(date.year, date.month, date.day) for date in found] == [(1911, 6, 3), (1914, None, None)]
    assert [back[date.start : date.end] for date in found] == ["3 June 1911", "1914"]


def test_several_arguments_are_joined(tmp_path: Path) -> None:
    places = (Argument("in Hull", 0, 7, ("in", "hull")), Argument("in 3 ports", 8, 18, ("in", "3", "port")))
    row = Row(Argument("fell", 19, 23), 0, {"obl:in": places})
    back, _ = read_tagged(write_tagged(Table("p", "0", "s", "e", "1", (row,)), tmp_path))
    [cell] = back.rows[0].arguments["obl:in"]
    assert (cell.text, cell.lemmas) == ("in Hull ; in 3 ports", ("in", "hull", ";", "in", "3", "port"))


def test_the_sample_is_written_as_it_is(shared_data: Path, tmp_path: Path) -> None:
    """But for a number field in which the original reads no number."""
    sample = shared_data / SAMPLE
    written_again = write_tagged(read_tagged(sample)[0], tmp_path)
    assert written_again.name == sample.name
    ours, theirs = (path.read_text().splitlines() for path in (written_again, sample))
    assert len(ours) == len(theirs)
    different = [(new, old) for new, old in zip(ours, theirs, strict=True) if new != old]
    assert different == [(old.replace("\tonly six\t", "\t\t"), old) for _, old in different]
    assert len(different) == 1


@st.composite
def cells(draw: st.DrawFn) -> Argument:
    """A cell with values anywhere in it, whether or not they are what the text there says."""
    text = draw(
        st.sampled_from(["May 1911", "from 3 to 12", "1-yard", "-4", "third", "1,2-3", "4.5 million", "NULL"])
        | st.text(st.characters(exclude_categories=()) | st.sampled_from("0123456789-, |;\n"), max_size=9)
    )
    start = draw(st.integers(0, 9))
    place = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    value = st.floats(allow_nan=False) | st.sampled_from([1.0, 3.0, -4.0, 12.0, 1911.0, 4.5e6])
    numbers = st.builds(lambda v, at: Number(v, start + at[0], start + at[1]), value, place)
    dates = st.builds(lambda at: Date(1911, None, None, None, start + at[0], start + at[1]), place)
    entities = st.builds(lambda at: Span(text[at[0] : at[1]], start + at[0], start + at[1], "GPE"), place)
    antecedent = st.just(Span("Hull", 0, 4, "GPE"))
    return Argument(
        text,
        start,
        start + len(text),
        tuple(draw(st.lists(st.text(max_size=4) | st.just("-pron-"), max_size=3))),
        numbers=tuple(draw(st.lists(numbers, max_size=3))),
        dates=tuple(draw(st.lists(dates, max_size=2))),
        entities=tuple(draw(st.lists(entities | antecedent, max_size=2))),
    )


ANY_ROW = st.builds(
    Row,
    cells(),
    st.integers(0, 3),
    st.dictionaries(
        st.sampled_from(["arg0", "arg1", "argm_tmp", "obl:in"]), st.lists(cells(), max_size=2).map(tuple)
    ),
)


@given(st.lists(ANY_ROW, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_written_read_and_written_again_is_identical(tmp_path: Path, rows: list[Row]) -> None:
    assert_stable(Table("p", "0", "syndep", "test", "1", tuple(rows)), tmp_path)


@pytest.mark.parametrize("scheme", schemes())
def test_real_tables_written_read_and_written_again_are_identical(
    scheme: str, shared_data: Path, tmp_path: Path
) -> None:
    passages = json.loads((shared_data / "drop/dev.json").read_text())
    paragraphs = [Paragraph(id, passage["passage"]) for id, passage in list(passages.items())[::15]]
    numbers = 0
    for table in make_extractor(scheme).pipe(paragraphs):
        assert_stable(table, tmp_path)
        numbers += sum(len(cell.numbers) for row in table.rows for _, cell in row.cells())
    assert numbers > 100


def assert_stable(table: Table, folder: Path) -> None:
    first = write_tagged(table, folder / "first")
    second = write_tagged(read_tagged(first)[0], folder / "second")
    assert second.name == first.name
    assert second.read_bytes() == first.read_bytes()


def test_an_antecedent_is_found_in_another_cell(tmp_path: Path) -> None:
    hull = Span("Hull", 0, 4, "GPE")
    first = Row(Argument("grew", 5, 9), 0, {"nsubj": (Argument("Hull", 0, 4, entities=(hull,)),)})
    second = Row(Argument("shrank", 14, 20), 0, {"nsubj": (Argument("It", 11, 13, entities=(hull,)),)})
    table = Table("p", "0", "s", "e", "1", (first, second))
    back, text = read_tagged(write_tagged(table, tmp_path))
    [entity] = back.rows[1].arguments["nsubj"][0].entities
    assert (entity.text, text[entity.start : entity.end]) == ("Hull", "Hull")


@pytest.mark.parametrize("odd", ["", ".", "..", "-", "...---", "/", "../.."])
def test_ids_without_a_letter_have_a_name_that_can_be_seen(tmp_path: Path, odd: str) -> None:
    written = write_tagged(Table(odd, "0", "s", "e", "1", ()), tmp_path)
    assert list(tmp_path.iterdir()) == [written]
    assert written.name[0].isalnum() or written.name[0] == "_"


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=6), unique=True, max_size=8))
def test_file_names_are_safe_and_distinct(ids: list[str]) -> None:
    names = [file_name(name) for name in ids]
    assert len(set(names)) == len(ids)
    allowed = set(string.ascii_letters + string.digits + "_.+-")
    assert all(set(name) <= allowed and not name.startswith(".") for name in names)
    assert all(name[0].isalnum() or name[0] in "_+" for name in names)
    assert file_name("nfl_1184") == "nfl_1184"
    assert len(file_name("x" * 1000)) < 200
