"""What a clause leaves to the clauses around it, told by tokens: the antecedent of a relative clause, the subject
of a coordinated verb, an infinitive or a participle, the object that stands after the last of several verbs.

Every scheme asks here, and builds its own cells from the answers.
"""

from collections.abc import Iterator
from typing import NamedTuple

from extractors.annotate import Annotation
from extractors.dependencies import INTRANSITIVE, SUBJECTS, Tree
from extractors.repairs import FINITE, PERCENT, VERBAL

# fmt: off
#: Predicative adjectives that make one relation with the infinitive after them: "is able to swim".
RAISING = frozenset({
    "able", "unable", "likely", "unlikely", "ready", "willing", "unwilling", "due", "certain", "sure",
    "eligible", "free", "set", "bound", "eager", "reluctant", "supposed", "apt", "prone", "quick",
})
#: Verbs whose object does what an infinitive says: "asked Hale to go".
CONTROL = frozenset({
    "advise", "allow", "appoint", "ask", "assign", "authorize", "beg", "believe", "call", "cause", "challenge",
    "choose", "command", "compel", "consider", "convince", "direct", "elect", "enable", "encourage", "entitle",
    "expect", "find", "forbid", "force", "get", "help", "hire", "induce", "inspire", "instruct", "invite", "lead",
    "leave", "like", "motivate", "need", "oblige", "order", "permit", "persuade", "prefer", "prepare", "press",
    "prompt", "push", "recruit", "remind", "request", "require", "retain", "select", "send", "signal", "teach", "tell",
    "tempt", "train", "trust", "urge", "want", "warn", "wish",
})
#: Participles that serve as prepositions. Of the subject of the clause they hang on they say nothing: the first of
#: these tell of what is named just before them, the others of nothing.
_OF_WHAT_PRECEDES = frozenset({"followed", "including", "excluding", "compared", "depending", "based"})
_OF_NOTHING = frozenset({"regarding", "concerning", "considering", "owing", "given"})
# fmt: on
_RELATIVE = frozenset({"WDT", "WP", "WP$", "WRB"})
_INHERITING = frozenset({"conj", "xcomp", "advcl", "dep", "attr"})
#: Prepositions before a noun with a participle of its own: "with Hale kicking a goal".
_ABSOLUTE = ("obl:agent", ":with", ":without", ":despite", ":by")
#: Prepositions that are subordinators, too, where a finite verb follows: "as Hale kicked a goal".
_SUBORDINATING = ("obl:as", "obl:after", "obl:before", "obl:since", "obl:until")
_NUMBERS = {
    **dict.fromkeys(("are", "were", "have"), "plural"),
    **dict.fromkeys(("is", "was", "has"), "singular"),
}
_SINGULAR = frozenset({"NN", "NNP"})


class Phrase(NamedTuple):
    """The noun phrases that ``nouns`` head; where ``before`` is a clause that describes them, up to it."""

    nouns: tuple[int, ...]
    before: int | None = None


class Antecedent(NamedTuple):
    """What a relative or participial clause describes, and the relation it has there: that of its pronoun, ``when``
    or ``where``. It is not ``direct`` where the pronoun belongs to a noun of the clause: "whose ships sank"."""

    phrase: Phrase
    relation: str
    direct: bool = True


