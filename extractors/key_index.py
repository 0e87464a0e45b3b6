"""Many strings, each with the numbers of the places where it was seen, in bounded memory."""

import sqlite3
from collections.abc import Iterable, Iterator

#: What is held in memory, in KiB; the rest goes to a temporary file without a name.
CACHE = 32_000
#: Keys looked up by one query: within what every SQLite takes as parameters.
QUERY = 500


class KeyIndex:
    """A multimap from strings to whole numbers that ends with the process. Any string is a key."""

    def __init__(self) -> None:
        # The database without a name is private, and on disk as far as it outgrows its cache.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(f"PRAGMA cache_size = -{CACHE}")
        self._database.execute(
            "CREATE TABLE places (key BLOB, place INTEGER, PRIMARY KEY (key, place)) WITHOUT ROWID"
        )
        self._database.execute("BEGIN")  # never committed: nothing of it is to outlive the process

    def __del__(self) -> None:
        self._database.close()

    def add(self, keys: Iterable[str], place: int = 0) -> int:
        """Note that ``keys`` occur at ``place``; returns how many that was not known of."""
        rows = [(_encoded(key), place) for key in keys]
        before = self._database.total_changes
        self._database.executemany("INSERT OR IGNORE INTO places VALUES (?, ?)", rows)
        return self._database.total_changes - before

    def places(self, keys: Iterable[str]) -> dict[str, list[int]]:
        """Key -> its places in ascending order, without the keys that have none."""
        found: dict[str, list[int]] = {}
        rest = [_encoded(key) for key in keys]
        while rest:
            some, rest = rest[:QUERY], rest[QUERY:]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, place FROM places WHERE key IN ({marks}) ORDER BY key, place"
            for key, place in self._database.execute(query, some):
                found.setdefault(_decoded(key), []).append(place)
        return found

    def remove(self, place: int) -> None:
        """Forget every key's occurrence at ``place``."""
        self._database.execute("DELETE FROM places WHERE place = ?", (place,))

    def __iter__(self) -> Iterator[str]:
        """Every key once, in order of its UTF-8."""
        for (key,) in self._database.execute("SELECT DISTINCT key FROM places"):
            yield _decoded(key)


def _encoded(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _decoded(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
