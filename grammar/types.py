"""The types of the language and their denotations in Python.

A function of the language is a typed Python function; the annotations below are all that the grammar is
read off. Denotations are immutable and hashable, so that a search can keep each of them once.
"""

from typing import NamedTuple, NewType

#: A set of rows of the table as a bit mask: bit i is set where row i is in the set.
Rows = NewType("Rows", int)
#: A relation (column) of the table, by name.
Relation = NewType("Relation", str)
#: What to take from inside a cell: a phrase label (``conj``, ``nmod:from``) or an entity type (``person``).
Part = NewType("Part", str)
Number = NewType("Number", float)


class Text(NamedTuple):
    """A piece of text: ``surface`` is shown and scored, ``key`` (words joined by ``_``) is searched for."""

    surface: str
    key: str


#: One or several texts, in text order: the denotation of whatever answers with words.
String = tuple[Text, ...]


class Date(NamedTuple):
    """A date as far as it is known. ``last_year`` closes a range such as a decade."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    last_year: int | None = None

    def compare(self, other: "Date") -> int | None:
        """-1, 0 or 1 as this date is before, equal to or after ``other``; None where the known parts do not
        decide. Two dates without a year are taken to lie in the same one, as in the original baseline."""
        if self.year is not None and other.year is not None:
            if (self.last_year or self.year) < other.year:
                return -1
            if self.year > (other.last_year or other.year):
                return 1
            if (self.year, self.last_year) != (other.year, other.last_year):
                return None
        if (self.year is None) != (other.year is None):
            return None
        for mine, theirs in ((self.quarter, other.quarter), (self.month, other.month), (self.day, other.day)):
            if mine is None and theirs is None:
                continue
            if mine is None or theirs is None:
                return None
            if mine != theirs:
                return _sign(mine, theirs)
        return 0

    def is_possible(self) -> bool:
        """True where some part is known and every known part can be one: there is no year 0, no month 13."""
        bounds = ((self.month, 12), (self.day, 31), (self.quarter, 4))
        return (
            any(part is not None for part in self[:4])
            and self.year != 0
            and all(part is None or 1 <= part <= most for part, most in bounds)
        )

    def agrees(self, other: "Date") -> bool:
        """True where no part known of both differs (not transitive: 2018 agrees with any day of 2018)."""
        if self.year is not None and other.year is not None:
            first, last = self.year, self.last_year or self.year
            if last < other.year or first > (other.last_year or other.year):
                return False
        pairs = ((self.month, other.month), (self.day, other.day), (self.quarter, other.quarter))
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _sign(mine: int, theirs: int) -> int:
    return (mine > theirs) - (mine < theirs)


Denotation = Rows | Number | Date | String

#: Annotation -> the name of the type, as it stands in productions.
TYPE_NAMES: dict[object, str] = {
    Rows: "Rows",
    Relation: "Relation",
    Part: "Part",
    Number: "Number",
    Date: "Date",
    String: "String",
}

#: The types that can answer a question.
ANSWER_TYPES = ("Number", "String", "Date")
