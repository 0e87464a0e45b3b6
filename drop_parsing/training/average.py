"""The moving average of a model's weights (Polyak averaging), which is what is evaluated and kept."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """After step ``n`` the average moves towards the weights by 1 - min(decay, (1 + n) / (10 + n)).

    A decay of 0 makes it the weights themselves.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self.averages = {name: weight.detach().clone() for name, weight in self._weights.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step)) if self.decay else 0.0
        weights = [weight.detach() for weight in self._weights.values()]
        torch._foreach_lerp_(list(self.averages.values()), weights, 1 - decay)

    def load(self, averages: dict[str, Tensor]) -> None:
        for name, average in self.averages.items():
            average.copy_(averages[name])

    @contextmanager
    @torch.no_grad()
    def applied(self) -> Iterator[None]:
        """Inside, the model has the average for its weights."""
        before = {name: weight.detach().clone() for name, weight in self._weights.items()}
        self._set(self.averages)
        try:
            yield
        finally:
            self._set(before)

    @torch.no_grad()
    def _set(self, values: dict[str, Tensor]) -> None:
        for name, weight in self._weights.items():
            weight.copy_(values[name])
