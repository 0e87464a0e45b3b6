"""A question over a table as the parser reads it: tokens, entities, what links them, and the forms to learn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from drop_parsing.parser.choosing import Weighted
from drop_parsing.parser.entities import Entity, Place, TableEntities, entities_of, entity_graph
from drop_parsing.parser.linking import Token, linking_features
from drop_parsing.parser.pieces import PieceInput
from drop_parsing.parser.rules import ANSWER, COMPLETE, Bools, Ints, rules, shortest
from drop_parsing.parser.targets import Targets, targets_of
from extractors.values import find_values
from grammar.forms import Form
from grammar.functions import FUNCTIONS
from grammar.language import Language, Literals, date_leaf, number_leaf, string_leaf
from grammar.view import as_date, key, round_off

#: Longer forms are neither learnt nor decoded. Of the 20 forms that a search of size 2 or 3 keeps for a question of
#: DROP, an eighth are longer than 24, and none of 1,560 was longer than this.
MAX_LENGTH = 32


class Unusable(NamedTuple):
    """How many of a question's consistent forms can not be learnt, by reason: ``long`` (more productions than the
    limit), ``beyond`` (with a leaf that is no entity of the question)."""

    long: int = 0
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class QuestionInput:
    """One question. L tokens, E entities, S symbols (see ``rules``); entity e is production ``G + e``.

    ``features`` (E, L, F) are the linking features, ``neighbours`` (E, E) the entity graph, ``expands`` (S, E) whether
    an entity may stand for a symbol, ``shortest`` (S,) the fewest productions that complete a symbol; ``targets`` is
    None where there is nothing to learn from, and ``unusable`` says what of the forms could not be used. ``pieces`` are
    for transformers (``pieces.read_pieces``); ``contextual`` (L, C) are vectors of the tokens in context, and
    ``similar`` (R,) says how near the rows of the table are by these (``similarity``), where an encoder gave them.
    """

    id: str
    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...]
    features: npt.NDArray[np.float16]
    neighbours: Bools
    expands: Bools
    shortest: Ints
    targets: Targets | None
    unusable: Unusable
    pieces: PieceInput | None = None
    contextual: npt.NDArray[np.float16] | None = None
    similar: npt.NDArray[np.float32] | None = None

    def form(self, productions: Iterable[int]) -> Form:
        """The form that a sequence of numbers of productions derives; what follows its end is not read."""
        return _form(self.entities, iter(productions))

    def learnt(self) -> list[Weighted]:
        """The forms to learn from."""
        if self.targets is None:
            return []
        paths, weights = self.targets.path_choices.tolist(), self.targets.prior.tolist()
        return [Weighted(self.form(path), weight) for path, weight in zip(paths, weights, strict=True)]


def read_question(
    id: str,
    question: Doc,
    table: TableEntities,
    language: Language,
    forms: Sequence[Weighted] = (),
    max_length: int = MAX_LENGTH,
) -> QuestionInput:
    """A parsed question over a table, in its language, with the consistent forms to learn from."""
    tokens = _tokens(question)
    entities = entities_of(language, table, _origins(question, tokens, language.literals))
    neighbours = nx.to_numpy_array(
        entity_graph(language, entities), nodelist=range(len(entities)), dtype=bool
    )
    served = [rules().serves(entity.type, entity.needs) for entity in entities]
    expands = np.array(served, dtype=bool).reshape(len(entities), len(rules().symbols)).T
    lengths = shortest(rules(), np.asarray(expands.any(axis=1)))
    targets, unusable = _targets(forms, entities, expands, lengths, max_length)
    return QuestionInput(
        id,
        tokens,
        entities,
        linking_features(tokens, entities, table.contents, table.view.size, neighbours).astype(np.float16),
        neighbours,
        expands,
        lengths,
        targets,
        unusable,
    )


def productions_of(form: Form, entities: Sequence[Entity]) -> list[int] | None:
    """The numbers of the productions that derive a well-typed form, leftmost first; None where a leaf is none of the
    entities."""
    numbers = {entity.name: len(rules().productions) + i for i, entity in enumerate(entities)}
    numbers |= {production.name: i for i, production in enumerate(rules().productions) if i}
    made: list[int] = []
    open_forms = [form]
    while open_forms:
        head = open_forms.pop()
        if head.name not in numbers:
            return None
        made.append(numbers[head.name])
        open_forms += reversed(head.arguments)
    return made


def is_derivation(productions: Sequence[int], expands: Bools) -> bool:
    """Whether a decoder that knows these entities (``expands``, as in ``QuestionInput``) may derive a form so."""
    allowed = np.concatenate([rules().expands, expands], axis=1)
    stack = [COMPLETE, ANSWER]
    for production in productions:
        if not allowed[stack.pop(), production]:
            return False
        if production < len(rules().productions):
            stack += rules().pushes[production, : rules().arity[production]].tolist()
    return stack == [COMPLETE]


def _form(entities: Sequence[Entity], productions: Iterable[int]) -> Form:
    steps = iter(productions)
    number = next(steps)
    leaf = number - len(rules().productions)
    if leaf >= 0:
        return Form(entities[leaf].name)
    name = rules().productions[number].name
    return Form(name, tuple(_form(entities, steps) for _ in FUNCTIONS[name].arguments))


def _targets(
    forms: Sequence[Weighted],
    entities: Sequence[Entity],
    expands: Bools,
    lengths: Ints,
    max_length: int,
) -> tuple[Targets | None, Unusable]:
    sequences = ((productions_of(form, entities), weight) for form, weight in forms)
    derived = [
        (sequence, weight)
        for sequence, weight in sequences
        if sequence is not None and is_derivation(sequence, expands)
    ]
    usable = [(sequence, weight) for sequence, weight in derived if len(sequence) <= max_length]
    unusable = Unusable(len(derived) - len(usable), len(forms) - len(derived))
    if not usable:
        return None, unusable
    return targets_of(
        [sequence for sequence, _ in usable], [weight for _, weight in usable], lengths
    ), unusable


def _tokens(question: Doc) -> tuple[Token, ...]:
    return tuple(
        Token(t.text, t.idx, t.idx + len(t), key(t.text), key(t.lemma_)) for t in question if not t.is_space
    )


def _origins(question: Doc, tokens: Sequence[Token], literals: Literals) -> dict[str, tuple[Place, ...]]:
    """Leaf -> the stretches of the question that make it."""
    origins: dict[str, list[Place]] = {}
    numbers, dates = find_values(question.text)
    for number in numbers:
        origins.setdefault(number_leaf(round_off(number.value)), []).append((number.start, number.end))
    for date in dates:
        origins.setdefault(date_leaf(as_date(date)), []).append((date.start, date.end))
    worded = [token for token in tokens if token.key]
    keys = [token.key for token in worded]
    for text in literals.strings:
        words = text.key.split("_")
        origins[string_leaf(text.key)] = [
            (t.start, t.end) for t in worded if text.key in (t.key, t.lemma)
        ] or [
            (worded[i].start, worded[i + len(words) - 1].end)
            for i in range(len(keys) - len(words) + 1)
            if keys[i : i + len(words)] == words
        ]
    return {leaf: tuple(places) for leaf, places in origins.items()}
