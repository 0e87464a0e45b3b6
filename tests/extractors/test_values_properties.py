"""What holds for the values of any text: printed values read back, spans are sound, time is linear."""

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.value_dates import MONTHS
from extractors.values import Date, Number, find_values, format_date, format_number

WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"""
ONES, TENS = WORDS.split()[:20], WORDS.split()[20:]
SCALES = [(10**9, "billion"), (10**6, "million"), (10**3, "thousand"), (100, "hundred")]


def spell(n: int, conjunction: str = " ") -> str:
    """English words for 0 to 10**12, with ``conjunction`` before the part below a hundred."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    scale, word = next(pair for pair in SCALES if n >= pair[0])
    head, rest = divmod(n, scale)
    tail = "" if not rest else (conjunction if rest < 100 else " ") + spell(rest, conjunction)
    return f"{spell(head, conjunction)} {word}{tail}"


def only_number(text: str) -> Number:
    (number,), _ = find_values(text)
    return number


@given(st.integers(0, 10**9), st.sampled_from([" ", " and "]))
def test_words_read_back(n: int, conjunction: str) -> None:
    text = spell(n, conjunction)
    number = only_number(f"they had {text}.")
    assert (number.value, number.end - number.start) == (n, len(text))


@given(st.floats(-1e15, 1e15) | st.integers(-(2**53), 2**53))
def test_printed_numbers_read_back(value: float) -> None:
    printed = format_number(value)
    number = only_number(f"it was {printed}.")
    assert number.value == pytest.approx(value, abs=1e-8)
    assert format_number(number.value) == printed


@given(
    st.integers(0, 10**15), st.integers(0, 999), st.sampled_from(["{}", "{}%", "${}", "-{}", "€{} million"])
)
def test_surface_forms_read_back(whole: int, decimals: int, form: str) -> None:
    number = only_number("it was " + form.format(f"{whole:,}.{decimals:03}") + " then")
    expected = float(f"{whole}.{decimals:03}")
    if "million" in form:
        expected *= 1e6
    assert number.value == pytest.approx(-expected if form.startswith("-") else expected)
    kinds = {"%": "percent", "$": "money", "€": "money"}
    assert (number.kind, number.unit) == next(
        ((kind, sign) for sign, kind in kinds.items() if sign in form), ("cardinal", None)
    )


@st.composite
def partial_dates(draw: st.DrawFn) -> Date:
    year = draw(st.none() | st.integers(1000, 2100) | st.integers(-3000, -1))
    month = draw(st.none() | st.integers(1, 12))
    day = draw(st.none() | st.integers(1, 28)) if month else None
    if year is None and month is None:
        return Date(None, None, None, draw(st.integers(1, 4)), 0, 0)
    return Date(year, month, day, None, 0, 0)


def known(date: Date) -> tuple[int | None, ...]:
    return date.year, date.month, date.day, date.quarter, date.last_year


def ranges() -> st.SearchStrategy[Date]:
    centuries = st.integers(1, 21).map(lambda c: Date(c * 100 - 99, None, None, None, 0, 0, c * 100))
    before_christ = st.integers(1, 30).map(lambda c: Date(-c * 100, None, None, None, 0, 0, -c * 100 + 99))
    decades = (
        st.integers(101, 209)
        .filter(lambda d: d % 10)
        .map(lambda d: Date(d * 10, None, None, None, 0, 0, d * 10 + 9))
    )
    quarters = st.builds(
        lambda y, q: Date(y, None, None, q, 0, 0), st.integers(1800, 2099), st.integers(1, 4)
    )
    return centuries | before_christ | decades | quarters


@given(partial_dates() | ranges())
def test_printed_dates_read_back(date: Date) -> None:
    _, (found,) = find_values(f"It was so in {format_date(date)}.")
    assert known(found) == known(date)


