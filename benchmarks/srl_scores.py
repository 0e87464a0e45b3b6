"""PropBank roles of the shipped model against gold, over predicted parses.

    python benchmarks/srl_scores.py DIR [--model FILE] [--sentences N] [--pipeline NAME]

DIR holds ``ewt_dev.jsonl[.gz]``. Words and sentences are those of the treebank; tags, lemmas, parse and values
are predicted. An argument is right where its words and its label agree exactly; F1 is micro-averaged over
arguments. The predicate itself (V, C-V) is none; C- and R- arguments count under their own labels, each part by
itself. Predicates with an auxiliary sense (be.03, do.01, have.01) are left out. "Verbal" are predicates whose
gold tag is a verb's; the others are nouns and adjectives. With predicted predicates an argument of a predicate
that is not gold is wrong, and all of one that was not found are missed. Seconds are processor time, the parse
included.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from extractors.annotate import SpacyAnnotator, load_pipeline
from extractors.dependencies import collapsed_tree
from extractors.srl import shipped_model
from extractors.srl_data import GoldSentence, read_sentences
from extractors.srl_model import RoleModel, load_model
from extractors.srl_roles import find_frames

LABELS = (
    "ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARGM-TMP", "ARGM-LOC", "ARGM-ADV", "ARGM-MNR", "ARGM-MOD",
    "ARGM-NEG", "ARGM-DIS", "ARGM-DIR", "ARGM-CAU", "ARGM-PRP", "ARGM-EXT", "ARGM-ADJ", "R-ARG0", "R-ARG1",
    "C-ARG1",
)  # fmt: skip

#: Predicate, label, first and last word.
Argument = tuple[int, str, int, int]


@dataclass
class Score:
    right: int = 0
    found: int = 0
    gold: int = 0

    def add(self, gold: set[Argument], found: set[Argument]) -> None:
        self.right += len(gold & found)
        self.found += len(found)
        self.gold += len(gold)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.found + self.gold)

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.gold)
        return f"{self.gold:6} {precision:7.3f} {recall:7.3f} {self.f1:7.3f}"


@dataclass
class Scores:
    """``given`` with gold predicates, ``whole`` with predicted ones; ``labels`` are of verbal predicates."""

    verbal: Score = field(default_factory=Score)
    nominal: Score = field(default_factory=Score)
    labels: Mapping[str, Score] = field(default_factory=lambda: {label: Score() for label in LABELS})
    predicates: Mapping[str, Score] = field(default_factory=lambda: {"verbal": Score(), "nominal": Score()})
    whole_verbal: Score = field(default_factory=Score)
    whole: Score = field(default_factory=Score)
    sentences: int = 0
    seconds: float = 0.0


def score(model: RoleModel, sentences: Sequence[GoldSentence], annotator: SpacyAnnotator) -> Scores:
    """Score the model with gold predicates and with its own."""
    scores = Scores(sentences=len(sentences))
    started = time.process_time()
    parsed = [(a, collapsed_tree(a)) for a in annotator.annotate_words(s.words for s in sentences)]
    guessed = [find_frames(model, annotation, tree) for annotation, tree in parsed]
    scores.seconds = time.process_time() - started
    for sentence, (annotation, tree), own in zip(sentences, parsed, guessed, strict=True):
        gold = {frame.predicate: frame for frame in sentence.frames if not frame.auxiliary}
        given = find_frames(model, annotation, tree, sorted(gold))
        wanted = {i: {(i, a.label, a.first, a.last) for a in f.arguments} for i, f in gold.items()}
        for frame in given:
            i = frame.predicate
            found = {(i, role.label, role.first, role.last) for role in frame.roles}
            (scores.verbal if gold[i].verbal else scores.nominal).add(wanted[i], found)
            if gold[i].verbal:
                for label, tally in scores.labels.items():
                    tally.add({a for a in wanted[i] if a[1] == label}, {a for a in found if a[1] == label})
        verbal = {i for i, f in gold.items() if f.verbal}
        verbs = verbal | {f.predicate for f in own if annotation.tags[f.predicate][0] == "V"} - (
            gold.keys() - verbal
        )
        guesses = {f.predicate: {(f.predicate, r.label, r.first, r.last) for r in f.roles} for f in own}
        everything = {a for arguments in wanted.values() for a in arguments}
        guessed_arguments = {a for arguments in guesses.values() for a in arguments}
        scores.whole.add(everything, guessed_arguments)
        scores.whole_verbal.add(
            {a for a in everything if a[0] in verbs}, {a for a in guessed_arguments if a[0] in verbs}
        )
        for kind, tally in scores.predicates.items():
            ours = {(i, "", i, i) for i in guesses if (i in verbs) == (kind == "verbal")}
            theirs = {(i, "", i, i) for i in gold if (i in verbal) == (kind == "verbal")}
            tally.add(theirs, ours)
    return scores


def show(scores: Scores) -> None:
    print(f"{'':26} {'gold':>6} {'P':>7} {'R':>7} {'F1':>7}")
    lines: list[tuple[str, Score]] = [
        ("verbal predicates", scores.verbal),
        *((f"  {label}", tally) for label, tally in scores.labels.items()),
        ("nominal predicates", scores.nominal),
        ("found verbal predicates", scores.predicates["verbal"]),
        ("found nominal predicates", scores.predicates["nominal"]),
        ("end to end, verbal", scores.whole_verbal),
        ("end to end", scores.whole),
    ]
    for name, tally in lines:
        print(f"{name:26} {tally}")
    rate = scores.sentences / scores.seconds
    print(f"{scores.sentences} sentences, {rate:.0f} a second (parse and predicted predicates)")


def main() -> None:
    parser = argparse.ArgumentParser(description="PropBank roles against gold.")
    parser.add_argument("data", type=Path, help="the folder of ewt_dev.jsonl[.gz]")
    parser.add_argument("--model", type=Path, help="weights (default: the shipped ones)")
    parser.add_argument("--sentences", type=int, help="only the first N")
    parser.add_argument("--pipeline", help="the spaCy pipeline (default: the first installed)")
    arguments = parser.parse_args()

    (path,) = sorted(arguments.data.glob("ewt_dev.jsonl*"))[:1]
    sentences = list(islice(read_sentences(path), arguments.sentences))
    model = load_model(arguments.model) if arguments.model else shipped_model()
    show(score(model, sentences, SpacyAnnotator(load_pipeline(arguments.pipeline))))


if __name__ == "__main__":
    main()
