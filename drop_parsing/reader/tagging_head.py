"""The head for answers of several spans: each passage token begins a span, is inside one, or outside.

After Segal et al. (2020), who tag tokens B, I and O and marginalise over the taggings of an answer.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.heads import Best, DecodingConfig, Pooled, feedforward, total

#: The places of the three tags in the logits.
OUTSIDE, BEGIN, INSIDE = 0, 1, 2


class TaggingHead(nn.Module):
    """From [M0; M1]. Logits: (batch, n, 3)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.tag = feedforward(2 * dim, dim, 3)

    def forward(self, pooled: Pooled, batch: Batch) -> Tensor:
        first, second, _, _ = pooled.encoded.passes
        logits: Tensor = self.tag(torch.cat([first, second], dim=-1))
        return logits

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        log_probabilities = self._log_probabilities(logits, pooled)
        outside = log_probabilities[:, :, OUTSIDE]
        begin = log_probabilities[:, :, BEGIN] - outside
        # inside[:, i]: what tokens 0 to i - 1 change when they are inside a span
        inside = F.pad((log_probabilities[:, :, INSIDE] - outside).cumsum(1), (1, 0))
        spans = gold.tags.flatten(1, 2)  # (batch, taggings * spans, 2)
        first, last = spans.clamp(min=0).unbind(-1)
        change = begin.gather(1, first) + inside.gather(1, last + 1) - inside.gather(1, first + 1)
        change = change.masked_fill(spans[:, :, 0] < 0, 0).view(gold.tags.shape[:3]).sum(-1)
        return total(outside.sum(1, keepdim=True) + change, (gold.tags[..., 0] >= 0).any(-1))

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best:
        """The likeliest tags in which no span is without a beginning; one token where all would be outside."""
        log_probabilities = self._log_probabilities(logits, pooled)
        mask = pooled.encoded.passage_mask
        tags = log_probabilities.argmax(-1).masked_fill(~mask, OUTSIDE)
        after_outside = F.pad(tags, (1, 0))[:, :-1] == OUTSIDE
        tags = torch.where((tags == INSIDE) & after_outside, BEGIN, tags)
        gain = (log_probabilities[..., BEGIN] - log_probabilities[..., OUTSIDE]).masked_fill(
            ~mask, -torch.inf
        )
        fallback = F.one_hot(gain.argmax(1), tags.shape[1]) * BEGIN
        tags = torch.where((tags == OUTSIDE).all(1, keepdim=True), fallback, tags)
        score = log_probabilities.gather(2, tags.unsqueeze(-1)).squeeze(-1).sum(1)
        return Best(tags, score)

    def _log_probabilities(self, logits: Tensor, pooled: Pooled) -> Tensor:
        """(batch, n, 3), 0 at padding."""
        mask = pooled.encoded.passage_mask.unsqueeze(-1)
        return logits.float().log_softmax(-1).masked_fill(~mask, 0)
