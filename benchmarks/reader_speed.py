"""NAQANet here against NAQANet of allennlp-models: questions a second, in one run on the same questions.

    python benchmarks/reader_speed.py ../shared/data/drop/train.json [--threads 2] [--batches 2] [--parity]

Both are paper-sized, with the same weights, on the same batches of 16 real questions, whose passages are of
about the same length, as the bucketing of both makes them. Forward is the answer to every question (in ours
also every head's best output), training a step of loss, gradient and Adam. Each variant is measured
``--rounds`` times in turn with the others, by the process's own CPU time over its threads, and the median
counts: other work on the machine then falls on all alike. "reading" compares the data readers on the same
passages. ``--parity`` compares every logit, the loss and the answers at the paper's size instead.
"""

import argparse
import contextlib
import json
import math
import multiprocessing
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch.nn import functional as F

from drop_parsing.data.drop_json import passages_to_json
from drop_parsing.data.reader_columns import build_columns
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.reader import qanet
from drop_parsing.reader.batch import Batch
from drop_parsing.reader.collate import Collator, training_limits
from drop_parsing.reader.dropout import Dropout
from tests.drop_parsing import reader_reference as peer

warnings.filterwarnings("ignore", message=".*W108")  # spaCy: no tagger before its lemmatizer

BATCH = 16

NAMES = (
    "forward/reference",
    "forward/ours",
    "forward/ours, float32",
    "forward/ours, fused attention",
    "forward/ours, each passage for each question",
    "forward/ours, and each word where it stands",
    "training/reference",
    "training/ours",
    "training/ours, float32",
    "training/ours, torch's dropout",
    "training/ours, torch's convolution",
    "training/ours, fused attention",
    "training/ours, plain attention",
    "training/ours, each passage for each question",
    "training/ours, and each word where it stands",
)


#: How the names of the variants end that matter most.
MAIN = ("reference", "ours", "float32")


def groups_of(passages: list[Passage], batches: int, a_passage: int) -> list[list[Passage]]:
    """Batches of passages with ``BATCH`` questions in all, ``a_passage`` each, neighbours in length, spread
    over all lengths."""
    enough = sorted((p for p in passages if len(p.questions) >= a_passage), key=lambda p: len(p.text))
    size = BATCH // a_passage
    starts = [int(len(enough) * (place + 0.5) / batches) for place in range(batches)]
    return [
        [replace(p, questions=p.questions[:a_passage]) for p in enough[start : start + size]]
        for start in starts
    ]


def median_seconds(variants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Seconds that each variant says it took: the median over rounds, each round running all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds + 1):
        for name, run in variants.items():
            taken = run()
            if number:  # the first round warms up
                seconds[name].append(taken)
    return {name: statistics.median(values) for name, values in seconds.items()}


def cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def training_step(loss: Callable[[], torch.Tensor], optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    torch.autograd.backward(loss())
    optimizer.step()


class Both:
    """The two models with the same weights, and the same batches for each."""

    def __init__(self, groups: list[list[Passage]]) -> None:
        torch.manual_seed(0)
        reader = peer.reference_reader()
        instances = [peer.read_instances(reader, group) for group in groups]
        vocabulary = peer.make_vocabulary([instance for group in instances for instance in group], 200)
        self.reference = peer.reference_model(peer.PAPER, vocabulary)
        self.ours, words, config = peer.reader_of(self.reference, peer.PAPER, vocabulary)
        self.reference_batches = []
        for group in instances:
            self.reference_batches.append(peer.reference_tensors(group, vocabulary))
        self.batches = []
        for passages in groups:
            columns = build_columns(passages, config.data.numbers, config.data.most_numbers)
            collator = Collator(columns, words, config.data, training_limits(config.data), config.heads)
            self.batches.append(collator(range(columns.questions)))
        self.reference_optimizer = torch.optim.Adam(p for p in self.reference.parameters() if p.requires_grad)
        self.optimizer = torch.optim.Adam(p for p in self.ours.parameters() if p.requires_grad)

    def reference_forward(self) -> None:
        self.reference.eval()
        with torch.no_grad():
            for batch in self.reference_batches:
                self.reference(**batch)

    def _reference_loss(self, batch: Any) -> torch.Tensor:
        return self.reference(**batch)["loss"]  # type: ignore[no-any-return]

    def _loss(self, batch: Batch) -> torch.Tensor:
        return -self.ours.log_likelihood(batch).mean()

    def reference_training(self) -> None:
        self.reference.train()
        for batch in self.reference_batches:
            training_step(partial(self._reference_loss, batch), self.reference_optimizer)

    def forward(self, batches: list[Batch], bfloat16: bool) -> None:
        self.ours.eval()
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            for batch in batches:
                self.ours.decode(batch)

    def training(self, batches: list[Batch], bfloat16: bool) -> None:
        self.ours.train()
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                training_step(partial(self._loss, batch), self.optimizer)


def repeated_passages(batch: Batch) -> Batch:
    """The same batch with each passage as often as it has questions."""
    assert batch.words is not None
    rows = batch.passage_of
    return replace(
        batch,
        passage_of=torch.arange(len(rows)),
        passage_mask=batch.passage_mask[rows],
        number_tokens=batch.number_tokens[rows],
        number_mask=batch.number_mask[rows],
        number_values=None if batch.number_values is None else batch.number_values[rows],
        words=replace(batch.words, passages=batch.words.passages[rows]),
    )


def repeated_words(batch: Batch) -> Batch:
    """The same batch with each word as often as it stands there, padding too."""
    words = batch.words
    assert words is not None
    tokens = torch.cat([words.passages.flatten(), words.questions.flatten()])
    places = torch.arange(len(tokens))
    count = words.passages.numel()
    return replace(
        batch,
        words=replace(
            words,
            ids=words.ids[tokens],
            characters=words.characters[tokens],
            passages=places[:count].view(words.passages.shape),
            questions=places[count:].view(words.questions.shape),
        ),
    )


@contextlib.contextmanager
def patched(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def torch_dropout(self: Dropout, inputs: torch.Tensor) -> torch.Tensor:
    return F.dropout(inputs, self.probability, self.training)


def fused_attention(packed: torch.Tensor, lengths: Sequence[int], scale: float) -> torch.Tensor:
    queries, keys, values = packed.permute(2, 0, 3, 1, 4)
    mask = torch.arange(queries.shape[2]) < torch.tensor(lengths)[:, None]
    attended = F.scaled_dot_product_attention(queries, keys, values, mask[:, None, None, :], scale=scale)
    return attended.transpose(1, 2).flatten(2)


def plain_attention(packed: torch.Tensor, lengths: Sequence[int], scale: float) -> torch.Tensor:
    queries, keys, values = packed.permute(2, 0, 3, 1, 4)
    mask = torch.arange(queries.shape[2]) < torch.tensor(lengths)[:, None]
    scores = torch.matmul(queries * scale, keys.transpose(-1, -2))
    weights = scores.masked_fill(~mask[:, None, None, :], -1e9).softmax(-1)
    return torch.matmul(weights, values).transpose(1, 2).flatten(2)


def autograd_depthwise(inputs: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    width = filters.shape[1]
    padded = F.pad(inputs.transpose(1, 2), (width // 2, (width - 1) // 2))
    return F.conv1d(padded, filters.unsqueeze(1), bias, groups=len(filters)).transpose(1, 2)


def variants_of(both: Both) -> dict[str, Callable[[], object]]:
    """What is measured, by name."""
    alone = [repeated_passages(batch) for batch in both.batches]
    spelled = [repeated_words(batch) for batch in alone]

    def with_attention(run: Callable[[], None], attention: Any) -> None:
        with patched(qanet, "attend", attention):
            run()

    def with_torch_filters() -> None:
        with patched(qanet, "depthwise", autograd_depthwise):
            both.training(both.batches, True)

    def with_torch_dropout() -> None:
        with patched(Dropout, "forward", torch_dropout):
            both.training(both.batches, True)

    return {
        "forward/reference": both.reference_forward,
        "forward/ours": lambda: both.forward(both.batches, True),
        "forward/ours, float32": lambda: both.forward(both.batches, False),
        "forward/ours, fused attention": lambda: with_attention(
            lambda: both.forward(both.batches, True), fused_attention
        ),
        "forward/ours, each passage for each question": lambda: both.forward(alone, True),
        "forward/ours, and each word where it stands": lambda: both.forward(spelled, True),
        "training/reference": both.reference_training,
        "training/ours": lambda: both.training(both.batches, True),
        "training/ours, float32": lambda: both.training(both.batches, False),
        "training/ours, torch's dropout": with_torch_dropout,
        "training/ours, torch's convolution": with_torch_filters,
        "training/ours, fused attention": lambda: with_attention(
            lambda: both.training(both.batches, True), fused_attention
        ),
        "training/ours, plain attention": lambda: with_attention(
            lambda: both.training(both.batches, True), plain_attention
        ),
        "training/ours, each passage for each question": lambda: both.training(alone, True),
        "training/ours, and each word where it stands": lambda: both.training(spelled, True),
    }


_VARIANTS: dict[str, Callable[[], object]] = {}


def _prepare(path: Path, batches: int, threads: int) -> None:
    torch.set_num_threads(threads)
    _VARIANTS.update(variants_of(Both(groups_of(read_all([path])[0], batches, 4))))


def _run(name: str) -> float:
    return cpu_seconds(_VARIANTS[name])


def _process(name: str) -> str:
    """The process that a variant runs in: those of ours share one for each mode."""
    mode, _, system = name.partition("/")
    return f"{mode}/{system.split(',')[0]}"


def speed(path: Path, batches: int, rounds: int, threads: int, names: Sequence[str]) -> dict[str, Any]:
    """Questions a CPU second of each variant, and how often that of the reference.

    Each of the two systems runs in a process of its own for each of forward and training, as it would alone:
    what else a process has allocated decides whether the large tensors of the reference come fresh from the
    system each time, which doubles the time of its forward pass.
    """
    spawn = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        pools = {
            key: stack.enter_context(ProcessPoolExecutor(1, spawn, _prepare, (path, batches, threads)))
            for key in sorted({_process(name) for name in names})
        }

        def measured(name: str) -> Callable[[], float]:
            return lambda: pools[_process(name)].submit(_run, name).result()

        seconds = median_seconds({name: measured(name) for name in names}, rounds)
    return {
        name: {
            "questions_per_second": round(batches * BATCH / value, 2),
            "times_reference": round(seconds[name.split("/")[0] + "/reference"] / value, 2),
        }
        for name, value in seconds.items()
    }


def reading(passages: list[Passage]) -> dict[str, float]:
    """Questions a second from passages to derivations, both from the text."""
    questions = sum(len(p.questions) for p in passages)
    file = Path(tempfile.mkdtemp()) / "drop.json"
    file.write_text(json.dumps(passages_to_json(passages)))
    reader = peer.reference_reader()
    variants: dict[str, Callable[[], float]] = {
        "reference": lambda: cpu_seconds(lambda: list(reader.read(str(file)))),
        "ours": lambda: cpu_seconds(lambda: build_columns(passages, "integers", 2)),
    }
    seconds = median_seconds(variants, 2)
    result = {name: round(questions / value, 1) for name, value in seconds.items()}
    return {**result, "times_reference": round(seconds["reference"] / seconds["ours"], 2)}


def parity(path: Path) -> dict[str, float]:
    """The greatest differences over 30 questions at the paper's size, and the share of same answers."""
    compared = peer.compare(path, passages=5, questions=6, sizes=peer.PAPER)
    scores = compared.scores()
    logits = [(scores.head_log_probabilities[row], r.heads) for row, r in enumerate(compared.references)]
    for row, reference in enumerate(compared.references):
        for head, theirs in reference.logits.items():
            ours = scores.logits[head][row]  # type: ignore[index]
            logits.append((ours[tuple(slice(size) for size in theirs.shape)], theirs))
    losses = zip(compared.losses(), compared.references, strict=True)
    answers = [
        ours.answer == str(theirs["count"] if theirs["answer_type"] == "count" else theirs["value"])
        for head in peer.PREDICTORS
        for ours, theirs in compared.answers(head)
        if theirs["answer_type"] != "arithmetic" or any(n["sign"] for n in theirs["numbers"])
    ]
    return {
        "questions": len(compared.references),
        "logits": max((ours - theirs).abs().max().item() for ours, theirs in logits if ours.numel()),
        "loss": max(abs(ours - r.loss) for ours, r in losses if math.isfinite(r.loss)),
        "answers": len(answers),
        "same_answers": sum(answers),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path, help="a DROP JSON file with answers")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--batches", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="leave out what each step gained")
    parser.add_argument("--parity", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.parity:
        print(json.dumps(parity(arguments.train)))
        return
    print(json.dumps({"reading": reading(read_all([arguments.train])[0][:30])}))
    names = [name for name in NAMES if not arguments.short or name.endswith(MAIN)]
    measured = speed(arguments.train, arguments.batches, arguments.rounds, arguments.threads, names)
    for name, row in measured.items():
        print(json.dumps({"what": name, **row}))


if __name__ == "__main__":
    main()
