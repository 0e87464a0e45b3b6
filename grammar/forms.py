"""Logical forms: parsed from s-expressions and printed as them.

A form is a leaf (``all_structures``, ``relation:nsubj``, ``string:field_goal``, ``part:conj``, ``20``) or the
application of a function to forms. Forms are immutable, compare by value and print on one line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Deeper forms are refused: no question needs them, and a hostile input must not exhaust the stack.
MAX_DEPTH = 60

_TOKEN = re.compile(r"[()]|[^\s()]+")


class FormError(ValueError):
    """A logical form that is none. The message names the fault and the character where it stands."""

    def __init__(self, fault: str, text: str, position: int) -> None:
        start, end = max(0, position - 30), position + 30
        shown = ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")
        super().__init__(f"{fault} at character {position + 1} of the logical form: {shown!r}")
        self.position = position


@dataclass(frozen=True, slots=True)
class Form:
    """A logical form: ``name`` alone is a leaf; with ``arguments`` it is a function applied to them."""

    name: str
    arguments: tuple["Form", ...] = ()

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"({self.name} {' '.join(map(str, self.arguments))})"

    def subforms(self) -> Iterator["Form"]:
        """The applications and leaves inside, innermost first, the form itself last."""
        for argument in self.arguments:
            yield from argument.subforms()
        yield self


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A form as parsed: the place of its name in the source, for errors found later."""

    form: Form
    position: int
    arguments: tuple["Placed", ...] = ()
    parenthesised: bool = False


def parse(text: str) -> Placed:
    """Read one logical form. Raises FormError with the place of the fault."""
    tokens = _tokens(text)
    open_lists: list[tuple[Token, list[Placed]]] = []
    done: Placed | None = None
    for token in tokens:
        if done is not None:
            raise FormError(f"{short(token.text)!r} after the end of the form", text, token.position)
        if token.text == "(":
            if len(open_lists) >= MAX_DEPTH:
                raise FormError(f"more than {MAX_DEPTH} nested parentheses", text, token.position)
            open_lists.append((token, []))
            continue
        if token.text == ")":
            if not open_lists:
                raise FormError("a ')' that closes nothing", text, token.position)
            opening, items = open_lists.pop()
            if not items or items[0].parenthesised:
                raise FormError("a function name must follow '('", text, opening.position)
            head, *arguments = items
            form = Form(head.form.name, tuple(a.form for a in arguments))
            item = Placed(form, head.position, tuple(arguments), parenthesised=True)
        else:
            item = Placed(Form(token.text), token.position)
        if open_lists:
            open_lists[-1][1].append(item)
        else:
            done = item
    if open_lists:
        raise FormError("a '(' that is never closed", text, open_lists[-1][0].position)
    if done is None:
        raise FormError("no logical form", text, 0)
    return done


def short(name: str) -> str:
    """A name as an error shows it."""
    return name if len(name) <= 60 else name[:57] + "..."


def _tokens(text: str) -> list[Token]:
    return [Token(match.group(), match.start()) for match in _TOKEN.finditer(text)]
