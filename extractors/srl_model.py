"""The role model: which tokens are predicates, and how much each candidate of a predicate is worth under each
label. Plain numpy; ``drop_parsing.training.srl_train`` makes one.

Each token has a state from its word's vectors, its tag, relation, form and ending, mixed in a few layers with
the states of its neighbours and of its head. A predicate, a candidate and a pair of the two are sums: the
vectors of their features, and the projected states of the tokens at their edges. The three are added and go
through two layers to the labels.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from extractors.annotate import Annotation, PipelineError
from extractors.dependencies import Tree
from extractors.srl_encoder import Encoder, Floats, layer
from extractors.srl_feature_index import Ids
from extractors.srl_features import EMPTY
from extractors.srl_instances import GROUPS, Inventory, Pairs
from extractors.srl_pieces import PieceVectors

Tokens = NDArray[np.int64]

#: Changes whenever a file of another layout is written.
FORMAT = "drop-parsing srl 2"

#: A value in a table is one of so many levels on either side of zero, times the row's scale.
LEVELS = 7

#: The weights that are tables of vectors, by the ends of their names.
_TABLES = ("features", "pieces", "token.words", "token.endings")

#: The columns of a token, each with an embedding of its own.
COLUMNS = ("tags", "relations", "words", "endings")

#: How many tokens a predicate and a candidate look at.
PREDICATE_TOKENS = 4
CANDIDATE_TOKENS = 6


#: What reading a damaged or foreign file may raise.
_DAMAGE = (ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


def token_columns(annotation: Annotation, tree: Tree) -> dict[str, list[str]]:
    """The strings of each column, one a token."""
    words = [word.lower() for word in annotation.words]
    return {
        "tags": list(annotation.tags),
        "relations": list(tree.relations),
        "words": words,
        "endings": [word[-3:] for word in words],
    }


def neighbours(annotation: Annotation, tree: Tree) -> Tokens:
    """(T, 3): the token before, the one after and the head; T, which stands for none, at a sentence's edge."""
    count = len(annotation.words)
    table = np.empty((count, 3), np.int64)
    table[:, 0] = np.arange(count) - 1
    table[:, 1] = np.arange(count) + 1
    table[:, 2] = tree.heads
    for first, end in annotation.sentences:
        table[first, 0] = table[end - 1, 1] = count
    return table


def predicate_tokens(predicates: Sequence[int], around: Tokens) -> Tokens:
    """(P, 4): the predicate, the tokens beside it, its head."""
    own = np.asarray(predicates, np.int64)
    return np.concatenate([own[:, None], around[own]], axis=1)


def candidate_tokens(spans: Tokens, around: Tokens) -> Tokens:
    """(C, 6) of (C, 3): head, first and last token, the tokens beside the candidate, the head's head."""
    head, first, last = spans.T
    return np.column_stack([spans, around[first, 0], around[last, 1], around[head, 2]])


