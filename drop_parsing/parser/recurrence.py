"""The recurrent part of the decoder: an LSTM step with attention over the question, alone and over whole trees.

Autograd would keep a graph of some forty nodes for each level of a tree, and add to the gradient of every weight level
by level. Differentiated by hand, a level is a few operations and each weight has one product over all levels: on a CPU
a step of training takes a fifth less. The products are made in bfloat16 under ``torch.autocast``, all else in the
precision of the inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True, slots=True)
class Grid:
    """Whose N states are: state n is question ``owners[n]``'s, and stands at ``places[n]`` of B x ``width``, where each
    question has one row. ``places`` is None where the states fill the grid in its order."""

    owners: Tensor
    width: int
    places: Tensor | None = None

    def spread(self, values: Tensor, questions: int) -> Tensor:
        """(N, C) values as (B, width, C), 0 where no state is."""
        if self.places is not None:
            empty = values.new_zeros(questions * self.width, values.shape[1])
            values = empty.index_copy(0, self.places, values)
        return values.view(questions, self.width, -1)

    def collect(self, values: Tensor) -> Tensor:
        """(B, width, C) values as (N, C)."""
        flat = values.flatten(0, 1)
        return flat if self.places is None else flat.index_select(0, self.places)


class Weights(NamedTuple):
    """``attended`` (H, H) is applied to what was attended to; ``gates`` (4 H, 2 H) with ``bias`` (4 H,) to that and to
    the hidden state: input, forget and output gate, candidate."""

    attended: Tensor
    gates: Tensor
    bias: Tensor


class Step(NamedTuple):
    """N states after a step, and what a gradient needs of it."""

    hidden: Tensor  # (N, H)
    memory: Tensor  # (N, H)
    attended: Tensor  # (N, H)
    attention: Tensor  # (N, L)
    looked: Tensor  # (N, H), what was attended to before, in the precision of products
    read: Tensor  # (N, 2 H), the input of the gates, likewise
    opened: Tensor  # (N, 3 H), the gates
    candidate: Tensor  # (N, H)
    shown: Tensor  # (N, H), tanh of the memory


def step(
    weights: Weights,
    question: Tensor,
    mask: Tensor,
    grid: Grid,
    inputs: Tensor,
    before: tuple[Tensor, Tensor, Tensor],
    keep: Tensor | None = None,
) -> Step:
    """One step of N states from their ``before`` (hidden, memory, attended; each (N, H)), reading ``inputs`` (N, H), a
    projection of the last productions. ``question`` is (B, L, H) in the precision of the weights, its ``mask`` (B, L);
    ``keep`` (N, H) is the mask of the dropout of hidden states, scaled.
    """
    hidden, memory, attended = before
    dim = hidden.shape[1]
    precision = weights.gates.dtype
    looked = attended.to(precision)
    mixed = torch.relu(torch.addmm(inputs.to(precision), looked, weights.attended.t()))
    read = torch.cat([mixed, hidden.to(precision)], dim=1)
    gates = torch.addmm(weights.bias.to(precision), read, weights.gates.t()).to(inputs.dtype)
    opened, candidate = torch.sigmoid(gates[:, : 3 * dim]), torch.tanh(gates[:, 3 * dim :])
    memory = torch.addcmul(opened[:, dim : 2 * dim] * memory, opened[:, :dim], candidate)
    shown = torch.tanh(memory)
    hidden = opened[:, 2 * dim :] * shown
    if keep is not None:
        hidden = hidden * keep
    scores = (grid.spread(hidden.to(precision), len(question)) @ question.transpose(1, 2)).to(inputs.dtype)
    attention = torch.softmax(scores.masked_fill(~mask.unsqueeze(1), -1e9), dim=2)  # (B, width, L)
    attended = grid.collect(attention.to(precision) @ question).to(inputs.dtype)
    return Step(hidden, memory, attended, grid.collect(attention), looked, read, opened, candidate, shown)


def read_trees(
    weights: Weights,
    question: Tensor,
    mask: Tensor,
    levels: Sequence[Grid],
    parents: Tensor,
    inputs: Tensor,
    before: tuple[Tensor, Tensor],
    keep: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Steps through the trees of B questions, N nodes level by level; the first B are their roots.

    ``levels`` are the grids of the levels; ``parents`` (N,) are each node's place within the level before; ``before``
    are hidden state and what was attended to (B, H) before the roots. The others are as in ``step``. Gives hidden
    (N, H), attended (N, H) and attention (N, L).
    """
    low = (
        torch.get_autocast_dtype(question.device.type)
        if torch.is_autocast_enabled(question.device.type)
        else None
    )
    with torch.autocast(question.device.type, enabled=False):
        # Parts of the network before may have given less than the precision of the weights.
        given = (tensor.to(weights.bias.dtype) for tensor in (question, inputs, *before))
        made: tuple[Tensor, Tensor, Tensor] = _ReadTrees.apply(  # type: ignore[no-untyped-call]
            *weights, *given, mask, levels, parents, keep, low
        )
    return made


