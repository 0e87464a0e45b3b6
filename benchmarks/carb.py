"""The "openie" scheme against CaRB (Bhardwaj, Aggarwal and Mausam, EMNLP 2019).

    python benchmarks/carb.py ../shared/data/openie/carb_dev.tsv.gz [--half development|held-out] [--worst 10]

The file has a gold extraction a line: sentence, relation, first argument, further arguments. The scoring
rule, as published with the benchmark (its default matcher), in our words:

- Extractions are made binary: the arguments after the first are joined into one.
- A pair of gold and predicted extraction is compared slot by slot (relation, first, rest) as multisets of
  words, case included; a predicted "be" matches any of its forms. Its precision is the share of the
  predicted words that match, its recall that of the gold words. Both are 0 where no word of the relation
  matches or the prediction has fewer slots than the gold extraction; a slot that only the prediction has is
  left out of the count. Where the gold relation reports speech ("said"), the arguments may stand in
  either order, whichever pair of scores is greater.
- At a confidence threshold, a sentence's recall is the sum, over its gold extractions, of the best recall
  any prediction has: one prediction may serve several. Its precision is the sum over a one-to-one matching
  that takes the pair of the highest precision first. Sums over all sentences are divided by the numbers of
  gold and of predicted extractions.
- F1 is that at the best threshold; AUC is the area under the points of all thresholds and (recall 0,
  precision 1), by the trapezoidal rule.

What the adapter does for the comparison alone, and tables do not: it reads a row as the extractions that
CaRB's annotators would write. A row with several arguments in one cell stands for one extraction each; an
implied relation is spelled out as "is" or "has"; the preposition, or "that", of the first argument proper
after the subject joins the relation ("taught at"); ``ARGM-NEG`` is left out, as the relation holds it; the text
of a cell is given in the words of the file.

Sentences are split by a hash into two halves: rules were developed, and confidences fitted, on "development"
alone. "held-out" is the honest figure.
"""

import argparse
import gzip
import hashlib
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.extractor import Extractor
from extractors.openie import NEGATION, OpenIE, implied_relation
from extractors.table import Argument, Paragraph, Row

Words = tuple[str, ...]

