"""What a search looks for: the answers that its forms may reach."""

from typing import Protocol

from grammar.types import Denotation, Number, String, Text


class Goal(Protocol):
    """The answers that a form may reach."""

    @property
    def numbers(self) -> frozenset[Number]:
        """The numbers among them: arithmetic is solved for these, and no other number is accepted."""
        ...

    def accepts(self, denotation: Denotation) -> bool:
        """Whether a denotation is one of the answers."""
        ...

    @property
    def partial(self) -> bool:
        """Whether texts that no answer holds may stand beside some that one does."""
        ...

    def may_hold(self, text: Text) -> bool:
        """Whether an answer may hold the text."""
        ...

    def may_serve(self, string: String) -> bool:
        """Whether texts can be an answer, alone or together with others."""
        ...
