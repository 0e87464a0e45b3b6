"""The leaves of a language as nodes of a forest, each made once."""

from grammar.forest import Leaf
from grammar.forms import Form
from grammar.language import Language, date_leaf, number_leaf, part_leaf, relation_leaf, string_leaf
from grammar.types import Denotation


class Leaves:
    """The relations and the parts of the table by name, and the question's literals: type -> denotation -> leaf."""

    def __init__(self, language: Language) -> None:
        view, literals = language.view, language.literals
        self.relations = {name: Leaf(Form(relation_leaf(name))) for name in view.relations}
        self.parts = {name: Leaf(Form(part_leaf(name))) for name in view.parts}
        self.literals: dict[str, dict[Denotation, Leaf]] = {
            "String": {(text,): Leaf(Form(string_leaf(text.key))) for text in literals.strings},
            "Number": {number: Leaf(Form(number_leaf(number))) for number in literals.numbers},
            "Date": {date: Leaf(Form(date_leaf(date))) for date in literals.dates},
        }
