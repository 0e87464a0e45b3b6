"""The reader as Lightning trains it: loss, optimizer, learning rate, moving average, and their state."""

import lightning
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from drop_parsing.reader.model import Reader
from drop_parsing.training.average import WeightAverage
from drop_parsing.training.preset import TrainingConfig
from drop_parsing.training.stream import Step, TrainingStream


class ReaderModule(lightning.LightningModule):
    """One long epoch of Lightning's: our own epochs are told by the stream, so that a run can begin inside one.

    ``steps_done`` and the state of ``load_tensors`` are those of the whole run, not of this process.
    """

    def __init__(
        self, reader: Reader, config: TrainingConfig, stream: TrainingStream, total_steps: int
    ) -> None:
        super().__init__()
        self.reader = reader
        self.config = config
        self.stream = stream
        self.total_steps = total_steps
        self.average = WeightAverage(reader, config.average_decay)
        self.steps_done = 0
        self.adam = torch.optim.Adam(
            [weight for weight in reader.parameters() if weight.requires_grad],
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            weight_decay=config.weight_decay,
        )
        self._random_state: Tensor | None = None

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return self.adam

    def train_dataloader(self) -> DataLoader[Step]:
        self.stream.rank, self.stream.processes = self.trainer.global_rank, self.trainer.world_size
        return DataLoader(self.stream, batch_size=None)

    def transfer_batch_to_device(self, batch: Step, device: torch.device, dataloader_idx: int) -> Step:
        return batch.to(device)

    def on_fit_start(self) -> None:
        self.average.averages = {n: average.to(self.device) for n, average in self.average.averages.items()}

    def on_train_batch_start(self, batch: Step, batch_idx: int) -> None:
        if batch_idx == 0:  # what came before, such as the loader, has drawn numbers too
            if self._random_state is None:
                torch.manual_seed(self.config.seed + self.trainer.global_rank)
            else:
                torch.set_rng_state(self._random_state)
        for group in self.adam.param_groups:
            group["lr"] = self.learning_rate()

    def training_step(self, batch: Step, batch_idx: int) -> Tensor:
        likelihood: Tensor = self.reader.log_likelihood(batch.batch)
        return -likelihood.mean()

    def finish_step(self) -> None:
        """What follows a step of the optimizer. Not a hook: those of callbacks would come before it."""
        self.average.update(self.steps_done)
        self.steps_done += 1

    def learning_rate(self) -> float:
        """That of the coming step."""
        rate = self.config.learning_rate
        if self.steps_done < self.config.warmup_steps:
            return rate * (self.steps_done + 1) / self.config.warmup_steps
        if self.config.decay == "linear":
            left = self.total_steps - self.steps_done
            return rate * left / max(1, self.total_steps - self.config.warmup_steps)
        return rate

    def state_tensors(self) -> dict[str, Tensor]:
        """All that training goes on from, beside the number of steps."""
        tensors = {f"weights.{name}": value for name, value in self.reader.state_dict().items()}
        tensors |= {f"average.{name}": value for name, value in self.average.averages.items()}
        for place, values in self.adam.state_dict()["state"].items():
            tensors |= {f"adam.{place}.{name}": value for name, value in values.items()}
        return {**tensors, "random": torch.get_rng_state()}

    def load_tensors(self, tensors: dict[str, Tensor], steps_done: int) -> None:
        """The inverse of ``state_tensors``."""
        parts: dict[str, dict[str, Tensor]] = {"weights": {}, "average": {}, "adam": {}}
        for name, value in tensors.items():
            if name != "random":
                part, _, rest = name.partition(".")
                parts[part][rest] = value
        self.reader.load_state_dict(parts["weights"])
        self.average.load(parts["average"])
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["adam"].items():
            place, _, key = name.partition(".")
            state.setdefault(int(place), {})[key] = value
        self.adam.load_state_dict({"state": state, "param_groups": self.adam.state_dict()["param_groups"]})
        self._random_state = tensors["random"]
        self.steps_done = steps_done
