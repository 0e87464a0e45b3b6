"""How the time of the complete search grows with rows, relations, literals and size, on made tables.

    python benchmarks/search_growth.py [--rounds 3] [--out benchmarks/search_growth.json]

Writes a Vega-Lite plot (open it in any Vega editor) and prints, for each search, its processor time and the number of
distinct denotations (row sets and values, of each size) times productions, which it must not outgrow. A search that its
budget cuts short is marked by the size that is complete.
"""

import argparse
import random
import statistics
import time
from dataclasses import replace
from pathlib import Path

import altair as alt

from extractors.table import Argument, Row, Table
from extractors.values import Number as Value
from grammar.language import Language, Literals
from grammar.search import Search, collector_paused
from grammar.types import Date, Denotation, Number, String, Text
from grammar.view import View

WORDS = "ada bram carn dale eyre fell gill hull isle jura kerr leeds".split()
BASE = {"rows": 20, "relations": 8, "literals": 4, "size": 3}
VARIED = {
    "rows": (10, 20, 50, 100, 200, 500, 1000),
    "relations": (2, 4, 8, 16, 32),
    "literals": (0, 2, 4, 8, 12),
    "size": (0, 1, 2, 3, 4),
}


class Answer:
    """One number, which sums and differences can reach."""

    numbers = frozenset({Number(45.0)})
    partial = False

    def accepts(self, denotation: Denotation) -> bool:
        return not isinstance(denotation, (Date, tuple)) and denotation in self.numbers

    def may_hold(self, text: Text) -> bool:
        return False

    def may_serve(self, string: String) -> bool:
        return False


def made_table(rows: int, relations: int, seed: int = 0) -> Table:
    """A table like those of paragraphs: half of the cells are filled, a third of these hold a number."""
    draw = random.Random(seed)

    def cell(at: int) -> Argument:
        word = draw.choice(WORDS)
        value = float(draw.randint(1, 60)) if draw.random() < 1 / 3 else None
        text = word if value is None else f"{word} {value:g}"
        argument = Argument(text, at, at + len(text), tuple(text.split()))
        if value is None:
            return argument
        return replace(argument, numbers=(Value(value, at + len(word) + 1, at + len(text)),))

    made = []
    for i in range(rows):
        arguments = {
            f"arg{j}": (cell(1000 * i + 20 * j),) for j in range(relations - 1) if draw.random() < 0.5
        }
        made.append(Row(cell(1000 * i + 900), i, arguments))
    return Table("made", "0", "syndep", "made", "1", tuple(made))


def measure(rows: int, relations: int, literals: int, size: int, rounds: int) -> dict[str, float]:
    """The median time in seconds, the distinct denotations, and these times the productions of the language."""
    view = View(made_table(rows, relations))
    language = Language(view, Literals(tuple(Text(word, word) for word in WORDS[:literals]), (Number(20.0),)))
    times = []
    for _ in range(rounds):
        started = time.process_time()
        with collector_paused():
            run = Search(language, Answer())
            found = run.run(size)
        times.append(time.process_time() - started)
    families = [family for level in (run.rows.conjunctions, run.rows.unions) for family in level]
    singles = [masks for level in run.rows.singles for masks in level.values()]
    values = [of_type for level in run.values.sizes for of_type in level.values()]
    denotations = sum(map(len, families)) + sum(map(len, singles)) + sum(map(len, values))
    productions = sum(map(len, language.productions.values()))
    return {
        "seconds": statistics.median(times),
        "denotations": denotations,
        "work": denotations * productions,
        "complete": found.size,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="How the time of the search grows.")
    parser.add_argument("--rounds", type=int, default=3, help="how often to time each (default 3)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/search_growth.json"))
    arguments = parser.parse_args()
    points: list[dict[str, float | str]] = []
    for varied, values in VARIED.items():
        for value in values:
            point = measure(**{**BASE, varied: value}, rounds=arguments.rounds)
            points.append({"varied": varied, "value": value, **point})
            print(
                f"{varied} {value:5}: {1000 * point['seconds']:8.1f} ms, {point['denotations']:8,.0f} denotations, "
                f"{1e9 * point['seconds'] / point['work']:8.1f} ns for each times productions, "
                f"complete to size {point['complete']:.0f}"
            )
    chart = (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X("value:Q", title=None),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
            facet=alt.Facet(
                "varied:N", columns=2, title="Time of a search: 20 rows, 8 relations, 4 literals, size 3"
            ),
        )
        .properties(width=260, height=180)
        .resolve_scale(x="independent", y="independent")
    )
    arguments.out.write_text(chart.to_json() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
