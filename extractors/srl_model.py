"""The role model: which tokens are predicates, and how much each candidate of a predicate is worth under each
label. Plain numpy; ``drop_parsing.training.srl_train`` makes one.

Each token has a state from its word's vector, its tag, relation, form and ending, mixed in a few layers with
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
from extractors.srl_candidates import Candidate
from extractors.srl_instances import GROUPS, Ids, Inventory, Pairs
from extractors.srl_pieces import PieceVectors

Floats = NDArray[np.float32]
Tokens = NDArray[np.int64]

#: Changes whenever a file of another layout is written.
FORMAT = "drop-parsing srl 1"

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


def word_vectors(annotation: Annotation, pieces: PieceVectors) -> Floats:
    """(T, width): the static vectors of the words and, after them, the parser's own where it has some."""
    static = pieces.of_words(annotation.words)
    if annotation.context is None:
        return static
    return np.concatenate([static, annotation.context.vectors], axis=1)


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


def candidate_tokens(candidates: Sequence[Candidate], around: Tokens) -> Tokens:
    """(C, 6): head, first and last token, the tokens beside the candidate, the head's head."""
    table = np.array([c[:3] for c in candidates], np.int64).reshape(-1, 3)
    head, first, last = table.T
    return np.column_stack([table, around[first, 0], around[last, 1], around[head, 2]])


@dataclass(frozen=True)
class Network:
    """One member of the model. ``weights`` are named as below, matrices (in, out)."""

    weights: Mapping[str, Floats]

    def states(self, vectors: Floats, columns: Tokens, around: Tokens) -> Floats:
        """(T + 1, H): the states of the tokens; the last, for no token, is zero."""
        weights = self.weights
        count = len(vectors)
        state = np.zeros((count + 1, weights["token.vectors.bias"].shape[0]), np.float32)
        width = len(weights["token.vectors.weight"])
        state[:count] = _layer(vectors[:, :width], weights, "token.vectors")
        for name, rows in zip(COLUMNS, columns.T, strict=True):
            state[:count] += weights[f"token.{name}"][rows]
        layer = 0
        while f"token.mix.{layer}.weight" in weights:
            seen = np.concatenate([state[:count], *(state[around[:, k]] for k in range(3))], axis=1)
            state[:count] += np.maximum(_layer(seen, weights, f"token.mix.{layer}"), 0)
            layer += 1
        return state

    def predicates(self, states: Floats, tokens: Tokens, ids: Ids) -> Floats:
        """(P, D) of (P, 4) tokens and (P, templates) ids."""
        return self._summed(ids) + _projected(states, self.weights["predicate.project"], tokens)

    def log_odds(self, predicates: Floats) -> Floats:
        """(P,): of being a predicate."""
        hidden = _layer(np.maximum(predicates + self.weights["bias"], 0), self.weights, "known.hidden")
        return _layer(np.maximum(hidden, 0), self.weights, "known.score")[:, 0]

    def arguments(self, states: Floats, predicates: Floats, tokens: Tokens, pairs: Pairs) -> Floats:
        """(N, labels): the scores of each pair's labels. ``tokens`` are (C, 6)."""
        candidates = self._summed(pairs.candidate_ids)
        candidates += _projected(states, self.weights["candidate.project"], tokens)
        total = self._summed(pairs.pair_ids)
        total += predicates[pairs.of_predicate]
        total += candidates[pairs.of_candidate]
        hidden = _layer(np.maximum(total + self.weights["bias"], 0), self.weights, "hidden")
        return _layer(np.maximum(hidden, 0), self.weights, "label")

    def _summed(self, ids: Ids) -> Floats:
        """(rows, D): the sum of the vectors of each row's features."""
        table = self.weights["features"]
        total = np.zeros((len(ids), table.shape[1]), np.float32)
        for column in ids.T:
            total += table[column]
        return total


