"""Distinct words to vectors: word vectors and a character CNN, projected, through highway layers.

All of it looks at one word alone, so it is done once for each distinct word of a batch.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drop_parsing.reader.dropout import Dropout


class CharacterCNN(nn.Module):
    """Filters over the characters of a word, the greatest response of each (Kim et al. 2016).

    Without ``pad_short_words``, a word shorter than the filters has the vector 0, as in the reference
    implementation of NAQANet; with it, such a word is filled up with blanks.
    """

    def __init__(
        self, characters: int, dim: int, filters: int, kernel_size: int, pad_short_words: bool
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, dim)
        self.convolution = nn.Conv1d(dim, filters, kernel_size)
        self.pad_short_words = pad_short_words

    def forward(self, characters: Tensor) -> Tensor:
        """``characters`` is (words, length), 0 where there is none; the result (words, filters)."""
        width = self.convolution.kernel_size[0]
        present = characters > 0
        lengths = present.sum(1)
        vectors = self.embedding(characters) * present.unsqueeze(-1)
        vectors = F.pad(vectors, (0, 0, 0, max(0, width - characters.shape[1])))
        # (words, filters, windows)
        responses = F.relu(self.convolution(vectors.transpose(1, 2)))
        windows = lengths - width + 1
        if self.pad_short_words:
            windows = windows.clamp(min=1)
        outside = torch.arange(responses.shape[2], device=windows.device) >= windows.unsqueeze(1)
        # A response is never negative, so 0 is never more than what is inside.
        return responses.masked_fill(outside.unsqueeze(1), 0).amax(2)


class Highway(nn.Module):
    """``g x + (1 - g) relu(A x)`` with the gate ``g = sigmoid(B x)`` (Srivastava et al. 2015)."""

    def __init__(self, dim: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, 2 * dim) for _ in range(layers))
        for layer in self.layers:
            nn.init.ones_(layer.bias[dim:])  # type: ignore[index]  # begin by carrying the input

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.layers:
            changed, gate = layer(inputs).chunk(2, dim=-1)
            inputs = torch.lerp(F.relu(changed), inputs, torch.sigmoid(gate))
        return inputs


class ContextualProjection(nn.Module):
    """Vectors of words in context, (texts, length, width), to (texts, length, dim)."""

    def __init__(self, width: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(width, dim, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        projected: Tensor = self.project(self.dropout(vectors.to(self.project.weight.dtype)))
        return projected


class WordEmbedding(nn.Module):
    """(words,) ids and (words, length) characters to (words, dim)."""

    def __init__(
        self,
        vectors: Tensor,
        characters: int,
        dim: int,
        *,
        train_vectors: bool,
        character_dim: int,
        character_filters: int,
        character_kernel: int,
        pad_short_words: bool,
        highway_layers: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vectors.shape[0], vectors.shape[1], _weight=vectors)
        self.words.weight.requires_grad_(train_vectors)
        self.characters = CharacterCNN(
            characters, character_dim, character_filters, character_kernel, pad_short_words
        )
        self.project = nn.Linear(vectors.shape[1] + character_filters, dim)
        self.highway = Highway(dim, highway_layers)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, characters: Tensor) -> Tensor:
        by_characters = self.characters(characters)
        vectors = torch.cat([self.words(words).to(by_characters.dtype), by_characters], dim=1)
        embedded: Tensor = self.highway(self.project(self.dropout(vectors)))
        return embedded
