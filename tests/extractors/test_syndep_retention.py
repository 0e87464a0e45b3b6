"""How much of what DROP asks for the tables keep, on real passages."""

import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extractors.dependencies import PREPOSITIONS
from extractors.registry import make_extractor
from extractors.table import Paragraph, Table

# Every relation and phrase label is one of these, or "obl" or "nmod" with a preposition after a colon.
# fmt: off
FAMILIES = frozenset([
    "acl", "acl:relcl", "advcl", "advmod", "amod", "appos", "attr", "ccomp", "clause", "compound", "conj",
    "core", "csubj", "dep", "head", "iobj", "list", "neg", "nmod", "nmod:poss", "nsubj", "nsubj:pass",
    "nummod", "obj", "obl", "obl:agent", "parataxis", "part", "pp", "root", "verb", "vp", "xcomp",
])
# fmt: on


def normal(text: str) -> str:
    """The official normalisation: lower case, no punctuation, no articles."""
    words = re.split(r"[ \-]", text.lower())
    joined = " ".join("".join(c for c in word if c not in string.punctuation) for word in words)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", joined).split())


def passages(file: Path, count: int) -> list[tuple[Table, dict[str, Any]]]:
    entries = json.loads(file.read_text(encoding="utf-8"))
    names = random.Random(0).sample(sorted(entries), count)
    tables = make_extractor("syndep").pipe(Paragraph(name, entries[name]["passage"]) for name in names)
    return [(table, entries[table.paragraph_id]) for table in tables]


def gold_numbers(entry: dict[str, Any]) -> Iterator[float]:
    """The number answers that stand in the passage in digits."""
    for pair in entry["qa_pairs"]:
        number = pair["answer"]["number"]
        if re.fullmatch(r"\d+(\.\d+)?", number):
            forms = {number, f"{int(number):,}" if number.isdigit() else number}
            pattern = "|".join(re.escape(form) for form in forms)
            if re.search(rf"(?<![\d.,])({pattern})(?![\d]|[.,]\d)", entry["passage"]):
                yield float(number)


def known(name: str) -> bool:
    family, _, preposition = name.partition(":")
    return name in FAMILIES or (family in {"obl", "nmod"} and preposition in PREPOSITIONS)


@pytest.mark.parametrize(("file", "count"), [("drop/train.json", 130), ("drop/dev.json", 130)])
def test_retention(shared_data: Path, file: str, count: int) -> None:
    numbers = numbers_kept = spans = inside = exact = 0
    for table, entry in passages(shared_data / file, count):
        cells = [cell for row in table.rows for _, cell in row.cells()]
        values = {number.value for cell in cells for number in cell.numbers}
        dates = [date for cell in cells for date in cell.dates]
        values |= {float(part) for d in dates for part in (d.year, d.month, d.day) if part is not None}
        for number in gold_numbers(entry):
            numbers += 1
            numbers_kept += number in values
        whole = {normal(cell.text) for cell in cells}
        parts = {normal(part.text) for cell in cells for part in (*cell.entities, *cell.phrases)}
        passage = f" {normal(entry['passage'])} "
        for pair in entry["qa_pairs"]:
            for span in filter(None, map(normal, pair["answer"]["spans"])):
                if f" {span} " in passage:
                    spans += 1
                    inside += any(f" {span} " in f" {text} " for text in whole)
                    exact += span in whole or span in parts
        labels = {part.label for cell in cells for part in cell.phrases}
        assert {name for name in {*labels, *table.relations} if not known(name)} == set()
        assert table.lost.sentences == ()
        assert table.lost.numbers == ()
        assert table.lost.dates == ()
    assert numbers_kept / numbers >= 0.97
    assert inside / spans >= 0.95
    assert exact / spans >= 0.85
