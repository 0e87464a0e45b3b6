"""The bundled demo data: DROP's exact form, answers that can be checked, and DROP's mix of answer kinds."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.demo import demo_path

DOMAINS = {"game", "history", "census", "economy", "science"}
MONTHS = {
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
}


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(demo_path().read_text(encoding="utf-8"))
    return data


def questions(demo: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every (passage, question record)."""
    for entry in demo.values():
        for pair in entry["qa_pairs"]:
            yield entry["passage"], pair


def answers(demo: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every (passage, question, answer), validated answers included."""
    for passage, pair in questions(demo):
        for answer in [pair["answer"], *pair["validated_answers"]]:
            yield passage, pair["question"], answer


def kinds(answer: dict[str, Any]) -> list[str]:
    """The answer kinds that the record fills in; a sound record fills in one."""
    filled = {
        "number": bool(answer["number"]),
        "date": any(answer["date"].values()),
        "span": len(answer["spans"]) == 1,
        "spans": len(answer["spans"]) > 1,
    }
    return [kind for kind, present in filled.items() if present]


def test_size_and_domains(demo: dict[str, Any]) -> None:
    assert len(demo) >= 15
    assert sum(1 for _ in questions(demo)) >= 75
    per_domain = Counter(passage_id.split("-")[1] for passage_id in demo)
    assert set(per_domain) == DOMAINS
    assert min(per_domain.values()) >= 3


def test_passages_are_whole_paragraphs_of_drop_length(demo: dict[str, Any]) -> None:
    for passage_id, entry in demo.items():
        assert 90 <= len(entry["passage"].split()) <= 220, passage_id
        assert entry["passage"] == " ".join(entry["passage"].split()), passage_id
        assert entry["passage"].endswith("."), passage_id


def test_ids_are_unique_and_readable() -> None:
    pairs = json.loads(demo_path().read_text(encoding="utf-8"), object_pairs_hook=list)
    passage_ids = [passage_id for passage_id, _ in pairs]
    assert len(set(passage_ids)) == len(passage_ids)
    for passage_id, entry in pairs:
        assert re.fullmatch(r"demo-[a-z]+-[1-9]\d*", passage_id)
        query_ids = [dict(pair)["query_id"] for pair in dict(entry)["qa_pairs"]]
        assert query_ids == [f"{passage_id}-q{i}" for i in range(1, len(query_ids) + 1)]


def test_no_question_is_asked_twice_of_a_passage(demo: dict[str, Any]) -> None:
    asked = Counter((passage, pair["question"]) for passage, pair in questions(demo))
    assert [key[1] for key, count in asked.items() if count > 1] == []


def test_records_have_exactly_the_official_keys(demo: dict[str, Any], shared_data: Path) -> None:
    official = json.loads((shared_data / "drop" / "dev.json").read_text(encoding="utf-8"))
    official_entry = next(iter(official.values()))
    official_pair = official_entry["qa_pairs"][0]
    for entry in demo.values():
        assert list(entry) == list(official_entry)
        for pair in entry["qa_pairs"]:
            assert set(pair) == set(official_pair)
    for _, question, answer in answers(demo):
        assert list(answer) == list(official_pair["answer"]), question
        assert list(answer["date"]) == list(official_pair["answer"]["date"]), question


def test_each_answer_has_exactly_one_kind(demo: dict[str, Any]) -> None:
    for _, question, answer in answers(demo):
        assert len(kinds(answer)) == 1, question


def test_spans_are_verbatim_in_passage_or_question(demo: dict[str, Any]) -> None:
    for passage, question, answer in answers(demo):
        assert len(set(answer["spans"])) == len(answer["spans"]), question
        for span in answer["spans"]:
            assert re.search(rf"(?<!\w){re.escape(span)}(?!\w)", f"{passage}\n{question}"), (question, span)


def test_numbers_are_plain_decimals(demo: dict[str, Any]) -> None:
    for _, question, answer in answers(demo):
        if answer["number"]:
            assert re.fullmatch(r"\d+(\.\d+)?", answer["number"]), question
            assert f"{Decimal(answer['number']):f}" == answer["number"], question


def test_dates_name_a_day_month_and_year_of_the_passage(demo: dict[str, Any]) -> None:
    for passage, question, answer in answers(demo):
        date = answer["date"]
        assert date["month"] in MONTHS | {""}, question
        for part in filter(None, date.values()):
            assert re.search(rf"\b{part}\b", passage), (question, part)


def test_validated_numbers_agree_with_the_answer(demo: dict[str, Any]) -> None:
    for _, pair in questions(demo):
        for variant in pair["validated_answers"]:
            if pair["answer"]["number"] and variant["number"]:
                assert variant["number"] == pair["answer"]["number"], pair["query_id"]


def test_complement_questions_are_right(demo: dict[str, Any]) -> None:
    """'How many percent ... not ...' is answered by 100 minus a percentage that the passage states."""
    checked = 0
    for passage, pair in questions(demo):
        if re.match(r"How many (in )?percent .*(\bnot\b|n't\b)", pair["question"]):
            complement = 100 - Decimal(pair["answer"]["number"])
            assert f"{complement}%" in passage, pair["query_id"]
            checked += 1
    assert checked >= 8


def test_mix_of_answer_kinds_is_close_to_drop(demo: dict[str, Any]) -> None:
    counts = Counter(kinds(pair["answer"])[0] for _, pair in questions(demo))
    total = sum(counts.values())
    bounds = {"number": (0.55, 0.65), "span": (0.25, 0.35), "spans": (0.03, 0.08), "date": (0.02, 0.06)}
    for kind, (low, high) in bounds.items():
        assert low <= counts[kind] / total <= high, (kind, counts[kind], total)
    validated = sum(1 for _, pair in questions(demo) if pair["validated_answers"])
    assert 0.25 <= validated / total <= 0.45
