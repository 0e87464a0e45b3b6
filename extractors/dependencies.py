"""One tree of grammatical relations for every parser: the labels are those of Universal Dependencies, with
prepositions collapsed as in the collapsed Stanford dependencies (de Marneffe and Manning, 2008).

"The bridge opened in 1900" has the edge opened -obl:in-> 1900; the preposition hangs below its object as
``case``. Unlike in Universal Dependencies a copula stays the head of its clause, so that every clause has
one predicate: "The wall is thick" is is -nsubj-> wall, is -attr-> thick.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from extractors import universal
from extractors.annotate import Annotation
from extractors.repairs import FINITE, VERBAL, repair
from extractors.values import Date, Number

#: ClearNLP label (spaCy's English pipelines) -> relation. What is not listed is ``dep``.
RELATIONS = {
    "ROOT": "root",
    "acl": "acl",
    "acomp": "attr",
    "advcl": "advcl",
    "advmod": "advmod",
    "amod": "amod",
    "appos": "appos",
    "attr": "attr",
    "aux": "aux",
    "auxpass": "aux",
    "case": "case",
    "cc": "cc",
    "ccomp": "ccomp",
    "compound": "compound",
    "conj": "conj",
    "csubj": "csubj",
    "csubjpass": "csubj",
    "dative": "iobj",
    "det": "det",
    "dobj": "obj",
    "expl": "expl",
    "intj": "advmod",
    "mark": "mark",
    "meta": "dep",
    "neg": "neg",
    "nmod": "compound",
    "npadvmod": "obl",
    "nsubj": "nsubj",
    "nsubjpass": "nsubj:pass",
    "nummod": "nummod",
    "oprd": "attr",
    "parataxis": "parataxis",
    "pcomp": "obl",
    "pobj": "obl",
    "poss": "nmod:poss",
    "preconj": "cc",
    "predet": "det",
    "prep": "advmod",
    "prt": "prt",
    "punct": "punct",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
    "xcomp": "xcomp",
}

# fmt: off
#: Prepositions that name a relation of their own; any other gives plain ``obl`` or ``nmod``.
PREPOSITIONS = frozenset({
    "according_to", "as_of", "due_to", "prior_to", "about", "above", "across", "after", "against",
    "along", "among", "around", "as", "at", "because_of", "before", "behind", "below", "between",
    "beyond", "by", "despite", "during", "for", "from", "in", "into", "like", "of", "off", "on",
    "out_of", "over", "per", "since", "than", "through", "throughout", "to", "toward", "under",
    "until", "up_to", "upon", "via", "with", "within", "without",
})
# fmt: on
_SAME = {"towards": "toward", "till": "until", "amongst": "among", "onto": "on", "inside": "in"}

# fmt: off
#: Verbs whose clause may stand before them.
SPEECH = frozenset({
    "say", "think", "believe", "state", "write", "note", "report", "add", "claim", "argue", "tell",
    "explain", "suggest", "feel", "know",
})
# fmt: on

# fmt: off
#: First of two coordinated verbs, these do not share the second's object: "came and saw the town".
INTRANSITIVE = frozenset({
    "be", "come", "go", "sit", "stand", "rise", "fall", "die", "live", "arrive", "sleep", "wait",
    "appear", "return",
})
# fmt: on

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "csubj"})

#: Clauses that stand beside the one they hang on: rows of their own, no part of it.
NEIGHBOURS = frozenset({"conj", "list", "parataxis"})

_NOMINAL = frozenset({"NOUN", "PROPN", "NUM", "PRON", "SYM", "DET"})


@dataclass(frozen=True, slots=True)
class Tree:
    """Heads and relations by token index, and what follows from them.

    A root is its own head. ``children`` are in text order; ``first`` and ``last`` are the outermost tokens
    of each token's subtree: where it has gaps, its hull.
    """

    heads: Sequence[int]
    relations: Sequence[str]
    children: Sequence[Sequence[int]]
    first: Sequence[int]
    last: Sequence[int]


def collapsed_tree(annotation: Annotation) -> Tree:
    """The tree of a paragraph parsed with ClearNLP or universal labels."""
    heads = list(annotation.heads)
    if universal.is_universal(annotation):
        relations = universal.convert(annotation, heads, PREPOSITIONS)
    else:
        relations = [
            "mark" if label == "aux" and tag == "TO" else RELATIONS.get(label, "dep")
            for label, tag in zip(annotation.dependencies, annotation.tags, strict=True)
        ]
        _raise_objects(annotation, heads, relations)
        _collapse_prepositions(annotation, heads, relations)
    _mark_existentials(annotation, heads, relations)
    _mark_juxtaposed(annotation, heads, relations)
    repair(annotation, heads, relations)
    children = _children(heads)
    order = _top_down(heads, children)
    first = list(range(len(heads)))
    last = list(range(len(heads)))
    for i in reversed(order):
        head = heads[i]
        first[head] = min(first[head], first[i])
        last[head] = max(last[head], last[i])
    _extend_ranges(annotation, heads, relations, first, last)
    return Tree(heads, relations, children, first, last)


def _children(heads: Sequence[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in heads]
    for i, head in enumerate(heads):
        if head != i:
            children[head].append(i)
    return children


def _top_down(heads: Sequence[int], children: Sequence[Sequence[int]]) -> list[int]:
    order = [i for i, head in enumerate(heads) if head == i]
    for i in order:
        order.extend(children[i])
    return order


def _collapse_prepositions(annotation: Annotation, heads: list[int], relations: list[str]) -> None:
    """Hang each preposition's object on what the preposition hangs on, and the preposition below it."""
    labels, pos = annotation.dependencies, annotation.pos
    children = _children(heads)
    for p, label in enumerate(labels):
        chained = label == "conj" and pos[p] == "ADP"
        stacked = label == "pcomp" and pos[p] == "ADP"
        if label not in {"prep", "agent", "dative"} and not chained and not stacked:
            continue
        objects = [k for k in children[p] if labels[k] in {"pobj", "pcomp"} and pos[k] != "ADP"]
        if not objects:
            continue
        name = annotation.words[p].lower()
        head = heads[p]
        cases = [p]
        if chained and relations[head] != "case":
            # "in 1900 and after 1910": the first preposition was collapsed, so p hangs on 1900.
            head = heads[head]
        elif head != p and labels[head] == "prep" and heads[head] != head and relations[head] != "case":
            # "because of rain": a preposition below a preposition that has no object of its own.
            name = f"{annotation.words[head].lower()}_{name}"
            cases.append(head)
            head = heads[head]
        if head == p:
            continue  # A sentence that is a prepositional phrase: the preposition is its root.
        name = _SAME.get(name, name)
        if label == "agent":
            relation = "obl:agent"
        else:
            kind = "nmod" if pos[head] in _NOMINAL else "obl"
            relation = f"{kind}:{name}" if name in PREPOSITIONS else kind
        main = objects[0]
        for k in children[p]:
            heads[k] = main
        for case in cases:
            heads[case] = main
            relations[case] = "case"
        for k in objects:
            heads[k] = head
            relations[k] = relation


