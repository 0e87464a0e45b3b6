"""Inputs to lines: files, folders and standard input, gzipped or not, decoded with exact positions."""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from drop_parsing.errors import InputError

ACCEPTED = (
    'a DROP JSON file, JSON lines of {"id", "text"} paragraphs, of {"passage_id", "passage", "qa_pairs"} '
    'passages or of {"context", "completion", "ref_text"} rows, or plain text with a blank line between '
    "paragraphs (each may be gzipped)"
)

_JSON_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_SUFFIXES = (*_JSON_SUFFIXES, ".txt", ".txt.gz")
_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Source:
    """One stream to read. ``path`` is ``None`` for standard input.

    ``name`` is for messages. ``label`` starts the ids that are made for paragraphs without one: the file's
    name, or its path where two inputs share that name.
    """

    path: Path | None
    name: str
    label: str

    @property
    def named_json(self) -> bool:
        return self.name.endswith(_JSON_SUFFIXES)


def expand(inputs: Iterable[str | Path]) -> list[Source]:
    """The streams that ``inputs`` name, in order. ``-`` is standard input; of a folder, the files directly in
    it whose names end in .json, .jsonl or .txt (or these with .gz) are taken, sorted by name.

    Raises :class:`InputError` for what does not exist and for a folder without such files.
    """
    paths: list[Path | None] = []
    for given in inputs:
        path = Path(given)
        if str(given) == "-":
            paths.append(None)
        elif path.is_dir():
            files = sorted(f for f in path.iterdir() if f.name.endswith(_SUFFIXES) and f.is_file())
            if not files:
                raise InputError(f"The folder {path} holds no .json, .jsonl or .txt file to read.")
            paths += files
        elif path.exists():
            paths.append(path)
        else:
            raise InputError(
                f"There is no file {path}; give the path of {ACCEPTED}, a folder of these, or -."
            )
    names = Counter(path.name for path in paths if path)
    return [
        Source(path, str(path), path.name if names[path.name] == 1 else path.as_posix())
        if path
        else Source(None, "stdin", "stdin")
        for path in paths
    ]


@contextmanager
def _open(path: Path | None) -> Iterator[io.BufferedReader]:
    if path is None:
        stream = cast(io.BufferedReader, io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer)))
        try:
            yield stream
        finally:
            stream.detach()
    else:
        with path.open("rb") as file:
            yield file


def read_lines(source: Source) -> Iterator[str]:
    """The lines of a source as they come, without line ends (``\\n`` or ``\\r\\n``) and byte order mark.

    Gzip is recognised by its first bytes. Raises :class:`InputError` where the stream cannot be read, or is
    not UTF-8: then it names the line and the byte.
    """
    try:
        with _open(source.path) as file:
            gzipped = file.peek(2)[:2] == _GZIP_MAGIC
            yield from _decode(gzip.GzipFile(fileobj=file) if gzipped else file, source.name)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{source.name}: the gzip data is damaged ({error}); make the file again."
        ) from error
    except OSError as error:
        raise InputError(f"{source.name} cannot be read: {error.strerror or error}.") from error


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
