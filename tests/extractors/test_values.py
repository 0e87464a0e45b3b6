"""Numbers and dates in words, digits and signs: one table of cases a kind."""

import pytest

from extractors.values import Date, Number, find_values, format_date, format_number


def numbers(text: str) -> list[tuple[str, float, str | None, str]]:
    return [(text[n.start : n.end], n.value, n.unit, n.kind) for n in find_values(text)[0]]


def values(text: str) -> list[float]:
    return [number.value for number in find_values(text)[0]]


def dates(text: str) -> list[tuple[str, str]]:
    return [(text[d.start : d.end], format_date(d)) for d in find_values(text)[1]]


@pytest.mark.parametrize(
    ("text", "span", "value", "unit", "kind"),
    [
        ("a 45-yard field goal", "45", 45, "yard", "cardinal"),
        ("a 45 - yard field goal", "45", 45, "yard", "cardinal"),
        ("a one-yard run", "one", 1, "yard", "cardinal"),
        ("an 81 yard drive", "81", 81, "yard", "cardinal"),
        ("a 52-yarder", "52", 52, "yard", "cardinal"),
        ("with 1,234 men", "1,234", 1234, "man", "cardinal"),
        ("12,34,567 homes", "12,34,567", 1234567, "home", "cardinal"),
        ("25.0% of it", "25.0%", 25, "%", "percent"),
        ("25 percent of it", "25 percent", 25, "%", "percent"),
        ("25 per cent of it", "25 per cent", 25, "%", "percent"),
        ("38,2% of it", "38,2%", 38.2, "%", "percent"),
        ("for $4.2 million in", "$4.2 million", 4200000, "$", "money"),
        ("for US$0.70 in", "US$0.70", 0.7, "$", "money"),
        ("for €3bn in", "€3bn", 3e9, "€", "money"),
        ("some 5 million dollars in", "5 million dollars", 5e6, "dollar", "money"),
        ("4.2 million people", "4.2 million", 4200000, "people", "cardinal"),
        ("1.1 million people", "1.1 million", 1100000, "people", "cardinal"),
        ("three late touchdowns", "three", 3, "touchdown", "cardinal"),
        ("two field goals", "two", 2, "goal", "cardinal"),
        ("1500 French soldiers", "1500", 1500, "soldier", "cardinal"),
        ("an area of 640 square miles", "640", 640, "square mile", "cardinal"),
        ("three of the ships", "three", 3, None, "cardinal"),
        ("led 21, and won", "21", 21, None, "cardinal"),
        ("the third lap", "third", 3, "lap", "ordinal"),
        ("the 1,000th lap", "1,000th", 1000, "lap", "ordinal"),
        ("the twenty-first lap", "twenty-first", 21, "lap", "ordinal"),
        ("the one hundred and fifth lap", "one hundred and fifth", 105, "lap", "ordinal"),
        ("the third-highest total", "third", 3, "total", "ordinal"),
        ("a third of it", "a third", 1 / 3, None, "fraction"),
        ("one-third of it", "one-third", 1 / 3, None, "fraction"),
        ("two thirds of it", "two thirds", 2 / 3, None, "fraction"),
        ("a quarter of it", "a quarter", 0.25, None, "fraction"),
        ("three quarters of it", "three quarters", 0.75, None, "fraction"),
        ("half of it", "half", 0.5, None, "fraction"),
        ("a half-mile on", "a half", 0.5, "mile", "fraction"),
        ("half a mile on", "half", 0.5, "mile", "fraction"),
        ("half a million men", "half a million", 500000, "man", "cardinal"),
        ("half a dozen men", "half a dozen", 6, "man", "cardinal"),
        ("the first half", "first", 1, "half", "ordinal"),
        ("the second half", "second", 2, "half", "ordinal"),
        ("at 9:30 he", "9:30", 9.5, None, "clock"),
        ("at 5pm he", "5pm", 5, "pm", "clock"),
        ("at 5:30 p.m. he", "5:30 p.m.", 5.5, "pm", "clock"),
        ("about 2½ hours", "2½", 2.5, "hour", "cardinal"),
        ("about 2 1/2 hours", "2 1/2", 2.5, "hour", "cardinal"),
        ("about 1/2 of it", "1/2", 0.5, None, "fraction"),
        ("a dozen eggs", "a dozen", 12, "egg", "cardinal"),
        ("two dozen eggs", "two dozen", 24, "egg", "cardinal"),
        ("a hundred eggs", "a hundred", 100, "egg", "cardinal"),
        ("won twice", "twice", 2, None, "cardinal"),
        ("batting .845 then", ".845", 0.845, None, "cardinal"),
        ("at -5 degrees", "-5", -5, "degree", "cardinal"),
        ("at \u22125 degrees", "\u22125", -5, "degree", "cardinal"),
        ("some \u0663\u0664 ships", "\u0663\u0664", 34, "ship", "cardinal"),
    ],
)
def test_one_number(text: str, span: str, value: float, unit: str | None, kind: str) -> None:
    ((found, read, *rest),) = numbers(text)
    assert (found, rest) == (span, [unit, kind])
    assert read == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "hundreds of men",
        "dozens of men",
        "several hundred men",
        "a few dozen men",
        "How many million people?",
        "in World War II",
        "No one came",
        "in half-tracks",
        "after half-time",
        "the F-15 and the F16",
        "the 49ers",
        "it closed out the half",
        "he won once",
        "he lost at first",
        "it rose by km²",
        "the last-second loss",
        "they may march",
        "Andr&#233; came",
    ],
)
def test_no_value(text: str) -> None:
    assert find_values(text) == ((), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("won 2-1", [2, 1]),
        ("won 17\u201310", [17, 10]),
        ("won 17 \u2014 10", [17, 10]),
        ("from 45-5 on", [45, 5]),
        ("from 4 -15 on", [4, 15]),
        ("6 feet 4 inches", [6, 4]),
        ("1,2,3 and 4", [1, 2, 3, 4]),
        ("twenty first downs", [20, 1]),
        ("five hundred and six hundred", [500, 600]),
        ("between one hundred and fifty", [100, 50]),
        ("between one hundred and fifty and two hundred", [150, 200]),
        ("two fourth-quarter scores", [2, 4]),
        ("after the first three quarters", [1, 3]),
        ("one second left", [1]),
        ("went 22/32 for 307 yards", [22, 32, 307]),
        ("3rd-and-14", [3, 14]),
    ],
)
def test_several_numbers(text: str, expected: list[float]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("between 40 and 50 huts", "hut", 2),
        ("10- and 20-yard runs", "yard", 2),
        ("runs of 23, 45 and 51 yards", "yard", 3),
        ("40\u201350% of it", "%", 2),
        ("$3-5 million", "$", 2),
        ("in the first and second quarters", "quarter", 2),
        ("in the late 18th and early 19th centuries", "century", 2),
    ],
)
def test_a_unit_written_once_is_shared(text: str, unit: str, count: int) -> None:
    assert [number.unit for number in find_values(text)[0]] == [unit] * count


