"""The encoder behind ``extractors.srl_encoder``, in torch (needs the extra ``models``).

The first layers of a BERT-like encoder are trained along with the network of roles that looks at them. They take too
long to read millions of paragraphs with, so a narrow encoder, which stands on words and not on pieces of words, is then
taught to tell the network what they tell it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from extractors.srl_data import DataError
from extractors.srl_encoder import LONGEST, TINY, Encoder, marked_rows, sequences
from extractors.srl_model import in_levels
from extractors.srl_pieces import PieceVectors

#: Called with a line to show after each step of the work.
Report = Callable[[str], None]

#: The pieces at a sequence's ends, and the one that stands for a word of none.
MARKS = ("[CLS]", "[SEP]", "[UNK]")

#: Pieces of one word; what comes after them is left out.
_MOST_PIECES = 12

#: Pieces in other than Latin letters, and those that the vocabulary keeps free, are not needed.
_FOREIGN = re.compile(r"[^\x00-\u024f\u2000-\u20cf]|\[unused")

_KINDS = ("weight", "bias")

Activation = Callable[[Tensor], Tensor]
Edges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """The encoder has the first ``depth`` layers, which are trained with ``dropout``. The narrow one keeps at most
    ``heads`` heads of attention and ``inner`` units of each layer. It is taught in ``passes`` over the sentences, in
    batches of so many, at ``rate``; ``whole_share`` weighs what the network does not hear."""

    depth: int = 2
    dropout: float = 0.1
    heads: int = 8
    inner: int = 768
    passes: int = 6
    batch: int = 64
    rate: float = 4e-4
    whole_share: float = 0.1


@dataclass(frozen=True, slots=True)
class Reading:
    """T words as K pieces, sequence after sequence, each between two marks.

    ``ids`` (K,) are rows of the vocabulary, ``edges`` hold where each sequence begins and ends. ``pieces`` are those
    that are no marks, ``owners`` the words that they belong to, of which there are ``words``.
    """

    ids: NDArray[np.int64]
    edges: Edges
    pieces: NDArray[np.int64]
    owners: NDArray[np.int64]
    words: int


def read(words: Sequence[str], vocabulary: PieceVectors) -> Reading:
    """The words of a sentence as pieces."""
    begin, end, unknown = map(vocabulary.row, MARKS)
    ids: list[int] = []
    pieces: list[int] = []
    owners: list[int] = []
    edges: list[tuple[int, int]] = []
    first = 0
    for number, word in enumerate(words):
        rows = vocabulary.rows(word)[:_MOST_PIECES] or [unknown]
        if len(ids) - first + len(rows) + 1 > LONGEST:
            ids.append(end)
            edges.append((first, len(ids)))
            first = len(ids)
        if len(ids) == first:
            ids.append(begin)
        pieces.extend(range(len(ids), len(ids) + len(rows)))
        owners.extend([number] * len(rows))
        ids.extend(rows)
    ids.append(end)
    edges.append((first, len(ids)))
    return Reading(np.array(ids), edges, np.array(pieces), np.array(owners), len(words))


def joined(readings: Sequence[Reading]) -> Reading:
    """Several readings as one."""
    offsets = list(accumulate((len(r.ids) for r in readings), initial=0))
    words = list(accumulate((r.words for r in readings), initial=0))
    return Reading(
        ids=np.concatenate([r.ids for r in readings]),
        edges=[(a + o, b + o) for r, o in zip(readings, offsets, strict=False) for a, b in r.edges],
        pieces=np.concatenate([r.pieces + o for r, o in zip(readings, offsets, strict=False)]),
        owners=np.concatenate([r.owners + o for r, o in zip(readings, words, strict=False)]),
        words=words[-1],
    )


class Layers(nn.Module):
    """Layers of ``size`` over sequences; see ``extractors.srl_encoder``."""

    def __init__(self, size: int, layers: Sequence["_Layer"], dropout: float) -> None:
        super().__init__()
        self.size, self.head_size = size, layers[0].head_size
        self.places = nn.Parameter(torch.zeros(LONGEST, size))
        self.norm = nn.LayerNorm(size, eps=TINY)
        self.layers = nn.ModuleList(layers)
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor, edges: Edges) -> Tensor:
        """(K, size) of (K, size)."""
        lengths = torch.tensor([end - first for first, end in edges])
        places = torch.cat([torch.arange(end - first) for first, end in edges])
        longest = int(lengths.max())
        slots = torch.repeat_interleave(torch.arange(len(lengths)), lengths) * longest + places
        seen = (torch.arange(longest) < lengths[:, None])[:, None, None]
        state: Tensor = self.dropout(self.norm(vectors + self.places[places]))
        for layer in self.layers:
            state = layer(state, slots, seen)
        return state.float()


class WholeEncoder(nn.Module):
    """``Layers`` over the pieces of words, which have the vectors of a ``table``."""

    def __init__(self, table: Tensor, layers: Layers) -> None:
        super().__init__()
        self.register_buffer("table", table, persistent=False)
        self.layers = layers

    def forward(self, reading: Reading) -> Tensor:
        """(T, size): the words of a reading, each the mean of its pieces."""
        state = self.layers(self.get_buffer("table")[torch.from_numpy(reading.ids)], reading.edges)
        owners = torch.from_numpy(reading.owners)
        pieces = state[torch.from_numpy(reading.pieces)]
        sums = torch.zeros(reading.words, self.layers.size).index_add(0, owners, pieces)
        return sums / torch.bincount(owners, minlength=reading.words)[:, None]


class NarrowEncoder(nn.Module):
    """Narrowed ``Layers`` over words, which have vectors of their own, and ``marks`` (2, size) at the ends of a
    sequence: ``extractors.srl_encoder.Encoder``."""

    def __init__(self, whole: WholeEncoder, marks: Sequence[int], options: EncoderOptions) -> None:
        super().__init__()
        layers = [cast(_Layer, layer).narrowed(options.heads, options.inner) for layer in whole.layers.layers]
        self.layers = Layers(whole.layers.size, layers, 0.0)
        common = {name: p for name, p in whole.layers.state_dict().items() if not name.startswith("layers.")}
        self.layers.load_state_dict({**self.layers.state_dict(), **common})
        self.marks = nn.Parameter(whole.get_buffer("table")[marks])

    def forward(self, vectors: Tensor, edges: Edges) -> Tensor:
        """(T, size) of (T, size)."""
        rows, marked = marked_rows(len(vectors), list(edges))
        state = self.layers(torch.cat([vectors, self.marks])[torch.from_numpy(rows)], marked)
        return cast(Tensor, state[torch.from_numpy(rows < len(vectors))])

    def exported(self) -> Encoder:
        """The same in numpy."""
        weights = {"marks": self.marks.detach().numpy()}
        for name, parameter in self.layers.named_parameters():
            value = parameter.detach().numpy()
            turned = value.ndim == 2 and name != "places"
            weights[name.removeprefix("layers.")] = np.ascontiguousarray(value.T if turned else value)
        return Encoder(weights, self.layers.head_size)


class _Layer(nn.Module):
    """One of BERT's layers, with its own numbers of heads and inner units."""

    def __init__(
        self, size: int, heads: int, head_size: int, inner: int, dropout: float, activation: Activation
    ) -> None:
        super().__init__()
        self.head_size, self.activation = head_size, activation
        self.attention = nn.Linear(size, 3 * heads * head_size)
        self.mixed = nn.Linear(heads * head_size, size)
        self.mixed_norm = nn.LayerNorm(size, eps=TINY)
        self.up = nn.Linear(size, inner)
        self.down = nn.Linear(inner, size)
        self.down_norm = nn.LayerNorm(size, eps=TINY)
        self.dropout = nn.Dropout(dropout)

    def forward(self, state: Tensor, slots: Tensor, seen: Tensor) -> Tensor:
        """(K, size) of (K, size): ``slots`` (K,) are the places of the pieces in a grid of sequences, of which ``seen``
        (sequences, 1, 1, longest) tells what is filled."""
        count, longest = seen.shape[0], seen.shape[3]
        projected = self.attention(state)
        grid = projected.new_zeros(count * longest, projected.shape[1]).index_copy(0, slots, projected)
        query, key, value = grid.view(count, longest, 3, -1, self.head_size).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        mixed = mixed.transpose(1, 2).reshape(count * longest, -1)[slots]
        state = self.mixed_norm(state + self.dropout(self.mixed(mixed)))
        inner = self.activation(self.up(state))
        return cast(Tensor, self.down_norm(state + self.dropout(self.down(inner))))

    def narrowed(self, heads: int, inner: int) -> "_Layer":
        """At most so many heads and inner units, those with the largest weights, rectified."""
        size, head_size = self.mixed.out_features, self.head_size
        heads, inner = min(heads, self.mixed.in_features // head_size), min(inner, self.up.out_features)
        narrow = _Layer(size, heads, head_size, inner, 0.0, torch.relu)
        attention = self.attention.weight.view(3, -1, head_size, size)
        bias = self.attention.bias.view(3, -1, head_size)
        mixed = self.mixed.weight.view(size, -1, head_size)
        strength = attention[2].flatten(1).norm(dim=1) * mixed.transpose(0, 1).flatten(1).norm(dim=1)
        kept = strength.topk(heads).indices.sort().values
        units = (self.up.weight.norm(dim=1) * self.down.weight.norm(dim=0)).topk(inner).indices.sort().values
        narrow.load_state_dict(
            {
                **self.state_dict(),
                "attention.weight": attention[:, kept].reshape(-1, size),
                "attention.bias": bias[:, kept].flatten(),
                "mixed.weight": mixed[:, kept].reshape(size, -1),
                "up.weight": self.up.weight[units],
                "up.bias": self.up.bias[units],
                "down.weight": self.down.weight[:, units],
            }
        )
        return narrow


@dataclass(frozen=True, slots=True)
class Pretrained:
    """The first layers of a BERT-like encoder, and the vectors of its pieces in as few levels as a file of the model
    keeps."""

    pieces: PieceVectors
    encoder: WholeEncoder


def read_encoder(folder: Path, options: EncoderOptions) -> Pretrained:
    """The first layers of an uncased BERT-like encoder, of its ``vocab.txt``, ``config.json`` and
    ``model.safetensors``. Raises ``DataError`` where they are missing or do not belong together."""
    try:
        pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        heads = int(json.loads((folder / "config.json").read_text(encoding="utf-8"))["num_attention_heads"])
        loaded = load_file(folder / "model.safetensors")
        tensors = {name.removeprefix("bert."): tensor.float() for name, tensor in loaded.items()}
        if missing := set(MARKS) - set(pieces):
            raise ValueError(f"vocab.txt lacks {min(missing)}")
        table = tensors["embeddings.word_embeddings.weight"]
        if len(table) != len(pieces):
            raise ValueError("the vectors are not those of vocab.txt")
        latin = [k for k, piece in enumerate(pieces) if not _FOREIGN.search(piece)]
        table = table[latin]
        vectors = PieceVectors([pieces[k] for k in latin], in_levels(table.numpy()))
        return Pretrained(vectors, WholeEncoder(table, _layers(tensors, heads, options)))
    except (OSError, SafetensorError, ValueError, KeyError, RuntimeError, TypeError) as error:
        reason = str(error).split("\n")[0]
        raise DataError(f"No BERT-like encoder can be read from {folder}: {reason}.") from error


def _layers(tensors: Mapping[str, Tensor], heads: int, options: EncoderOptions) -> Layers:
    size = tensors["embeddings.LayerNorm.weight"].shape[0]
    layers = []
    for number in range(options.depth):
        own = {
            name.removeprefix(f"encoder.layer.{number}."): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"encoder.layer.{number}.")
        }
        parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
        linear = {"mixed": "attention.output.dense", "mixed_norm": "attention.output.LayerNorm"}
        linear |= {"up": "intermediate.dense", "down": "output.dense", "down_norm": "output.LayerNorm"}
        weights = {
            f"{ours}.{kind}": own[f"{name}.{kind}"] for ours, name in linear.items() for kind in _KINDS
        }
        weights |= {
            f"attention.{kind}": torch.cat([own[f"{part}.{kind}"] for part in parts]) for kind in _KINDS
        }
        layer = _Layer(size, heads, size // heads, len(weights["up.bias"]), options.dropout, functional.gelu)
        layer.load_state_dict(weights)
        layers.append(layer)
    whole = Layers(size, layers, options.dropout)
    places = tensors["embeddings.position_embeddings.weight"][:LONGEST]
    places = functional.pad(places, (0, 0, 0, LONGEST - len(places)))
    norm = {f"norm.{kind}": tensors[f"embeddings.LayerNorm.{kind}"] for kind in _KINDS}
    given = {**norm, "places": places + tensors["embeddings.token_type_embeddings.weight"][0]}
    whole.load_state_dict({**whole.state_dict(), **given})
    return whole


def narrowed(
    pretrained: Pretrained,
    heard: Tensor,
    sentences: Sequence[Sequence[str]],
    options: EncoderOptions,
    report: Report,
) -> NarrowEncoder:
    """A narrow encoder that learns to say of the sentences what the whole one says, above all what the network
    ``heard`` (size, H) of it."""
    whole, pieces = pretrained.encoder.eval(), pretrained.pieces
    narrow = NarrowEncoder(whole, [pieces.row(mark) for mark in MARKS[:2]], options)
    order = np.random.default_rng(0)
    batches = [batch for _ in range(options.passes) for batch in _by_length(sentences, options.batch, order)]
    optimizer = torch.optim.AdamW(narrow.parameters(), lr=options.rate, weight_decay=0.0)
    history = []
    for step, batch in enumerate(batches, 1):
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(1, step / 100) * max(0.02, 1 - step / len(batches))
        chosen = [sentences[i] for i in batch]
        vectors = torch.from_numpy(pieces.of_words([word for words in chosen for word in words]))
        edges = list(sequences(pairwise(accumulate(map(len, chosen), initial=0))))
        with quick():
            with torch.no_grad():
                wanted = whole(joined([read(words, pieces) for words in chosen]))
            said = narrow(vectors, edges)
        missed = torch.stack([_unexplained(said @ heard, wanted @ heard), _unexplained(said, wanted)])
        optimizer.zero_grad()
        (missed[0] + options.whole_share * missed[1]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        history.append(missed.detach().numpy())
        if step % 100 == 0 or step == len(batches):
            heard_share, whole_share = np.mean(history[-100:], axis=0)
            report(
                f"narrow encoder, step {step} of {len(batches)}: unexplained of what is heard {heard_share:.3f}, "
                f"of all {whole_share:.3f}"
            )
    return narrow


def _unexplained(said: Tensor, wanted: Tensor) -> Tensor:
    """The share of the variance of what was wanted."""
    return functional.mse_loss(said, wanted) / wanted.var(dim=0).mean()


def quick() -> torch.autocast:
    """Half the precision where it is enough for learning: some processors are several times as fast."""
    return torch.autocast("cpu", torch.bfloat16)


def _by_length(sentences: Sequence[Sequence[str]], size: int, order: np.random.Generator) -> list[list[int]]:
    """All sentences in batches of similar length, in random order."""
    mixed = order.permutation(len(sentences)).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(mixed), 32 * size):
        near = sorted(mixed[start : start + 32 * size], key=lambda i: len(sentences[i]))
        batches.extend(near[k : k + size] for k in range(0, len(near), size))
    return [batches[k] for k in order.permutation(len(batches))]
