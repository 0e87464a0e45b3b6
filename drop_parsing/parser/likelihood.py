"""Maximum marginal likelihood: how likely a question's consistent forms are together."""

import torch
from torch import Tensor

from drop_parsing.parser.batch import Trees
from drop_parsing.parser.decoder import Decoder, Problem, open_productions
from drop_parsing.parser.recurrence import Grid
from drop_parsing.parser.rules import END


def form_log_likelihoods(decoder: Decoder, problem: Problem, trees: Trees) -> Tensor:
    """(B, F) the log probability of each form, without its prior.

    The decoder goes through the trees of the forms level by level; a prefix that forms share is read once, and the
    productions of all prefixes are scored in one pass.
    """
    levels = [Grid(trees.owners[level.nodes], level.width, level.places) for level in trees.levels]
    whole = Grid(trees.owners, trees.width, trees.places)
    states = decoder.read_trees(problem, levels, whole, trees.parents, trees.choices)
    left = problem.limit - trees.depths - 1 - trees.later
    may = open_productions(problem, trees.tops, left, whole)
    scores = decoder.log_probabilities(problem, states, may, trees.choices, whole)
    chosen = scores.flatten().take(trees.path_nodes * scores.shape[1] + trees.path_choices)
    return chosen.masked_fill(trees.path_choices == END, 0).sum(2)


def marginal_log_likelihood(decoder: Decoder, problem: Problem, trees: Trees) -> Tensor:
    """(B,) the logarithm of the sum over a question's forms of probability times weight."""
    return torch.logsumexp(form_log_likelihoods(decoder, problem, trees) + trees.prior, dim=1)
