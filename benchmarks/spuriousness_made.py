"""How many spurious classes are dropped, and how many right ones kept, where the meaning of each question is known.

The analysis sees the question, the answer and a made table (``made_questions``). A class is right where its example
denotes what a form that means the question does, on all fictitious tables of the analysis and on 40 others.

    python benchmarks/spuriousness_made.py [--tables 6] [--seed 0] [--fit]

The judges were written while looking at two kinds of tables; the figures to go by are those of the other two, whose
words, tables and operations are others. ``--fit`` prints the weights that would suit the first two best.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from made_questions import BATTLES, CENSUS, KICKS, SALES, Domain, made_passages

from drop_parsing.analysis.combined import KEPT, calibrate
from drop_parsing.analysis.spuriousness import SpuriousnessSettings, analyse_passage, language_for
from grammar.classes import Meanings, meaning
from grammar.perturb import changed_tables
from grammar.view import View
from grammar.worlds import Worlds

TUNED, HELD_OUT = (KICKS, BATTLES), (CENSUS, SALES)


@dataclass(frozen=True, slots=True)
class Judged:
    """A class with what the judges say of it, and whether it is right; ``question`` numbers its question."""

    question: int
    scores: Mapping[str, float | None]
    combined: float
    right: bool


def judged(domains: Sequence[Domain], tables: int, seed: int) -> tuple[int, int, list[Judged]]:
    """How many questions were made, how many of them have a right class, and every class judged."""
    settings = SpuriousnessSettings(sample=100, classes=10_000)
    found: list[Judged] = []
    questions = reached = 0
    for domain in domains:
        for passage, table, forms in made_passages(domain, tables, seed):
            copies = changed_tables(table, settings.candidates, settings.seed) + changed_tables(
                table, 40, seed + 1
            )
            worlds = Worlds([View(table), *(View(each.table) for each in copies)])
            results = analyse_passage(passage, table, settings, {})
            for question, meant, result in zip(passage.questions, forms, results, strict=True):
                language = language_for(question.text, worlds.views[0])
                meanings = Meanings(worlds, language, range(len(worlds.views)))
                right_ones = {meaning(meanings.vector(language.check(form))) for form in meant}
                for one in result.classes:
                    right = meaning(meanings.vector(language.check(one.form))) in right_ones
                    found.append(Judged(questions, one.scores, one.combined, right))
                reached += any(one.right for one in found if one.question == questions)
                questions += 1
    return questions, reached, found


def report(questions: int, reached: int, found: Sequence[Judged]) -> dict[str, float]:
    """Shares in percent. ``dropped_at_90``: spurious classes dropped where 90% of the right ones are kept."""
    right = sorted(one.combined for one in found if one.right)
    spurious = [one.combined for one in found if not one.right]
    threshold = right[len(right) // 10]
    by_question: dict[int, list[Judged]] = {}
    for one in found:
        by_question.setdefault(one.question, []).append(one)
    first = sum(max(classes, key=lambda one: one.combined).right for classes in by_question.values())
    return {
        "questions": questions,
        "with_right_class": round(100 * reached / questions, 1),
        "right_classes": len(right),
        "spurious_classes": len(spurious),
        "dropped_at_90": round(100 * sum(score < threshold for score in spurious) / len(spurious), 1),
        "threshold_at_90": round(threshold, 3),
        "right_kept": round(100 * sum(score >= KEPT for score in right) / len(right), 1),
        "spurious_dropped": round(100 * sum(score < KEPT for score in spurious) / len(spurious), 1),
        "first_is_right": round(100 * first / questions, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=6, help="tables of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fit", action="store_true", help="also fit weights to the first two kinds")
    arguments = parser.parse_args()
    tuned = judged(TUNED, arguments.tables, arguments.seed)
    if arguments.fit:
        bias, weights = calibrate([(one.scores, one.right) for one in tuned[2]])
        print(json.dumps({"bias": bias, **weights}, indent=1), flush=True)
    print(json.dumps({"tuned": report(*tuned)}), flush=True)
    print(json.dumps({"held out": report(*judged(HELD_OUT, arguments.tables, arguments.seed))}))


if __name__ == "__main__":
    main()
