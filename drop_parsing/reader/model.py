"""The reader: an encoder and some answer heads, trained on the marginal likelihood of all derivations.

NAQANet (Dua et al. 2019) is the QANet encoder with the heads passage-span, question-span, add-subtract and
count; the paper's other rows are other choices of the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from drop_parsing.reader.attention import Pooling
from drop_parsing.reader.batch import Batch
from drop_parsing.reader.count_head import CountHead
from drop_parsing.reader.heads import Best, DecodingConfig, Head, HeadName, Pooled, feedforward
from drop_parsing.reader.sign_head import SignHead
from drop_parsing.reader.span_heads import PassageSpanHead, QuestionSpanHead
from drop_parsing.reader.tagging_head import TaggingHead

_HEADS: Mapping[HeadName, type[nn.Module]] = {
    "passage-span": PassageSpanHead,
    "question-span": QuestionSpanHead,
    "add-subtract": SignHead,
    "count": CountHead,
    "multi-span": TaggingHead,
}


@dataclass(frozen=True, slots=True)
class Scores:
    """What the model says of a batch. ``head_log_probabilities`` is (batch, heads), in the order of its heads."""

    pooled: Pooled
    logits: dict[HeadName, Tensor]
    head_log_probabilities: Tensor


@dataclass(frozen=True, slots=True)
class Decoded:
    """The likeliest head of each question, (batch,) places among the heads, and the best output of each head."""

    heads: Tensor
    head_log_probabilities: Tensor
    best: dict[HeadName, Best]


class Reader(nn.Module):
    """``encoder`` gives vectors of width ``dim`` (see ``encoding.Encoder``)."""

    def __init__(
        self,
        encoder: nn.Module,
        heads: Sequence[HeadName],
        dim: int,
        dropout: float,
        decoding: DecodingConfig,
    ) -> None:
        super().__init__()
        self.decoding = decoding
        self.encoder = encoder
        self.heads = nn.ModuleDict({name: _HEADS[name](dim) for name in heads})
        self.pool_passage = Pooling(dim)
        self.pool_question = Pooling(dim)
        self.choose = feedforward(2 * dim, dim, len(heads), dropout) if len(heads) > 1 else None

    def forward(self, batch: Batch) -> Scores:
        encoded = self.encoder(batch)
        passage = self.pool_passage(encoded.passes[0], encoded.passage_mask)
        question = self.pool_question(encoded.question, encoded.question_mask)
        pooled = Pooled(encoded, passage, question)
        logits = {name: head(pooled, batch) for name, head in self._heads()}
        if self.choose is None:
            chosen = passage.new_zeros(len(passage), 1, dtype=torch.float32)
        else:
            chosen = self.choose(torch.cat([passage, question], dim=-1)).float().log_softmax(-1)
        return Scores(pooled, logits, chosen)

    def log_likelihood(self, batch: Batch) -> Tensor:
        """(batch,): the log probability of all derivations of all heads together.

        Of a question without a derivation it is some large negative number of no meaning.
        """
        assert batch.gold is not None, "the batch has no derivations"
        scores = self(batch)
        by_head = [
            head.log_likelihood(scores.logits[name], scores.pooled, batch, batch.gold)
            for name, head in self._heads()
        ]
        return torch.logsumexp(torch.stack(by_head, dim=1) + scores.head_log_probabilities, dim=1)

    def decode(self, batch: Batch) -> Decoded:
        """The likeliest head and what each head would answer."""
        scores = self(batch)
        best = {
            name: head.best(scores.logits[name], scores.pooled, batch, self.decoding)
            for name, head in self._heads()
        }
        return Decoded(scores.head_log_probabilities.argmax(1), scores.head_log_probabilities, best)

    def _heads(self) -> list[tuple[HeadName, Head]]:
        return list(self.heads.items())  # type: ignore[arg-type]
