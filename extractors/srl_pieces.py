"""Static vectors of words, built from those of the word pieces that a word is cut into."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


class PieceVectors:
    """A table of ``vectors`` (pieces, size) for word pieces as BERT's uncased vocabulary writes them: "##"
    before a piece that does not begin its word, the longest piece first."""

    def __init__(self, pieces: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self.pieces = pieces
        self.vectors = vectors
        self._rows = {piece: row for row, piece in enumerate(pieces)}
        self._longest = max((len(piece) for piece in pieces), default=0)
        self.of_word = lru_cache(maxsize=20_000)(self._of_word)

    @property
    def size(self) -> int:
        return int(self.vectors.shape[1])

    def row(self, piece: str) -> int:
        """Raises ``KeyError`` where there is no such piece."""
        return self._rows[piece]

    def of_words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One vector a word: the mean of its pieces', zero where none is known."""
        if not words:
            return np.zeros((0, self.size), np.float32)
        return np.stack([self.of_word(word) for word in words])

    def _of_word(self, word: str) -> NDArray[np.float32]:
        rows = self.rows(word)
        return self.vectors[rows].mean(axis=0) if rows else np.zeros(self.size, np.float32)

    def rows(self, word: str) -> list[int]:
        """The rows of the pieces of a word; what no piece is known of is left out."""
        word = _plain(word)
        rows = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._rows.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows


#: No word has a vector: for a model without them.
NO_PIECES = PieceVectors([], np.zeros((0, 1), np.float32))


def _plain(word: str) -> str:
    """Lower case, without accents."""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")
