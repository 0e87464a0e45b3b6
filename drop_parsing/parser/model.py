"""The parser: an encoder and a decoder, what they learn from a batch, and what they answer to it."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from drop_parsing.parser.batch import Batch
from drop_parsing.parser.beam import Beams, beam_search
from drop_parsing.parser.decoder import Decoder
from drop_parsing.parser.encoder import LSTMEncoder
from drop_parsing.parser.inputs import MAX_LENGTH
from drop_parsing.parser.likelihood import marginal_log_likelihood
from drop_parsing.parser.transformer import TransformerEncoder
from drop_parsing.reader.embedding import WordEmbedding


@dataclass(frozen=True, slots=True)
class ParserSizes:
    """The sizes of a parser (the defaults are those of the preset ``kdg``)."""

    embedded: int = 100
    dim: int = 200
    production_dim: int = 100
    character_dim: int = 32
    character_filters: int = 50
    character_kernel: int = 3
    dropout: float = 0.2
    max_length: int = MAX_LENGTH


class Parser(nn.Module):
    """A parser that reads questions. ``encoder`` is any module from a batch to ``encoder.Encoded``."""

    def __init__(self, encoder: nn.Module, decoder: Decoder, max_length: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.max_length = max_length

    def loss(self, batch: Batch) -> Tensor:
        """The mean over the questions of the negative marginal log likelihood of their forms."""
        assert batch.trees is not None, "a question of the batch has no forms to learn from"
        problem = self.decoder.problem(batch, self.encoder(batch), self.max_length)
        return -marginal_log_likelihood(self.decoder, problem, batch.trees).mean()

    @torch.no_grad()
    def decode(self, batch: Batch, width: int, max_length: int | None = None) -> Beams:
        """The forms that a beam finds, none longer than ``max_length``. Call it in evaluation mode."""
        limit = self.max_length if max_length is None else max_length
        return beam_search(self.decoder, self.decoder.problem(batch, self.encoder(batch), limit), width)


def make_parser(
    sizes: ParserSizes, vectors: Tensor, leaves: int, train_vectors: bool = True, contextual_dim: int = 0
) -> Parser:
    """A parser over word vectors (words, dim), the first of them for padding and the second for unknown words, the
    names of ``leaves`` relations and parts (``Vocabulary``), and vectors in context of ``contextual_dim``, if any."""
    embedding = WordEmbedding(
        vectors,
        characters=257,
        dim=sizes.embedded,
        train_vectors=train_vectors,
        character_dim=sizes.character_dim,
        character_filters=sizes.character_filters,
        character_kernel=sizes.character_kernel,
        pad_short_words=True,
        highway_layers=1,
        dropout=sizes.dropout,
    )
    encoder = LSTMEncoder(embedding, sizes.embedded, sizes.dim, sizes.dropout, contextual_dim)
    return _parser(sizes, encoder, leaves)


def make_transformer_parser(sizes: ParserSizes, transformer: nn.Module, leaves: int) -> Parser:
    """A parser over a BERT-like model that reads question and paragraph together; ``leaves`` as in ``make_parser``."""
    width = int(transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]
    return _parser(sizes, TransformerEncoder(transformer, width, sizes.dim, sizes.dropout), leaves)


def _parser(sizes: ParserSizes, encoder: LSTMEncoder | TransformerEncoder, leaves: int) -> Parser:
    decoder = Decoder(sizes.dim, sizes.production_dim, leaves, sizes.dropout)
    return Parser(encoder, decoder, sizes.max_length)
