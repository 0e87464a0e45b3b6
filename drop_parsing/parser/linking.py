"""Linking features: how each token of a question may refer to each entity.

After Krishnamurthy, Dasigi & Gardner (2017) and their ``KnowledgeGraphField``: exact and lemma matches of the whole
name or of a word of it, overlap of a span, words of related cells. Values, units and the kind of thing that a
question word asks for are added for tables that are made from text, whose relations are named by syntax.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drop_parsing.parser.entities import Contents, Entity

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the question at ``[start, end)``: as it stands, the key of that, and the key of its lemma."""

    text: str
    start: int
    end: int
    key: str
    lemma: str


#: The features in order. Of the token and the entity:
PAIRED = (
    "exact",  # the token is the entity's name
    "lemma",  # so is its lemma
    "contains",  # the token is a word of the name
    "contains_lemma",  # so is its lemma
    "overlap",  # the share of the name's words in the run of such tokens around the token
    "origin",  # the literal was made of this token (also: its number, its date)
    "near_origin",  # 1 / (1 + tokens between it and the nearest such token)
    "in_cells",  # a cell under the relation, or a phrase of the part, has the token's lemma
    "unit",  # the token's lemma is the unit of a number under the relation
    "asks_for",  # the share of the cells that hold what the question word asks for
)
#: Of the entity alone, the same for every token:
SINGLE = (
    "filled",  # the share of the table's rows that have it: a relation, or a literal in some cell
    "numbers",  # the share of its cells with a number
    "dates",  # the share with a date
    "entities",  # the share with a person, a place or an organisation
    "joined",  # the share of the entities that are its neighbours
    "words",  # the words of the name, a quarter for each, 1 at most
    "inner",  # the literal's words stand within those of a longer one
    "place",  # where in the question the literal stands first: from 0 to 1
)
FEATURES = PAIRED + SINGLE

_PEOPLE = ("PERSON", "ORG", "NORP")
_PLACES = ("GPE", "LOC", "FAC")
#: Question word -> the kinds of entity that answer it.
ASKED = {
    **dict.fromkeys(("who", "whom", "whose", "player", "team", "person"), _PEOPLE),
    **dict.fromkeys(("where", "country", "city", "place"), _PLACES),
    **dict.fromkeys(("when", "year", "month", "day", "date"), ("date",)),
    **dict.fromkeys(("many", "much", "number", "long", "percent", "percentage", "age", "old"), ("number",)),
}


def linking_features(
    tokens: Sequence[Token],
    entities: Sequence[Entity],
    contents: Mapping[str, Contents],
    rows: int,
    neighbours: npt.NDArray[np.bool_],
) -> Floats:
    """(entities, tokens, features). ``contents`` are those of the table's own entities (``TableEntities``), ``rows``
    the number of its rows, ``neighbours`` (entities, entities) the graph."""
    made = np.zeros((len(entities), len(tokens), len(FEATURES)), dtype=np.float32)
    asked = [ASKED.get(token.lemma, ()) for token in tokens]
    texts = [f"_{'_'.join(entity.words)}_" for entity in entities if entity.type == "String"]
    for e, entity in enumerate(entities):
        _add_name_matches(made[e], tokens, entity)
        if entity.origin:
            _add_origin(made[e], tokens, entity)
        held = contents.get(entity.name)
        if held is not None:
            for i, token in enumerate(tokens):
                made[e, i, 7:10] = (
                    token.lemma in held.words,
                    token.lemma in held.units,
                    held.share(asked[i]),
                )
            made[e, :, 11:14] = (
                held.share(("number",)),
                held.share(("date",)),
                held.share((*_PEOPLE, *_PLACES)),
            )
        made[e, :, 10] = min(entity.rows / max(rows, 1), 1.0)
        made[e, :, 14:] = (
            neighbours[e].mean(),
            min(len(entity.words), 4) / 4,
            entity.type == "String" and _stands_within(f"_{'_'.join(entity.words)}_", texts),
            min((start for start, _ in entity.origin), default=0) / max(tokens[-1].end if tokens else 1, 1),
        )
    return made


def _stands_within(text: str, texts: Sequence[str]) -> bool:
    return any(text in other for other in texts if text != other)


def _add_name_matches(made: Floats, tokens: Sequence[Token], entity: Entity) -> None:
    name, words = "_".join(entity.words), set(entity.words)
    contained = [token.key in words or token.lemma in words for token in tokens]
    for i, token in enumerate(tokens):
        if not contained[i]:
            continue
        first = last = i
        while first > 0 and contained[first - 1]:
            first -= 1
        while last + 1 < len(tokens) and contained[last + 1]:
            last += 1
        run = tokens[first : last + 1]
        made[i, :5] = (
            token.key == name,
            token.lemma == name,
            token.key in words,
            token.lemma in words,
            sum(any(word in (t.key, t.lemma) for t in run) for word in words) / len(words),
        )


def _add_origin(made: Floats, tokens: Sequence[Token], entity: Entity) -> None:
    inside = [any(t.start < end and start < t.end for start, end in entity.origin) for t in tokens]
    places = np.flatnonzero(inside)
    for i in range(len(tokens)):
        made[i, 5] = inside[i]
        if len(places):
            made[i, 6] = 1 / (1 + np.abs(places - i).min())
