"""Small tables for tests of the language, made by hand or at random."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from extractors.table import Argument, Row, Span, Table
from extractors.values import Date, Number

#: One word begins another; one has an accent.
WORDS = ("goal", "hull", "leeds", "rain", "rainy", "müller")


def argument(
    text: str,
    start: int = 0,
    numbers: Sequence[float] = (),
    dates: Sequence[Date] = (),
    phrases: Sequence[tuple[str, str]] = (),
    entities: Sequence[tuple[str, str]] = (),
) -> Argument:
    """An argument whose numbers, phrases (text, label) and entities (text, type) lie one after another."""

    def spans(pairs: Sequence[tuple[str, str]]) -> tuple[Span, ...]:
        return tuple(
            Span(t, start + max(text.find(t), 0), start + text.find(t) + len(t), label) for t, label in pairs
        )

    found, place = [], 0
    for number in numbers:
        place = max(text.find(f"{number:g}", place), place)
        end = place + len(f"{number:g}")
        found.append(Number(number, start + place, start + end + text[end:].startswith("%")))
    return Argument(
        text,
        start,
        start + len(text),
        tuple(word.strip(",").removesuffix("s") for word in text.lower().split()),
        numbers=tuple(found),
        dates=tuple(dates),
        phrases=spans(phrases),
        entities=spans(entities),
    )


def table(*rows: dict[str, Argument]) -> Table:
    """A table of rows given as relation -> argument; ``verb`` is the predicate."""
    made = tuple(
        Row(row["verb"], i, {name: (cell,) for name, cell in row.items() if name != "verb"})
        for i, row in enumerate(rows)
    )
    return Table("p", "0", "syndep", "test", "1", made)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 3, values: bool = True) -> Table:
    """Random tables of few rows over few relations, with numbers and dates (if ``values``), phrases and entities;
    some cells hold two arguments."""
    number = st.sampled_from([1.0, 2.0, 3.0, 2.5, 100.0])
    day = st.builds(
        Date,
        st.sampled_from([None, 1914, 1920]),
        st.sampled_from([None, 3, 5]),
        st.sampled_from([None, 7]),
        st.none(),
        st.just(0),
        st.just(1),
    )
    word = st.sampled_from(WORDS)

    @st.composite
    def cell(draw: st.DrawFn) -> Argument:
        words = draw(st.lists(word, min_size=1, max_size=3))
        return argument(
            " ".join(words),
            draw(st.integers(0, 5)),
            draw(st.lists(number, max_size=2 if values else 0)),
            draw(st.lists(day, max_size=1 if values else 0)),
            [
                (w, draw(st.sampled_from(["core", "conj"])))
                for w in draw(st.lists(st.sampled_from(words), max_size=2))
            ],
            [(w, "PERSON") for w in draw(st.lists(st.sampled_from(words), max_size=1))],
        )

    rows = []
    for _ in range(draw(st.integers(0, max_rows))):
        row = {"verb": argument(draw(word))}
        for name in ("arg0", "arg1"):
            if draw(st.booleans()):
                row[name] = draw(cell())
        rows.append(row)
    made = table(*rows)
    if rows and draw(st.booleans()):
        first = made.rows[0]
        two = {name: (*arguments, draw(cell())) for name, arguments in first.arguments.items()}
        made = replace(made, rows=(replace(first, arguments=two), *made.rows[1:]))
    return made
