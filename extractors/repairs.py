"""Corrections of a parse that its words dictate.

A statistical parser often tears dates apart, hangs the items of a list of shares ("25% under the age of 18, 9.2%
from 18 to 24, ...") anywhere, and takes "running back" for a verb. All are certain from the words alone. The
functions change ``heads`` and ``relations`` in place and keep the tree a tree.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from extractors.annotate import Annotation
from extractors.values import Date, Number

VERBAL = frozenset({"VERB", "AUX"})

#: Penn tags of verbs with a tense.
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})

#: So many items make a list of shares.
_MIN_ITEMS = 3
PERCENT = frozenset({"%", "percent"})
_SEPARATORS = frozenset({",", ";", "and", "or", "while", "plus"})
_HEDGES = frozenset(
    {"about", "around", "only", "over", "nearly", "another", "approximately", "some", "just", "the"}
)


#: What the relation of a clause becomes where its head is found to be a noun.
_NOMINAL = {
    "csubj": "nsubj",
    "xcomp": "obj",
    "ccomp": "obj",
    "acl": "appos",
    "acl:relcl": "appos",
    "advcl": "obl",
    "amod": "compound",
}


def repair(annotation: Annotation, heads: list[int], relations: list[str]) -> None:
    for i in range(len(annotation.words) - 2):
        if annotation.words[i].lower() == "running" and annotation.words[i + 1].lower() == "back":
            _name_running_back(annotation, i, heads, relations)
    _join_values(annotation, heads, relations)
    for items in _share_lists(annotation):
        _rewire_list(annotation, items, heads, relations)
    _flatten_coordination(annotation, heads, relations)


def _join_values(annotation: Annotation, heads: list[int], relations: list[str]) -> None:
    """Make one constituent of each number and date, whatever the parser made of it."""
    values: list[Number | Date] = [*annotation.numbers, *annotation.dates]
    for value in values:
        first = max(bisect_right(annotation.starts, value.start) - 1, 0)
        end = bisect_left(annotation.starts, value.end)
        if end - first < 2 or _sentence(annotation, first) != _sentence(annotation, end - 1):
            continue
        tops = [i for i in range(first, end) if heads[i] == i or not first <= heads[i] < end]
        # The top nearest the root takes the others: it lies below none of them.
        main = min(tops, key=lambda i: _depth(heads, i))
        for top in tops:
            if top != main:
                heads[top] = main
                relations[top] = "compound" if relations[top] != "case" else "case"


def _name_running_back(annotation: Annotation, i: int, heads: list[int], relations: list[str]) -> None:
    """Make "running back" the title of the name after it where the parser took it for a verb: the commonest
    title in reports of football."""
    same = _sentence(annotation, i) == _sentence(annotation, i + 2)
    if annotation.pos[i] not in VERBAL or annotation.pos[i + 2] != "PROPN" or not same:
        return
    name = i + 2
    while i < heads[name] != name and annotation.pos[heads[name]] == "PROPN":
        name = heads[name]
    while annotation.pos[name + 1 : name + 2] == ["PROPN"] and not _is_below(heads, name + 1, name):
        heads[name], relations[name] = name + 1, "compound"
        name += 1
    if _is_below(heads, name, i):
        relation = relations[i]
        heads[name] = name if heads[i] == i else heads[i]
        relations[name] = _NOMINAL.get(relation, relation)
    for k in range(*annotation.sentences[_sentence(annotation, i)]):
        if heads[k] not in {i, i + 1} or k == name:
            continue
        heads[k] = name
        governor = heads[name]
        if k > name and relations[k] in {"xcomp", "advcl"}:
            relations[k] = "acl"
        elif k > name and relations[k].startswith("obl") and annotation.pos[governor] in VERBAL:
            heads[k] = governor  # "found running back Hale on a 3-yard pass"
        elif k < i and relations[k] == "case" and relations[name].startswith("nsubj"):
            heads[k], relations[k] = governor, "mark"  # "as running back Hale scored"
    for k in (i, i + 1):
        heads[k], relations[k] = name, "compound"


def _is_below(heads: Sequence[int], i: int, above: int) -> bool:
    while heads[i] != i:
        i = heads[i]
        if i == above:
            return True
    return False


def _share_lists(annotation: Annotation) -> Iterator[list[tuple[int, int, int]]]:
    """Runs of verbless items "25% under the age of 18": first token, percent sign and end of each."""
    words, tags = annotation.words, annotation.tags
    for first, end in annotation.sentences:
        signs = [
            i for i in range(first + 1, end) if words[i].lower() in PERCENT and words[i - 1][0].isdigit()
        ]
        if len(signs) < _MIN_ITEMS:
            continue
        run: list[tuple[int, int, int]] = []
        for sign, following in zip(signs, [*signs[1:], None], strict=True):
            stop = _item_end(words, sign, end if following is None else following - 1)
            content = stop > sign + 1 and words[sign + 1] != "(" and not _is_clause(tags[sign + 1 : stop])
            if content:
                run.append((sign - 1, sign, stop))
            joined = content and following is not None and _only_separators(words, stop, following - 1)
            if not joined:
                if len(run) >= _MIN_ITEMS:
                    yield run
                run = []


def _is_clause(tags: Sequence[str]) -> bool:
    """Whether there is a finite verb outside a relative clause."""
    finite = [i for i, tag in enumerate(tags) if tag in FINITE]
    return bool(finite) and not any(tag in {"WP", "WDT"} for tag in tags[: finite[0]])


def _item_end(words: Sequence[str], sign: int, limit: int) -> int:
    """The end of the item around the percent sign: at the separator before the next item, or at a stop."""
    end = limit
    while end > sign + 1 and (words[end - 1].lower() in _HEDGES or words[end - 1].lower() in _SEPARATORS):
        end -= 1
    for i in range(sign + 1, end):
        if words[i] in {",", ";", ".", ":"}:
            return i
    return end


def _only_separators(words: Sequence[str], start: int, end: int) -> bool:
    between = [word.lower() for word in words[start:end]]
    return bool(_SEPARATORS.intersection(between)) and all(w in _SEPARATORS or w in _HEDGES for w in between)


def _rewire_list(
    annotation: Annotation, items: Sequence[tuple[int, int, int]], heads: list[int], relations: list[str]
) -> None:
    """Make each percent sign the head of its item, and the later items hang on the first as ``list``."""
    start, end = items[0][0], items[-1][2]
    leader = items[0][1]
    tops = [i for i in range(start, end) if heads[i] == i or not start <= heads[i] < end]
    # The top nearest the root says where the list hangs; nothing above it lies inside the list.
    top = min(tops, key=lambda i: _depth(heads, i))
    outer, relation = (leader, "root") if heads[top] == top else (heads[top], relations[top])
    for first, sign, stop in items:
        for i in range(first, stop):
            if i != sign and not first <= heads[i] < stop:
                heads[i] = sign
                relations[i] = _item_relation(annotation, i, relations[i])
        heads[sign], relations[sign] = leader, "list"
    for i in range(*annotation.sentences[_sentence(annotation, start)]):
        outside = not any(first <= i < stop for first, _, stop in items)
        if outside and (start <= heads[i] < end or start <= i < end):
            heads[i] = leader
            if start <= i < end:
                relations[i] = "punct"
    heads[leader] = outer
    relations[leader] = relation if relation not in {"compound", "nummod", "amod", "case", "punct"} else "dep"


def _item_relation(annotation: Annotation, i: int, relation: str) -> str:
    if relation in {"punct", "cc", "case"}:
        return relation
    if annotation.pos[i] in VERBAL:
        return "acl:relcl"
    kind, _, preposition = relation.partition(":")
    if kind in {"obl", "nmod"} and preposition:
        return f"nmod:{preposition}"
    return "appos"


def _sentence(annotation: Annotation, token: int) -> int:
    return bisect_right(annotation.sentences, (token, len(annotation.words))) - 1


def _flatten_coordination(annotation: Annotation, heads: list[int], relations: Sequence[str]) -> None:
    """Hang every noun of a list on the first one. Verbs keep their chain: what they share depends on it."""
    for i, relation in enumerate(relations):
        head = heads[i]
        if relation == "conj" == relations[head] and annotation.pos[head] not in VERBAL:
            heads[i] = heads[head]


def _depth(heads: Sequence[int], i: int) -> int:
    depth = 0
    while heads[i] != i:
        i = heads[i]
        depth += 1
    return depth
