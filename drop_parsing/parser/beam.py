"""Beam search over many questions at once, such that a wider beam never finds a worse form.

The places of a beam are ordered, and each place is filled from the states at this place and before it only, with the
best production that no place before has taken (after Lemons et al. 2022, "Beam search: faster and monotonic"). So the
first j places of a beam of k are the beam of j: the best form of a wider beam is at least as good, which an ordinary
beam, where many promising beginnings crowd out the one that ends well, does not guarantee.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from drop_parsing.parser.decoder import Decoder, Problem, open_productions
from drop_parsing.parser.derivations import Derivations
from drop_parsing.parser.recurrence import Grid
from drop_parsing.parser.rules import COMPLETE


@dataclass(frozen=True, slots=True)
class Beams:
    """The complete forms of each question, best first. ``productions`` (B, K, T) are followed by ``rules.END``,
    ``scores`` (B, K) are log probabilities, -inf where there is no further form."""

    productions: Tensor
    scores: Tensor


@torch.no_grad()
def beam_search(decoder: Decoder, problem: Problem, width: int) -> Beams:
    """The best forms that a beam of ``width`` finds. A question for which no form fits into the limit has none."""
    reached, grid = decoder.start(problem)
    derivations = Derivations.start(problem)
    size = len(problem.mask)
    previous = torch.zeros_like(derivations.depth)
    scores = torch.zeros(size, 1, device=previous.device)
    history = previous.new_zeros(size, 1, 0)
    full = Grid(grid.owners.repeat_interleave(width), width)
    for _ in range(problem.limit):
        may = open_productions(problem, derivations.tops, derivations.left(problem, grid), grid)
        states = (reached.hidden, reached.attended, reached.attention)
        following = decoder.log_probabilities(problem, states, may, previous, grid)
        best, choices = following.masked_fill(~may, -torch.inf).topk(min(width, may.shape[1]), dim=1)
        each = best.shape[1]
        scores, places = _fill(scores.unsqueeze(2) + best.view(size, -1, each), width)
        chosen = choices.view(size, -1).gather(1, places)
        parents = places // each
        before = history.gather(1, parents.unsqueeze(2).expand(-1, -1, history.shape[2]))
        history = torch.cat([before, chosen.unsqueeze(2)], dim=2)
        previous = chosen.flatten()
        parents = (parents + grid.width * torch.arange(size, device=parents.device).unsqueeze(1)).flatten()
        derivations = derivations.expand(problem, decoder, parents, previous, full)
        if ((derivations.tops == COMPLETE) | scores.flatten().isinf()).all():
            break
        reached = decoder.read(problem, reached, parents, previous, full)
        grid = full
    scores, order = scores.sort(dim=1, descending=True, stable=True)
    return Beams(history.gather(1, order.unsqueeze(2).expand(-1, -1, history.shape[2])), scores)


def _fill(candidates: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The scores (B, width) that fill the places of a beam, and where each stands among the (B, K, C) candidates,
    flattened. A place that nothing is left for has the score -inf."""
    each = candidates.shape[2]
    pool = candidates.flatten(1).clone()
    scores, places = [], []
    for place in range(width):
        score, index = pool[:, : (place + 1) * each].max(dim=1, keepdim=True)
        pool.scatter_(1, index, -torch.inf)
        scores.append(score)
        places.append(index)
    return torch.cat(scores, dim=1), torch.cat(places, dim=1)
