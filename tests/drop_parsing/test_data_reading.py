"""Every accepted form is read by content; every defect is named, and what is good is kept."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drop_parsing.data.drop_json import passages_to_json
from drop_parsing.data.reading import read_all, read_passages
from drop_parsing.data.types import Answer, AnswerDate, Passage, Question
from drop_parsing.errors import InputError

BLANK_DATE = {"day": "", "month": "", "year": ""}
TWO: dict[str, Any] = {
    "p1": {
        "passage": "Carn had 15 boats and 81 huts.",
        "qa_pairs": [
            {
                "question": "Which numbers are there?",
                "query_id": "q1",
                "answer": {"number": "", "date": BLANK_DATE, "spans": ["15", "81"]},
                "validated_answers": [],
            },
            {
                "question": "How many boats?",
                "query_id": "q2",
                "answer": {"number": "15", "date": BLANK_DATE, "spans": []},
                "validated_answers": [{"number": "81", "date": {}, "spans": []}],
            },
        ],
    },
    "p2": {
        "passage": "Rain fell.",
        "qa_pairs": [{"question": "Why?", "query_id": "q3", "validated_answers": []}],
    },
}
PASSAGES = [
    Passage(
        "p1",
        "Carn had 15 boats and 81 huts.",
        (
            Question("q1", "Which numbers are there?", Answer("", AnswerDate(), ("15", "81"))),
            Question("q2", "How many boats?", Answer("15", AnswerDate()), (Answer("81"),)),
        ),
    ),
    Passage("p2", "Rain fell.", (Question("q3", "Why?"),)),
]
LINES = "".join(json.dumps({"passage_id": id, **passage}) + "\n" for id, passage in TWO.items())


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def one_question(**changes: Any) -> dict[str, Any]:
    """TWO with keys of question q2 changed; a key set to ``...`` is removed."""
    data = json.loads(json.dumps(TWO))
    pair = data["p1"]["qa_pairs"][1]
    pair.update(changes)
    for key in [key for key, value in pair.items() if value is ...]:
        del pair[key]
    return dict(data)


@pytest.mark.parametrize(
    ("split", "passages", "questions"),
    [("dev", 293, 4931), ("train", 1281, 17901), ("contrast_sets", 75, 947)],
)
def test_real_files_are_read_whole(shared_data: Path, split: str, passages: int, questions: int) -> None:
    read, faults = read_all([shared_data / "drop" / f"{split}.json"])
    assert (len(read), sum(len(passage.questions) for passage in read), faults) == (passages, questions, [])


def test_writing_back_is_the_identity(shared_data: Path) -> None:
    path = shared_data / "drop" / "dev.json"
    assert passages_to_json(read_all([path])[0]) == json.loads(path.read_text("utf-8"))
    assert passages_to_json(PASSAGES) == TWO


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", json.dumps(TWO)),
        ("x.jsonl", json.dumps(TWO, indent=2)),
        ("x.txt", json.dumps(TWO, indent=0)),
        ("x.jsonl", LINES),
        ("x.json", "\n" + LINES.replace("\n", "\r\n\r\n")),
        ("x", "\ufeff" + json.dumps(TWO, indent=4).replace("\n", "\r\n")),
        ("x.jsonl", LINES.replace("passage_id", "id")),
        ("x.jsonl", "".join(json.dumps({id: passage}) + "\n" for id, passage in TWO.items())),
        ("x.json", gzip.compress(LINES.encode(), mtime=0)),
        ("x.txt", gzip.compress(b"\xef\xbb\xbf" + json.dumps(TWO).encode(), mtime=0)),
    ],
)
def test_the_form_is_recognised_by_content(tmp_path: Path, name: str, content: str | bytes) -> None:
    """S25, and S20: the list of all and the list of any stay apart."""
    assert read_all([write(tmp_path / name, content)]) == (PASSAGES, [])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(LINES.encode())))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_all(["-"]) == (PASSAGES, [])
    assert not stream.closed


def test_plain_text(tmp_path: Path) -> None:
    text = (
        "\ufeff\r\nOne line,\r\nand another.\r\n \t\r\n\r\n[1] \u05d0\u05d1\u05d2 \u2028 12 \u0627\r\nx\x0cy"
    )
    expected = [
        Passage("a.txt:1", "One line,\nand another."),
        Passage("a.txt:2", "[1] \u05d0\u05d1\u05d2 \u2028 12 \u0627\nx\x0cy"),
    ]
    assert read_all([write(tmp_path / "a.txt", text)]) == (expected, [])


def test_a_folder_is_read_in_order_of_names_and_made_ids_stay_apart(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "b.txt", "second")
    write(tmp_path / "one" / "a.txt", "first")
    write(tmp_path / "one" / "README.md", "not read")
    passages, faults = read_all([tmp_path / "one", tmp_path / "two"])
    assert [passage.text for passage in passages] == ["first", "second", "second"]
    assert passages[0].id == "a.txt:1"
    assert len({passage.id for passage in passages}) == 3
    assert not faults


def test_paragraph_lines(tmp_path: Path) -> None:
    """S12: the item whose text is a number is named, the others are kept, also the one without words."""
    rows = [
        {"id": "a", "text": "Champions once more!"},
        {"id": 5, "text": ""},
        {"text": "No id.", "extra": 1},
    ]
    bad = [{"id": "seven", "text": 7}, {"id": "none", "text": None}, {"id": ["x"], "text": "y"}]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, [*rows, *bad])))
    passages, faults = read_all([path])
    assert passages == [
        Passage("a", "Champions once more!"),
        Passage("5", ""),
        Passage("x.jsonl:3", "No id."),
    ]
    assert [fault.where for fault in faults] == ["line 4, passage seven", "line 5, passage none", "line 6"]
    assert str(faults[0]) == f"{path}: line 4, passage seven: field text must be a string but is the number 7"
    assert not any(fault.kept for fault in faults)


def test_lines_stream(tmp_path: Path) -> None:
    """The first items come before a defect further down is met."""
    path = write(
        tmp_path / "x.jsonl", b'{"id": "a", "text": "b"}\n' * 1 + b'{"id": "c", "text": "d"}\n\xff\n'
    )
    items = read_passages([path])
    assert next(items) == Passage("a", "b")
    assert next(items) == Passage("c", "d")
    with pytest.raises(InputError, match=r"line 3: byte 50 \(0xff\) is not UTF-8"):
        next(items)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", "", "is empty; give a DROP JSON file"),
        ("x.txt", "\ufeff \r\n\n", "is empty"),
        ("x.txt", gzip.compress(b"", mtime=0), "is empty"),
        ("x.json", json.dumps(TWO, indent=1)[:-90], "line 47, column 3: the JSON breaks off here"),
        ("x.json", json.dumps(TWO)[:200], "line 1, column 197: the JSON breaks off here"),
        ("x.json", "[1, 2]", "line 1: this is a list where an object is needed; give a DROP JSON file"),
        ("x.txt", json.dumps([{"id": "a", "text": "b"}]), "line 1: this is a list"),
        ("x.json", "7", "line 1: this is the number 7"),
        ("x.json", "{}", "line 1: an object with no keys is none of the accepted forms"),
        (
            "x.json",
            json.dumps({"data": [TWO]}),
            "line 1: an object with 'data' is none of the accepted forms",
        ),
        ("x.json", "Just prose.", "line 1, column 1: this is not JSON"),
        ("x.jsonl", '{"id": "a" "text": "b"}\n{"id": }', "line 1, column 12: this is not JSON"),
        ("x.json", "{" + '"a":{' * 100_000, "nested too deeply"),
        # How deep is too deep depends on the Python version; what stays below it is no passage.
        ("x.json", '{"a":' * 800 + "1" + "}" * 800, "nested too deeply|accepted forms|must be|holds no"),
        ("x.txt", "caf\u00e9".encode("latin-1"), r"line 1: byte 3 \(0xe9\) is not UTF-8"),
        ("x.txt", "text".encode("utf-16"), r"byte 0 \(0xff\) is not UTF-8"),
        ("x.txt", gzip.compress(b"x" * 1000, mtime=0)[:-12], "gzip data is damaged"),
    ],
)
def test_an_unreadable_file_is_refused(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=message) as error:
        read_all([path])
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_absent_inputs_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        read_passages([tmp_path / "absent.json"])
    with pytest.raises(InputError, match="holds no"):
        read_passages([tmp_path])


def test_broken_lines_among_good_ones(tmp_path: Path) -> None:
    lines = [
        '{"id": "cut", "text": "so',
        '{"id": "a", "text": "b"}',
        "nonsense",
        '{"other": 1}',
        "[]",
        '{"id": "c", "text": "d\x01\\u0000"}',
    ]
    passages, faults = read_all([write(tmp_path / "x.jsonl", "\n".join(lines))])
    assert passages == [Passage("a", "b"), Passage("c", "d\x01\x00")]
    assert [fault.where.split(",")[0] for fault in faults] == ["line 1", "line 3", "line 4", "line 5"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": {"number": 15}}, "answer.number must be a string but is the number 15"),
        ({"answer": {"number": float("nan")}}, "answer.number must be a string but is the number nan"),
        ({"answer": "15"}, "answer must be an object but is a string"),
        ({"validated_answers": [{"spans": [1]}]}, "validated_answers[0].spans[0] must be a string"),
        ({"validated_answers": {}}, "validated_answers must be a list but is an object"),
        ({"question": None}, "question must be a string but is null"),
        ({"question": ...}, "question is missing"),
        ({"query_id": 7}, "query_id must be a string but is the number 7"),
    ],
)
def test_a_malformed_question_is_named_and_the_rest_kept(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    path = write(tmp_path / "x.json", json.dumps(one_question(**changes)))
    passages, faults = read_all([path])
    assert [[question.id for question in passage.questions] for passage in passages] == [["q1"], ["q3"]]
    assert len(faults) == 1
    name = "number 2" if "query_id" in changes else "q2"
    assert faults[0].where == f"passage p1, question {name}"
    assert f"field {field}" in str(faults[0])


@pytest.mark.parametrize(
    "changes", [{"answer": ..., "validated_answers": ...}, {"answer": None, "query_id": ...}]
)
def test_answers_and_ids_may_be_missing(tmp_path: Path, changes: dict[str, Any]) -> None:
    passages, faults = read_all([write(tmp_path / "x.json", json.dumps(one_question(**changes)))])
    question = passages[0].questions[1]
    assert (question.answer, faults) == (None, [])
    assert question.id == ("p1:2" if "query_id" in changes else "q2")


def test_malformed_passages(tmp_path: Path) -> None:
    data = {**TWO, "bad": 7, "worse": {"passage": ["x"]}, "half": {"passage": "Kept.", "qa_pairs": "no"}}
    passages, faults = read_all([write(tmp_path / "x.json", json.dumps(data))])
    assert passages == [*PASSAGES, Passage("half", "Kept.")]
    assert [fault.where for fault in faults] == ["passage bad", "passage worse", "passage half"]


def test_repeated_ids_within_and_across_files(tmp_path: Path) -> None:
    record = '{"passage": "first", "qa_pairs": []}'
    again = '{"passage": "second", "qa_pairs": []}'
    first = write(tmp_path / "a.json", f'{{"p1": {record}, "p1": {again}, "p0": {record}}}')
    passages, faults = read_all([first, write(tmp_path / "b.json", json.dumps(TWO))])
    assert [(passage.id, passage.text) for passage in passages] == [
        ("p1", "first"),
        ("p0", "first"),
        ("p2", "Rain fell."),
    ]
    assert [(Path(fault.file).name, fault.where) for fault in faults] == [
        ("a.json", "passage p1"),
        ("b.json", "passage p1"),
    ]


def test_repeated_query_ids_and_keys(tmp_path: Path) -> None:
    data = one_question(query_id="q1")
    passages, faults = read_all([write(tmp_path / "x.json", json.dumps(data))])
    assert passages[0].questions == PASSAGES[0].questions[:1]
    assert [fault.where for fault in faults] == ["passage p1, question q1"]
    text = json.dumps(TWO).replace('"question": "How', '"question": "Twice?", "question": "How')
    passages, faults = read_all([write(tmp_path / "x.json", text)])
    assert passages[0].questions == PASSAGES[0].questions[:1]
    assert "field question occurs twice" in str(faults[0])


def test_lone_surrogates_are_replaced_one_for_one_and_reported(tmp_path: Path) -> None:
    text = r'{"id": "a\udc00", "text": "x\ud800y \ud83d\ude00"}'
    passages, faults = read_all([write(tmp_path / "x.jsonl", text)])
    assert passages == [Passage("a\ufffd", "x\ufffdy \U0001f600")]
    assert [(fault.where, fault.kept) for fault in faults] == [("line 1", True)]
    assert "2 lone surrogates" in faults[0].message
    json.dumps(passages_to_json(passages), ensure_ascii=False).encode("utf-8")


TEXT = st.text(max_size=20)
ANSWER = st.builds(
    Answer, TEXT, st.none() | st.builds(AnswerDate, TEXT, TEXT, TEXT), st.lists(TEXT, max_size=3).map(tuple)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            TEXT,
            TEXT,
            st.lists(st.tuples(TEXT, st.none() | ANSWER, st.lists(ANSWER, max_size=2)), max_size=2),
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda p: p[0],
    ),
    st.booleans(),
)
def test_any_passage_survives_writing_and_reading(tmp_path: Path, drawn: list[Any], as_lines: bool) -> None:
    passages = [
        Passage(
            id, text, tuple(Question(f"{n}-{m}", q, a, tuple(v)) for m, (q, a, v) in enumerate(questions))
        )
        for n, (id, text, questions) in enumerate(drawn)
    ]
    data = passages_to_json(passages)
    lines = "\n".join(json.dumps({"passage_id": id, **passage}) for id, passage in data.items())
    path = write(tmp_path / "x.json", lines if as_lines else json.dumps(data, ensure_ascii=False))
    assert read_all([path]) == (passages, [])
