"""The head that adds and subtracts: each number of the passage gets plus, minus, or is left out."""

import torch
from torch import Tensor, nn

from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.heads import Best, DecodingConfig, Pooled, feedforward, total

#: The places of the three signs in the logits.
OUT, PLUS, MINUS = 0, 1, 2
#: So far a sum of decimals may be off.
_ROUNDING = 1e-6


class SignHead(nn.Module):
    """From [M0; M3] at each number and the passage vector. Logits: (batch, numbers, 3).

    A constant, which stands at no token, has a learned vector instead.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.sign = feedforward(3 * dim, dim, 3)
        self.constant = nn.Parameter(torch.zeros(2 * dim))

    def forward(self, pooled: Pooled, batch: Batch) -> Tensor:
        first, _, _, last = pooled.encoded.passes
        tokens = batch.number_tokens[batch.passage_of].unsqueeze(-1)  # (batch, numbers, 1)
        places = tokens.clamp(min=0).expand(-1, -1, first.shape[-1])
        at_numbers = torch.cat([first.gather(1, places), last.gather(1, places)], dim=-1)
        at_numbers = torch.where(tokens < 0, self.constant.to(at_numbers.dtype), at_numbers)
        passage = pooled.passage.unsqueeze(1).expand(-1, tokens.shape[1], -1)
        logits: Tensor = self.sign(torch.cat([at_numbers, passage], dim=-1))
        return logits

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        log_probabilities = self._log_probabilities(logits, batch)
        # All numbers left out, then what each signed one changes of that.
        none = log_probabilities[:, :, OUT].sum(1, keepdim=True)
        signed = gold.signs  # (batch, assignments, terms)
        places = (signed.abs() - 1).clamp(min=0).flatten(1)
        sign = torch.where(signed > 0, PLUS, MINUS).flatten(1)
        flat = log_probabilities.flatten(1)
        change = flat.gather(1, 3 * places + sign) - flat.gather(1, 3 * places + OUT)
        change = change.view(signed.shape).masked_fill(signed == 0, 0)
        return total(none + change.sum(-1), (signed != 0).any(-1))

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best:
        log_probabilities = self._log_probabilities(logits, batch)
        mask = batch.number_mask[batch.passage_of]
        chosen = log_probabilities.argmax(-1).masked_fill(~mask, OUT)
        if not decoding.sums_below_zero:
            assert batch.number_values is not None, "the batch has no values"
            values = batch.number_values[batch.passage_of]
            sums = (_signs(chosen) * values).sum(1)
            for row in (sums < -_ROUNDING).nonzero().flatten().tolist():
                chosen[row] = _not_below_zero(log_probabilities[row], chosen[row], values[row])
        score = log_probabilities.gather(2, chosen.unsqueeze(2)).sum((1, 2))
        return Best(_signs(chosen), score)

    def _log_probabilities(self, logits: Tensor, batch: Batch) -> Tensor:
        """(batch, numbers, 3), 0 at padding."""
        mask = batch.number_mask[batch.passage_of].unsqueeze(-1)
        return logits.float().log_softmax(-1).masked_fill(~mask, 0)


def _signs(chosen: Tensor) -> Tensor:
    """Places among the three signs to 0, +1 and -1."""
    return torch.where(chosen == MINUS, -1, chosen)


def _not_below_zero(log_probabilities: Tensor, chosen: Tensor, values: Tensor) -> Tensor:
    """The likeliest signs with a sum of at least 0 that differ from ``chosen`` in at most two numbers; where there
    are none, a plus for every minus. ``log_probabilities`` is (numbers, 3), the others (numbers,)."""
    numbers = len(chosen)
    options = torch.arange(3, device=chosen.device)
    gains = (log_probabilities - log_probabilities.gather(1, chosen.unsqueeze(1))).flatten()
    changes = (values.unsqueeze(1) * (_signs(options) - _signs(chosen).unsqueeze(1))).flatten()
    of = torch.arange(numbers, device=chosen.device).repeat_interleave(3)
    # Every pair of changes; two of the same number only where one of them is none.
    is_none = gains.eq(0) & changes.eq(0)
    possible = (of.unsqueeze(1) != of) | is_none.unsqueeze(1) | is_none
    sums = (_signs(chosen) * values).sum() + changes.unsqueeze(1) + changes
    both = (gains.unsqueeze(1) + gains).masked_fill(~possible | (sums < -_ROUNDING), -torch.inf)
    if not both.isfinite().any():
        return torch.where(chosen == MINUS, PLUS, chosen)
    changed = chosen.clone()
    for place in divmod(int(both.argmax()), 3 * numbers):
        if not is_none[place]:
            changed[of[place]] = options[place % 3]
    return changed
