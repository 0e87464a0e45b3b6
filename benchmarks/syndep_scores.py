"""The arguments of the "syndep" tree against a gold Universal Dependencies treebank.

    python benchmarks/syndep_scores.py en_ewt-ud-dev.conllu[.gz] [--backend spacy:NAME] [--errors 20]

Each gold sentence is given as plain text, one paragraph a sentence, so tokens are the extractor's own. The
gold tree and the predicted one both pass through ``collapsed_tree``; an argument counts as right where governor,
dependent (by their character offsets) and relation agree. ``nsubj`` includes passive subjects, ``obl`` every
preposition and the agent. Sentences that the parser splits in two stay in the measure.
"""

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from extractors.annotate import Annotation
from extractors.dependencies import collapsed_tree
from extractors.registry import Backend, make_extractor
from extractors.table import Paragraph
from extractors.values import find_values

RELATIONS = ("nsubj", "obj", "iobj", "obl")

#: Governor's and dependent's characters, and the relation.
Edge = tuple[tuple[int, int], tuple[int, int], str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Syn Dep arguments against a gold treebank.")
    parser.add_argument("treebank", type=Path, help="a CoNLL-U file")
    parser.add_argument("--backend", help="what parses (default: spaCy's default pipeline)")
    parser.add_argument("--errors", type=int, default=0, help="how many wrong arguments to print")
    arguments = parser.parse_args()

    gold = list(read_treebank(arguments.treebank))
    annotator = make_extractor("syndep", Backend(arguments.backend)).annotator
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    errors: list[str] = []
    for truth, guess in zip(gold, annotator.annotate(one.paragraph for one in gold), strict=True):
        expected, given = edges(truth), edges(guess)
        wanted.update(relation for *_, relation in expected)
        found.update(relation for *_, relation in given)
        right.update(relation for *_, relation in expected & given)
        text = truth.paragraph.text
        for kind, wrong in (("missed", expected - given), ("wrong", given - expected)):
            errors += [
                f"{kind} {r}({text[a:b]}, {text[c:d]}) in: {text}" for (a, b), (c, d), r in sorted(wrong)
            ]
    print(f"{len(gold)} sentences\n{'':6} {'gold':>6} {'P':>7} {'R':>7} {'F1':>7}")
    for relation in RELATIONS:
        precision = right[relation] / max(1, found[relation])
        recall = right[relation] / max(1, wanted[relation])
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        print(f"{relation:6} {wanted[relation]:6} {precision:7.3f} {recall:7.3f} {f1:7.3f}")
    step = max(1, len(errors) // max(1, arguments.errors))
    print("\n".join(errors[::step][: arguments.errors]))


def edges(annotation: Annotation) -> set[Edge]:
    """The argument edges of the collapsed tree."""
    tree = collapsed_tree(annotation)
    spans = list(zip(annotation.starts, annotation.ends, strict=True))
    return {
        (spans[head], spans[i], relation.partition(":")[0])
        for i, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True))
        if relation.partition(":")[0] in RELATIONS
    }


def read_treebank(path: Path) -> Iterator[Annotation]:
    """The sentences of a CoNLL-U file, each as a paragraph of its own with the gold parse."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            lines = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
            yield _annotation(lines)


def _annotation(lines: list[list[str]]) -> Annotation:
    """One sentence. The text is built from the words and ``SpaceAfter``; words inside a multi-word token
    ("don't") stand where their letters do."""
    text = ""
    rows: list[list[str]] = []
    starts: list[int] = []
    inside = 0  # The last word of the multi-word token that is being read.
    for line in lines:
        if "." in line[0]:
            continue
        if "-" in line[0]:
            inside = int(line[0].partition("-")[2])
            after = line[9]
            continue
        starts.append(len(text))
        rows.append(line)
        text += line[1]
        number = int(line[0])
        if number >= inside:
            text += "" if "SpaceAfter=No" in (after if number == inside else line[9]) else " "
    numbers, dates = find_values(text)
    return Annotation(
        paragraph=Paragraph("gold", text),
        words=[row[1] for row in rows],
        starts=starts,
        ends=[start + len(row[1]) for start, row in zip(starts, rows, strict=True)],
        lemmas=[row[2].lower() for row in rows],
        pos=[row[3] for row in rows],
        tags=[row[4] for row in rows],
        dependencies=["ROOT" if row[7] == "root" else row[7] for row in rows],
        heads=[i if row[6] == "0" else int(row[6]) - 1 for i, row in enumerate(rows)],
        sentences=[(0, len(rows))],
        entities=[],
        numbers=numbers,
        dates=dates,
    )


if __name__ == "__main__":
    main()
