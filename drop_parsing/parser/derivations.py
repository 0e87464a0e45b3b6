"""Derivations as tensors: for each of N half-derived forms, the stack of the symbols that are still open."""

from dataclasses import dataclass

import torch
from torch import Tensor

from drop_parsing.parser.decoder import Decoder, Problem
from drop_parsing.parser.recurrence import Grid
from drop_parsing.parser.rules import ANSWER, COMPLETE, rules


@dataclass(frozen=True, slots=True)
class Derivations:
    """N derivations of ``taken`` productions each, or fewer where they are complete."""

    stack: Tensor  # (N, D) long, ``COMPLETE`` at the bottom
    depth: Tensor  # (N,) long, the place of the symbol on top
    needed: Tensor  # (N,) long, the fewest productions that complete the stack
    taken: int

    @staticmethod
    def start(problem: Problem) -> "Derivations":
        """One for each question: an answer is to be made."""
        # Every open symbol needs a production; a function writes beyond the top of its arguments.
        height = problem.limit + 1 + rules().pushes.shape[1]
        stack = problem.shortest.new_full((len(problem.shortest), height), COMPLETE)
        stack[:, 1] = ANSWER
        return Derivations(stack, torch.ones_like(stack[:, 0]), problem.shortest[:, ANSWER], 0)

    @property
    def tops(self) -> Tensor:
        """(N,) the symbols to expand."""
        return self.stack.gather(1, self.depth.unsqueeze(1)).squeeze(1)

    def left(self, problem: Problem, grid: Grid) -> Tensor:
        """(N,) how many productions the arguments of the next one may use; enough where nothing is open."""
        tops = self.tops
        later = self.needed - problem.shortest[grid.owners, tops]
        return torch.where(tops == COMPLETE, 0, problem.limit - self.taken - 1 - later)

    def expand(
        self, problem: Problem, decoder: Decoder, parents: Tensor, productions: Tensor, grid: Grid
    ) -> "Derivations":
        """Those that follow from ``productions`` (N,) in the derivations at ``parents`` (N,); ``grid`` is theirs."""
        stack, depth = self.stack.index_select(0, parents), self.depth.index_select(0, parents)
        tops = stack.gather(1, depth.unsqueeze(1)).squeeze(1)
        # A leaf pushes nothing, as END does.
        pushed = decoder.pushes[torch.where(productions < decoder.functions, productions, 0)]
        places = depth.unsqueeze(1) + torch.arange(pushed.shape[1], device=depth.device)
        owners = grid.owners
        needed = self.needed.index_select(0, parents)
        return Derivations(
            stack.scatter(1, places, pushed),
            (depth - 1 + (pushed > 0).sum(1)).clamp(min=0),
            needed - problem.shortest[owners, tops] + problem.rest[owners, productions],
            self.taken + 1,
        )
