"""The known features of a group of templates, found by hashing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from extractors.srl_features import TEMPLATES, Columns, Numbers

Keys = NDArray[np.uint64]

#: Rows of the table of feature vectors, (instances, templates).
Ids = NDArray[np.int32]

#: The leading bits of a key choose its bucket.
_BUCKET_BITS = 18


class FeatureHash:
    """Keys of the features of a ``group``: of 64 bits, a sum of a column's number times a random one, which differs
    between templates (multilinear hashing). Two features share a key in one of 2^64 cases."""

    def __init__(self, group: str) -> None:
        self._templates = TEMPLATES[group]
        self._names = sorted({name for template in self._templates for name in template})
        draw = np.random.default_rng(0)
        shape = len(self._names) + 1, len(self._templates)
        factors = draw.integers(1, 2**64, shape, dtype=np.uint64, endpoint=False)
        for k, template in enumerate(self._templates):
            for place, name in enumerate(self._names):
                if name not in template:
                    factors[place, k] = 0
        self._factors = factors

    def keys(self, columns: Columns) -> Keys:
        """(instances, templates) of the columns of some instances."""
        numbers = np.stack([columns[name] for name in self._names], axis=1).astype(np.uint64)
        keys: Keys = numbers @ self._factors[:-1] + self._factors[-1]
        return keys

    def keys_of(self, template: int, numbers: Numbers) -> Keys:
        """(features,) of the numbers (features, columns) in the columns of a template."""
        rows = [self._names.index(name) for name in self._templates[template]]
        keys: Keys = numbers.astype(np.uint64) @ self._factors[rows, template] + self._factors[-1, template]
        return keys


class FeatureIndex:
    """Finds the rows of the known features of a group. ``known`` (features, columns) are those of each template; their
    rows follow one another from ``row`` on. An unknown feature has the row ``unknown`` plus its template's number."""

    def __init__(self, group: str, known: Sequence[Numbers], row: int, unknown: int) -> None:
        self._hash = FeatureHash(group)
        keys = np.concatenate([self._hash.keys_of(k, numbers) for k, numbers in enumerate(known)])
        order = np.argsort(keys)
        self._rows = (order + row).astype(np.int32)
        self._unknown = unknown + np.arange(len(known), dtype=np.int32)
        starts = np.arange(2**_BUCKET_BITS, dtype=np.uint64) << np.uint64(64 - _BUCKET_BITS)
        self._starts = np.searchsorted(keys[order], starts).astype(np.int32)
        self._longest = int(np.diff(self._starts, append=len(keys)).max(initial=0))
        # A search may run past the last key.
        self._keys = np.concatenate([keys[order], np.zeros(self._longest, np.uint64)])

    def rows(self, columns: Columns) -> Ids:
        """(instances, templates)."""
        keys = self._hash.keys(columns)
        places = self._starts[keys >> np.uint64(64 - _BUCKET_BITS)]
        rows = np.broadcast_to(self._unknown, keys.shape).copy()
        for _ in range(self._longest):
            found = self._keys[places] == keys
            rows[found] = self._rows[places[found]]
            places += 1
        return rows
