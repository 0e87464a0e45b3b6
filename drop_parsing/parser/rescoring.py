"""The forms of a beam in another order, once they are executed: a log-linear model over what speaks for each.

After Pasupat & Liang (2015): the weights of features (``evidence``) are fitted to maximise the marginal likelihood of
the forms that answer right, each as right as its F1 says, among all forms of a beam; with an L2 penalty, by L-BFGS.
They are fitted on questions that the decoder was not trained on, so that its own probability counts for what it is;
the penalty is the one by which each half of these questions is answered best with the weights of the other half.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from drop_parsing.errors import InputError
from drop_parsing.parser.evidence import Features
from extractors.store import atomic_file

#: Features seen in fewer questions are left out.
AT_LEAST = 3
PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
MAX_STEPS = 120
#: What the fit begins with: a beam in the order of what its denotations are probable.
BEGIN = ("log probability of the denotation", 5.0)

#: The features of each form of a beam, and its F1, 0 to 1.
Example = Sequence[tuple[Features, float]]


class Rescorer:
    """``weights`` by the name of the feature."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)

    def score(self, features: Features) -> float:
        return sum(self.weights.get(name, 0.0) * value for name, value in features.items())

    def save(self, path: Path) -> None:
        with atomic_file(path) as file:
            file.write(json.dumps(self.weights, indent=0, ensure_ascii=False, sort_keys=True).encode())

    @staticmethod
    def load(path: Path) -> "Rescorer":
        """Raises InputError where the file is none that ``save`` has written."""
        try:
            data = json.loads(path.read_text("utf-8"))
            return Rescorer({str(name): float(weight) for name, weight in data.items()})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path} can not be read ({error}): train the run again.") from error


def fit(examples: Sequence[Example]) -> Rescorer:
    """The rescorer of these beams, with the best penalty; the beams of one passage must stand together."""
    middle = len(examples) // 2
    one, other = examples[:middle], examples[middle:]

    def score(penalty: float) -> float:
        return _total_f1(fit_with(one, penalty), other) + _total_f1(fit_with(other, penalty), one)

    return fit_with(examples, max(PENALTIES, key=score))


def _total_f1(rescorer: Rescorer, examples: Sequence[Example]) -> float:
    """That of the form that each beam then has first."""
    return sum(max(example, key=lambda form: rescorer.score(form[0]))[1] for example in examples if example)


def fit_with(examples: Sequence[Example], penalty: float) -> Rescorer:
    """The rescorer of these beams; those without a form that is right in part are left out."""
    usable = [example for example in examples if any(f1 > 0 for _, f1 in example)]
    counts = Counter(name for example in usable for name in {name for made, _ in example for name in made})
    names = sorted(name for name, count in counts.items() if count >= AT_LEAST)
    if not names:
        return Rescorer({BEGIN[0]: BEGIN[1]})
    model = _Model(usable, {name: place for place, name in enumerate(names)})
    weights = torch.tensor([BEGIN[1] if name == BEGIN[0] else 0.0 for name in names], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=MAX_STEPS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = -model.log_likelihood(weights).mean() + penalty / 2 * weights.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return Rescorer(dict(zip(names, weights.tolist(), strict=True)))


class _Model:
    """Beams as tensors: the features of N forms one after another, and the beam of each."""

    def __init__(self, examples: Sequence[Example], place: Mapping[str, int]) -> None:
        forms = [form for example in examples for form in example]
        rows = [[(place[name], value) for name, value in made.items() if name in place] for made, _ in forms]
        self.names = torch.tensor([name for row in rows for name, _ in row])
        self.values = torch.tensor([value for row in rows for _, value in row])
        ends = torch.tensor([len(row) for row in rows]).cumsum(0)
        self.starts = torch.cat([ends.new_zeros(1), ends[:-1]])
        self.log_f1 = torch.tensor([math.log(f1) if f1 > 0 else -torch.inf for _, f1 in forms])
        sizes = torch.tensor([len(example) for example in examples])
        self.beams = torch.arange(len(examples)).repeat_interleave(sizes)
        self.size = len(examples)

    def log_likelihood(self, weights: Tensor) -> Tensor:
        """(beams,) of the right forms among all."""
        scores = torch.nn.functional.embedding_bag(
            self.names, weights.unsqueeze(1), self.starts, mode="sum", per_sample_weights=self.values
        ).squeeze(1)
        return self._log_sum(scores + self.log_f1) - self._log_sum(scores)

    def _log_sum(self, scores: Tensor) -> Tensor:
        greatest = scores.detach().new_full((self.size,), -torch.inf)
        greatest = greatest.scatter_reduce(0, self.beams, scores.detach(), "amax")
        shares = torch.exp(scores - greatest[self.beams])
        return greatest + torch.log(shares.new_zeros(self.size).index_add(0, self.beams, shares))
