"""Object stores and other places that fsspec reaches by URL: as much of ``pathlib.Path`` as inputs, the cache
and exports need."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://.+", re.DOTALL)


class RemoteError(ValueError):
    """A URL that cannot be used. The message is one sentence with the remedy."""


def place_of(text: str) -> "Place":
    """A URL as a ``RemotePath``, anything else, and ``file://``, as a ``Path``.

    A chain of URLs (``simplecache::s3://...``) is refused: it could name files that the user did not.

    Raises:
        RemoteError: nothing; a chain; fsspec, or what it needs for the protocol, is not installed; no such protocol.
    """
    if not text:
        raise RemoteError("An empty path names no file and no folder: give a path or a URL.")
    if "::" in text and "://" in text:
        raise RemoteError(f"{text} is a chain of URLs: give the URL of one file or folder.")
    match = _URL.fullmatch(text)
    if match is None:
        return Path(text)
    try:
        filesystem, path = import_module("fsspec.core").url_to_fs(text)
    except (ImportError, ValueError) as error:
        raise RemoteError(
            f"{text} cannot be reached ({error}): install drop-parsing[cluster] and what fsspec needs for "
            f"{match[1]}:// (s3fs, gcsfs, adlfs, ...), or give a path."
        ) from error
    except Exception as error:
        raise RemoteError(
            f"{text} cannot be reached ({error}): check the URL and your credentials."
        ) from error
    return Path(path) if match[1].lower() == "file" else RemotePath(filesystem, match[1], path)


@contextmanager
def _as_oserror() -> Iterator[None]:
    """A file system may raise its client library's own exceptions: here every failure is an OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file or folder at ``path`` in an fsspec file system. Every method raises ``OSError`` where it fails."""

    filesystem: Any
    protocol: str
    path: str

    def __str__(self) -> str:
        # The paths of some file systems (HTTP) are URLs already.
        return self.path if "://" in self.path else f"{self.protocol}://{self.path.lstrip('/')}"

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(self.filesystem, self.protocol, f"{self.path.rstrip('/')}/{name}")

    @property
    def lasting(self) -> bool:
        """Whether what is written here outlives the process."""
        return self.protocol.lower() != "memory"

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    def with_name(self, name: str) -> "RemotePath":
        return RemotePath(self.filesystem, self.protocol, self.path.rstrip("/").rpartition("/")[0]) / name

    def as_posix(self) -> str:
        return str(self)

    @_as_oserror()
    def exists(self) -> bool:
        return bool(self.filesystem.exists(self.path))

    @_as_oserror()
    def is_dir(self) -> bool:
        return bool(self.filesystem.isdir(self.path))

    def iterdir(self) -> Iterator["RemotePath"]:
        return (self / name for name in self._names())

    @_as_oserror()
    def _names(self) -> list[str]:
        self.filesystem.invalidate_cache(self.path)
        found = self.filesystem.ls(self.path, detail=True)
        files = (entry["name"] for entry in found if entry["type"] == "file")
        return [str(name).rpartition("/")[2] for name in files]

    @_as_oserror()
    def size(self) -> int | None:
        """Bytes, where the store tells."""
        size = self.filesystem.size(self.path)
        return None if size is None else int(size)

    @_as_oserror()
    def read_bytes(self) -> bytes:
        return bytes(self.filesystem.cat_file(self.path))

    @_as_oserror()
    def open(self) -> IO[bytes]:
        """The file for reading; it is fetched in blocks."""
        file: IO[bytes] = self.filesystem.open(self.path, "rb")
        return file

    @_as_oserror()
    def upload(self, file: Path) -> None:
        """Put the content of a local file here. An object store shows it when all of it has arrived."""
        self.filesystem.makedirs(self.path.rpartition("/")[0], exist_ok=True)
        self.filesystem.put_file(str(file), self.path)

    @_as_oserror()
    def rename(self, target: "RemotePath") -> None:
        self.filesystem.mv(self.path, target.path)

    @_as_oserror()
    def unlink(self) -> None:
        self.filesystem.rm_file(self.path)


#: Where a file or a folder may be.
Place = Path | RemotePath
