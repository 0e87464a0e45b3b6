"""What every encoder gives to the heads, and the encoders that read words."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn
from torch.nn import functional as F

from drop_parsing.reader.attention import PassageQuestionAttention
from drop_parsing.reader.batch import Batch
from drop_parsing.reader.dropout import Dropout
from drop_parsing.reader.embedding import ContextualProjection, WordEmbedding

#: Passes of the modelling layers over a passage: M0 to M3 of the paper.
PASSES = 4


@dataclass(frozen=True, slots=True)
class Encoded:
    """A batch of questions, each with its passage.

    ``passes`` are M0 to M3, each (batch, n, dim), where every token has seen the question. ``question`` is
    (batch, m, dim).
    """

    passes: tuple[Tensor, Tensor, Tensor, Tensor]
    passage_mask: Tensor
    question: Tensor
    question_mask: Tensor


class Encoder(Protocol):
    """A module from a batch to its encoding; ``dim`` is the width of what it gives."""

    dim: int

    def __call__(self, batch: Batch) -> Encoded: ...


class SequenceEncoder(Protocol):
    """A module from (batch, length, dim) and its (batch, length) mask to (batch, length, dim)."""

    def __call__(self, inputs: Tensor, mask: Tensor) -> Tensor: ...


class WordEncoder(nn.Module):
    """Words, a phrase encoder for passage and question alone, attention between them, modelling passes.

    A passage is embedded and phrase-encoded once for all its questions in the batch. ``modelling`` is run
    four times with the same weights, or, where there are two of them, twice (see ``bidaf``).
    """

    def __init__(
        self,
        embedding: WordEmbedding,
        phrase: nn.Module,
        modelling: nn.ModuleList,
        dim: int,
        dropout: float,
        contextual: ContextualProjection | None = None,
    ) -> None:
        super().__init__()
        self.dim = dim
        self.embedding = embedding
        self.contextual = contextual
        self.project_phrase = nn.Linear(dim, dim, bias=False)
        self.phrase = phrase
        self.attention = PassageQuestionAttention(dim)
        self.project_modelling = nn.Linear(4 * dim, dim, bias=False)
        self.modelling = modelling
        self.dropout = Dropout(dropout)

    def forward(self, batch: Batch) -> Encoded:
        words = batch.words
        assert words is not None, "the batch was made for another encoder"
        embedded = self.project_phrase(self.embedding(words.ids, words.characters))  # (words, dim)
        questions = F.embedding(words.questions, embedded)
        passages = F.embedding(words.passages, embedded)
        if self.contextual is not None:
            assert words.passages_in_context is not None, "the batch has no vectors in context"
            questions = questions + self.contextual(words.questions_in_context)
            passages = passages + self.contextual(words.passages_in_context)
        question = self._encode_phrase(questions, batch.question_mask)
        passages = self._encode_phrase(passages, batch.passage_mask)
        passage = passages.index_select(0, batch.passage_of)  # (batch, n, dim)
        mask = batch.passage_mask[batch.passage_of]
        attended = self.dropout(self.attention(passage, mask, question, batch.question_mask))
        passes = [self.project_modelling(attended)]
        for step in range(PASSES):
            layer = self.modelling[step * len(self.modelling) // PASSES]
            passes.append(self.dropout(layer(passes[-1], mask)))
        return Encoded((passes[1], passes[2], passes[3], passes[4]), mask, question, batch.question_mask)

    def _encode_phrase(self, embedded: Tensor, mask: Tensor) -> Tensor:
        encoded: Tensor = self.dropout(self.phrase(embedded, mask))
        return encoded


class BiLSTM(nn.Module):
    """A bidirectional LSTM over the tokens of each sequence, without its padding (the encoder of BiDAF)."""

    def __init__(self, dim: int, layers: int) -> None:
        super().__init__()
        if dim % 2:
            raise ValueError(f"the width of a bidirectional encoder must be even, but is {dim}")
        self.lstm = nn.LSTM(dim, dim // 2, layers, batch_first=True, bidirectional=True)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=inputs.shape[1]
        )
        return outputs
