"""The network behind ``extractors.srl_model``, in torch, and how it is fitted (needs the extra ``models``).

The arguments of a predicate are learned together, as a conditional random field over its candidates: the gold
ones against every choice of candidates that do not overlap (Sarawagi and Cohen, 2004). A second, small task
tells predicates from other words. The weights that are kept are averages over the later steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from drop_parsing.training.srl_encoder import EncoderOptions, Reading, Report, WholeEncoder, joined, quick
from extractors.srl_features import TEMPLATES
from extractors.srl_instances import Inventory
from extractors.srl_model import CANDIDATE_TOKENS, COLUMNS, PREDICATE_TOKENS


@dataclass(frozen=True, slots=True)
class Options:
    """A network sees the sentences ``epochs`` times, learning at ``rate``; one that is trained along with an
    ``encoder`` ``joint_epochs`` times at ``joint_rate``, the encoder at ``encoder_rate``. ``size`` is D, ``state`` H,
    ``layers`` the mixing layers of ``srl_model``. A feature, word or label that training sees less often than its
    ``least_`` is dropped. ``feature_dropout`` hides single features, ``dropout`` single values of a state or hidden
    layer. A kind of candidate at the end of a path is looked at where at least ``least_share`` of them are arguments.
    ``known_share`` weighs the loss of telling predicates."""

    epochs: int = 7
    rate: float = 3e-3
    joint_epochs: int = 5
    joint_rate: float = 2e-3
    encoder: EncoderOptions = field(default_factory=EncoderOptions)
    encoder_rate: float = 1.5e-4
    batch: int = 128
    size: int = 96
    state: int = 96
    layers: int = 2
    least_feature: int = 10
    least_word: int = 4
    least_label: int = 10
    feature_dropout: float = 0.2
    dropout: float = 0.3
    longest_path: int = 7
    least_share: float = 0.001
    known_share: float = 0.5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of T words as numbers: shapes as in ``srl_model`` and ``srl_instances``.

    ``around`` and the token columns of predicates and candidates hold T for no token. ``known`` (P,) tells the
    predicates, ``gold`` (N,) the label of each pair. The pairs of a predicate are in the order of their ends:
    ``slot`` (N,) counts them, and the first ``before`` of them end before the pair's own begins.
    """

    vectors: NDArray[np.float32]
    reading: Reading | None
    columns: NDArray[np.int64]
    around: NDArray[np.int64]
    predicate_ids: NDArray[np.int32]
    predicate_tokens: NDArray[np.int64]
    known: NDArray[np.float32]
    candidate_ids: NDArray[np.int32]
    candidate_tokens: NDArray[np.int64]
    pair_ids: NDArray[np.int32]
    of_predicate: NDArray[np.int64]
    of_candidate: NDArray[np.int64]
    gold: NDArray[np.int64]
    slot: NDArray[np.int64]
    before: NDArray[np.int64]
    weight: float


