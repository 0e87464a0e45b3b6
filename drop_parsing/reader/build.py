"""A preset's words to a model: which encoder, over which vocabulary."""

from collections import Counter

import torch
from torch import Tensor, nn

from drop_parsing.errors import InputError
from drop_parsing.reader.config import (
    BiDAFConfig,
    EmbeddingConfig,
    QANetConfig,
    ReaderConfig,
    TransformerConfig,
)
from drop_parsing.reader.embedding import ContextualProjection, WordEmbedding
from drop_parsing.reader.encoding import BiLSTM, WordEncoder
from drop_parsing.reader.model import Reader
from drop_parsing.reader.pieces import PieceVocabulary, load_pieces
from drop_parsing.reader.qanet import QANetEncoder
from drop_parsing.reader.vectors import load_vectors
from drop_parsing.reader.vocabulary import FIRST, UNKNOWN, Vocabulary, build_vocabulary


def new_vocabulary(config: ReaderConfig, counts: Counter[str]) -> tuple[Vocabulary | PieceVocabulary, Tensor]:
    """The vocabulary of training data and the vectors of its words (words, dim); none for a transformer.

    Pretrained vectors decide which words are known. Raises InputError for a source of vectors, or a
    transformer, that cannot be read.
    """
    if isinstance(config.encoder, TransformerConfig):
        return piece_vocabulary(config.encoder), torch.empty(0, 0)
    embedding = config.encoder.embedding
    vocabulary = build_vocabulary(counts, embedding.min_word_count, embedding.min_character_count)
    if embedding.vectors == "random":
        vectors = torch.randn(FIRST + len(vocabulary.words), embedding.vector_dim) * 0.1
        vectors[:UNKNOWN] = 0
        return vocabulary, vectors
    found = load_vectors(embedding.vectors, vocabulary.words)
    words = tuple(word for word in vocabulary.words if word in found)
    known = torch.stack([torch.from_numpy(found[word]) for word in words])
    unknown = known.mean(0, keepdim=True)
    vectors = torch.cat([torch.zeros_like(unknown), unknown, known])
    return Vocabulary(words, vocabulary.characters), vectors


def piece_vocabulary(encoder: TransformerConfig) -> PieceVocabulary:
    """Raises InputError where the transformer or its tokenizer is not there."""
    from drop_parsing.reader.transformer import longest_sequence, transformer_folder

    folder = transformer_folder(encoder.model)
    return load_pieces(folder, longest_sequence(folder))


def build_reader(
    config: ReaderConfig,
    vocabulary: Vocabulary | PieceVocabulary,
    vectors: Tensor,
    *,
    pretrained: bool,
) -> Reader:
    """A new model. ``pretrained`` loads the weights of a transformer, which another checkpoint replaces."""
    encoder, dim = _encoder(config, vocabulary, vectors, pretrained)
    return Reader(encoder, config.heads, dim, config.dropout, config.decoding)


def _encoder(
    config: ReaderConfig, vocabulary: Vocabulary | PieceVocabulary, vectors: Tensor, pretrained: bool
) -> tuple[nn.Module, int]:
    encoder = config.encoder
    if isinstance(encoder, TransformerConfig):
        from drop_parsing.reader.transformer import empty_transformer, load_transformer, transformer_folder

        folder = transformer_folder(encoder.model)
        made = load_transformer(folder) if pretrained else empty_transformer(folder)
        return made, made.dim
    if not isinstance(vocabulary, Vocabulary):
        raise InputError("This encoder reads words, but the vocabulary is one of pieces.")
    embedding = _embedding(encoder.embedding, vocabulary, vectors, encoder.dim, config.dropout)
    if isinstance(encoder, QANetConfig):
        phrase, modelling = _qanet(encoder, config.dropout)
    else:
        phrase, modelling = _bidaf(encoder)
    contextual = _contextual(encoder.embedding, encoder.dim, config.dropout)
    reading = WordEncoder(embedding, phrase, modelling, encoder.dim, config.dropout, contextual)
    return reading, encoder.dim


def _qanet(encoder: QANetConfig, dropout: float) -> tuple[nn.Module, nn.ModuleList]:
    def stack(blocks: int, convolutions: int, kernel: int) -> QANetEncoder:
        return QANetEncoder(
            encoder.dim,
            blocks=blocks,
            convolutions=convolutions,
            kernel_size=kernel,
            heads=encoder.heads,
            dropout=dropout,
            layer_dropout=encoder.layer_dropout,
        )

    phrase = stack(encoder.phrase_blocks, encoder.phrase_convolutions, encoder.phrase_kernel)
    modelling = stack(encoder.modelling_blocks, encoder.modelling_convolutions, encoder.modelling_kernel)
    return phrase, nn.ModuleList([modelling])


def _bidaf(encoder: BiDAFConfig) -> tuple[nn.Module, nn.ModuleList]:
    phrase = BiLSTM(encoder.dim, encoder.phrase_layers)
    return phrase, nn.ModuleList(BiLSTM(encoder.dim, encoder.modelling_layers) for _ in range(2))


def _contextual(embedding: EmbeddingConfig, dim: int, dropout: float) -> ContextualProjection | None:
    if embedding.contextual is None:
        return None
    from drop_parsing.reader.contextual_encoders import ContextualEncoder

    return ContextualProjection(ContextualEncoder(embedding.contextual).width, dim, dropout)


def _embedding(
    embedding: EmbeddingConfig, vocabulary: Vocabulary, vectors: Tensor, dim: int, dropout: float
) -> WordEmbedding:
    return WordEmbedding(
        vectors,
        FIRST + len(vocabulary.characters),
        dim,
        train_vectors=embedding.train_vectors,
        character_dim=embedding.character_dim,
        character_filters=embedding.character_filters,
        character_kernel=embedding.character_kernel,
        pad_short_words=embedding.pad_short_words,
        highway_layers=embedding.highway_layers,
        dropout=dropout,
    )
