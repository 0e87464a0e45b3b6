"""Vectors of words in context from a pretrained encoder that is not trained: made once a text, and kept.

They stand beside the word vectors, as ELMo does in the paper's row "QANet + ELMo", for the price of a projection.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from drop_parsing.data.reader_columns import Ragged, ReaderColumns
from drop_parsing.reader.collate import ContextualVectors
from drop_parsing.reader.config import ReaderConfig, TransformerConfig
from drop_parsing.reader.contextual_encoders import ContextualEncoder, Halves, pretrained_files
from extractors.store import StoreError, atomic_file

logger = logging.getLogger(__name__)

#: Changes whenever the same text and encoder give other vectors.
VERSION = "1"
_DIGEST = 16


def cached_vectors(
    columns: ReaderColumns,
    reader: ReaderConfig,
    root: Path,
    say: Callable[[str], None] = lambda text: None,
) -> ContextualVectors | None:
    """The vectors of all passages and questions from ``root/contextual``, made and kept there if they are not;
    ``None`` for a reader that takes none. Of what a reader has blanked there are none.

    They stay on the disk, mapped into memory: two bytes a number. A file that is damaged is logged, set aside and
    made again. Raises InputError as ``ContextualEncoder``, StoreError where the folder cannot be used.
    """
    if isinstance(reader.encoder, TransformerConfig) or reader.encoder.embedding.contextual is None:
        return None
    encoder = ContextualEncoder(reader.encoder.embedding.contextual)
    passages, questions = columns.passage_words, columns.question_words
    if reader.data.blank == "passage":
        passages = _without_words(passages)
    if reader.data.blank == "question":
        questions = _without_words(questions)
    texts = [
        [columns.words[word] for word in of[row]] for of in (passages, questions) for row in range(len(of))
    ]
    path = root / "contextual" / f"{_key(texts, encoder)}.f16"
    words = sum(map(len, texts))
    values = _mapped(path, words, encoder.width)
    if values is None:
        say(f"encodes {len(texts)} passages and questions of {words} words, once")
        with atomic_file(path) as file:
            _write(file, texts, encoder)
        values = _mapped(path, words, encoder.width)
        if values is None:
            raise StoreError(f"{path} is not what was written: check the disk, or choose another folder.")
    cut = len(passages.values)
    return ContextualVectors(Ragged(passages.offsets, values[:cut]), Ragged(questions.offsets, values[cut:]))


def _without_words(texts: Ragged[np.int32]) -> Ragged[np.int32]:
    return Ragged(np.zeros_like(texts.offsets), texts.values[:0])


def _key(texts: Iterable[Sequence[str]], encoder: ContextualEncoder) -> str:
    hash = hashlib.blake2b(f"{VERSION} {encoder.layers}".encode(), digest_size=16)
    for path in pretrained_files(str(encoder.folder)):
        with path.open("rb") as file:
            hash.update(hashlib.file_digest(file, "blake2b").digest())
    for text in texts:
        hash.update("\n".join(text).encode("utf-8", "surrogatepass") + b"\0")
    return hash.hexdigest()


def _write(file: BinaryIO, texts: Iterable[Sequence[str]], encoder: ContextualEncoder) -> None:
    """The vectors of one word after another, then the digest of them all."""
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for text in texts:
        data = encoder.encode(text).tobytes()
        digest.update(data)
        file.write(data)
    file.write(digest.digest())


def _mapped(path: Path, words: int, width: int) -> Halves | None:
    """The vectors at ``path``; ``None`` where there is no file, or it is set aside as damaged."""
    if not path.exists():
        return None
    size = 2 * words * width
    if path.stat().st_size == size + _DIGEST:
        data = np.memmap(path, np.uint8, "r")
        if hashlib.blake2b(data[:size].data, digest_size=_DIGEST).digest() == data[size:].tobytes():
            values: Halves = data[:size].view(np.float16).reshape(words, width)
            return values
    logger.warning("%s is damaged: set aside, to be made again", path)
    path.rename(path.with_name(path.name + ".damaged"))
    return None
