"""Passage-question attention and masked pooling."""

import torch
from torch import Tensor, nn


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last dimension, in single precision, among the places where ``mask`` is true."""
    return scores.float().masked_fill(~mask, torch.finfo(torch.float32).min).softmax(-1)


def masked_log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The same in logarithms; a very large negative number where ``mask`` is false."""
    return scores.float().masked_fill(~mask, torch.finfo(torch.float32).min).log_softmax(-1)


class Pooling(nn.Module):
    """(batch, length, dim) to (batch, dim): a mean with learned weights."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Linear(dim, 1)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        weights = masked_softmax(self.weight(inputs).squeeze(-1), mask).to(inputs.dtype)
        return torch.bmm(weights.unsqueeze(1), inputs).squeeze(1)


class TrilinearSimilarity(nn.Module):
    """``w . [p; q; p * q] + b`` for every pair of a passage and a question token (Seo et al. 2017)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        bound = (6 / (3 * dim + 1)) ** 0.5
        self.by_passage = nn.Parameter(torch.empty(dim).uniform_(-bound, bound))
        self.by_question = nn.Parameter(torch.empty(dim).uniform_(-bound, bound))
        self.by_product = nn.Parameter(torch.empty(dim).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, passage: Tensor, question: Tensor) -> Tensor:
        """(batch, n, dim) and (batch, m, dim) to (batch, n, m)."""
        products = torch.matmul(passage * self.by_product, question.transpose(1, 2))
        by_passage = torch.matmul(passage, self.by_passage).unsqueeze(2)
        by_question = torch.matmul(question, self.by_question).unsqueeze(1)
        return products + by_passage + by_question + self.bias


class PassageQuestionAttention(nn.Module):
    """Each passage token beside what it attends to in the question, and by way of the question in the passage
    (Xiong et al. 2017, as in QANet): (batch, n, 4 dim)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.similarity = TrilinearSimilarity(dim)

    def forward(
        self, passage: Tensor, passage_mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> Tensor:
        similarity = self.similarity(passage, question)  # (batch, n, m)
        to_question = masked_softmax(similarity, question_mask.unsqueeze(1)).to(passage.dtype)
        to_passage = masked_softmax(similarity.transpose(1, 2), passage_mask.unsqueeze(1)).to(passage.dtype)
        in_question = torch.bmm(to_question, question)  # (batch, n, dim)
        # (to_question to_passage) passage, in the order that needs no n x n matrix
        in_passage = torch.bmm(to_question, torch.bmm(to_passage, passage))
        return torch.cat([passage, in_question, passage * in_question, passage * in_passage], dim=-1)