class SharedParts:
    """The shared parts of the clauses of one paragraph."""

    def __init__(self, annotation: Annotation, tree: Tree) -> None:
        self._annotation = annotation
        self._tree = tree
        self._subjects: dict[int, Phrase] = {}

    def is_verb(self, i: int) -> bool:
        """Whether ``i`` is a verb. A lone dash is none, whatever the tagger says."""
        return self._annotation.pos[i] in VERBAL and not self.is_sign(i)

    def is_sign(self, i: int) -> bool:
        """Whether ``i`` is a sign alone: a dash, or a "%" that has lost its number."""
        word, alone = self._annotation.words[i], self._tree.first[i] == self._tree.last[i]
        return alone and not any(character.isalnum() for character in word)

    def is_relative(self, i: int) -> bool:
        return self._annotation.tags[i] in _RELATIVE

    def is_item(self, i: int) -> bool:
        """Whether ``i`` heads an item of a list of shares."""
        tree = self._tree
        return tree.relations[i] == "list" or any(tree.relations[k] == "list" for k in tree.children[i])

    def is_passive(self, i: int) -> bool:
        """Whether the subject of the verb ``i`` undergoes it: "was built", "built in 1900"."""
        tree, labels, tags = self._tree, self._annotation.dependencies, self._annotation.tags
        while True:
            children = tree.children[i]
            if any(labels[k] in {"auxpass", "aux:pass"} for k in children):
                return True
            if tags[i] != "VBN" or any(tree.relations[k] == "aux" for k in children):
                return False
            if tree.relations[i] != "conj":
                return True
            i = tree.heads[i]  # "was built and sold": one auxiliary for both.

    def antecedent(self, i: int) -> Antecedent | None:
        """What clause ``i`` describes, where it is relative or participial."""
        tree = self._tree
        if tree.relations[i] not in {"acl", "acl:relcl"} or self._annotation.pos[tree.heads[i]] in VERBAL:
            return None
        phrase = Phrase(self._described(i), i)
        for k in tree.children[i]:
            if self.is_relative(k):
                relation = tree.relations[k]
                if relation in {"advmod", "mark"}:
                    relation = "where" if self._annotation.lemmas[k] == "where" else "when"
                return Antecedent(phrase, relation)
            for inner in tree.children[k]:
                if self.is_relative(inner):
                    relation = tree.relations[inner]
                    return Antecedent(
                        phrase, relation if relation.startswith("nmod") else "obl", direct=False
                    )
        relations = {tree.relations[k] for k in tree.children[i]}
        if relations.isdisjoint(SUBJECTS):
            return Antecedent(phrase, "nsubj:pass" if self.is_passive(i) else "nsubj")
        return Antecedent(phrase, "obl" if "obj" in relations else "obj")

    def _described(self, i: int) -> tuple[int, ...]:
        """The nouns that clause ``i`` describes: of several that are coordinated before it all that its verb agrees
        with: "Vale and Eyre, who were kings", but "Vale and Eyre, who was a king"."""
        tree, tags = self._tree, self._annotation.tags
        noun = tree.heads[i]
        number = self._number(i)
        first = noun
        if tree.relations[noun] == "conj" and tags[noun] in _SINGULAR and number == "plural":
            first = tree.heads[noun]
        if self._annotation.pos[first] in VERBAL:
            return (noun,)
        others = (k for k in tree.children[first] if tree.relations[k] == "conj")
        nouns = (first, *(k for k in others if first < k < tree.first[i]))
        return nouns[-1:] if number == "singular" and tags[nouns[-1]] in _SINGULAR else nouns

    def _number(self, i: int) -> str | None:
        """The number of the verb in the relative clause ``i``, where its subject is the pronoun and the verb tells."""
        tree = self._tree
        if not any(self.is_relative(k) and tree.relations[k] in SUBJECTS for k in tree.children[i]):
            return None
        verbs = (*(k for k in tree.children[i] if tree.relations[k] == "aux"), i)
        told = (_NUMBERS.get(self._annotation.words[k].lower()) for k in verbs)
        by_tag = {"VBP": "plural", "VBZ": "singular"}.get(self._annotation.tags[i])
        return next((number for number in told if number), by_tag)

    def subjects(self, i: int) -> Phrase:
        """The subjects of clause ``i``: its own, what it describes, or those of the clause that governs it.
        A pronoun that stands for what the clause describes gives place to that."""
        path = []
        while i not in self._subjects:
            path.append(i)
            found, governor = self._subjects_or_governor(i)
            if governor is None:
                self._subjects[i] = Phrase(()) if found is None else found
            else:
                i = governor
        for j in path:
            self._subjects[j] = self._subjects[i]
        return self._subjects[i]

    def _subjects_or_governor(self, i: int) -> tuple[Phrase | None, int | None]:
        tree, pos = self._tree, self._annotation.pos
        antecedent = self.antecedent(i)
        if antecedent is not None and antecedent.relation in SUBJECTS:
            return antecedent.phrase, None
        own = tuple(k for k in tree.children[i] if tree.relations[k] in SUBJECTS)
        governor, relation = tree.heads[i], tree.relations[i]
        if own or governor == i:
            return Phrase(own), None
        if self.is_item(i):
            return self._whole_of_shares(governor), None
        if relation == "xcomp" and self._annotation.lemmas[governor] in RAISING and pos[governor] == "ADJ":
            return None, tree.heads[governor]
        if pos[i] in VERBAL and (noun := self._absolute(i)) is not None:
            others = (k for k in tree.children[noun] if tree.relations[k] == "conj" and k < i)
            return Phrase((noun, *others), i), None
        if pos[i] not in VERBAL or pos[governor] not in VERBAL:
            return None, None
        if relation in {"advcl", "dep"} and self._dangles(i):
            followed = self._annotation.words[i].lower() == "followed"
            return (None, governor) if followed and self.is_passive(governor) else (self._preceding(i), None)
        if relation == "xcomp" and not self._is_purpose(i):
            objects = [k for k in tree.children[governor] if tree.relations[k] in {"obj", "iobj"} and k < i]
            if objects:
                return Phrase((objects[-1],)), None
        if relation in _INHERITING or relation.startswith("obl"):
            return None, governor
        return None, None

    def _whole_of_shares(self, governor: int) -> Phrase:
        """What the items of a list of shares are shares of: the subject of the clause they hang on, unless that is
        a share itself."""
        subjects = self.subjects(governor)
        shares = any(self._annotation.words[noun].lower() in PERCENT for noun in subjects.nouns)
        return Phrase(()) if shares else subjects

    def _is_purpose(self, i: int) -> bool:
        """Whether the infinitive ``i`` tells what its governor is done for: "kicked a goal to tie the game"."""
        governor, first = self._tree.heads[i], self._tree.first[i]
        return self._annotation.tags[first] == "TO" and self._annotation.lemmas[governor] not in CONTROL

    def _absolute(self, i: int) -> int | None:
        """The noun just before the verb ``i`` that is its subject, though the parser has a preposition take it."""
        tree, finite = self._tree, self._annotation.tags[i] in FINITE
        relations = {"advcl", "conj"} if finite else {"advcl", "xcomp", "dep"}
        before = {tree.relations[k] for k in tree.children[i] if k < i}
        complement = self._annotation.dependencies[i] == "pcomp"
        if not (complement or tree.relations[i] in relations) or not before <= {"aux", "neg", "advmod"}:
            return None
        if not finite and self._annotation.tags[i] != "VBG":
            return None
        prepositions = _SUBORDINATING if finite else _ABSOLUTE
        for noun in self._ending_before(tree.first[i], tree.heads[i]):
            if tree.relations[noun].endswith(prepositions) and self._annotation.pos[noun] not in VERBAL:
                return noun
        return None

    def _ending_before(self, token: int, i: int) -> Iterator[int]:
        """The heads of the phrases below ``i`` that end just before ``token``, the largest first."""
        tree = self._tree
        while True:
            ending = [k for k in tree.children[i] if tree.last[k] == token - 1]
            if not ending:
                return
            i = ending[-1]
            yield i

    def _dangles(self, i: int) -> bool:
        """Whether the participle ``i`` serves as a preposition: "based on the census", but not "based in Hull"."""
        word = self._annotation.words[i].lower()
        relations = {self._tree.relations[k] for k in self._tree.children[i]}
        if word == "based":
            return not relations.isdisjoint({"obl:on", "obl:upon"})
        if word == "followed":
            return True
        return word in _OF_WHAT_PRECEDES | _OF_NOTHING and "obl:agent" not in relations

    def _preceding(self, i: int) -> Phrase:
        """What the dangling participle ``i`` tells of: what is named last before it in the clause above."""
        tree, pos = self._tree, self._annotation.pos
        if self._annotation.words[i].lower() in _OF_NOTHING:
            return Phrase(())
        first = tree.first[i]
        while first > 0 and tree.relations[first - 1] == "punct":
            first -= 1
        named = (k for k in self._ending_before(first, tree.heads[i]) if pos[k] in {"NOUN", "PROPN"})
        return Phrase(tuple(named)[:1], i)

    def object(self, i: int) -> int | None:
        """The object that stands only after the last of several coordinated verbs: "managed and owned it"."""
        tree, pos = self._tree, self._annotation.pos
        verb = i
        while pos[verb] == "VERB" and self._annotation.lemmas[i] not in INTRANSITIVE:
            children = tree.children[verb]
            if verb != i:
                own = any(tree.relations[k] in SUBJECTS for k in children)
                if own or self.is_passive(i) or self.is_passive(verb):
                    return None
                objects = [k for k in children if tree.relations[k] == "obj"]
                if objects:
                    return objects[0]
            following = [k for k in children if k > verb and tree.relations[k] not in {"cc", "punct"}]
            if len(following) != 1 or tree.relations[following[0]] != "conj":
                return None
            verb = following[0]
        return None
