"""The question with what it refers to: linking scores, and a bidirectional LSTM over words and linked entities.

After Krishnamurthy, Dasigi & Gardner (2017). The score of a token and an entity is the similarity of the token to the
entity's name (the mean of its words; theirs is the greatest of the words) and a linear function of the linking
features, one for each type of entity. By softmax over the entities of one type, and none, it gives each token the
entities that it may refer to, and their embedding to the LSTM.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from drop_parsing.parser.batch import ENTITY_TYPES, Batch
from drop_parsing.parser.linking import FEATURES
from drop_parsing.parser.lstm import BiLSTM
from drop_parsing.reader.dropout import Dropout


@dataclass(frozen=True, slots=True)
class Encoded:
    """B questions of L tokens with E entities. ``linking`` is 0 for padding."""

    question: Tensor  # (B, L, H)
    mask: Tensor  # (B, L) bool
    summary: Tensor  # (B, H)
    linking: Tensor  # (B, L, E)


class Encoder(Protocol):
    """A module from a batch to its encoding; ``dim`` is H."""

    dim: int

    def __call__(self, batch: Batch) -> Encoded: ...


class Linking(nn.Module):
    """Linking scores, and the embedding of what each token is linked to."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(dim**-0.5))
        self.weigh = nn.Embedding(len(ENTITY_TYPES), len(FEATURES))
        self.weigh_type = nn.Embedding(len(ENTITY_TYPES), 1)
        nn.init.uniform_(self.weigh.weight, -0.25, 0.25)
        nn.init.zeros_(self.weigh_type.weight)
        self.types = nn.Embedding(len(ENTITY_TYPES), dim)
        self.neighbours = nn.Linear(dim, dim)

    def forward(self, batch: Batch, question: Tensor, names: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """``question`` (B, L, D) are embedded tokens, ``mask`` (B, L) says which there are, ``names`` (B, E, D) the
        embedded names. Gives the scores (B, L, E) and the embeddings (B, L, D)."""
        similarity = question @ names.transpose(1, 2)  # (B, L, E)
        weighed = batch.features.to(self.scale.dtype) @ self.weigh(batch.types).unsqueeze(-1)  # (B, E, L, 1)
        features = (weighed.squeeze(-1) + self.weigh_type(batch.types)).transpose(1, 2)
        present = mask.unsqueeze(2) & (batch.types > 0).unsqueeze(1)
        scores = (self.scale * similarity + features).masked_fill(~present, 0)
        return scores, self._linked(scores, batch.types) @ self._entities(batch, names)

    def _entities(self, batch: Batch, names: Tensor) -> Tensor:
        """(B, E, D) from the type and the names of the neighbours."""
        joined = batch.neighbours.to(names.dtype)
        around = joined @ names / joined.sum(2, keepdim=True).clamp(min=1)
        return torch.tanh(self.types(batch.types) + self.neighbours(around))

    def _linked(self, scores: Tensor, types: Tensor) -> Tensor:
        """(B, L, E) the probability of each entity among those of its type and none, whose score is 0."""
        of_type = functional.one_hot(types, len(ENTITY_TYPES)).to(scores.dtype)  # (B, E, types)
        greatest = scores.detach().amax(2, keepdim=True).clamp(min=0)
        shares = torch.exp(scores - greatest) * (types > 0).unsqueeze(1)
        totals = shares @ of_type + torch.exp(-greatest)  # (B, L, types)
        return shares / (totals @ of_type.transpose(1, 2)).clamp(min=1e-20)


class LSTMEncoder(nn.Module):
    """Word embeddings beside what each word is linked to, through a bidirectional LSTM; with ``contextual_dim`` also
    beside a projection of vectors in context, which are given and not trained."""

    def __init__(
        self, embedding: nn.Module, embedded: int, dim: int, dropout: float, contextual_dim: int = 0
    ) -> None:
        super().__init__()
        self.dim = dim
        self.embedding = embedding
        self.linking = Linking(embedded)
        self.project = nn.Linear(contextual_dim, embedded) if contextual_dim else None
        self.lstm = BiLSTM((3 if contextual_dim else 2) * embedded, dim)
        self.dropout = Dropout(dropout)

    def forward(self, batch: Batch) -> Encoded:
        vectors = self.embedding(batch.words, batch.characters)  # (V, D)
        vectors = torch.cat([torch.zeros_like(vectors[:1]), vectors[1:]])
        question = functional.embedding(batch.tokens, vectors)
        words = (batch.names > 0).sum(1, keepdim=True).clamp(min=1)
        names = functional.embedding(batch.names, vectors).sum(1) / words  # (M, D)
        mask = torch.arange(question.shape[1], device=question.device) < batch.lengths.unsqueeze(1)
        scores, linked = self.linking(batch, question, functional.embedding(batch.named, names), mask)
        read = [self.dropout(question), linked]
        if self.project is not None:
            assert batch.contextual is not None, "the batch was made for another encoder"
            read.append(self.dropout(self.project(batch.contextual.to(question.dtype))))
        outputs, summary = self.lstm(torch.cat(read, dim=2), batch.lengths)
        return Encoded(self.dropout(outputs), mask, summary, scores)
