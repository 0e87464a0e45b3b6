"""What the explorer looks things up in, and how figures are written."""

import base64
import gzip
import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.reports.spuriousness_data import _Units, counted, pack, readable_count
from drop_parsing.reports.spuriousness_page import class_histogram, interval, percent
from tests.drop_parsing.spurious_cases import GOALS, HOSTILE, analysis, one_class, questions, tables


def unpacked(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_everything_is_in_the_blocks_once() -> None:
    packed = pack(analysis(), tables())
    index = unpacked(packed.index)
    assert [row[0] for row in index["questions"]] == ["q-hale", "q-who", "q & <i>=+", "q-when"]
    passages = [passage for block in packed.blocks for passage in unpacked(block)]
    assert [passage["text"] for passage in passages] == [GOALS, HOSTILE]
    assert index["questions"][0][-1] == [[1, 3], [0, 0]]
    assert index["questions"][3][-1] == [None, [0, 0]]


def test_the_fictitious_tables_of_a_passage_are_listed_once() -> None:
    hale, other, who, *hostile = questions()
    first, second = hale.copies
    shared = [hale, other, replace(who, copies=(second, first)), *hostile]
    packed = pack(replace(analysis(), questions=shared), tables())
    goals, rain = (passage for block in packed.blocks for passage in unpacked(block))
    assert goals["copies"] == [
        [first.changed, [[1, "obj", "3 goals", "8 goals"]]],
        [second.changed, [[0, "obj", "3 goals", "5 goals"], [2, "", "fell", "dropped"]]],
    ]
    assert goals["questions"]["q-hale"]["syndep"]["copies"] == [0, 1]
    assert goals["questions"]["q-who"]["syndep"]["copies"] == [1, 0]
    assert rain["copies"] == []


@given(st.text(st.characters(), max_size=40), st.data())
def test_places_count_as_javascript_counts(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    before = text[:place].encode("utf-16-le", "surrogatepass")
    assert _Units(text)(place) == len(before) // 2


@given(st.integers(0, 10**40))
def test_a_count_is_read_to_two_digits(number: int) -> None:
    text = readable_count(number)
    if number < 10**9:
        assert int(text.replace(",", "")) == number
        return
    mantissa, power = text.split(" × 10")
    exponent = int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
    low = int(mantissa.replace(".", "")) * 10 ** (exponent - 1)
    assert low <= number < low + 10 ** (exponent - 1)


@given(st.lists(st.integers(0, 200)))
def test_every_question_is_in_one_bin(counts: list[int]) -> None:
    bins = dict(class_histogram(counts))
    assert sum(bins.values()) == len(counts)
    assert bins["none"] == counts.count(0)
    assert bins["5 to 8"] == sum(5 <= count <= 8 for count in counts)
    assert bins["more than 64"] == sum(count > 64 for count in counts)


def test_figures_of_nothing() -> None:
    assert percent(None) == "–"
    assert interval(None) == ""
    assert interval(Proportion(8, 60)) == "[6.9, 24.2]"


def test_a_class_is_counted_with_its_bounds() -> None:
    def said(forms: int, low: int, high: int) -> str:
        return counted(one_class("(f)", ("3",), (), (), 0.5, forms, (low, high)))

    assert said(1234, 1234, 1234) == "1,234"
    assert said(20, 10, 30) == "about 20 (10 to 30)"
    assert said(6, 6, 10**12) == "at least 6 (up to 1.0 × 10¹²)"