@pytest.mark.parametrize(
    ("text", "span", "date"),
    [
        ("in May 2009 he", "May 2009", "May 2009"),
        ("on 12 July 2004 he", "12 July 2004", "12 July 2004"),
        ("on July 12 2004 he", "July 12 2004", "12 July 2004"),
        ("on July 12, 2004 he", "July 12, 2004", "12 July 2004"),
        ("on the 12th of July 2004 he", "12th of July 2004", "12 July 2004"),
        ("on Jan. 5, 1999 he", "Jan. 5, 1999", "5 January 1999"),
        ("on July 12 he", "July 12", "12 July"),
        ("on July 12 and left", "July 12", "12 July"),
        ("in May he", "May", "May"),
        ("in early March he", "March", "March"),
        ("on May 3 he", "May 3", "3 May"),
        ("in 1914 he", "1914", "1914"),
        ("1914, a year", "1914", "1914"),
        ("the 1914 season", "1914", "1914"),
        ("the 1914 elections", "1914", "1914"),
        ("the war (1914) he", "1914", "1914"),
        ("since mid-1764 he", "1764", "1764"),
        ("in 44 BC he", "44 BC", "44 BC"),
        ("in 44 BCE he", "44 BCE", "44 BC"),
        ("in 10,000 BC he", "10,000 BC", "10000 BC"),
        ("in AD 79 he", "AD 79", "79"),
        ("in 987, he", "987", "987"),
        ("on 12 July 44 BC he", "12 July 44 BC", "12 July 44 BC"),
        ("on 2004-07-12 he", "2004-07-12", "12 July 2004"),
        ("on 5/17/1918 he", "5/17/1918", "17 May 1918"),
        ("on 17/5/1918 he", "17/5/1918", "17 May 1918"),
        ("on 5/17/18 he", "5/17/18", "17 May"),
        ("in the 1990s he", "1990s", "1990s"),
        ("in the 1800s he", "1800s", "1800s"),
    ],
)
def test_one_date_and_no_number(text: str, span: str, date: str) -> None:
    assert (find_values(text)[0], dates(text)) == ((), [(span, date)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 1995-98", ["1995", "1998"]),
        ("from 1914\u201318", ["1914", "1918"]),
        ("in the 1999-00 season", ["1999", "2000"]),
        ("from 2005-2009", ["2005", "2009"]),
        ("from 1914 to 1918", ["1914", "1918"]),
        ("in 1978, 1981, 1985 and 1991", ["1978", "1981", "1985", "1991"]),
        ("May 1913\u2013July 1914", ["May 1913", "July 1914"]),
        ("from May to July 1914", ["May 1914", "July 1914"]),
        ("from November to February 1915", ["November", "February 1915"]),
        ("July 12\u201315, 2004", ["12 July 2004", "15 July 2004"]),
        ("12 to 15 July 2004", ["12 July 2004", "15 July 2004"]),
        ("from 44 to 30 BC", ["44 BC", "30 BC"]),
        ("On May 3, 1500 men marched", ["3 May"]),
    ],
)
def test_several_dates(text: str, expected: list[str]) -> None:
    assert [date for _, date in dates(text)] == expected


