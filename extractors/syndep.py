"""The scheme "syndep": one row for each clause of the dependency tree.

A row's predicate is the verb, the copula or, in a sentence without either, the head noun. Its relations are
the grammatical ones of ``extractors.dependencies``; its cells are whole phrases. What grammar leaves out is
filled in from the tree: the antecedent in a relative clause, the subject and object that coordinated verbs
share, the subject of an infinitive or participle.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from extractors.annotate import Annotation
from extractors.arguments import ArgumentBuilder
from extractors.clauses import Phrase, SharedParts
from extractors.dependencies import NEIGHBOURS, SUBJECTS, Tree
from extractors.losses import tokens_of, uncovered
from extractors.repairs import VERBAL
from extractors.table import Argument, Row
from extractors.values import Date, Number

#: The relation of the whole clause.
CLAUSE = "clause"

_CLAUSAL = frozenset(
    {"root", "acl", "acl:relcl", "advcl", "ccomp", "xcomp", "csubj", "parataxis", "conj", "dep", "attr"}
)
_NO_ARGUMENT = frozenset({"punct", "aux", "cc", "det", "case", "mark", "expl", "prt"})
_MODIFIERS = frozenset({"det", "amod", "nummod", "compound", "nmod:poss", "neg", "advmod", "punct", "case"})
_OBJECTS = frozenset({"obj", "attr", "nsubj"})
#: The relation of a relative adverb's antecedent.
_ADVERBIAL = {"when": "obl", "where": "obl"}


class SynDep:
    """Tables by dependency syntax, from a parse with ClearNLP or universal labels."""

    name = "syndep"
    maker = ""
    version = "3"  # Changes whenever the rules can give another table for the same parse.

    def rows(self, annotation: Annotation, tree: Tree) -> list[Row]:
        return _Clauses(annotation, tree).rows()


class _Clauses:
    """The clauses of one paragraph and the rows they give."""

    def __init__(self, annotation: Annotation, tree: Tree) -> None:
        self._annotation = annotation
        self._tree = tree
        self._shared = SharedParts(annotation, tree)
        self._is_clause = [self._heads_clause(i) for i in range(len(annotation.words))]
        self._cells = ArgumentBuilder(annotation, self._tree, self._is_clause)

    def rows(self) -> list[Row]:
        rows: dict[int, Row] = {}
        for number, (first, end) in enumerate(self._annotation.sentences):
            rows.update((i, self._row(i, number)) for i in range(first, end) if self._is_clause[i])
        for value in uncovered(self._annotation, rows.values()):
            self._keep(value, rows)
        return list(rows.values())

    def _keep(self, value: Number | Date, rows: dict[int, Row]) -> None:
        """Give a value that grammar put in no cell one of its own, in the row of its clause."""
        first, last = tokens_of(self._annotation, value)
        row = rows.get(self._cells.clause_of(first))
        if row is not None:
            cell = self._cells.build(first, first, last)
            rows[self._cells.clause_of(first)] = replace(
                row, arguments={**row.arguments, "dep": (*row.cell("dep"), cell)}
            )

    def _heads_clause(self, i: int) -> bool:
        tree = self._tree
        relation = tree.relations[i]
        if tree.heads[i] == i:
            word = self._annotation.words[i]
            return bool(tree.children[i]) or any(character.isalnum() for character in word)
        if self._shared.is_verb(i):
            return (
                relation in _CLAUSAL
                or (self._annotation.dependencies[i] == "pcomp" and relation != "compound")
                or (
                    relation not in _NO_ARGUMENT
                    and any(tree.relations[k] in {"obj", "nsubj", "nsubj:pass"} for k in tree.children[i])
                )
            )
        if self._shared.is_item(i):
            return True
        if relation == "conj":
            return self._is_nominal_root(tree.heads[i])
        return relation in {"advcl", "ccomp", "acl:relcl", "parataxis"} and any(
            tree.relations[k] in SUBJECTS for k in tree.children[i]
        )

    def _is_nominal_root(self, i: int) -> bool:
        """Whether ``i`` heads a verbless sentence, or is coordinated with a noun that does."""
        tree, pos = self._tree, self._annotation.pos
        while tree.relations[i] == "conj" and pos[i] not in VERBAL:
            i = tree.heads[i]
        return tree.heads[i] == i and pos[i] not in VERBAL

    def _row(self, i: int, sentence: int) -> Row:
        predicate, used = self._predicate(i)
        found: dict[str, list[Argument]] = {}
        for relation, argument in sorted(
            self._arguments(i, used), key=lambda pair: (pair[1].start, pair[1].end, pair[0])
        ):
            cell = found.setdefault(relation, [])
            if argument not in cell:
                cell.append(argument)
        found[CLAUSE] = [self._clause(i, predicate)]
        return Row(predicate, sentence, {relation: tuple(cell) for relation, cell in found.items()})

    def _clause(self, i: int, predicate: Argument) -> Argument:
        """The cell of the whole clause, less the clauses coordinated with it.

        Its phrases are what events are called by: from the subject or the verb to the end of the verb or of
        any complement, and the complements with their prepositions.
        """
        tree, starts = self._tree, self._annotation.starts
        parts = [
            k
            for k in tree.children[i]
            if tree.relations[k] not in {"punct", "cc"}
            and not (self._is_clause[k] and tree.relations[k] in NEIGHBOURS)
        ]
        first = min([i, *(tree.first[k] for k in parts)])
        last = max([i, *(tree.last[k] for k in parts)])
        first, last = self._cells.trim(first, last)
        if self._annotation.pos[i] not in VERBAL:
            return self._cells.build(i, first, last)
        verb_end = bisect_left(starts, predicate.end) - 1
        subject = next((tree.first[k] for k in parts if tree.relations[k] in SUBJECTS and k < i), None)
        complements = [k for k in parts if k > verb_end]
        ends = [tree.last[k] for k in complements]
        phrases = [] if subject is None else [(subject, end, "clause") for end in (verb_end, *ends)]
        phrases += [(i, end, "vp") for end in ends]
        phrases += [
            (tree.first[k], tree.last[k], "pp") for k in parts if tree.relations[k].startswith("obl:")
        ]
        # Whether "a pass from Hale" is one phrase is the parser's least certain choice: offer it, too.
        phrases += [
            (tree.first[one], tree.last[other], tree.relations[one])
            for one, other in pairwise(complements)
            if tree.relations[one] in _OBJECTS and tree.relations[other].startswith("obl:")
        ]
        return self._cells.build(i, first, last, phrases)

    def _predicate(self, i: int) -> tuple[Argument, set[int]]:
        """The predicate's cell, and the children that are part of it.

        A verb stands with the auxiliaries, negation and particle next to it; a noun with its modifiers.
        """
        tree = self._tree
        verbal = self._annotation.pos[i] in VERBAL
        parts = {"aux", "neg", "prt"} if verbal else _MODIFIERS
        first = last = i
        used = set()
        for child in reversed(tree.children[i]):
            adjacent = child < i and tree.last[child] == first - 1 and not self._is_clause[child]
            if adjacent and tree.relations[child] in parts:
                first = tree.first[child]
                used.add(child)
        for child in tree.children[i]:
            if verbal and child > i and tree.first[child] == last + 1 and tree.relations[child] in parts:
                last = tree.last[child]
                used.add(child)
        first, last = self._cells.trim(first, last)
        return self._cells.build(i, first, last), used

    def _arguments(self, i: int, used: set[int]) -> Iterator[tuple[str, Argument]]:
        tree = self._tree
        own = [
            k
            for k in tree.children[i]
            if k not in used and tree.relations[k] not in _NO_ARGUMENT and not self._shared.is_sign(k)
        ]
        antecedent = self._shared.antecedent(i)
        if antecedent is not None:
            relation = antecedent.relation
            yield _ADVERBIAL.get(relation, relation), self._described(antecedent.phrase)
        for child in own:
            relation = tree.relations[child]
            if relation in NEIGHBOURS and self._is_clause[child]:
                continue
            if self._shared.is_relative(child) and (antecedent is not None or relation == "advmod"):
                continue
            yield relation, self._whole(child)
        subjects = self._shared.subjects(i)
        if subjects.nouns and subjects.before is not None:
            yield self._voice(i), self._described(subjects)
        else:
            for subject in subjects.nouns:
                if tree.heads[subject] != i:
                    yield self._voice(i), self._whole(subject)
        shared = self._shared.object(i)
        if shared is not None:
            yield "obj", self._whole(shared)

    def _voice(self, i: int) -> str:
        """The relation that a subject from elsewhere has to the verb ``i``."""
        return "nsubj:pass" if self._shared.is_passive(i) else "nsubj"

    def _whole(self, i: int) -> Argument:
        """The cell of everything below ``i``, less a preposition in front."""
        first, last = self._cells.trim(self._tree.first[i], self._tree.last[i])
        return self._cells.build(i, first, last)

    def _described(self, phrase: Phrase) -> Argument:
        """The cell of coordinated nouns, up to the clause that describes them."""
        noun, last = phrase.nouns[0], phrase.nouns[-1]
        first, end = self._tree.first[noun], self._tree.last[last]
        if phrase.before is not None:
            end = min(end, self._tree.first[phrase.before] - 1)
        if not first <= last <= end:
            return self._cells.build(last, last, last)
        return self._cells.build(noun, *self._cells.trim(first, end))
