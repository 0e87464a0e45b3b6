"""The head that adds and subtracts: each number of the passage gets plus, minus, or is left out."""

import torch
from torch import Tensor, nn

from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.heads import Best, Pooled, feedforward, total

#: The places of the three signs in the logits.
OUT, PLUS, MINUS = 0, 1, 2


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

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch) -> Best:
        score, sign = self._log_probabilities(logits, batch).max(-1)
        mask = batch.number_mask[batch.passage_of]
        return Best(torch.where(sign == MINUS, -1, sign).masked_fill(~mask, 0), score.sum(1))

    def _log_probabilities(self, logits: Tensor, batch: Batch) -> Tensor:
        """(batch, numbers, 3), 0 at padding."""
        mask = batch.number_mask[batch.passage_of].unsqueeze(-1)
        return logits.float().log_softmax(-1).masked_fill(~mask, 0)