@dataclass(frozen=True)
class Network:
    """``weights`` are named as below, matrices (in, out)."""

    weights: Mapping[str, Floats]

    def states(self, static: Floats, read: Floats | None, columns: Tokens, around: Tokens) -> Floats:
        """(T + 1, H): the states of the tokens; the last, for no token, is zero. ``static`` are their words' vectors,
        ``read`` their states in the encoder, if there is one."""
        weights = self.weights
        count = len(columns)
        state = np.zeros((count + 1, weights["token.static.bias"].shape[0]), np.float32)
        state[:count] = layer(static, weights, "token.static")
        if read is not None:
            state[:count] += read @ weights["token.encoder.weight"]
        for name, rows in zip(COLUMNS, columns.T, strict=True):
            state[:count] += weights[f"token.{name}"][rows]
        depth = 0
        while f"token.mix.{depth}.weight" in weights:
            seen = np.concatenate([state[:count], *(state[around[:, k]] for k in range(3))], axis=1)
            state[:count] += np.maximum(layer(seen, weights, f"token.mix.{depth}"), 0)
            depth += 1
        return state

    def predicates(self, states: Floats, tokens: Tokens, ids: Ids) -> Floats:
        """(P, D) of (P, 4) tokens and (P, templates) ids."""
        return self._summed(ids) + _projected(states, self.weights["predicate.project"], tokens)

    def log_odds(self, predicates: Floats) -> Floats:
        """(P,): of being a predicate."""
        hidden = layer(np.maximum(predicates + self.weights["bias"], 0), self.weights, "known.hidden")
        return layer(np.maximum(hidden, 0), self.weights, "known.score")[:, 0]

    def arguments(
        self,
        states: Floats,
        predicates: Floats,
        tokens: Tokens,
        candidate_ids: Ids,
        pair_ids: Ids,
        pairs: Pairs,
    ) -> Floats:
        """(N, labels): the scores of each pair's labels. ``tokens`` are (C, 6)."""
        candidates = self._summed(candidate_ids)
        candidates += _projected(states, self.weights["candidate.project"], tokens)
        total = self._summed(pair_ids)
        total += predicates[pairs.of_predicate]
        total += candidates[pairs.of_candidate]
        hidden = layer(np.maximum(total + self.weights["bias"], 0), self.weights, "hidden")
        return layer(np.maximum(hidden, 0), self.weights, "label")

    def _summed(self, ids: Ids) -> Floats:
        """(rows, D): the sum of the vectors of each row's features."""
        table = self.weights["features"]
        return _gathered([(table, column) for column in ids.T])


@dataclass(frozen=True)
class RoleModel:
    """``labels[0]`` is empty: no argument. ``columns`` number the strings of the token columns from 1, 0 being
    an unknown one."""

    labels: Sequence[str]
    inventory: Inventory
    columns: Mapping[str, Mapping[str, int]]
    pieces: PieceVectors
    network: Network
    encoder: Encoder | None = None
    hash: str = ""

    def column_rows(self, annotation: Annotation, tree: Tree) -> Tokens:
        """(T, columns): the rows of the tokens in the embeddings of the columns."""
        strings = token_columns(annotation, tree)
        rows = [[self.columns[name].get(s, 0) for s in strings[name]] for name in COLUMNS]
        return np.array(rows, np.int64).T

    def _weights(self) -> dict[str, Floats]:
        network = {f"network.{n}": w for n, w in self.network.weights.items()}
        encoder = {f"encoder.{n}": w for n, w in self.encoder.weights.items()} if self.encoder else {}
        return {"pieces": self.pieces.vectors, **encoder, **network}

    def save(self, path: Path) -> None:
        """Write the model, the vectors in its tables in few levels each. The same model gives the same bytes."""
        inventory = self.inventory
        steps = sorted(inventory.steps.items(), key=lambda item: item[1])
        strings = {
            "format": [FORMAT],
            "labels": self.labels,
            "head size": [str(self.encoder.head_size)] if self.encoder else [],
            "symbols": list(inventory.symbols),
            "steps": [f"{path} {relation} {longer}" for (path, relation), longer in steps],
            "arguments": sorted(f"{path} {kind}" for path, kind in inventory.arguments),
            "nouns": sorted(inventory.nouns),
            "pieces": self.pieces.pieces,
        }
        for name in COLUMNS:
            strings[f"columns.{name}"] = list(self.columns[name])
        arrays: dict[str, NDArray[np.generic]] = {
            f"text.{name}": np.frombuffer("\n".join(lines).encode(), np.uint8)
            for name, lines in strings.items()
        }
        for group in GROUPS:
            for k, known in enumerate(inventory.features[group]):
                arrays[f"features.{group}.{k:02}"] = known.T.astype(np.int32)
        for name, values in self._weights().items():
            if name.endswith(_TABLES):
                arrays[f"scale.{name}"], arrays[f"level.{name}"] = _levels(values)
            else:
                arrays[f"weight.{name}"] = values.astype(np.float16)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        path.write_bytes(buffer.getvalue())


