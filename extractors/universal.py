"""Universal Dependencies to the relations and heads of ``extractors.dependencies``.

Names are kept. What changes: a copula becomes the head of its clause, the last part of a flat name the head
of the name, and a preposition joins the relation of its object.
"""

from collections.abc import Mapping, Sequence

from extractors.annotate import Annotation

# Labels that ClearNLP does not have.
_MARKERS = frozenset(
    {"root", "obj", "obl", "nmod:poss", "nsubj:pass", "aux:pass", "cop", "flat", "fixed", "compound:prt"}
)

#: Label -> relation where they differ.
RELATIONS = {
    "ROOT": "root",
    "aux:pass": "aux",
    "cc:preconj": "cc",
    "compound:prt": "prt",
    "csubj:pass": "csubj",
    "det:predet": "det",
    "discourse": "advmod",
    "dislocated": "dep",
    "fixed": "case",
    "goeswith": "compound",
    "nmod:npmod": "nmod",
    "nmod:tmod": "nmod",
    "nmod:unmarked": "nmod",
    "nsubj:outer": "nsubj",
    "obl:npmod": "obl",
    "obl:tmod": "obl",
    "obl:unmarked": "obl",
    "orphan": "dep",
    "reparandum": "dep",
    "vocative": "dep",
}

_OF_THE_CLAUSE = frozenset(
    {"nsubj", "nsubj:pass", "csubj", "aux", "mark", "expl", "neg", "advcl", "parataxis", "punct"}
)


def is_universal(annotation: Annotation) -> bool:
    """Whether the paragraph's labels are universal: one that only this scheme has tells, as does a
    preposition below its object."""
    return any(
        label in _MARKERS or (label == "case" and pos == "ADP")
        for label, pos in zip(annotation.dependencies, annotation.pos, strict=True)
    )


def convert(annotation: Annotation, heads: list[int], prepositions: frozenset[str]) -> list[str]:
    """The relations of a paragraph parsed with universal labels; ``heads`` changes in place."""
    relations = [RELATIONS.get(label, label) for label in annotation.dependencies]
    for i, relation in enumerate(relations):
        if relation == "advmod" and annotation.lemmas[i] in {"not", "n't"}:
            relations[i] = "neg"
    names = _prepositions(annotation, heads, relations)
    passive = {heads[i] for i, label in enumerate(annotation.dependencies) if label == "aux:pass"}
    for i, name in names.items():
        if relations[i] == "obl" and name == "by" and heads[i] in passive:
            relations[i] = "obl:agent"
        elif relations[i] in {"obl", "nmod"} and name in prepositions:
            relations[i] += f":{name}"
    _end_flat_names(heads, relations)
    # In "the ship is in Hull", Hull is no attribute.
    oblique = {i: f"obl:{name}" if name in prepositions else "obl" for i, name in names.items()}
    _raise_copulas(heads, relations, oblique)
    return relations


def _prepositions(annotation: Annotation, heads: Sequence[int], relations: Sequence[str]) -> dict[int, str]:
    """The preposition of each token that has one."""
    words: dict[int, list[str]] = {}
    for i, relation in enumerate(relations):
        if relation == "case" and annotation.pos[i] != "PART":
            # The words of a fixed expression ("because of") hang on its first one.
            top = heads[i] if relations[heads[i]] != "case" else heads[heads[i]]
            words.setdefault(top, []).append(annotation.words[i].lower())
    return {i: "_".join(parts) for i, parts in words.items()}


def _end_flat_names(heads: list[int], relations: list[str]) -> None:
    """In "Gordon Vale" the last word becomes the head, as in a compound."""
    last_parts = {heads[i]: i for i, relation in enumerate(relations) if relation.startswith("flat")}
    for first, last in last_parts.items():
        _swap(first, last, heads, relations)
        for i, head in enumerate(heads):
            if head == first:
                heads[i] = last
        relations[first] = "compound"
    for i, relation in enumerate(relations):
        if relation.startswith("flat"):
            relations[i] = "compound"


def _raise_copulas(heads: list[int], relations: list[str], oblique: Mapping[int, str]) -> None:
    """In "the wall is thick" the copula becomes the head, and the subject and what else modifies the whole
    clause hang on it; its complement keeps its own modifiers."""
    clauses = {heads[i] for i, relation in enumerate(relations) if relation in {"cop", "nsubj", "nsubj:pass"}}
    for copula, relation in enumerate(relations):
        if relation != "cop":
            continue
        complement = heads[copula]
        _swap(complement, copula, heads, relations)
        relations[complement] = oblique.get(complement, "attr")
        for i, head in enumerate(heads):
            before = i < copula and relations[i].startswith(("advmod", "obl"))
            beside = relations[i] == "conj" and i in clauses
            if head == complement and (before or beside or relations[i] in _OF_THE_CLAUSE):
                heads[i] = copula


def _swap(upper: int, lower: int, heads: list[int], relations: list[str]) -> None:
    """Let ``lower``, which hangs on ``upper``, take its place."""
    heads[lower] = lower if heads[upper] == upper else heads[upper]
    relations[lower] = relations[upper]
    heads[upper] = lower
