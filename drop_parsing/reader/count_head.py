"""The head that counts from 0 to 9."""

from torch import Tensor, nn

from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.heads import Best, DecodingConfig, Pooled, feedforward, total

COUNTS = 10


class CountHead(nn.Module):
    """From the passage vector. Logits: (batch, 10)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.count = feedforward(dim, dim, COUNTS)

    def forward(self, pooled: Pooled, batch: Batch) -> Tensor:
        logits: Tensor = self.count(pooled.passage)
        return logits

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        log_probabilities = logits.float().log_softmax(-1)
        return total(log_probabilities.gather(1, gold.counts.clamp(min=0)), gold.counts >= 0)

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best:
        score, count = logits.float().log_softmax(-1).max(-1)
        return Best(count, score)
