"""Pretrained word vectors from several sources, by name; only the words that are needed are kept."""

import gzip
import io
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import spacy
import torch

from drop_parsing.errors import InputError

Vectors = dict[str, npt.NDArray[np.float32]]


def load_vectors(source: str, words: Collection[str]) -> Vectors:
    """The vectors of those of ``words`` (lower case) that ``source`` has.

    Sources: ``glove:FILE`` (a word and its numbers on each line, also gzipped or zipped, also with the header
    of word2vec), ``spacy:MODEL`` (an installed pipeline with vectors, or its path) and ``pieces:FOLDER`` (the
    input vectors of a pretrained transformer, averaged over the pieces of a word).

    Raises InputError for another source, one that cannot be read, and one without any of the words.
    """
    kind, _, place = source.partition(":")
    readers = {"glove": _from_text, "spacy": _from_spacy, "pieces": _from_pieces}
    if kind not in readers or not place:
        raise InputError(f"vectors {source!r} is none of: random, glove:FILE, spacy:MODEL, pieces:FOLDER.")
    vectors = readers[kind](place, words)
    if not vectors:
        raise InputError(f"The vectors {source} have none of the {len(words)} words of the training data.")
    return vectors


def _from_text(place: str, words: Collection[str]) -> Vectors:
    wanted = set(words)
    vectors: Vectors = {}
    dim: int | None = None
    path = Path(place)
    try:
        with _lines(path) as lines:
            for number, line in enumerate(lines, 1):
                word, *values = line.rstrip().split(" ")
                if number == 1 and len(values) == 1:  # word2vec's header: how many, how wide
                    continue
                if dim is None:
                    dim = len(values)
                if word not in wanted:
                    continue
                # A few words of GloVe 840B have spaces in them.
                vector = np.array(values[-dim:], dtype=np.float32)
                if len(vector) != dim or not dim:
                    raise InputError(
                        f"{path}, line {number}: {len(values)} numbers, where others have {dim}."
                    )
                vectors.setdefault(word, vector)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} is not in GloVe's form, a word and its numbers on each line: {error}."
        ) from error
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"The vectors {path} cannot be read: {error}.") from error
    if dim is None:
        raise InputError(f"The vectors file {path} is empty; give a file in GloVe's form.")
    return vectors


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            yield iter(io.TextIOWrapper(member, encoding="utf-8", newline="\n"))
    elif path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as zipped:
            yield iter(zipped)
    else:
        with path.open(encoding="utf-8", newline="\n") as plain:
            yield iter(plain)


def _from_spacy(place: str, words: Collection[str]) -> Vectors:
    try:
        vocabulary = spacy.load(place, exclude=["parser", "ner", "tagger", "lemmatizer"]).vocab
    except OSError as error:
        raise InputError(f"There is no spaCy pipeline {place}: install it, or give its path.") from error
    if not vocabulary.vectors_length:
        raise InputError(
            f"The spaCy pipeline {place} has no word vectors; give one that has (an md or lg one)."
        )
    return {
        word: np.asarray(vocabulary.get_vector(word), dtype=np.float32)
        for word in words
        if vocabulary.has_vector(word)
    }


def _from_pieces(place: str, words: Collection[str]) -> Vectors:
    from drop_parsing.reader.pieces import load_tokenizer
    from drop_parsing.reader.transformer import load_transformer, transformer_folder

    folder = transformer_folder(place)
    tokenizer = load_tokenizer(folder)
    embeddings: torch.nn.Embedding = load_transformer(folder).transformer.get_input_embeddings()  # type: ignore[operator]
    table = embeddings.weight.detach().numpy()
    ids = {word: tokenizer.encode(word, add_special_tokens=False).ids for word in words}
    return {word: table[pieces].mean(0).astype(np.float32) for word, pieces in ids.items() if pieces}
