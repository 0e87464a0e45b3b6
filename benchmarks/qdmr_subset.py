"""The questions of a DROP file that have a QDMR decomposition, as a DROP file of their own.

    python benchmarks/qdmr_subset.py drop_dev.json qdmr_dev.csv qdmr.json
    drop-parsing spuriousness qdmr.json --scheme all --qdmr qdmr_dev.csv --judged benchmarks/spuriousness_judged.csv

``spuriousness_judged.csv`` is the sheet of 60 of them (seed 0), judged by one person, without the texts of DROP.
"""

import argparse
import json
from pathlib import Path

from drop_parsing.analysis.qdmr import question_key, read_decompositions


def main() -> None:
    parser = argparse.ArgumentParser(description="Questions of a DROP file that have a decomposition.")
    parser.add_argument("file", type=Path, help="a DROP file")
    parser.add_argument("decompositions", type=Path, help="a CSV file of Break")
    parser.add_argument("out", type=Path, help="the DROP file to write")
    arguments = parser.parse_args()

    known = read_decompositions(arguments.decompositions)
    chosen = {}
    for id, passage in json.loads(arguments.file.read_text("utf-8")).items():
        pairs = [pair for pair in passage["qa_pairs"] if question_key(pair["question"]) in known]
        if pairs:
            chosen[id] = {**passage, "qa_pairs": pairs}
    arguments.out.write_text(json.dumps(chosen), "utf-8")
    print(f"{sum(len(passage['qa_pairs']) for passage in chosen.values())} questions, {len(chosen)} passages")


if __name__ == "__main__":
    main()