@pytest.mark.parametrize(
    ("text", "span", "date"),
    [
        ("in the 4th quarter", "4th quarter", "4th quarter"),
        ("in the second quarter", "second quarter", "2nd quarter"),
        ("a fourth-quarter score", "fourth-quarter", "4th quarter"),
        ("a touchdown in the third, then", "third", "3rd quarter"),
        ("the second quarter of 2009", "second quarter of 2009", "2nd quarter of 2009"),
        ("the 19th century", "19th century", "19th century"),
        ("the 5th century BC", "5th century BC", "5th century BC"),
    ],
)
def test_an_ordinal_that_is_also_a_date(text: str, span: str, date: str) -> None:
    assert dates(text) == [(span, date)]
    assert [number.kind for number in find_values(text)[0]] == ["ordinal"]


def test_a_century_is_its_hundred_years() -> None:
    assert find_values("the 19th century")[1] == (Date(1801, None, None, None, 4, 16, 1900),)


@pytest.mark.parametrize(
    "text",
    ["you may go", "May Smith came", "they march on", "an august man", "June Carter sang", "It May Be"],
)
def test_a_word_like_a_month_is_none(text: str) -> None:
    assert find_values(text)[1] == ()


@pytest.mark.parametrize(
    ("text", "is_number", "is_date"),
    [
        ("with 1500 men", True, False),
        ("some 2000 people", True, False),
        ("with 1914 votes", True, False),
        ("a population of 1856", True, False),
        ("by 1500 men", True, False),
        ("between 1000\u20132000 men", True, False),
        ("by 1914", False, True),
        ("after 1914", False, True),
        ("early 1914", False, True),
        ("the 1995 Super Bowl", False, True),
        ("compared to 2008", False, True),
        ("1914", True, True),
        ("a film called 1911.", True, True),
        ("about 950 men", True, False),
        ("in 987 cases", True, False),
        ("room 3000", True, False),
    ],
)
def test_a_bare_number_may_be_a_year(text: str, is_number: bool, is_date: bool) -> None:
    found_numbers, found_dates = find_values(text)
    assert (bool(found_numbers), bool(found_dates)) == (is_number, is_date)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3.0, "3"),
        (3.5999999999999996, "3.6"),
        (0.1 + 0.2, "0.3"),
        (-2.5, "-2.5"),
        (-0.0, "0"),
        (-1e-12, "0"),
        (1e22, "10000000000000000000000"),
        (4.2e6, "4200000"),
        (123456789012.3, "123456789012.3"),
        (1e-7, "0.0000001"),
    ],
)
def test_format_number(value: float, expected: str) -> None:
    assert format_number(value) == expected


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_format_number_needs_a_finite_one(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        format_number(value)


def test_values_say_where_they_stand() -> None:
    assert find_values("Ann ran 3 laps in 1914.") == (
        (Number(3, 8, 9, "lap"),),
        (Date(1914, None, None, None, 18, 22),),
    )
