"""Two layers of QANet written for a CPU, with their gradients: attention of narrow heads, depthwise filters."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

#: Scores up to this are exponentiated as they are: their sums stay far from the largest number.
_SAFE_SCORE = 60.0


def ragged_attention(packed: Tensor, lengths: Sequence[int], scale: float) -> Tensor:
    """Self-attention of each example over its first ``lengths`` places.

    ``packed`` is (batch, length, 3, heads, head dim): queries, keys and values. The result is (batch, length,
    heads * head dim), 0 at padding. Example by example, the scores stay in cache and padding costs nothing.
    """
    attended: Tensor = _RaggedAttention.apply(packed, lengths, scale)  # type: ignore[no-untyped-call]
    return attended


class _RaggedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packed: Tensor, lengths: Sequence[int], scale: float) -> Tensor:
        batch, length, _, heads, width = packed.shape
        outputs = packed.new_zeros(batch, length, heads * width)
        plain = _scores_are_small(packed, scale)
        # (heads, heads * head dim), to repeat what each head has one of for each of its channels
        spread = torch.eye(heads, dtype=packed.dtype).repeat_interleave(width, dim=1)
        kept = []
        for index, count in enumerate(lengths):
            queries, keys, values = _parts(packed, index, count)
            scores = torch.bmm(queries * scale, keys.transpose(1, 2))
            # Without its usual maximum and in place, the softmax costs half.
            weights = scores.exp_() if plain else scores.softmax(-1)
            sums = weights.sum(-1).t() @ spread
            output = outputs[index, :count]
            output.view(count, heads, width).copy_(torch.bmm(weights, values).transpose(0, 1))
            output /= sums
            kept += [weights, sums]
        ctx.save_for_backward(packed, outputs, *kept)
        ctx.lengths, ctx.scale = lengths, scale
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        packed, outputs, *kept = ctx.saved_tensors
        heads, width = packed.shape[3:]
        by_packed = torch.zeros_like(packed)
        for index, count in enumerate(ctx.lengths):
            queries, keys, values = _parts(packed, index, count)
            weights, sums = kept[2 * index], kept[2 * index + 1]
            gradient = gradients[0][index, :count] / sums
            shares = (gradient * outputs[index, :count]).view(count, heads, width)
            share = shares.sum(-1, dtype=torch.promote_types(shares.dtype, torch.float32)).t().unsqueeze(2)
            gradient = gradient.view(count, heads, width).transpose(0, 1)
            # What the sums of weights take off every gradient comes out of the same product, as a column more,
            # and one for what rounding has left of it: to subtract it would cost as much as all of the rest.
            rounded = share.to(gradient.dtype)
            extended = torch.cat([gradient, -rounded, (rounded - share).to(gradient.dtype)], dim=2)
            by_weights = torch.bmm(extended, F.pad(values, (0, 2), value=1.0).transpose(1, 2))
            by_scores = by_weights.mul_(weights)
            into = by_packed[index, :count].permute(1, 2, 0, 3)  # (3, heads, count, head dim)
            into[0] = torch.bmm(by_scores, keys) * ctx.scale
            into[1] = torch.bmm(by_scores.transpose(1, 2), queries * ctx.scale)
            into[2] = torch.bmm(weights.transpose(1, 2), gradient)
        return by_packed, None, None


def _parts(packed: Tensor, index: int, count: int) -> Tensor:
    """(3, heads, count, head dim): queries, keys and values of one example."""
    return packed[index, :count].permute(1, 2, 0, 3).contiguous()


def _scores_are_small(packed: Tensor, scale: float) -> bool:
    """Whether no score can exceed what is safe, by the lengths of queries and keys."""
    longest = packed[:, :, :2].detach().float().square().sum(-1).amax((0, 1, 3)).sqrt()
    return bool(longest.prod() * scale < _SAFE_SCORE)


def depthwise(inputs: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
    """A filter of its own for each channel: (batch, length, dim) with ``filters`` (dim, width) to the same.

    Zeros are beyond both ends; of an even filter the longer half looks back.
    """
    filtered: Tensor = _Depthwise.apply(inputs, filters, bias)  # type: ignore[no-untyped-call]
    return filtered


class _Depthwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, filters)
        return _filtered(inputs, filters.to(inputs.dtype), bias.to(inputs.dtype), back=filters.shape[1] // 2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        inputs, filters = ctx.saved_tensors
        gradient = gradients[0]
        length, width = inputs.shape[1], filters.shape[1]
        back = width // 2
        by_inputs = _filtered(gradient, filters.flip(1).to(gradient.dtype), None, back=width - 1 - back)
        by_filters = torch.empty_like(filters)
        for place in range(width):
            shift = place - back  # output i sees input i + shift here
            seen = inputs[:, max(0, shift) : length + min(0, shift)]
            changed = gradient[:, max(0, -shift) : length + min(0, -shift)]
            by_filters[:, place] = (seen * changed).sum((0, 1))
        return by_inputs, by_filters, gradient.sum((0, 1)).to(filters.dtype)


def _filtered(inputs: Tensor, filters: Tensor, bias: Tensor | None, back: int) -> Tensor:
    """``back`` of a filter's places lie before the output's."""
    dim, width = filters.shape
    ahead = width - 1 - back
    if back != ahead:
        inputs = F.pad(inputs, (0, 0, max(0, back - ahead), max(0, ahead - back)))
    # (batch, dim, 1, length) in channels-last memory is (batch, length, dim) as it lies.
    image = inputs.transpose(1, 2).unsqueeze(2)
    filtered = F.conv2d(
        image, filters.view(dim, 1, 1, width), bias, padding=(0, min(back, ahead)), groups=dim
    )
    return filtered.squeeze(2).transpose(1, 2)
