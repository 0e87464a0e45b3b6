"""What users of other tools report about values, each as its whole kind: other nouns, numbers and dashes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.value_dates import MONTHS
from extractors.values import Date, find_values

DASHES = ["-", "\u2013", "\u2014", "\u2212", " - ", " \u2013 ", " \u2014 ", " \u2212 "]
NOUNS = {"huts": "hut", "men": "man", "ships": "ship", "families": "family", "boxes": "box", "seats": "seat"}
WORDS = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"""
SMALL = dict(enumerate(WORDS.split()[:19], 1))
TENS = dict(enumerate(WORDS.split()[19:], 2))
NTH = "first second third fourth fifth sixth seventh eighth ninth tenth"
ORDINALS = dict(enumerate(NTH.split(), 1))

small = st.integers(1, 99)
noun = st.sampled_from(sorted(NOUNS))
dash = st.sampled_from(DASHES)


def spell(n: int) -> str:
    """English words for 1 to 99."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10] + (f"-{SMALL[n % 10]}" if n % 10 else "")


def parts(date: Date) -> tuple[int | None, int | None, int | None]:
    return date.day, date.month, date.year


@given(
    small,
    small,
    noun,
    st.booleans(),
    st.sampled_from(["Between {} and {} {} burned.", "From {} to {} {} fell."]),
)
def test_s1_a_range_is_its_two_ends(low: int, high: int, things: str, words: bool, form: str) -> None:
    ends = [spell(n) if words else str(n) for n in (low, high)]
    text = form.format(*ends, things)
    found, _ = find_values(text)
    assert [(text[n.start : n.end], n.value, n.unit) for n in found] == [
        (ends[0], low, NOUNS[things]),
        (ends[1], high, NOUNS[things]),
    ]


@given(st.sampled_from(sorted(ORDINALS)), small, small, noun, st.booleans())
def test_s2_an_ordinal_before_a_count_stays_apart(nth: int, n: int, m: int, things: str, words: bool) -> None:
    count = [spell(k) if words else str(k) for k in (n, m)]
    found, _ = find_values(f"The {ORDINALS[nth]} {count[0]} {things} took {count[1]} minutes.")
    assert [(f.value, f.kind, f.unit) for f in found[1:]] == [
        (n, "cardinal", NOUNS[things] if n > 1 else found[1].unit),
        (m, "cardinal", "minute" if m > 1 else found[2].unit),
    ]
    assert (found[0].value, found[0].kind) == (nth, "ordinal")


year = st.integers(1000, 2100)
month = st.integers(1, 12)
day = st.integers(1, 28)


@given(day, month, month, year, year, year, st.permutations(range(3)))
def test_s3_partial_dates_stay_partial_in_any_order(
    d: int, m1: int, m2: int, y1: int, y2: int, y3: int, order: list[int]
) -> None:
    clauses = [
        (f"On {d} {MONTHS[m1 - 1]} {y1} the bridge opened.", (d, m1, y1)),
        (f"By {MONTHS[m2 - 1]} {y2} it was shut.", (None, m2, y2)),
        (f"In {y3} it fell.", (None, None, y3)),
    ]
    text = " ".join(clauses[i][0] for i in order)
    numbers, dates = find_values(text)
    assert ([parts(date) for date in dates], numbers) == ([clauses[i][1] for i in order], ())


@given(st.integers(1, 999_999), year, day, month, year)
def test_s4_no_fraction_across_a_count_and_a_year_or_inside_a_date(
    count: int, counted_in: int, d: int, m: int, again: int
) -> None:
    text = f"The town had more than {count:,} in {counted_in}, and was counted again on {m}/{d}/{again}."
    numbers, dates = find_values(text)
    assert [n.value for n in numbers if n.start != text.index(f" {counted_in}") + 1] == [count]
    assert [parts(date) for date in dates if date.start > text.index(" in ")] == [
        (None, None, counted_in),
        (d, m, again),
    ]


@given(
    st.integers(1, 400), st.integers(1, 400), month, month, st.integers(1000, 2098), small, noun, st.data()
)
def test_s5_every_dash_joins_alike(
    low: int, high: int, m1: int, m2: int, first: int, seats: int, things: str, data: st.DataObject
) -> None:
    a, b, c = (data.draw(dash) for _ in range(3))
    begin, end = f"{MONTHS[m1 - 1]} {first}", f"{MONTHS[m2 - 1]} {first + 1}"
    text = f"Nets of {low}{a}{high} m hung from {begin}{b}{end} in a {seats},000{c}{NOUNS[things]} hall."
    numbers, dates = find_values(text)
    assert [(n.value, n.unit) for n in numbers] == [(low, "m"), (high, "m"), (seats * 1000, NOUNS[things])]
    assert [parts(date) for date in dates] == [(None, m1, first), (None, m2, first + 1)]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("one and a half thousand", 1500, "cardinal"),
        ("two and a half million", 2_500_000, "cardinal"),
        ("three-and-a-half", 3.5, "cardinal"),
        ("3 and a half thousand", 3500, "cardinal"),
        ("one-third", 1 / 3, "fraction"),
        ("one fifth", 0.2, "fraction"),
        ("two-thirds", 2 / 3, "fraction"),
        ("zero point five", 0.5, "cardinal"),
        ("three point one four", 3.14, "cardinal"),
        ("minus ten", -10, "cardinal"),
        ("minus 10", -10, "cardinal"),
    ],
)
def test_number_words_that_others_misread(text: str, value: float, kind: Any) -> None:
    (number,), dates = find_values(text)
    assert (number.start, number.end, number.kind, dates) == (0, len(text), kind, ())
    assert number.value == pytest.approx(value)


@given(st.integers(100, 209))
def test_a_decade_is_ten_years(tens: int) -> None:
    numbers, (date,) = find_values(f"the {tens}0s")
    assert numbers == ()
    assert (date.year, date.last_year) == (
        tens * 10,
        tens * 10 + (99 if tens % 10 == 0 and tens != 200 else 9),
    )