@dataclass(frozen=True)
class RoleModel:
    """Several networks over the same features: their scores are averaged.

    All but the first also look at the vectors of the parser that they were trained over, whose ``source`` this
    is; over another parser the first stands alone.

    ``labels[0]`` is empty: no argument. ``columns`` number the strings of the token columns from 1, 0 being
    an unknown one.
    """

    labels: Sequence[str]
    inventory: Inventory
    columns: Mapping[str, Mapping[str, int]]
    pieces: PieceVectors
    networks: Sequence[Network]
    source: str = ""
    hash: str = ""

    def networks_for(self, annotation: Annotation) -> Sequence[Network]:
        """The networks that can look at this paragraph."""
        same = annotation.context is not None and annotation.context.source == self.source
        return self.networks if same else self.networks[:1]

    def column_rows(self, annotation: Annotation, tree: Tree) -> Tokens:
        """(T, columns): the rows of the tokens in the embeddings of the columns."""
        strings = token_columns(annotation, tree)
        rows = [[self.columns[name].get(s, 0) for s in strings[name]] for name in COLUMNS]
        return np.array(rows, np.int64).T

    def _weights(self) -> dict[str, Floats]:
        members = {f"{k}.{n}": w for k, one in enumerate(self.networks) for n, w in one.weights.items()}
        return {"pieces": self.pieces.vectors, **members}

    def save(self, path: Path) -> None:
        """Write the model, the vectors in its tables in few levels each. The same model gives the same bytes."""
        inventory = self.inventory
        steps = sorted(inventory.steps.items(), key=lambda item: item[1])
        strings = {
            "format": [FORMAT],
            "labels": self.labels,
            "source": [self.source],
            "steps": [f"{path} {relation} {longer}" for (path, relation), longer in steps],
            "arguments": sorted(f"{path} {kind}" for path, kind in inventory.arguments),
            "nouns": sorted(inventory.nouns),
            "pieces": self.pieces.pieces,
        }
        for name in COLUMNS:
            strings[f"columns.{name}"] = list(self.columns[name])
        for group in GROUPS:
            for k, rows in enumerate(inventory.features[group]):
                strings[f"features.{group}.{k:02}"] = list(rows)
        arrays: dict[str, NDArray[np.generic]] = {
            f"text.{name}": np.frombuffer("\n".join(lines).encode(), np.uint8)
            for name, lines in strings.items()
        }
        for name, values in self._weights().items():
            if name.endswith(_TABLES):
                scale = np.maximum(np.abs(values).max(axis=1, initial=0), 1e-4).astype(np.float16)
                levels = np.rint(values / scale[:, None] * LEVELS).clip(-LEVELS, LEVELS)
                arrays[f"scale.{name}"] = scale
                arrays[f"level.{name}"] = levels.astype(np.int8)
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
    grouped = [
        (group, name)
        for group in GROUPS
        for name in sorted(name for name in arrays if name.startswith(f"text.features.{group}."))
    ]
    features: dict[str, list[dict[str, int]]] = {group: [] for group in GROUPS}
    row = len(grouped)  # The first rows are the unknown feature of each template.
    for group, name in grouped:
        strings = lines(name.removeprefix("text."))
        features[group].append({string: row + k for k, string in enumerate(strings)})
        row += len(strings)
    weights = {n.removeprefix("weight."): _floats(a) for n, a in arrays.items() if n.startswith("weight.")}
    for name in [n.removeprefix("level.") for n in arrays if n.startswith("level.")]:
        scale = _floats(arrays[f"scale.{name}"])[:, None] / np.float32(LEVELS)
        weights[name] = _floats(arrays[f"level.{name}"]) * scale
    pieces = PieceVectors(lines("pieces"), weights.pop("pieces"))
    members: dict[str, dict[str, Floats]] = {}
    for name in sorted(weights):
        member, _, name_there = name.partition(".")
        members.setdefault(member, {})[name_there] = weights[name]
    if any(len(member["features"]) != row for member in members.values()):
        raise ValueError("features and vectors differ in number")
    return RoleModel(
        labels=lines("labels"),
        inventory=Inventory(
            steps,
            frozenset((int(path), kind) for path, kind in arguments),
            frozenset(lines("nouns")),
            features,
        ),
        columns={name: {s: k for k, s in enumerate(lines(f"columns.{name}"), 1)} for name in COLUMNS},
        pieces=pieces,
        networks=[Network(member) for member in members.values()],
        source=lines("source")[0] if lines("source") else "",
        hash=digest,
    )


def _floats(array: NDArray[np.generic]) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float32)


def _layer(inputs: Floats, weights: Mapping[str, Floats], name: str) -> Floats:
    result: Floats = inputs @ weights[f"{name}.weight"]
    result += weights[f"{name}.bias"]
    return result


def _projected(states: Floats, matrices: Floats, tokens: Tokens) -> Floats:
    """(rows, D): each of a row's tokens through the matrix of its place, added up. ``matrices`` is (places, H, D)."""
    total = np.zeros((len(tokens), matrices.shape[2]), np.float32)
    for matrix, column in zip(matrices, tokens.T, strict=True):
        total += (states @ matrix)[column]
    return total
