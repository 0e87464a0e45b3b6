"""What a question contributes to the language over a table: its texts, numbers and dates.

Texts are the content words of the question, by lemma, and the longer sequences of its words, as far as the
table has them (after the original baseline, which keeps what it finds in the paragraph).
"""

from spacy.tokens import Doc, Token

from extractors.values import find_values
from grammar.language import Literals
from grammar.types import Text
from grammar.view import View, as_date, key, round_off

#: More would slow the search down; a question rarely has as many that the table knows.
MAX_STRINGS = 16
#: The longest sequence of words that is looked up, in words.
MAX_WORDS = 6

_CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV", "X", "SYM"}
_ASKING = {"how", "many", "much", "more", "most", "which", "what", "who", "when", "where", "do", "be", "have"}


def literals_of(question: Doc, view: View) -> Literals:
    """The literals of a question (a parsed text) over one table, in question order."""
    numbers, dates = find_values(question.text)
    words, sequences = _words(question), _sequences(question, view)
    strings = {text.key: text for text in [*sequences, *words] if text.key and view.mentions(text.key)}
    return Literals(
        tuple(strings.values())[:MAX_STRINGS],
        tuple(dict.fromkeys(round_off(n.value) for n in numbers)),
        tuple(dict.fromkeys(map(as_date, dates))),
    )


def _words(question: Doc) -> list[Text]:
    """The content words, by lemma; the surface is the word as it stands."""
    return [Text(token.text, key(token.lemma_)) for token in question if _is_content(token)]


def _sequences(question: Doc, view: View) -> list[Text]:
    """The longest sequences of words, from content word to content word, that the table has as they stand."""
    tokens = [token for token in question if not token.is_space]
    found: list[Text] = []
    covered: set[tuple[int, int]] = set()
    for length in range(MAX_WORDS, 1, -1):
        for i in range(len(tokens) - length + 1):
            first, last = tokens[i], tokens[i + length - 1]
            if not (_is_content(first) and _is_content(last)) or any(
                a <= i and i + length <= b for a, b in covered
            ):
                continue
            surface = question.text[first.idx : last.idx + len(last)]
            if view.quotes(key(surface)):
                covered.add((i, i + length))
                found.append(Text(surface, key(surface)))
    return found


def _is_content(token: Token) -> bool:
    return token.pos_ in _CONTENT and token.lemma_.lower() not in _ASKING
