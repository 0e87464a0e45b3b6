"""Inputs to lines: files, folders, URLs and standard input, gzipped or not, decoded with exact positions."""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar, cast

from drop_parsing.errors import InputError
from extractors.remote import Place, RemoteError, place_of

ACCEPTED = (
    'a DROP JSON file, JSON lines of {"id", "text"} paragraphs, of {"passage_id", "passage", "qa_pairs"} '
    'passages, of {"passage", "question", "answers_spans"} or {"context", "completion", "ref_text"} rows, or plain '
    "text with a blank line between paragraphs (each may be gzipped)"
)

_JSON_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_SUFFIXES = (*_JSON_SUFFIXES, ".txt", ".txt.gz")
_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Source:
    """One stream to read. ``place`` is ``None`` for standard input.

    ``name`` is for messages. ``label`` starts the ids that are made for paragraphs without one: the file's
    name, or its path where two inputs share that name. ``size`` is in bytes, where it can be told.
    """

    place: Place | None
    name: str
    label: str
    size: int | None = None

    @property
    def named_json(self) -> bool:
        return self.name.endswith(_JSON_SUFFIXES)


@dataclass(slots=True)
class Meter:
    """How far the reading of inputs has come, for a progress bar."""

    #: Passages read so far, and items that are read but not handed out yet.
    passages: int = 0
    ahead: int = 0
    _size: int | None = None
    _finished: int = 0
    _position: Callable[[], int] = int

    def expect(self, sources: Sequence[Source]) -> None:
        sizes = [source.size for source in sources if source.size is not None]
        self._size = sum(sizes) if len(sizes) == len(sources) else None

    def opened(self, position: Callable[[], int]) -> None:
        """A file has been opened; ``position`` tells the bytes of it that have been read."""
        self._position = position

    def closed(self, size: int | None) -> None:
        self._finished += size or 0
        self._position = int

    def counted(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; those of a list count from now on as read."""
        self.ahead = len(items) if isinstance(items, list) else 0
        for item in items:
            self.ahead = max(0, self.ahead - 1)
            yield item
        self.ahead = 0

    def total(self) -> int | None:
        """An estimate of the passages in all inputs; exact at their end, ``None`` where nothing tells."""
        read = self._finished + self._position()
        if not self._size or not read:
            return None
        return round((self.passages + self.ahead) * max(1.0, self._size / read))


def expand(inputs: Iterable[str | Path]) -> list[Source]:
    """The streams that ``inputs`` name, in order. ``-`` is standard input; of a folder, the files directly in
    it whose names end in .json, .jsonl or .txt (or these with .gz) are taken, sorted by name. A URL names a
    file or a folder where fsspec finds it.

    Raises :class:`InputError` for what does not exist and for a folder without such files.
    """
    places: list[Place | None] = []
    for given in inputs:
        try:
            places += [None] if str(given) == "-" else _files(given)
        except (RemoteError, OSError) as error:
            raise InputError(
                str(error) if isinstance(error, RemoteError) else _unreadable(str(given), error)
            ) from error
    names = Counter(place.name for place in places if place)
    return [
        Source(place, str(place), place.name if names[place.name] == 1 else place.as_posix(), _size(place))
        if place
        else Source(None, "stdin", "stdin")
        for place in places
    ]


def _files(given: str | Path) -> Sequence[Place]:
    place = place_of(given) if isinstance(given, str) else given
    if place.is_dir():
        found = (file for file in place.iterdir() if file.name.endswith(_SUFFIXES) and not file.is_dir())
        files = sorted(found, key=lambda file: file.name)
        if not files:
            raise InputError(f"The folder {place} holds no .json, .jsonl or .txt file to read.")
        return files
    if not place.exists():
        raise InputError(f"There is no file {place}; give the path of {ACCEPTED}, a folder of these, or -.")
    return [place]


def _size(place: Place) -> int | None:
    if not isinstance(place, Path):
        return place.size()
    return place.stat().st_size if place.is_file() else None  # a pipe has no size


@contextmanager
def _open(place: Place | None) -> Iterator[io.BufferedReader]:
    if isinstance(place, Path):
        with place.open("rb") as file:
            yield file
        return
    stream = sys.stdin.buffer if place is None else place.open()
    buffered = cast(io.BufferedReader, io.BufferedReader(cast(io.RawIOBase, stream)))
    try:
        yield buffered
    finally:
        buffered.detach()
        if place is not None:
            stream.close()


def read_lines(source: Source, meter: Meter) -> Iterator[str]:
    """The lines of a source as they come, without line ends (``\\n`` or ``\\r\\n``) and byte order mark.

    Gzip is recognised by its first bytes. Raises :class:`InputError` where the stream cannot be read, or is
    not UTF-8: then it names the line and the byte.
    """
    try:
        with _open(source.place) as file:
            if source.size is not None:
                meter.opened(file.tell)
            gzipped = file.peek(2)[:2] == _GZIP_MAGIC
            yield from _decode(gzip.GzipFile(fileobj=file) if gzipped else file, source.name)
            meter.closed(source.size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{source.name}: the gzip data is damaged ({error}); make the file again."
        ) from error
    except OSError as error:
        raise InputError(_unreadable(source.name, error)) from error


def _decode(stream: IO[bytes] | gzip.GzipFile, name: str) -> Iterator[str]:
    offset = 0
    for number, raw in enumerate(stream, 1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = offset + len(raw) - len(line) + error.start
            raise InputError(
                f"{name}, line {number}: byte {byte} (0x{line[error.start]:02x}) is not UTF-8; "
                "convert the file to UTF-8."
            ) from error
        offset += len(raw)
        yield text.removesuffix("\n").removesuffix("\r")


def _unreadable(name: str, error: OSError) -> str:
    return f"{name} cannot be read: {error.strerror or error}."