def _raise_objects(annotation: Annotation, heads: list[int], relations: list[str]) -> None:
    """In "made it feel good" and "want him to go", "it" and "him" are the object of the first verb, which the
    open clause shares: ClearNLP has a small clause with a subject of its own there."""
    children = _children(heads)
    for i, relation in enumerate(relations):
        verb = heads[i]
        if relation != "ccomp" or verb > i or annotation.pos[verb] not in VERBAL:
            continue
        subjects = [k for k in children[i] if relations[k] in {"nsubj", "nsubj:pass"} and verb < k < i]
        marks = [k for k in children[i] if relations[k] == "mark" and annotation.tags[k] != "TO"]
        finite = {
            annotation.tags[i],
            *(annotation.tags[k] for k in children[i] if relations[k] == "aux"),
        } & FINITE
        if len(subjects) == 1 and not marks and not finite:
            heads[subjects[0]], relations[subjects[0]] = verb, "obj"
            relations[i] = "xcomp"


def _mark_existentials(annotation: Annotation, heads: Sequence[int], relations: list[str]) -> None:
    """In "there were 96 males" the males are the subject."""
    existential = {
        heads[i]
        for i, relation in enumerate(relations)
        if relation == "expl" and annotation.lemmas[i] == "there"
    }
    for i, head in enumerate(heads):
        if relations[i] == "attr" and head in existential:
            relations[i] = "nsubj"


def _mark_juxtaposed(annotation: Annotation, heads: Sequence[int], relations: list[str]) -> None:
    """A clause before a comma and another clause is that one's neighbour, not its complement, unless the
    other one says it: "He won, she lost" against "He won, she said"."""
    subjects = {heads[i]: i for i, relation in enumerate(relations) if relation.startswith("nsubj")}
    marked = {heads[i] for i, relation in enumerate(relations) if relation == "mark"}
    for i, relation in enumerate(relations):
        head = heads[i]
        if relation == "ccomp" and i < subjects.get(head, -1) < head and i not in marked:
            joined = any(word in {",", ";"} for word in annotation.words[i : subjects[head]])
            if joined and annotation.lemmas[head] not in SPEECH:
                relations[i] = "parataxis"


def _extend_ranges(
    annotation: Annotation, heads: Sequence[int], relations: Sequence[str], first: list[int], last: list[int]
) -> None:
    """In "from 18 to 24" let the first phrase reach to the end of the range; the second stays its own."""
    values: list[Number | Date] = [*annotation.numbers, *annotation.dates]
    edges = {value.start for value in values}, {value.end for value in values}
    for i, relation in enumerate(relations):
        if first[i] == i or not relation.endswith((":to", ":until")):
            continue
        before = next(
            (k for k in range(first[i] - 1, max(first[i] - 6, -1), -1) if heads[k] == heads[i]), None
        )
        if (
            before is not None
            and relations[before].endswith(":from")
            and last[before] == first[i] - 1
            and annotation.ends[last[before]] in edges[1]
            and annotation.starts[first[i] + 1] in edges[0]
        ):
            last[before] = last[i]
