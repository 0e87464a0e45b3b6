"""What a question contributes to the language over a table: its texts, numbers and dates.

Texts are the content words of the question, by lemma, and the longer sequences of its words, as far as the
table has them (after the original baseline, which keeps what it finds in the paragraph).
"""

import re
from collections.abc import Iterator

from spacy.tokens import Doc

from extractors.values import find_values
from grammar.language import Literals
from grammar.types import Number, Text
from grammar.view import View, as_date, key

#: More would slow the search down; a question rarely has as many that the table knows.
MAX_STRINGS = 16
#: The longest sequence of words that is looked up, in words.
MAX_WORDS = 6

_CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV", "X", "SYM"}
_ASKING = {"how", "many", "much", "more", "most", "which", "what", "who", "when", "where", "do", "be", "have"}


def literals_of(question: Doc, view: View) -> Literals:
    """The literals of a question (a parsed text) over one table, in question order."""
    numbers, dates = find_values(question.text)
    strings: dict[str, Text] = {}
    for text in _candidates(question):
        if text.key and text.key not in strings and view.mentions(text.key):
            strings[text.key] = text
    return Literals(
        tuple(list(strings.values())[:MAX_STRINGS]),
        tuple(dict.fromkeys(Number(n.value) for n in numbers)),
        tuple(dict.fromkeys(as_date(date) for date in dates)),
    )


def _candidates(question: Doc) -> Iterator[Text]:
    """Sequences of words, as they stand, longest first; then the content words one by one, by lemma."""
    tokens = [token for token in question if not token.is_space]
    for length in range(MAX_WORDS, 1, -1):
        for i in range(len(tokens) - length + 1):
            window = tokens[i : i + length]
            ends = (window[0], window[-1])
            if all(t.pos_ in _CONTENT and t.lemma_.lower() not in _ASKING for t in ends):
                if all(re.search(r"\w|^-$", t.text) for t in window):
                    surface = question.text[window[0].idx : window[-1].idx + len(window[-1])]
                    yield Text(surface, key(surface))
    for token in tokens:
        if token.pos_ in _CONTENT and token.lemma_.lower() not in _ASKING:
            yield Text(token.text, key(token.lemma_))