class _ReadTrees(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        of_attended: Tensor,
        of_gates: Tensor,
        bias: Tensor,
        question: Tensor,
        inputs: Tensor,
        hidden: Tensor,
        attended: Tensor,
        mask: Tensor,
        levels: Sequence[Grid],
        parents: Tensor,
        keep: Tensor | None,
        low: torch.dtype | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        weights = Weights(_lowered(of_attended, low), _lowered(of_gates, low), bias)
        question = _lowered(question, low)
        state: tuple[Tensor, ...] = (hidden, torch.zeros_like(hidden), attended)
        steps: list[Step] = []
        memories: list[Tensor] = []
        start = 0
        for level in levels:
            nodes = slice(start, start + len(level.owners))
            start = nodes.stop
            hidden, memory, attended = (values.index_select(0, parents[nodes]) for values in state)
            kept = None if keep is None else keep[nodes]
            made = step(weights, question, mask, level, inputs[nodes], (hidden, memory, attended), kept)
            state = (made.hidden, made.memory, made.attended)
            steps.append(made)
            memories.append(memory)
        ctx.weights, ctx.question, ctx.levels, ctx.parents, ctx.keep = (
            weights,
            question,
            levels,
            parents,
            keep,
        )
        ctx.steps, ctx.memories = steps, memories
        return (
            torch.cat([made.hidden for made in steps]),
            torch.cat([made.attended for made in steps]),
            torch.cat([made.attention for made in steps]),
        )

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_hidden: Tensor, of_attended: Tensor, of_attention: Tensor
    ) -> tuple[Tensor | None, ...]:
        weights, question, levels = ctx.weights, ctx.question, ctx.levels
        size, dim = len(question), of_hidden.shape[1]
        precision = weights.gates.dtype
        # What the level after gives back to each node of the one at hand: hidden, memory, attended.
        back: tuple[Tensor, ...] | None = None
        of_gates: list[Tensor] = []
        of_inputs: list[Tensor] = []
        of_question = torch.zeros_like(question, dtype=of_hidden.dtype)
        stop = len(of_hidden)
        for depth in reversed(range(len(levels))):
            grid, made, memory = levels[depth], ctx.steps[depth], ctx.memories[depth]
            nodes = slice(stop - len(grid.owners), stop)
            stop = nodes.start
            d_hidden, d_attended = of_hidden[nodes], of_attended[nodes]
            if back is not None:
                d_hidden, d_attended = d_hidden + back[0], d_attended + back[2]
            # Through the attention.
            d_grid = grid.spread(d_attended.to(precision), size)
            d_attention = of_attention[nodes] + grid.collect(d_grid @ question.transpose(1, 2))
            d_scores = made.attention * (d_attention - (d_attention * made.attention).sum(1, keepdim=True))
            both = grid.spread(torch.cat([d_scores, made.attention], dim=1).to(precision), size)
            hidden = grid.spread(made.hidden.to(precision), size)
            of_question += torch.cat(both.chunk(2, dim=2), dim=1).transpose(1, 2) @ torch.cat(
                [hidden, d_grid], dim=1
            )
            d_hidden = d_hidden + grid.collect(both[:, :, : question.shape[1]] @ question)
            if ctx.keep is not None:
                d_hidden = d_hidden * ctx.keep[nodes]
            # Through the gates: the derivative of tanh(x) is 1 - tanh(x)^2, that of the logistic s is s (1 - s).
            opened, candidate, shown = made.opened, made.candidate, made.shown
            d_memory = d_hidden * opened[:, 2 * dim :] * (1 - shown * shown)
            if back is not None:
                d_memory = d_memory + back[1]
            d_opened = torch.cat([d_memory * candidate, d_memory * memory, d_hidden * shown], dim=1)
            d_candidate = d_memory * opened[:, :dim] * (1 - candidate * candidate)
            d_gates = torch.cat([d_opened * opened * (1 - opened), d_candidate], dim=1).to(precision)
            d_read = d_gates @ weights.gates
            d_inputs = d_read[:, :dim] * (made.read[:, :dim] > 0)
            given = (d_read[:, dim:], d_memory * opened[:, dim : 2 * dim], d_inputs @ weights.attended)
            above = len(levels[max(depth - 1, 0)].owners)
            empty = d_hidden.new_zeros(above, dim)
            chosen = ctx.parents[nodes]
            back = tuple(empty.index_add(0, chosen, values.to(empty.dtype)) for values in given)
            of_gates.append(d_gates)
            of_inputs.append(d_inputs)
        assert back is not None, "a tree has a root"
        all_gates, all_inputs = torch.cat(of_gates[::-1]), torch.cat(of_inputs[::-1])
        return (
            (all_inputs.t() @ torch.cat([made.looked for made in ctx.steps])).to(of_hidden.dtype),
            (all_gates.t() @ torch.cat([made.read for made in ctx.steps])).to(of_hidden.dtype),
            all_gates.sum(0, dtype=of_hidden.dtype),
            of_question,
            all_inputs.to(of_hidden.dtype),
            back[0],
            back[2],
            *(None,) * 5,
        )


def _lowered(weight: Tensor, low: torch.dtype | None) -> Tensor:
    return weight if low is None else weight.to(low)
