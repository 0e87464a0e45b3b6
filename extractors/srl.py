"""The scheme "srl": one row for each predicate, its arguments under their PropBank roles.

Predicates are verbs, "be", "have" and "get" among them where they stand for themselves, and nouns that name
an event ("the attack on the fort"). The predicate's cell is the verb with its auxiliaries, negation and
particle; the relations are ``ARG0`` ... ``ARG5`` and the modifiers ``ARGM-TMP``, ``ARGM-LOC``, ... Parts of one
argument (``C-ARG1``) stand under its role, and a relative pronoun (``R-ARG0``) is what it stands for. The object
of a light verb ("made a goal") is ``ARG1``. A number or a date that no argument reaches is kept under ``dep``, in
the row of its clause.

The model, its data and its scores are described in ``srl_model.md``.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import exp, log
from pathlib import Path

from extractors.annotate import Annotation
from extractors.arguments import ArgumentBuilder
from extractors.dependencies import Tree
from extractors.losses import tokens_of, uncovered
from extractors.repairs import VERBAL
from extractors.srl_model import RoleModel, load_model
from extractors.srl_roles import Frame, find_frames
from extractors.table import Argument, Row
from extractors.values import Date, Number

#: The relation of a value that no argument reaches.
KEPT = "dep"

#: The role of the noun that a light verb goes with.
LIGHT = "ARGM-PRR"

#: The confidence of a row that stands at the head of a sentence in which the model finds no predicate.
NO_PREDICATE = 0.5

_VERB_PARTS = frozenset({"aux", "neg", "prt"})


@cache
def shipped_model() -> RoleModel:
    """The model that comes with the package. Raises ``PipelineError`` where its file is missing or damaged."""
    return load_model(Path(__file__).with_name("srl_model.npz"))


class Srl:
    """Tables by semantic role labelling; the shipped model unless another is given."""

    name = "srl"
    maker = "roles"

    def __init__(self, model: RoleModel | None = None) -> None:
        self._model = shipped_model() if model is None else model
        # The number changes whenever the same frames can give another table.
        self.version = f"5-{self._model.hash}"

    def rows(self, annotation: Annotation, tree: Tree) -> list[Row]:
        frames = find_frames(self._model, annotation, tree)
        return _Rows(annotation, tree, [f for f in frames if annotation.tags[f.predicate][:1] != "J"]).rows()


class _Rows:
    """The rows of one paragraph."""

    def __init__(self, annotation: Annotation, tree: Tree, frames: Sequence[Frame]) -> None:
        self._annotation = annotation
        self._tree = tree
        self._frames = [frame for frame in frames if frame.roles]
        heads = [False] * len(annotation.words)
        for frame in self._frames:
            heads[frame.predicate] = annotation.pos[frame.predicate] in VERBAL
        self._cells = ArgumentBuilder(annotation, tree, heads)

    def rows(self) -> list[Row]:
        rows: dict[int, Row] = {}
        sentences = self._annotation.sentences
        number = 0
        for frame in self._frames:
            while frame.predicate >= sentences[number][1]:
                number += 1
            rows[frame.predicate] = self._row(frame, number)
        for value in uncovered(self._annotation, rows.values()):
            self._keep(value, rows)
        return [rows[i] for i in sorted(rows)]

    def _row(self, frame: Frame, sentence: int) -> Row:
        found: dict[str, list[Argument]] = {}
        for label, cell in self._arguments(frame):
            entries = found.setdefault(label, [])
            if cell not in entries:
                entries.append(cell)
        chances = [frame.probability, *(role.probability for role in frame.roles)]
        return Row(
            predicate=self._cells.build(frame.predicate, *self._verb_group(frame.predicate)),
            sentence=sentence,
            arguments={label: tuple(entries) for label, entries in found.items()},
            confidence=round(exp(sum(map(log, chances)) / len(chances)), 3),
        )

    def _arguments(self, frame: Frame) -> Iterator[tuple[str, Argument]]:
        labels = {role.label for role in frame.roles}
        phrase = self._light_object(frame)
        if phrase is not None:
            yield "ARG1", self._build(*phrase)
        for role in frame.roles:
            if phrase is not None and phrase[0] <= role.first and role.last <= phrase[1]:
                continue
            label = role.label.removeprefix("C-").removeprefix("R-")
            if not role.label.startswith("R-"):
                yield label, self._build(role.first, role.last)
            elif label not in labels:
                antecedent = self._antecedent(role.first, frame.predicate)
                yield label, antecedent or self._build(role.first, role.last)

    def _light_object(self, frame: Frame) -> tuple[int, int] | None:
        """The object of a light verb, whole: PropBank marks in "made a 21-yard field goal" the noun alone, as what
        says it (``ARGM-PRR``)."""
        for role in frame.roles:
            if role.label == LIGHT:
                noun = self._top(role.first, role.last)
                first, last = self._cells.trim(self._tree.first[noun], self._tree.last[noun])
                return None if first <= frame.predicate <= last else (first, last)
        return None

    def _antecedent(self, pronoun: int, predicate: int) -> Argument | None:
        """The noun phrase that the relative clause around ``pronoun`` and ``predicate`` describes."""
        heads, relations = self._tree.heads, self._tree.relations
        clause = predicate
        while relations[clause] != "acl:relcl":
            if heads[clause] == clause:
                return None
            clause = heads[clause]
        noun = heads[clause]
        if noun >= pronoun:
            return None
        first, last = self._cells.trim(self._tree.first[noun], pronoun - 1)
        return self._cells.build(noun, first, last) if first <= noun <= last else None

    def _build(self, first: int, last: int) -> Argument:
        return self._cells.build(self._top(first, last), first, last)

    def _top(self, first: int, last: int) -> int:
        """The token of a stretch that the others hang on: the first whose head lies outside, no preposition."""
        heads, relations = self._tree.heads, self._tree.relations
        tops = [i for i in range(first, last + 1) if heads[i] == i or not first <= heads[i] <= last]
        return next((i for i in tops if relations[i] not in {"case", "punct", "mark"}), tops[0])

    def _verb_group(self, i: int) -> tuple[int, int]:
        """The verb with the auxiliaries, negation and particle next to it; a noun alone."""
        parts = {k for k in self._tree.children[i] if self._tree.relations[k] in _VERB_PARTS}
        first = last = i
        while first - 1 in parts:
            first -= 1
        while last + 1 in parts:
            last += 1
        return first, last

    def _keep(self, value: Number | Date, rows: dict[int, Row]) -> None:
        """Give a value that no argument reaches a cell: the phrase it is in, in the row of its clause. A sentence
        without a predicate gets a row at its head."""
        start, end = tokens_of(self._annotation, value)
        number = bisect_right(self._annotation.sentences, start, key=lambda sentence: sentence[0]) - 1
        owner = self._owner(start, number, rows)
        row = rows.get(owner)
        if row is None:
            row = Row(self._cells.build(owner, owner, owner), number, {}, NO_PREDICATE)
        first, last = self._phrase(start, end, owner)
        cell = self._cells.build(self._top(first, last), first, last)
        if any(other.start <= cell.start and cell.end <= other.end for other in row.cell(KEPT)):
            return
        rows[owner] = replace(row, arguments={**row.arguments, KEPT: (*row.cell(KEPT), cell)})

    def _owner(self, token: int, sentence: int, rows: dict[int, Row]) -> int:
        """The predicate above a token, or else the nearest before it in its sentence, or else its root."""
        heads = self._tree.heads
        i = token
        while i not in rows:
            if heads[i] == i:
                first, end = self._annotation.sentences[sentence]
                others = [k for k in range(first, end) if k in rows]
                return min(others, key=lambda k: abs(k - token)) if others else i
            i = heads[i]
        return i

    def _phrase(self, start: int, end: int, owner: int) -> tuple[int, int]:
        """The constituent around a value, as far up as the one that hangs on ``owner``, if it is one stretch
        without the predicate."""
        tree = self._tree
        i = self._top(start, end)
        best = start, end
        while i != owner:
            first, last = self._cells.trim(tree.first[i], tree.last[i])
            if first <= owner <= last:
                break
            if first <= start and end <= last:
                best = first, last
            if tree.heads[i] == i:
                break
            i = tree.heads[i]
        return best
