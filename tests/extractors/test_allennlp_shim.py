"""AllenNLP runs beside current packages once the shim is imported. Each case is a process of its own."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

needs_allennlp = pytest.mark.skipif(
    find_spec("allennlp") is None, reason="AllenNLP is installed on Python 3.11 only"
)

OFFLINE = """
import json, socket
def refuse(*arguments):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.getaddrinfo = refuse
import extractors.backends.allennlp_shim
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def result_of(code: str) -> object:
    """What the code prints as JSON, after the shim, without a network, and nothing else."""
    finished = run(OFFLINE + code)
    assert (finished.returncode, finished.stderr) == (0, "")
    return json.loads(finished.stdout)


@needs_allennlp
def test_the_packages_import_and_their_metric_scores() -> None:
    code = """
import allennlp, allennlp_models.rc, allennlp_semparse
from allennlp_models.rc.metrics import DropEmAndF1
def score(prediction, spans):
    metric = DropEmAndF1()
    metric(prediction, [{"number": "", "date": {}, "spans": spans}])
    return [float(value) for value in metric.get_metric()]
print(json.dumps([score("the Chicago Bears", ["Chicago Bears"]), score("Bears", ["Chicago Bears"]),
                  score(["Bears", "Lions"], ["Lions", "Bears"]), score("3", ["4"])]))
"""
    # One of two gold tokens found: precision 1, recall 1/2, F1 2/3, which the metric rounds.
    assert result_of(code) == [[1.0, 1.0], [0.0, 0.67], [1.0, 1.0], [0.0, 0.0]]


@needs_allennlp
def test_optimizer_and_scheduler_of_old_configs_can_be_made() -> None:
    code = """
import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer
weight = torch.nn.Parameter(torch.tensor([1.0]))
optimizer = Optimizer.by_name("huggingface_adamw")([("weight", weight)], lr=0.1)
scheduler = LearningRateScheduler.by_name("reduce_on_plateau")(optimizer, patience=0, verbose=True)
weight.grad = torch.tensor([2.0])
optimizer.step()
for loss in (1.0, 1.0):
    scheduler.step(loss)
print(json.dumps([round(weight.item(), 4), optimizer.param_groups[0]["lr"]]))
"""
    # Adam's first step has the size of the learning rate; a loss that stays cuts the rate to a tenth.
    assert result_of(code) == [0.9, pytest.approx(0.01)]


@needs_allennlp
def test_stand_ins_do_not_pass_for_the_absent_package() -> None:
    code = """
import torchvision
from transformers.utils import import_utils
import_utils.is_vision_available = lambda: True  # Pillow, which transformers asks for first
print(json.dumps([import_utils.is_torchvision_available(), hasattr(torchvision, "io")]))
"""
    assert result_of(code) == [False, False]


def test_without_allennlp_the_shim_does_nothing() -> None:
    code = """
import sys
sys.modules["allennlp"] = None  # what find_spec() takes for an absent package
import extractors.backends.allennlp_shim
print({"torch", "transformers", "nltk", "huggingface_hub", "fairscale", "torchvision"} & set(sys.modules))
"""
    finished = run(code)
    assert (finished.stdout.strip(), finished.stderr) == ("set()", "")