@given(st.integers(1, 12), st.integers(1, 28), st.integers(1000, 2100), st.integers(0, 7))
def test_every_order_of_a_full_date_reads_alike(month: int, day: int, year: int, form: int) -> None:
    name, ordinal = MONTHS[month - 1], f"{day}th"
    surface = [
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{name} {day} {year}",
        f"{ordinal} of {name} {year}",
        f"{name} {ordinal}, {year}",
        f"{year:04}-{month:02}-{day:02}",
        f"{month}/{day}/{year}",
        f"{day} {name[:3]} {year}",
    ][form]
    text = f"It rained on {surface} in vain."
    numbers, (found,) = find_values(text)
    assert (known(found), text[found.start : found.end]) == ((year, month, day, None, None), surface)
    assert numbers == ()


FRAGMENTS = """1 2004 45 1,234 3.5 -7 \u00bd \u00b2 5/17 $ % - \u2013 , . : / one two hundred and a half third
quarter quarters first second May July March BC AD in of the between men yards million billion dozen minus
point 1990s 4th ( ) \u0663 \ud800 century \u0130 9:30 pm"""
PIECES = st.sampled_from(FRAGMENTS.split())
TEXTS = st.text() | st.lists(PIECES).flatmap(
    lambda pieces: st.lists(st.sampled_from(["", " "]), min_size=len(pieces), max_size=len(pieces)).map(
        lambda gaps: "".join(piece + gap for piece, gap in zip(pieces, gaps, strict=True))
    )
)


@settings(max_examples=400)
@given(TEXTS)
def test_spans_are_sound_in_any_text(text: str) -> None:
    numbers, dates = find_values(text)
    for spans in ([(n.start, n.end) for n in numbers], [(d.start, d.end) for d in dates]):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(first[1] <= last[0] for first, last in pairwise(spans))
    for number in numbers:
        assert format_number(number.value)
    for date in dates:
        assert format_date(date)


@pytest.mark.parametrize(
    "text",
    [
        piece * 20_000
        for piece in (
            *(
                "a ",
                "1-",
                "1,",
                "1.",
                "1 ",
                "1/",
                "12:3",
                "111,",
                "one ",
                "one hundred and ",
                "and a half ",
                "  ",
            ),
            *("May ", "1 May ", "1914-", "in 1914, ", "half ", "third-", "$1 ", "12 and ", "-", "2½"),
        )
    ]
    + [
        "9" * 200_000,
        "9" * 250 + " million" * 50_000,
        "," * 200_000,
        "1" + " " * 200_000 + "men",
        "twenty" + " " * 200_000 + "men",
    ],
    ids=lambda text: repr(text[:16]),
)
def test_time_is_linear_in_the_text(text: str) -> None:
    start = time.perf_counter()
    find_values(text)
    # Half a second at most; a search that starts over at every character takes minutes.
    assert time.perf_counter() - start < 10


def test_values_read_again_by_themselves_are_the_same(shared_data: Path) -> None:
    passages = json.loads((shared_data / "drop" / "dev.json").read_text("utf-8"))
    total = same = 0
    for passage in passages.values():
        text = passage["passage"]
        for number in find_values(text)[0]:
            again = [n.value for n in find_values(text[number.start : number.end])[0]]
            total, same = total + 1, same + (again == [number.value])
    assert total > 4000
    # "half" and "one" are read by their neighbours.
    assert same / total > 0.99


def test_numbers_of_the_answers_are_found(shared_data: Path) -> None:
    """Of the answers that stand in their passage in digits, the share among its values."""
    passages = json.loads((shared_data / "drop" / "train.json").read_text("utf-8"))
    total = found = 0
    for passage in passages.values():
        text = passage["passage"]
        numbers, dates = find_values(text)
        values = {n.value for n in numbers} | {part for d in dates for part in (d.year, d.day) if part}
        # A count in millions is asked for as "how many million".
        values |= {round(v / 10**k, 6) for v in values for k in (3, 6, 9, 12) if v >= 10**k}
        written = {token.replace(",", "") for token in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
        for pair in passage["qa_pairs"]:
            answer = pair["answer"]["number"]
            if answer in written:
                total += 1
                found += float(answer) in values
    assert total > 3000
    # The rest are parts of clock times, years and names that happen to equal the answer.
    assert found / total > 0.99