_SPEECH = ("said", "told", "added", "adds", "says")
_FORMS_OF_BE = frozenset({"be", "is", "am", "are", "was", "were", "been", "being"})
_UNESCAPED = {"``": "\u201c", "''": "\u201d", "-LRB-": "(", "-RRB-": ")", "\\/": "/"}
# fmt: off
_JOINING = frozenset({
    "about", "above", "across", "after", "against", "along", "among", "around", "as", "at", "because",
    "before", "behind", "below", "between", "by", "despite", "during", "for", "from", "in", "into",
    "like", "of", "off", "on", "onto", "out", "over", "per", "since", "than", "through", "throughout",
    "that", "to", "toward", "towards", "under", "until", "upon", "via", "with", "within", "without",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Extraction:
    """A relation and its arguments, in words."""

    relation: Words
    arguments: tuple[Words, ...]
    confidence: float = 1.0

    def slots(self, reverse: bool = False) -> tuple[Words, ...]:
        """Relation, first argument and the others joined; or with the arguments' sides exchanged."""
        if len(self.arguments) < 2:
            return (self.relation, *self.arguments)
        first, rest = self.arguments[0], tuple(word for other in self.arguments[1:] for word in other)
        return (self.relation, rest, first) if reverse else (self.relation, first, rest)


@dataclass(frozen=True, slots=True)
class Point:
    """The scores of the predictions with at least this confidence, as fractions."""

    confidence: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def match(gold: Extraction, predicted: Extraction) -> tuple[float, float]:
    """Precision and recall of one pair."""
    scores = _match(gold.slots(), predicted.slots())
    if any(verb in " ".join(gold.relation) for verb in _SPEECH):
        scores = max(scores, _match(gold.slots(), predicted.slots(reverse=True)))
    return scores


def _match(gold: Sequence[Words], predicted: Sequence[Words]) -> tuple[float, float]:
    if len(predicted) < len(gold):
        return 0.0, 0.0
    matching = [(Counter(a) & Counter(b)).total() for a, b in zip(gold, predicted, strict=False)]
    left = Counter(predicted[0]) - Counter(gold[0])
    if left["be"] and not _FORMS_OF_BE.isdisjoint(gold[0]):
        matching[0] += 1
    if not matching[0]:
        return 0.0, 0.0
    total = sum(matching)
    return total / sum(map(len, predicted[: len(gold)])), total / sum(map(len, gold))


def curve(
    gold: Mapping[str, Sequence[Extraction]], predicted: Mapping[str, Sequence[Extraction]]
) -> list[Point]:
    """One point for each confidence that occurs, from the highest to the lowest."""
    changes: list[tuple[float, float, int, float]] = []
    for sentence, golds in gold.items():
        before = (0.0, 0, 0.0)
        guesses = predicted.get(sentence, ())
        scores = [[match(one, guess) for guess in guesses] for one in golds]
        for confidence in sorted({guess.confidence for guess in guesses}, reverse=True):
            kept = [j for j, guess in enumerate(guesses) if guess.confidence >= confidence]
            recall = sum(max(row[j][1] for j in kept) for row in scores)
            now = (sum(one_to_one([[row[j][0] for j in kept] for row in scores]).values()), len(kept), recall)
            changes.append((confidence, now[0] - before[0], now[1] - before[1], now[2] - before[2]))
            before = now
    total = sum(map(len, gold.values()))
    points: list[Point] = []
    right, made, found = 0.0, 0, 0.0
    for confidence, more_right, more_made, more_found in sorted(changes, reverse=True):
        right, made, found = right + more_right, made + more_made, found + more_found
        if points and points[-1].confidence == confidence:
            points.pop()
        points.append(Point(confidence, right / made, found / total))
    return points


def one_to_one(precisions: Sequence[Sequence[float]]) -> dict[int, float]:
    """The columns of a matching with the rows that takes the greatest of what is left, again and again, each
    with the precision it is taken at."""
    order = sorted((-p, i, j) for i, row in enumerate(precisions) for j, p in enumerate(row))
    rows: set[int] = set()
    columns: dict[int, float] = {}
    for negated, i, j in order:
        if i not in rows and j not in columns:
            rows.add(i)
            columns[j] = -negated
    return columns


def best(points: Iterable[Point]) -> Point:
    """The point of the greatest F1, the most confident of several."""
    return max(points, key=lambda point: point.f1, default=Point(1.0, 0.0, 0.0))


def area(points: Sequence[Point]) -> float:
    """The area under the curve from recall 0 at precision 1 to the last point."""
    corners = [(0.0, 1.0), *((point.recall, point.precision) for point in points)]
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(corners))


def read_gold(file: Path) -> dict[str, list[Extraction]]:
    """The gold extractions of each sentence, in the order of the file. As in the published reader, an argument
    marked as context ("C: ...") does not count."""
    gold: dict[str, list[Extraction]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            sentence, relation, *arguments = line.strip().split("\t")
            arguments = [argument for argument in arguments if "C: " not in argument]
            extraction = Extraction(tuple(relation.split()), tuple(tuple(a.split()) for a in arguments))
            gold.setdefault(sentence.strip(), []).append(extraction)
    return gold


def half(sentence: str) -> str:
    """Which half of the file a sentence is in."""
    even = hashlib.blake2b(sentence.encode()).digest()[0] % 2 == 0
    return "development" if even else "held-out"


class Sentence:
    """A sentence of the file as a paragraph, and cells back in its words."""

    def __init__(self, text: str) -> None:
        self.words = text.split()
        self._starts: list[int] = []
        written = ""
        for word in self.words:
            self._starts.append(len(written))
            for escaped, plain in _UNESCAPED.items():
                word = word.replace(escaped, plain)
            written += word + " "
        self.paragraph = Paragraph(text, written.rstrip())

    def words_of(self, cell: Argument) -> Words:
        first = bisect_right(self._starts, cell.start) - 1
        return tuple(self.words[first : bisect_left(self._starts, cell.end)])


def extractions_of(sentence: Sentence, row: Row) -> Iterator[Extraction]:
    """A row of the sentence's table as CaRB's annotators would write it."""
    implied = implied_relation(row)
    relation = (implied,) if implied else sentence.words_of(row.predicate)
    subjects: list[tuple[Argument, ...]] = [(subject,) for subject in row.cell("ARG0")] or [()]
    core = [name for name in row.arguments if name[3:].isdigit() and name != "ARG0"]
    modifiers = [
        a for name in row.arguments if name.startswith("ARGM") and name != NEGATION for a in row.cell(name)
    ]
    for subject, others in product(subjects, product(*(row.cell(name) for name in core))):
        arguments = [sentence.words_of(argument) for argument in (*others, *modifiers)]
        joined = relation
        if others and not implied and len(arguments[0]) > 1 and arguments[0][0].lower() in _JOINING:
            joined, arguments[0] = (*relation, arguments[0][0]), arguments[0][1:]
        yield Extraction(joined, (*map(sentence.words_of, subject), *arguments), row.confidence)


def predict(sentences: Sequence[str]) -> tuple[dict[str, list[Extraction]], float]:
    """The extractions of each sentence, and the seconds of one core that parsing and extracting took."""
    extractor = Extractor(SpacyAnnotator(load_pipeline()), OpenIE())
    read = [Sentence(text) for text in sentences]
    extractor.extract(read[0].paragraph)  # what is loaded on first use
    start = time.process_time()
    tables = list(extractor.pipe(sentence.paragraph for sentence in read))
    seconds = time.process_time() - start
    return {
        text: [e for row in table.rows for e in extractions_of(sentence, row)]
        for text, sentence, table in zip(sentences, read, tables, strict=True)
    }, seconds


def report(
    name: str, gold: Mapping[str, Sequence[Extraction]], predicted: Mapping[str, Sequence[Extraction]]
) -> None:
    points = curve(gold, predicted)
    chosen, everything = best(points), points[-1] if points else best(points)
    print(
        f"{name:12} {len(gold):4} sentences  F1 {chosen.f1:.3f}  P {chosen.precision:.3f}  R {chosen.recall:.3f}"
        f"  at confidence {chosen.confidence:.2f}  AUC {area(points):.3f}"
        f"  with everything: F1 {everything.f1:.3f}  P {everything.precision:.3f}  R {everything.recall:.3f}"
    )


def show_worst(
    gold: Mapping[str, Sequence[Extraction]], predicted: Mapping[str, Sequence[Extraction]], count: int
) -> None:
    def f1(sentence: str) -> float:
        return max((p.f1 for p in curve({sentence: gold[sentence]}, predicted)[-1:]), default=0.0)

    for sentence in sorted(gold, key=f1)[:count]:
        print(f"\n{f1(sentence):.2f} {sentence}")
        for name, found in (("gold", gold[sentence]), ("ours", predicted[sentence])):
            for extraction in found:
                slots = " | ".join(" ".join(words) for words in (extraction.relation, *extraction.arguments))
                print(f"    {name} {extraction.confidence:.2f} {slots}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Score the openie scheme on CaRB.")
    parser.add_argument("file", type=Path, help="sentence, relation, arguments: carb_dev.tsv.gz")
    parser.add_argument("--half", choices=["development", "held-out"], help="only this half of the sentences")
    parser.add_argument("--worst", type=int, default=0, help="show so many of the worst sentences")
    arguments = parser.parse_args()

    gold = read_gold(arguments.file)
    chosen = {text: golds for text, golds in gold.items() if arguments.half in (None, half(text))}
    predicted, seconds = predict(list(chosen))
    if arguments.half is None:
        for name in ("development", "held-out"):
            report(name, {text: golds for text, golds in chosen.items() if half(text) == name}, predicted)
    report(arguments.half or "all", chosen, predicted)
    print(f"{len(chosen) / seconds:.0f} sentences/s on one core, parsing included")
    show_worst(chosen, predicted, arguments.worst)


if __name__ == "__main__":
    main()
