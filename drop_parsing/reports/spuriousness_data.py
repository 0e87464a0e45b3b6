"""What the explorer of the spuriousness page looks things up in: an index of all questions, and blocks of details.

Each is JSON, compressed and written as base64, so that no text of a paragraph can be read as markup. The page unpacks
the index when it opens, and a block when one of its questions is asked for. Stretches of a paragraph are counted in
UTF-16 units there, as JavaScript counts.
"""

import base64
import gzip
import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drop_parsing.analysis.judged import JUDGES, Copy, FormClass, QuestionClasses, Spuriousness
from extractors.table import PREDICATE, Table

#: Characters of the details, unpacked, that make a block: milliseconds to unpack.
BLOCK_CHARACTERS = 400_000
#: A question's classes that the page shows: the best by their combined score.
SHOWN_CLASSES = 10

#: (scheme, passage id) -> the table of that paragraph.
Tables = Mapping[tuple[str, str], Table]


@dataclass(frozen=True, slots=True)
class Packed:
    """The index and the blocks, ready for the page."""

    index: str
    blocks: tuple[str, ...]


def pack(found: Spuriousness, tables: Tables) -> Packed:
    """Pack an analysis: questions in their order, each with its schemes in theirs; block by block of whole passages."""
    schemes = list(dict.fromkeys(one.scheme for one in found.questions))
    passages: dict[str, dict[str, list[QuestionClasses]]] = {}
    for one in found.questions:
        passages.setdefault(one.passage_id, {}).setdefault(one.query_id, []).append(one)

    rows: list[list[Any]] = []
    blocks: list[str] = []
    for block in _blocks(_details(passages, found.paragraphs, tables)):
        for place, id in enumerate(block):
            rows += [_row(analysed, schemes, len(blocks), place) for analysed in passages[id].values()]
        blocks.append(_packed(f"[{','.join(block.values())}]"))
    index = {"schemes": schemes, "judges": list(JUDGES), "predicate": PREDICATE, "questions": rows}
    return Packed(_packed(_json(index)), tuple(blocks))


def _row(analysed: Sequence[QuestionClasses], schemes: Sequence[str], block: int, place: int) -> list[Any]:
    """One question in the index: what is listed, the block and the place in it of its passage, and for each scheme
    how many classes are kept of how many, or null where it was not analysed."""
    first = analysed[0]
    by_scheme = {one.scheme: [len(one.kept), one.met] for one in analysed}
    status = [by_scheme.get(scheme) for scheme in schemes]
    return [first.query_id, first.question, "; ".join(first.answer), first.kind, block, place, status]


def _details(
    passages: Mapping[str, Mapping[str, Sequence[QuestionClasses]]],
    paragraphs: Mapping[str, str],
    tables: Tables,
) -> Iterator[tuple[str, str]]:
    """Each passage's id, and as JSON all that there is to show of it. The fictitious tables, which its questions
    share, are listed once: a question has their places in the list."""
    for id, questions in passages.items():
        text = paragraphs[id]
        units = _Units(text)
        held = dict.fromkeys(one.scheme for analysed in questions.values() for one in analysed)
        copies: dict[Copy, int] = {}
        shown = {
            query_id: {one.scheme: _question(one, units, copies) for one in analysed}
            for query_id, analysed in questions.items()
        }
        details = {
            "id": id,
            "text": text,
            "tables": {
                scheme: _table(tables[scheme, id], units) for scheme in held if (scheme, id) in tables
            },
            "copies": [
                [copy.changed, [[c.row, c.relation, c.old, c.new] for c in copy.cells]] for copy in copies
            ],
            "questions": shown,
        }
        yield id, _json(details)


def _blocks(details: Iterator[tuple[str, str]]) -> Iterator[dict[str, str]]:
    block: dict[str, str] = {}
    size = 0
    for id, text in details:
        if block and size + len(text) > BLOCK_CHARACTERS:
            yield block
            block, size = {}, 0
        block[id] = text
        size += len(text)
    if block:
        yield block


def _question(one: QuestionClasses, units: "_Units", copies: dict[Copy, int]) -> dict[str, Any]:
    """``copies`` has the place of every fictitious table so far; those of the question are added."""
    return {
        "forms": readable_count(one.forms),
        "complete": one.complete,
        "exact": one.exact,
        "copies": [copies.setdefault(copy, len(copies)) for copy in one.copies],
        "classes": [_class(each, units) for each in one.classes[:SHOWN_CLASSES]],
        "more": max(0, one.met - SHOWN_CLASSES),
    }


def _class(one: FormClass, units: "_Units") -> dict[str, Any]:
    return {
        "form": one.form,
        "forms": counted(one),
        "denotation": one.denotation,
        "copies": one.on_copies,
        "cells": [[units(start), units(end)] for start, end in one.cells],
        "scores": [_rounded(one.scores.get(judge)) for judge in JUDGES],
        "combined": round(one.combined, 3),
        "kept": one.kept,
        "why": one.why,
    }


def _table(table: Table, units: "_Units") -> list[Any]:
    """The rows: the predicate's place, then relation and places of each cell."""

    def place(start: int, end: int) -> list[int]:
        return [units(start), units(end)]

    return [
        [
            place(row.predicate.start, row.predicate.end),
            [[name, [place(c.start, c.end) for c in cells]] for name, cells in row.arguments.items()],
        ]
        for row in table.rows
    ]


class _Units:
    """From characters of a text, as Python counts them, to UTF-16 units."""

    def __init__(self, text: str) -> None:
        self._wide = [place for place, character in enumerate(text) if ord(character) > 0xFFFF]

    def __call__(self, place: int) -> int:
        return place + bisect_left(self._wide, place)


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 3)


def counted(one: FormClass) -> str:
    """How many forms a class has, with the bounds of an estimate."""
    if one.low == one.high:
        return readable_count(one.forms)
    low, high = readable_count(one.low), readable_count(one.high)
    return (
        f"about {readable_count(one.forms)} ({low} to {high})"
        if one.forms > one.low
        else f"at least {low} (up to {high})"
    )


def readable_count(number: int) -> str:
    """A whole number of any size: with its digits up to a billion, then with two and its power of ten."""
    if number < 10**9:
        return f"{number:,}"
    digits = str(number)
    power = str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits[0]}.{digits[1]} × 10{power}"
