"""The heads that answer with one span: of the passage, or of the question."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drop_parsing.reader.attention import masked_log_softmax
from drop_parsing.reader.batch import Batch, Gold
from drop_parsing.reader.heads import Best, DecodingConfig, Pooled, feedforward, total


class PassageSpanHead(nn.Module):
    """Start from [M0; M1], end from [M0; M2]. Logits: (batch, 2, n)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.start = feedforward(2 * dim, dim, 1)
        self.end = feedforward(2 * dim, dim, 1)

    def forward(self, pooled: Pooled, batch: Batch) -> Tensor:
        first, second, third, _ = pooled.encoded.passes
        start = self.start(torch.cat([first, second], dim=-1))
        end = self.end(torch.cat([first, third], dim=-1))
        return torch.cat([start, end], dim=-1).transpose(1, 2)

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        return span_log_likelihood(logits, pooled.encoded.passage_mask, gold.passage_spans)

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best:
        return best_span(logits, pooled.encoded.passage_mask, decoding.longest_span)


class QuestionSpanHead(nn.Module):
    """Start and end from each question token beside the passage vector. Logits: (batch, 2, m)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.start = feedforward(2 * dim, dim, 1)
        self.end = feedforward(2 * dim, dim, 1)

    def forward(self, pooled: Pooled, batch: Batch) -> Tensor:
        question = pooled.encoded.question
        passage = pooled.passage.unsqueeze(1).expand(-1, question.shape[1], -1)
        inputs = torch.cat([question, passage], dim=-1)
        return torch.cat([self.start(inputs), self.end(inputs)], dim=-1).transpose(1, 2)

    def log_likelihood(self, logits: Tensor, pooled: Pooled, batch: Batch, gold: Gold) -> Tensor:
        return span_log_likelihood(logits, pooled.encoded.question_mask, gold.question_spans)

    def best(self, logits: Tensor, pooled: Pooled, batch: Batch, decoding: DecodingConfig) -> Best:
        return best_span(logits, pooled.encoded.question_mask, decoding.longest_span)


def span_log_likelihood(logits: Tensor, mask: Tensor, spans: Tensor) -> Tensor:
    """(batch,): of any of ``spans`` (batch, spans, 2), where start and end are chosen independently."""
    log_probabilities = masked_log_softmax(logits, mask.unsqueeze(1))  # (batch, 2, length)
    chosen = torch.gather(log_probabilities, 2, spans.clamp(min=0).transpose(1, 2))
    return total(chosen.sum(1), spans[:, :, 0] >= 0)


def best_span(logits: Tensor, mask: Tensor, longest: int | None) -> Best:
    """The likeliest span that ends no earlier than it starts, of up to ``longest`` tokens; the first of equals."""
    start, end = masked_log_softmax(logits, mask.unsqueeze(1)).unbind(1)
    length = end.shape[1]
    # The best end at or after each place.
    if longest is None:
        best_end, backwards = (part.flip(1) for part in end.flip(1).cummax(1))
        ends = length - 1 - backwards
    else:
        windows = F.pad(end, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
        best_end, after = windows.max(2)
        ends = torch.arange(length, device=end.device) + after
    score, first = (start + best_end).max(1)
    last = ends.gather(1, first.unsqueeze(1)).squeeze(1)
    return Best(torch.stack([first, last], dim=1), score)