def fit(
    examples: Sequence[Example],
    inventory: Inventory,
    labels: int,
    columns: Mapping[str, Mapping[str, int]],
    encoder: WholeEncoder | None,
    options: Options,
    report: Report,
) -> dict[str, NDArray[np.float32]]:
    """The weights of a ``Network`` of ``RoleModel`` fitted to the examples. It looks at their words' static
    vectors and at an ``encoder``, if there is one, which is fitted along with it."""
    torch.manual_seed(options.seed)
    order = np.random.default_rng(options.seed)
    epochs, rate = options.epochs, options.rate
    if encoder:
        epochs, rate = options.joint_epochs, options.joint_rate
    network = _RoleNetwork(inventory.rows, labels, columns, examples[0].vectors.shape[1], encoder, options)
    apart = {id(p) for p in (network.features.weight, *(encoder.parameters() if encoder else ()))}
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.SparseAdam([network.features.weight], lr=rate),
        torch.optim.Adam([p for p in network.parameters() if id(p) not in apart], lr=rate),
    ]
    if encoder:
        optimizers.append(torch.optim.AdamW(encoder.parameters(), lr=options.encoder_rate, weight_decay=0.01))
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    batches = [_batches(examples, options, order) for _ in range(epochs)]
    total = sum(map(len, batches))
    mean = _Mean(network, start=2 * total // 3 if encoder else total // 3)
    step = 0
    for epoch, chosen in enumerate(batches, 1):
        network.train()
        history = []
        for members in chosen:
            step += 1
            groups = (group for optimizer in optimizers for group in optimizer.param_groups)
            for group, full in zip(groups, rates, strict=True):
                group["lr"] = full * min(1, step / 100) * max(0.01, 1 - step / total)
            batch = _batch([examples[i] for i in members])
            known, scores = network(batch)
            losses = _argument_losses(scores, batch) + options.known_share * (
                functional.binary_cross_entropy_with_logits(known, batch.known, reduction="none")
            )
            loss = losses @ batch.weights / len(losses)
            network.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            if encoder:
                nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
            mean.update(step)
            history.append(loss.item())
        report(
            f"epoch {epoch} of {epochs}{' with the encoder' if encoder else ''}: loss {np.mean(history):.3f}"
        )
    network.load_state_dict({**network.state_dict(), **mean.values()})
    return _exported(network)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Several examples as one: their rows one after the other, no token of any at row ``len(vectors)``."""

    vectors: Tensor
    reading: Reading | None
    columns: Tensor
    around: Tensor
    predicate_ids: Tensor
    predicate_tokens: Tensor
    known: Tensor
    candidate_ids: Tensor
    candidate_tokens: Tensor
    pair_ids: Tensor
    of_predicate: Tensor
    of_candidate: Tensor
    gold: Tensor
    slot: Tensor
    before: Tensor
    weights: Tensor


def _batch(examples: Sequence[Example]) -> _Batch:
    lengths = [len(e.columns) for e in examples]
    offsets = np.concatenate([[0], np.cumsum(lengths)])

    def rows(arrays: Sequence[NDArray[np.generic]]) -> Tensor:
        joined = np.concatenate(arrays)
        return torch.from_numpy(joined.astype(np.int64) if joined.dtype == np.int32 else joined)

    def tokens(arrays: Sequence[NDArray[np.int64]]) -> Tensor:
        moved = [
            np.where(a == n, offsets[-1], a + offset)
            for a, n, offset in zip(arrays, lengths, offsets, strict=False)
        ]
        return rows(moved)

    def counted(arrays: Sequence[NDArray[np.int64]], counts: Sequence[int]) -> Tensor:
        starts = np.concatenate([[0], np.cumsum(counts)])
        return rows([a + start for a, start in zip(arrays, starts, strict=False)])

    return _Batch(
        vectors=rows([e.vectors for e in examples]),
        reading=joined([e.reading for e in examples if e.reading]) if examples[0].reading else None,
        columns=rows([e.columns for e in examples]),
        around=tokens([e.around for e in examples]),
        predicate_ids=rows([e.predicate_ids for e in examples]),
        predicate_tokens=tokens([e.predicate_tokens for e in examples]),
        known=rows([e.known for e in examples]),
        candidate_ids=rows([e.candidate_ids for e in examples]),
        candidate_tokens=tokens([e.candidate_tokens for e in examples]),
        pair_ids=rows([e.pair_ids for e in examples]),
        of_predicate=counted([e.of_predicate for e in examples], [len(e.known) for e in examples]),
        of_candidate=counted([e.of_candidate for e in examples], [len(e.candidate_ids) for e in examples]),
        gold=rows([e.gold for e in examples]),
        slot=rows([e.slot for e in examples]),
        before=rows([e.before for e in examples]),
        weights=rows([np.full(len(e.known), e.weight, np.float32) for e in examples]),
    )


class _RoleNetwork(nn.Module):
    """``extractors.srl_model.Network``, over static vectors ``width`` wide and the states of an ``encoder``, if there
    is one."""

    def __init__(
        self,
        rows: int,
        labels: int,
        columns: Mapping[str, Mapping[str, int]],
        width: int,
        encoder: WholeEncoder | None,
        o: Options,
    ) -> None:
        super().__init__()
        self._options = o
        self.encoder = encoder
        self.features = nn.Embedding(rows, o.size, sparse=True)
        nn.init.normal_(self.features.weight, std=0.05)
        nn.init.zeros_(self.features.weight[: sum(map(len, TEMPLATES.values()))])
        self.static = nn.Linear(width, o.state)
        self.heard = nn.Linear(encoder.layers.size, o.state, bias=False) if encoder else None
        self.columns = nn.ModuleDict(
            {name: nn.Embedding(len(columns[name]) + 1, o.state) for name in COLUMNS}
        )
        for embedding in self.columns.values():
            nn.init.normal_(cast(nn.Embedding, embedding).weight, std=0.05)
        self.mix = nn.ModuleList([nn.Linear(4 * o.state, o.state) for _ in range(o.layers)])
        self.predicate = nn.Linear(PREDICATE_TOKENS * o.state, o.size)
        self.candidate = nn.Linear(CANDIDATE_TOKENS * o.state, o.size, bias=False)
        self.hidden = nn.Linear(o.size, o.size)
        self.label = nn.Linear(o.size, labels)
        self.known_hidden = nn.Linear(o.size, o.state)
        self.known_score = nn.Linear(o.state, 1)
        self.dropout = nn.Dropout(o.dropout)

    def forward(self, batch: _Batch) -> tuple[Tensor, Tensor]:
        """(P,) log odds of the predicates and (N, labels) scores of the pairs."""
        states = self.dropout(self._states(batch))
        predicates = self._summed(batch.predicate_ids)
        predicates = predicates + self.predicate(states[batch.predicate_tokens].flatten(1))
        candidates = self._summed(batch.candidate_ids)
        candidates = candidates + self.candidate(states[batch.candidate_tokens].flatten(1))
        pairs = predicates[batch.of_predicate] + candidates[batch.of_candidate] + self._summed(batch.pair_ids)
        hidden = self.dropout(torch.relu(self.hidden(self.dropout(torch.relu(pairs)))))
        known = torch.relu(self.known_hidden(self.dropout(torch.relu(predicates))))
        return self.known_score(known)[:, 0], self.label(hidden)

    def _states(self, batch: _Batch) -> Tensor:
        state: Tensor = self.static(batch.vectors)
        if self.encoder and self.heard and batch.reading:
            with quick():
                words = self.encoder(batch.reading)
            state = state + self.heard(words)
        for column, name in enumerate(COLUMNS):
            rows = batch.columns[:, column]
            if self.training:
                rows = rows.masked_fill(torch.rand(rows.shape) < self._options.feature_dropout, 0)
            state = state + self.columns[name](rows)
        nothing = torch.zeros(1, state.shape[1])
        for mix in self.mix:
            padded = torch.cat([state, nothing])
            seen = torch.cat([padded[batch.around[:, k]] for k in range(3)], dim=1)
            state = state + torch.relu(mix(self.dropout(torch.cat([state, seen], dim=1))))
        return torch.cat([state, nothing])

    def _summed(self, ids: Tensor) -> Tensor:
        weights = None
        if self.training:
            kept = 1 - self._options.feature_dropout
            weights = (torch.rand(ids.shape) < kept).float() / kept
        return functional.embedding_bag(
            ids, self.features.weight, mode="sum", sparse=True, per_sample_weights=weights
        )


def _argument_losses(scores: Tensor, batch: _Batch) -> Tensor:
    """(P,): minus the log likelihood of the gold arguments of each predicate."""
    gains = scores[:, 1:] - scores[:, :1]
    shape = len(batch.known), int(batch.slot.max()) + 1 if len(batch.slot) else 0
    place = batch.of_predicate, batch.slot
    chosen = torch.where(batch.gold > 0, gains.gather(1, (batch.gold - 1).clamp(min=0)[:, None])[:, 0], 0.0)
    gold = torch.zeros(len(batch.known)).index_add(0, batch.of_predicate, chosen)
    padded = torch.full(shape, -1e4).index_put(place, gains.logsumexp(dim=1))
    before = torch.zeros(shape, dtype=torch.long).index_put(place, batch.before)
    # totals[k]: the log of the summed weights of the choices among the first k candidates.
    totals = [torch.zeros(len(batch.known))]
    for k in range(shape[1]):
        without = torch.stack(totals, dim=1).gather(1, before[:, k, None])[:, 0]
        totals.append(torch.logaddexp(totals[-1], without + padded[:, k]))
    return totals[-1] - gold


def _batches(examples: Sequence[Example], options: Options, order: np.random.Generator) -> list[list[int]]:
    """The examples in random order, in batches of about as many predicates each."""
    batches: list[list[int]] = []
    room = 0
    for i in order.permutation(len(examples)).tolist():
        if not len(examples[i].known):
            continue
        if room <= 0:
            batches.append([])
            room = options.batch
        batches[-1].append(i)
        room -= len(examples[i].known)
    return batches


class _Mean:
    """A running mean of a network's parameters, from the step ``start`` on: of all looks at first, then of the
    latest some ``window``."""

    def __init__(self, network: nn.Module, start: int, every: int = 10, window: int = 32) -> None:
        self._network = network
        self._start, self._every, self._window = start, every, window
        self._mean = {name: p.detach().clone() for name, p in network.named_parameters()}
        self._looks = 0

    def update(self, step: int) -> None:
        if step >= self._start and step % self._every == 0:
            self._looks += 1
            for name, parameter in self._network.named_parameters():
                self._mean[name].lerp_(parameter.detach(), 1 / min(self._looks, self._window))

    def values(self) -> Mapping[str, Tensor]:
        if self._looks:
            return self._mean
        return {name: p.detach() for name, p in self._network.named_parameters()}


def _exported(network: _RoleNetwork) -> dict[str, NDArray[np.float32]]:
    """The weights as ``RoleModel`` names them."""
    found = {name: value.detach().numpy() for name, value in network.named_parameters()}
    size, state = found["hidden.bias"].shape[0], found["static.bias"].shape[0]
    weights = {"features": found["features.weight"], "bias": found["predicate.bias"]}
    for name in ("predicate", "candidate"):
        weights[f"{name}.project"] = found[f"{name}.weight"].T.reshape(-1, state, size)
    for name in COLUMNS:
        weights[f"token.{name}"] = found[f"columns.{name}.weight"]
    if network.heard:
        weights["token.encoder.weight"] = found["heard.weight"].T
    linear = {"static": "token.static", "hidden": "hidden", "label": "label"}
    linear |= {"known_hidden": "known.hidden", "known_score": "known.score"}
    linear |= {f"mix.{k}": f"token.mix.{k}" for k in range(len(network.mix))}
    for name, ours in linear.items():
        weights[f"{ours}.weight"] = found[f"{name}.weight"].T
        weights[f"{ours}.bias"] = found[f"{name}.bias"]
    return {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
