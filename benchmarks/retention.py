"""Information retention of each scheme, and of all schemes' rows together, on a file of questions.

    python benchmarks/retention.py drop_dev.json [--backend spacy:NAME]

The measure is that of ``drop_parsing.analysis.retention``: the share of the gold numbers, and of the gold
spans, standing in a passage that its tables keep.
"""

import argparse
from collections.abc import Sequence

from drop_parsing.analysis.retention import retention
from drop_parsing.data.reading import read_all
from extractors.extractor import extract_together
from extractors.registry import Backend, make_extractors, schemes
from extractors.table import Paragraph, Table


def main() -> None:
    parser = argparse.ArgumentParser(description="Information retention by scheme.")
    parser.add_argument("file", help="a DROP file with answers")
    parser.add_argument("--backend", help="what parses (default: spaCy's default pipeline)")
    arguments = parser.parse_args()

    passages, _ = read_all([arguments.file])
    extractors = make_extractors(schemes(), Backend(arguments.backend))
    made: list[dict[str, Table]] = []
    for tables in extract_together(extractors, (Paragraph(p.id, p.text) for p in passages)):
        for error in tables.values():
            if isinstance(error, Exception):
                raise error
        made.append({name: table for name, table in tables.items() if isinstance(table, Table)})

    def report(name: str, chosen: Sequence[str]) -> None:
        tables = ([each[scheme] for scheme in chosen] for each in made)
        kept = retention(zip(passages, tables, strict=True))
        rows = sum(len(each[scheme].rows) for each in made for scheme in chosen)
        print(
            f"{name:9} {rows:7} rows   numbers {kept.numbers.percent:5.1f}% of {kept.numbers.total}   "
            f"spans {kept.spans.percent:5.1f}% of {kept.spans.total}"
        )

    for scheme in schemes():
        report(scheme, [scheme])
    report("together", schemes())


if __name__ == "__main__":
    main()
