"""The words and characters that a reader knows, and the features of a word."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from drop_parsing.data.reader_columns import ReaderColumns

PADDING, UNKNOWN, FIRST = 0, 1, 2
#: The rest of a longer word is not looked at.
MAX_CHARACTERS = 48

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words, lower case, and characters; the first of each has the number ``FIRST``."""

    words: tuple[str, ...]
    characters: tuple[str, ...]

    def features(self, words: Sequence[str]) -> tuple[Integers, Integers]:
        """Of each word its number (words,) and those of its characters (words, MAX_CHARACTERS)."""
        numbers = {word: place for place, word in enumerate(self.words, FIRST)}
        by_character = {character: place for place, character in enumerate(self.characters, FIRST)}
        ids = np.array([numbers.get(word.lower(), UNKNOWN) for word in words], dtype=np.int64)
        characters = np.zeros((len(words), MAX_CHARACTERS), dtype=np.int64)
        for row, word in enumerate(words):
            places = [by_character.get(character, UNKNOWN) for character in word[:MAX_CHARACTERS]]
            characters[row, : len(places)] = places
        return ids, characters

    def to_json(self) -> dict[str, Any]:
        return {"words": list(self.words), "characters": list(self.characters)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Vocabulary":
        return cls(tuple(data["words"]), tuple(data["characters"]))


def count_words(columns: ReaderColumns) -> Counter[str]:
    """How often each word, as written, stands in the passages and questions; the commonest first."""
    places = np.concatenate([columns.passage_words.values, columns.question_words.values])
    counts = np.bincount(places, minlength=len(columns.words))
    return Counter(dict(zip(columns.words, counts.tolist(), strict=True)))


def build_vocabulary(counts: Counter[str], min_word_count: int, min_character_count: int) -> Vocabulary:
    """What occurs at least so often, the commonest first."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for word, count in counts.items():
        words[word.lower()] += count
        for character in word:
            characters[character] += count
    return Vocabulary(_often(words, min_word_count), _often(characters, min_character_count))


def _often(counts: Counter[str], least: int) -> tuple[str, ...]:
    kept: Iterable[tuple[str, int]] = ((item, count) for item, count in counts.items() if count >= least)
    return tuple(item for item, _ in sorted(kept, key=lambda pair: (-pair[1], pair[0])))
