"""The space that the original baseline walks over its sample table, by dynamic programming over denotations.

    python benchmarks/search_original.py ../shared/data/reference_language/sample_paragraph.tagged

The original's ``max_path_length`` counts productions: one for the start type, two for each application of a function
(the shape of the application, the function), one for each leaf. Its walk drops unfinished paths longer than that, so
that finished ones have up to one more: lengths 8 and 10 are derivations of at most 9 and 11 productions. The functions
are its own, with the table's 9 relations and what it takes from the question "how many points did the redskins score
in the first half ?": the texts point, redskins, score, first and half, and the number 1.

Every derivation is counted, canonical or not, as there; those without a denotation here (a value that is not there)
are counted too. The bar: the space of length 10 in under 0.25 s; the original takes 25.6 s to walk it.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from extractors.tagged import read_tagged
from grammar.functions import FUNCTIONS
from grammar.search import collector_paused
from grammar.types import Number, Text
from grammar.view import View

ORIGINAL = """
    all_structures filter_in filter_not_in filter_number_greater filter_number_greater_equals filter_number_lesser
    filter_number_lesser_equals filter_number_equals filter_number_not_equals filter_date_greater
    filter_date_greater_equals filter_date_lesser filter_date_lesser_equals filter_date_equals filter_date_not_equals
    argmax argmin first last previous next select mode extract_entity extract_number count_structures count_entities
    max min sum average diff date
""".split()
TEXTS = ("point", "redskins", "score", "first", "half")
NUMBERS = (1.0,)
#: What the original's walk gives at each path length (measured).
PATHS = {8: 15_283, 10: 173_500}

#: What has no denotation: it is counted, and so is all that is made of it.
UNDEFINED = None


class Derivations:
    """For each type and number of productions: denotation -> how many derivations have it."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.leaves: dict[str, list[object]] = {
            "Relation": list(view.relations),
            "String": [(Text(text, text),) for text in TEXTS],
            "Number": [Number(number) for number in NUMBERS],
        }
        self.of = cache(self._of)
        self.arguments = cache(self._arguments)

    def roots(self, productions: int) -> dict[object, int]:
        """The finished derivations of at most so many productions, the start type's included."""
        found: dict[object, int] = defaultdict(int)
        for length in range(1, productions):
            for type_name in ("Number", "String", "Date"):
                for denotation, count in self.of(type_name, length).items():
                    found[type_name, denotation] += count
        return found

    def _of(self, type_name: str, length: int) -> dict[object, int]:
        made: dict[object, int] = defaultdict(int)
        if length == 1:
            for leaf in self.leaves.get(type_name, ()):
                made[leaf] += 1
            if type_name == "Rows":
                made[self.view.all] += 1
        for name in ORIGINAL:
            function = FUNCTIONS[name]
            if function.result == type_name and function.arguments and length > 2:
                for given, count in self.arguments(function.arguments, length - 2):
                    undefined = any(value is UNDEFINED for value in given)
                    made[UNDEFINED if undefined else function.call(self.view, *given)] += count
        return made

    def _arguments(self, types: tuple[str, ...], length: int) -> list[tuple[tuple[object, ...], int]]:
        """Every choice of denotations for arguments that take so many productions together; those of which one is
        undefined are taken together."""
        if len(types) == 1:
            return [((value,), count) for value, count in self.of(types[0], length).items()]
        made: dict[tuple[object, ...], int] = defaultdict(int)
        nothing = (UNDEFINED,) * len(types)
        for own in range(1, length - len(types) + 2):
            for value, count in self.of(types[0], own).items():
                for others, more in self.arguments(types[1:], length - own):
                    known = value is not UNDEFINED and UNDEFINED not in others
                    made[(value, *others) if known else nothing] += count * more
        return list(made.items())


def main() -> None:
    parser = argparse.ArgumentParser(description="The original's space over its sample table.")
    parser.add_argument("file", type=Path, help="sample_paragraph.tagged")
    parser.add_argument("--rounds", type=int, default=7, help="how often to time it (default 7)")
    arguments = parser.parse_args()
    table, _ = read_tagged(arguments.file, null_cells=True)
    for path_length, walked in PATHS.items():
        times, found = [], dict[object, int]()
        for _ in range(arguments.rounds):
            started = time.process_time()
            with collector_paused():
                found = Derivations(View(table)).roots(path_length + 1)
            times.append(time.process_time() - started)
        count = sum(found.values())
        undefined = sum(number for (_, denotation), number in _known(found) if denotation is UNDEFINED)
        print(
            f"path length {path_length}: {count:,} forms represented (the original walks {walked:,}), "
            f"{count - undefined:,} of them with a denotation, {len(found):,} different ones; "
            f"{1000 * statistics.median(times):.0f} ms"
        )


def _known(found: dict[object, int]) -> Iterator[tuple[tuple[str, object], int]]:
    for key, number in found.items():
        assert isinstance(key, tuple)
        yield (key[0], key[1]), number


if __name__ == "__main__":
    main()
