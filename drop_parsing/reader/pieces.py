"""Word pieces of a pretrained transformer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from drop_parsing.errors import InputError


@dataclass(frozen=True, slots=True)
class PieceVocabulary:
    """The pieces of each word, and how a pair of texts is put together: ``start`` question ``middle`` passage
    ``end``. At most ``longest`` pieces make one sequence."""

    tokenizer: Tokenizer
    start: tuple[int, ...]
    middle: tuple[int, ...]
    end: tuple[int, ...]
    unknown: int
    longest: int

    def features(self, words: Sequence[str]) -> list[list[int]]:
        """The pieces of each word; a word without any has the unknown piece."""
        encodings = self.tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
        return [encoding.ids or [self.unknown] for encoding in encodings]


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in ``folder``: its tokenizer.json. Raises InputError where there is none."""
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise InputError(
            f"There is no tokenizer in {folder} ({error}): it needs a tokenizer.json."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load_pieces(folder: Path, longest: int) -> PieceVocabulary:
    """The pieces of the transformer in ``folder``. How texts are paired is read off an encoded pair."""
    tokenizer = load_tokenizer(folder)
    word = tokenizer.encode("a", add_special_tokens=False).ids
    pair = tokenizer.encode("a", "a").ids
    places = [place for place in range(len(pair)) if pair[place : place + len(word)] == word]
    first, second, width = places[0], places[-1], len(word)
    unknown = next((id for piece in _UNKNOWN if (id := tokenizer.token_to_id(piece)) is not None), pair[0])
    return PieceVocabulary(
        tokenizer,
        start=tuple(pair[:first]),
        middle=tuple(pair[first + width : second]),
        end=tuple(pair[second + width :]),
        unknown=unknown,
        longest=longest,
    )


_UNKNOWN = ("[UNK]", "<unk>")
