"""QANet's encoder (Yu et al. 2018): convolutions, self-attention and a feed-forward layer, each residual.

Sequences are (batch, length, dim) throughout: the convolutions read that layout in place, without transposing.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drop_parsing.reader.cpu_kernels import depthwise, ragged_attention
from drop_parsing.reader.dropout import Dropout

Sublayer = Callable[[Tensor], Tensor]


def sinusoids(length: int, dim: int) -> Tensor:
    """Positional encodings, (length, dim): sines in the first half of ``dim``, cosines in the second
    (Vaswani et al. 2017). An odd last column is zero."""
    timescales = dim // 2
    rates = torch.logspace(0, -4, timescales) if timescales > 1 else torch.ones(timescales)
    angles = torch.arange(length).unsqueeze(1) * rates
    return F.pad(torch.cat([angles.sin(), angles.cos()], dim=1), (0, dim % 2))


class DepthwiseSeparableConv(nn.Module):
    """A filter of its own for each channel along the sequence, then a linear map over channels, then ReLU."""

    def __init__(self, dim: int, kernel_size: int) -> None:
        super().__init__()
        self.depthwise = nn.Parameter(torch.empty(dim, 1, kernel_size))
        self.depthwise_bias = nn.Parameter(torch.empty(dim))
        self.pointwise = nn.Linear(dim, dim)
        bound = kernel_size**-0.5
        nn.init.uniform_(self.depthwise, -bound, bound)
        nn.init.uniform_(self.depthwise_bias, -bound, bound)

    def forward(self, inputs: Tensor) -> Tensor:
        if inputs.device.type == "cpu":
            filtered = depthwise(inputs, self.depthwise.squeeze(1), self.depthwise_bias)
        else:
            width = self.depthwise.shape[2]
            padded = F.pad(inputs.transpose(1, 2), (width // 2, (width - 1) // 2))
            filters = self.depthwise
            filtered = F.conv1d(padded, filters, self.depthwise_bias, groups=len(filters)).transpose(1, 2)
        return F.relu(self.pointwise(filtered))


class SelfAttention(nn.Module):
    """Multi-head scaled dot-product self-attention (Vaswani et al. 2017)."""

    def __init__(self, dim: int, attention_dim: int, heads: int) -> None:
        super().__init__()
        if attention_dim % heads:
            raise ValueError(f"attention_dim ({attention_dim}) must be a multiple of heads ({heads})")
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.project = nn.Linear(dim, 3 * attention_dim)
        self.output = nn.Linear(attention_dim, dim)

    def forward(self, inputs: Tensor, lengths: Sequence[int]) -> Tensor:
        """``inputs`` is (batch, length, dim), of which ``lengths`` are no padding."""
        batch, length, _ = inputs.shape
        # (batch, length, 3, heads, head dim)
        packed = self.project(inputs).view(batch, length, 3, self.heads, -1)
        outputs: Tensor = self.output(attend(packed, lengths, self.scale))
        return outputs


def attend(packed: Tensor, lengths: Sequence[int], scale: float) -> Tensor:
    """Each example's attention over its first ``lengths`` places: see ``cpu_kernels.ragged_attention``."""
    if packed.device.type == "cpu":
        return ragged_attention(packed, lengths, scale)
    queries, keys, values = packed.permute(2, 0, 3, 1, 4)  # each (batch, heads, length, head dim)
    mask = (
        torch.arange(packed.shape[1], device=packed.device)
        < torch.tensor(lengths, device=packed.device)[:, None]
    )
    attended = F.scaled_dot_product_attention(queries, keys, values, mask[:, None, None, :], scale=scale)
    return attended.transpose(1, 2).flatten(2)


class EncoderBlock(nn.Module):
    """Positions, then sublayers ``x + f(norm(x))`` with stochastic depth (Huang et al. 2016)."""

    def __init__(
        self,
        dim: int,
        *,
        convolutions: int,
        kernel_size: int,
        heads: int,
        dropout: float,
        layer_dropout: float,
        attention_dim: int | None = None,
        feedforward_dim: int | None = None,
    ) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            DepthwiseSeparableConv(dim, kernel_size) for _ in range(convolutions)
        )
        self.attention = SelfAttention(dim, attention_dim or dim, heads)
        self.feedforward_in = nn.Linear(dim, feedforward_dim or dim)
        self.feedforward_out = nn.Linear(feedforward_dim or dim, dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(convolutions + 2))
        self.dropout = Dropout(dropout)
        self.layer_dropout = layer_dropout

    def forward(
        self, inputs: Tensor, positions: Tensor, lengths: Sequence[int], present: Tensor | None
    ) -> Tensor:
        """``inputs`` is (batch, length, dim), ``positions`` (length, dim); ``present`` is (batch, length, 1),
        0 at padding, and ``None`` where there is none."""
        sublayers: list[Sublayer] = [
            *(partial(_convolve, convolution, present) for convolution in self.convolutions),
            partial(self.attention, lengths=lengths),
            self._feedforward,
        ]
        outputs = inputs + positions
        for depth, (norm, sublayer) in enumerate(zip(self.norms, sublayers, strict=True), 1):
            outputs = self._residual(outputs, norm, sublayer, depth / len(sublayers))
        return outputs

    def _residual(self, inputs: Tensor, norm: nn.Module, sublayer: Sublayer, depth: float) -> Tensor:
        """A deeper sublayer is left out more often; at prediction each counts as often as it was there."""
        probability = self.layer_dropout * depth
        if self.training and probability and torch.rand(()).item() < probability:
            return inputs
        outputs = self.dropout(sublayer(self.dropout(norm(inputs))))
        return inputs + outputs if self.training else torch.add(inputs, outputs, alpha=1 - probability)

    def _feedforward(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.feedforward_out(self.dropout(F.relu(self.feedforward_in(inputs))))
        return outputs


def _convolve(convolution: nn.Module, present: Tensor | None, inputs: Tensor) -> Tensor:
    """What lies beyond the end of a text must not come in: it would make a result depend on its batch."""
    outputs: Tensor = convolution(inputs if present is None else inputs * present)
    return outputs


class QANetEncoder(nn.Module):
    """A stack of encoder blocks: (batch, length, dim) to the same."""

    _positions: Tensor

    def __init__(
        self,
        dim: int,
        *,
        blocks: int,
        convolutions: int,
        kernel_size: int,
        heads: int,
        dropout: float,
        layer_dropout: float,
        attention_dim: int | None = None,
        feedforward_dim: int | None = None,
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            EncoderBlock(
                dim,
                convolutions=convolutions,
                kernel_size=kernel_size,
                heads=heads,
                dropout=dropout,
                layer_dropout=layer_dropout,
                attention_dim=attention_dim,
                feedforward_dim=feedforward_dim,
            )
            for _ in range(blocks)
        )
        self.register_buffer("_positions", sinusoids(512, dim), persistent=False)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """``mask`` is (batch, length), true where there is a token."""
        length, dim = inputs.shape[1:]
        if length > len(self._positions):
            self._positions = sinusoids(2 * length, dim).to(self._positions)
        positions = self._positions[:length].to(inputs.dtype)
        lengths = mask.sum(1).tolist()
        present = None if min(lengths) == length else mask.unsqueeze(-1).to(inputs.dtype)
        for block in self.blocks:
            inputs = block(inputs, positions, lengths, present)
        return inputs