def load_model(path: Path) -> RoleModel:
    """Read a model. Raises ``PipelineError`` where there is none, or the file is damaged or something else."""
    try:
        data = path.read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _model(dict(arrays), hashlib.blake2b(data, digest_size=4).hexdigest())
    except OSError as error:
        raise PipelineError(f"The SRL model {path} cannot be read: {error.strerror or error}.") from error
    except _DAMAGE as error:
        raise PipelineError(
            f"{path} is no SRL model of this version, or is damaged; "
            "install the package again, or train one: drop-parsing train srl --data DIR --out FILE"
        ) from error


def _model(arrays: Mapping[str, NDArray[np.generic]], digest: str) -> RoleModel:
    def lines(name: str) -> list[str]:
        text = arrays[f"text.{name}"].tobytes().decode()
        return text.split("\n") if text else []

    if lines("format") != [FORMAT]:
        raise ValueError("another format")
    steps = {}
    for line in lines("steps"):
        start, relation, end = line.split(" ")
        steps[int(start), relation] = int(end)
    arguments = (line.split(" ", 1) for line in lines("arguments"))
    features = {
        group: [
            np.ascontiguousarray(arrays[name].T, np.int64)
            for name in sorted(name for name in arrays if name.startswith(f"features.{group}."))
        ]
        for group in GROUPS
    }
    inventory = Inventory(
        steps,
        frozenset((int(path), kind) for path, kind in arguments),
        frozenset(lines("nouns")),
        {symbol: k for k, symbol in enumerate(lines("symbols"), EMPTY)},
        features,
    )
    weights = {n.removeprefix("weight."): _floats(a) for n, a in arrays.items() if n.startswith("weight.")}
    for name in [n.removeprefix("level.") for n in arrays if n.startswith("level.")]:
        weights[name] = _values(arrays[f"scale.{name}"], arrays[f"level.{name}"])
    pieces = PieceVectors(lines("pieces"), weights.pop("pieces"))
    members: dict[str, dict[str, Floats]] = {}
    for name in sorted(weights):
        member, _, name_there = name.partition(".")
        members.setdefault(member, {})[name_there] = weights[name]
    encoder = members.get("encoder")
    if len(members["network"]["features"]) != inventory.rows:
        raise ValueError("features and vectors differ in number")
    return RoleModel(
        labels=lines("labels"),
        inventory=inventory,
        columns={name: {s: k for k, s in enumerate(lines(f"columns.{name}"), 1)} for name in COLUMNS},
        pieces=pieces,
        network=Network(members["network"]),
        encoder=Encoder(encoder, int(lines("head size")[0])) if encoder else None,
        hash=digest,
    )


def in_levels(values: Floats) -> Floats:
    """The rows of a table as its file keeps them."""
    return _values(*_levels(values))


def _levels(values: Floats) -> tuple[NDArray[np.float16], NDArray[np.int8]]:
    """(rows,) and (rows, columns): the scale of each row, and its values in few levels."""
    scale = np.maximum(np.abs(values).max(axis=1, initial=0), 1e-4).astype(np.float16)
    return scale, np.rint(values / scale[:, None] * LEVELS).clip(-LEVELS, LEVELS).astype(np.int8)


def _values(scale: NDArray[np.generic], levels: NDArray[np.generic]) -> Floats:
    return _floats(levels) * (_floats(scale)[:, None] / np.float32(LEVELS))


def _floats(array: NDArray[np.generic]) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float32)


def _projected(states: Floats, matrices: Floats, tokens: Tokens) -> Floats:
    """(rows, D): each of a row's tokens through the matrix of its place, added up. ``matrices`` is (places, H, D)."""
    return _gathered([(states @ matrix, column) for matrix, column in zip(matrices, tokens.T, strict=True)])


def _gathered(parts: Sequence[tuple[Floats, NDArray[np.signedinteger]]]) -> Floats:
    """The sum of rows of several tables."""
    (table, rows), *others = parts
    total: Floats = table[rows]
    added = np.empty_like(total)
    for table, rows in others:
        # "clip" spares a search for rows out of bounds: there are none.
        np.take(table, rows, axis=0, out=added, mode="clip")
        total += added
    return total
