"""The decoder: how likely each production is, for any number of half-derived forms at once.

A *state* is a form as far as it is derived. N states of a batch of B questions lie one after another, in any number for
each question: a beam search has as many for each, the tree of the forms to learn from has not. There are two moves,
each a fixed number of tensor operations: ``log_probabilities`` of every production in every state, and ``read``, which
makes the states that follow when productions are chosen in states. Who chooses is none of the decoder's business.

A production is open to a state if it expands the symbol on top of the state's stack and the shortest completion of all
that is then open fits into the limit of length. So every derivation that is begun can be completed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from drop_parsing.parser.batch import ENTITY_TYPES, Batch
from drop_parsing.parser.encoder import Encoded
from drop_parsing.parser.linking import FEATURES
from drop_parsing.parser.recurrence import Grid, Step, Weights, read_trees, step
from drop_parsing.parser.rules import rules
from drop_parsing.reader.dropout import Dropout


@dataclass(frozen=True, slots=True)
class Problem:
    """A batch of questions with its grammar, compiled: A = G + E productions; S symbols, Q the width of what stands for
    a production. ``limit`` is the greatest length of a form."""

    question: Tensor  # (B, L, H)
    mask: Tensor  # (B, L) bool
    summary: Tensor  # (B, H)
    expands: Tensor  # (B, S, A) bool
    shortest: Tensor  # (B, S) long
    rest: Tensor  # (B, A) long, the fewest productions that complete a production's arguments
    keys: Tensor  # (B, L + Q, E), what attention and query select leaves by
    after: Tensor  # (1 + B E, E), what is added for a leaf after another (from row 1 on), nothing after a function
    fed: Tensor  # (G + B E, Q), what is read of a production: functions, then the leaves of each question
    limit: int


class Decoder(nn.Module):
    """An LSTM over productions with attention over the question (Krishnamurthy, Dasigi & Gardner 2017).

    Functions are selected by embedding; leaves by their linking scores with the tokens attended to, by the embedding
    of their name (``leaves`` names, 1 for those not known), by their traits, which are the greatest of each linking
    feature over the question, and by whether they are neighbours of the leaf before.
    """

    expands: Tensor
    pushes: Tensor

    def __init__(self, dim: int, production_dim: int, leaves: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("expands", torch.from_numpy(rules().expands), persistent=False)
        self.register_buffer("pushes", torch.from_numpy(rules().pushes), persistent=False)
        self.functions = len(rules().productions)
        self.select = nn.Linear(production_dim, self.functions)
        self.select_leaf = nn.Embedding(leaves, production_dim)
        self.select_type = nn.Embedding(len(ENTITY_TYPES), production_dim)
        self.select_traits = nn.Linear(len(FEATURES), production_dim, bias=False)
        self.after_neighbour = nn.Embedding(len(ENTITY_TYPES), 1)
        nn.init.zeros_(self.after_neighbour.weight)
        self.feed = nn.Embedding(self.functions, production_dim)
        self.feed_leaf = nn.Embedding(leaves, production_dim)
        self.feed_type = nn.Embedding(len(ENTITY_TYPES), production_dim)
        self.feed_traits = nn.Linear(len(FEATURES), production_dim, bias=False)
        self.begin = nn.Parameter(torch.randn(production_dim))
        self.begin_attended = nn.Parameter(torch.randn(dim))
        self.mix = nn.Linear(dim + production_dim, dim)
        self.gates = nn.Linear(2 * dim, 4 * dim)
        self.query = nn.Linear(2 * dim, production_dim)
        self.dropout = Dropout(dropout)

    def problem(self, batch: Batch, encoded: Encoded, limit: int) -> Problem:
        """Compile the grammar of every question; nothing else here looks at a question's entities."""
        size, entities = batch.types.shape
        functions = self.expands.unsqueeze(0).expand(size, -1, -1)
        lengths = batch.shortest[:, self.pushes].sum(2)  # (B, G): 0 is the length of no argument
        traits = batch.features.amax(2).to(self.begin.dtype)  # (B, E, F)
        named = self.select_leaf(batch.leaves) + self.select_type(batch.types)
        selected = named + self.select_traits(traits)  # (B, E, Q)
        fed = self.feed_leaf(batch.leaves) + self.feed_type(batch.types) + self.feed_traits(traits)
        after = (batch.neighbours * self.after_neighbour(batch.types).transpose(1, 2)).flatten(0, 1)
        return Problem(
            encoded.question,
            encoded.mask,
            encoded.summary,
            torch.cat([functions, batch.expands], dim=2),
            batch.shortest,
            torch.cat([lengths, lengths.new_zeros(size, entities)], dim=1),
            torch.cat([encoded.linking, selected.transpose(1, 2)], dim=1),
            torch.cat([torch.zeros_like(after[:1]), after]),
            torch.cat([self.feed.weight, fed.flatten(0, 1)]),
            limit,
        )

    def start(self, problem: Problem) -> tuple[Step, Grid]:
        """One state for each question: nothing derived, an answer to be made."""
        size = len(problem.summary)
        grid = Grid(torch.arange(size, device=problem.summary.device), 1)
        memory = torch.zeros_like(problem.summary)
        inputs = self._inputs(self.begin.unsqueeze(0)).expand(size, -1)
        before = (problem.summary, memory, self.begin_attended.expand(size, -1))
        return step(self._weights(), problem.question, problem.mask, grid, inputs, before), grid

    def read(self, problem: Problem, before: Step, parents: Tensor, productions: Tensor, grid: Grid) -> Step:
        """The states that follow from each of ``productions`` (N,) in the state of the same place in ``parents`` (N,),
        a place in ``before``. ``grid`` is theirs. For training see ``read_trees``."""
        fed = problem.fed.index_select(0, self._rows(problem, productions, grid))
        state = (before.hidden, before.memory, before.attended)
        hidden, memory, attended = (values.index_select(0, parents) for values in state)
        return step(
            self._weights(),
            problem.question,
            problem.mask,
            grid,
            self._inputs(fed),
            (hidden, memory, attended),
        )

    def read_trees(
        self, problem: Problem, levels: Sequence[Grid], whole: Grid, parents: Tensor, productions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden (N, H), attended (N, H) and attention (N, L) of every node of trees, as in ``recurrence.read_trees``;
        ``whole`` is the grid of all nodes, ``productions`` (N,) lead to them, those of the roots are not read."""
        size = len(problem.summary)
        fed = problem.fed.index_select(
            0, self._rows(problem, productions[size:], Grid(whole.owners[size:], 1))
        )
        inputs = self._inputs(torch.cat([self.begin.expand(size, -1), fed]))
        keep = self.dropout(torch.ones_like(inputs)) if self.training and self.dropout.probability else None
        before = (problem.summary, self.begin_attended.expand(size, -1))
        return read_trees(
            self._weights(), problem.question, problem.mask, levels, parents, inputs, before, keep
        )

    def _weights(self) -> Weights:
        return Weights(self.mix.weight[:, : self.gates.out_features // 4], self.gates.weight, self.gates.bias)

    def _inputs(self, fed: Tensor) -> Tensor:
        """(N, H) from (N, Q): the part of the productions in what the gates read."""
        return functional.linear(fed, self.mix.weight[:, self.gates.out_features // 4 :], self.mix.bias)

    def _rows(self, problem: Problem, productions: Tensor, grid: Grid) -> Tensor:
        """The rows of ``problem.fed`` that hold these productions."""
        leaves = productions + grid.owners * (problem.rest.shape[1] - self.functions)
        return torch.where(productions < self.functions, productions, leaves)

    def log_probabilities(
        self,
        problem: Problem,
        states: tuple[Tensor, Tensor, Tensor],
        may: Tensor,
        previous: Tensor,
        grid: Grid,
    ) -> Tensor:
        """(N, A) of every production; about -1e9 where ``may`` (N, A) says that it is not open. ``states`` are hidden
        (N, H), attended (N, H) and attention (N, L); ``previous`` (N,) is the production last chosen."""
        hidden, attended, attention = states
        query = self.dropout(torch.relu(self.query(torch.cat([hidden, attended], dim=1)))).to(hidden.dtype)
        selecting = grid.spread(torch.cat([attention, query], dim=1), len(problem.keys))
        leaf = previous - self.functions
        row = torch.where(leaf >= 0, leaf + 1 + grid.owners * problem.after.shape[1], 0)
        leaves = grid.collect(selecting @ problem.keys) + problem.after.index_select(0, row)
        scores = torch.cat([self.select(query), leaves], dim=1)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        return torch.log_softmax(scores.masked_fill(~may, -1e9), dim=1)


def open_productions(problem: Problem, tops: Tensor, left: Tensor, grid: Grid) -> Tensor:
    """(N, A) whether each production may be chosen in states with these symbols ``tops`` (N,) to expand, for whose
    arguments ``left`` (N,) productions may be used at most."""
    symbols, productions = problem.expands.shape[1:]
    expands = problem.expands.view(-1, productions).index_select(0, grid.owners * symbols + tops)
    return expands & (problem.rest.index_select(0, grid.owners) <= left.unsqueeze(1))
