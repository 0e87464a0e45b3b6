"""The words of a text as the readers take them, with their places in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import spacy
from spacy.language import Language

#: A dash always stands alone, so that the two ends of a range or a score are two words.
_DASH_OR_NOT = re.compile(r"[-‐‑‒–—−~]|[^-‐‑‒–—−~]+")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words with their character spans: ``text[starts[i]:ends[i]] == words[i]``. No word is empty or blank."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)


@cache
def _english() -> Language:
    """spaCy's rules for English; its statistical models share them and are not needed."""
    return spacy.blank("en")


def tokenise(text: str) -> Tokens:
    """The words of ``text`` by spaCy's rules for English, split further at every dash."""
    words: list[str] = []
    starts: list[int] = []
    for token in _english().tokenizer(text):
        if token.is_space:
            continue
        word, start = token.text, token.idx
        if word.isalnum():
            words.append(word)
            starts.append(start)
        else:
            for part in _DASH_OR_NOT.finditer(word):
                words.append(part[0])
                starts.append(start + part.start())
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    return Tokens(tuple(words), tuple(starts), tuple(ends))


def normalised(words: Sequence[str]) -> tuple[str, ...]:
    """The form in which an answer is looked for: lower case, no punctuation at either end (may be empty)."""
    return tuple(_normalise(word) for word in words)


_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~‘’´"


@cache
def _normalise(word: str) -> str:
    return word.lower().strip(_PUNCTUATION)
