"""Coreference beside any parse: the named entity that a pronoun stands for.

A resolver finds which stretches of a paragraph mean the same; ``CorefAnnotator`` adds to each pronoun the entity
of its antecedent, so that the pronoun's cells have it among their entities.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from extractors.annotate import Annotation, Annotator, PipelineError, encodable
from extractors.backends.stanza import StanzaModels
from extractors.table import Paragraph, Span

#: Tokens that are resolved together: a longer paragraph is cut between sentences.
MAX_WINDOW = 4_000

#: A mention: its first and last token, both included.
Mention = tuple[int, int]


class Resolver(Protocol):
    """``name`` and ``version`` identify it in every cache."""

    name: str
    version: str

    def clusters(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[Mention]]:
        """The mentions that mean the same, for each thing meant; tokens count on from sentence to sentence."""
        ...


class CorefAnnotator:
    """An annotator with antecedents added. They depend on the paragraph alone."""

    def __init__(self, annotator: Annotator, resolver: Resolver) -> None:
        self._annotator = annotator
        self._resolver = resolver
        self.name = f"{annotator.name}-coref_{resolver.name}"
        self.version = f"{annotator.version}-{resolver.version}"

    def annotate(self, paragraphs: Iterable[Paragraph]) -> Iterator[Annotation]:
        for annotation in self._annotator.annotate(paragraphs):
            found: dict[int, Span] = {}
            for first, end in _windows(annotation.sentences):
                if "PRON" in annotation.pos[first:end]:
                    found.update(antecedents(annotation, self._clusters(annotation, first, end)))
            yield replace(annotation, antecedents=found)

    def _clusters(self, annotation: Annotation, first: int, end: int) -> list[list[Mention]]:
        """The clusters of the tokens ``first`` to ``end``, counted in the paragraph."""
        sentences = [
            [encodable(word) for word in annotation.words[a:b]]
            for a, b in annotation.sentences
            if first <= a < end
        ]
        return [
            [(a + first, b + first) for a, b in cluster] for cluster in self._resolver.clusters(sentences)
        ]


def _windows(sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Half-open token ranges of whole sentences, none longer than ``MAX_WINDOW`` if its sentences are not."""
    start = 0
    for first, end in sentences:
        if end - start > MAX_WINDOW and first > start:
            yield start, first
            start = first
    if sentences:
        yield start, sentences[-1][1]


def antecedents(annotation: Annotation, clusters: Sequence[Sequence[Mention]]) -> dict[int, Span]:
    """Pronoun -> the entity of the nearest named mention before it, or of the first after it where none is."""
    found: dict[int, Span] = {}
    for cluster in clusters:
        mentions = sorted(cluster)
        named = [
            (first, entity) for first, last in mentions if (entity := _entity_of(annotation, first, last))
        ]
        for first, last in mentions:
            if first == last and annotation.pos[first] == "PRON" and named:
                before = [entity for start, entity in named if start < first]
                found[first] = before[-1] if before else named[0][1]
    return found


def _entity_of(annotation: Annotation, first: int, last: int) -> Span | None:
    """The entity that a mention is, not one that only modifies it: "the mayor of Hull" is none."""
    starts, ends, heads = annotation.starts, annotation.ends, annotation.heads
    head = next(i for i in range(first, last + 1) if heads[i] == i or not first <= heads[i] <= last)
    for entity in annotation.entities:
        inside = starts[first] <= entity.start and entity.end <= ends[last]
        if inside and entity.start <= starts[head] and ends[head] <= entity.end:
            return entity
    return None


class StanzaResolver:
    """Resolves with the coreference model in a folder of Stanza's models. Needs the extra ``stanza``.

    Raises ``PipelineError`` where Stanza is not installed or the model is not there.
    """

    name = "stanza"

    def __init__(self, folder: str | None = None) -> None:
        models = StanzaModels(folder)
        self.version = models.identity(["coref"])
        self._document = models.stanza.Document
        with _no_progress_bars():
            self._resolve: Any = models.pipeline(["coref"]).processors["coref"].process

    def clusters(self, sentences: Sequence[Sequence[str]]) -> list[list[Mention]]:
        words = [[{"id": (i,), "text": word} for i, word in enumerate(s, 1)] for s in sentences]
        firsts = [0]
        for sentence in sentences:
            firsts.append(firsts[-1] + len(sentence))
        return [
            [
                (firsts[m.sentence] + m.start_word, firsts[m.sentence] + m.end_word - 1)
                for m in chain.mentions
                if isinstance(m.start_word, int)  # A pronoun left out in the text has no place.
            ]
            for chain in self._resolve(self._document(words)).coref
        ]


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Without the bars that transformers draws as it loads an encoder."""
    if find_spec("transformers") is None:
        yield
        return
    bars: Any = import_module("transformers.utils.logging")
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def make_resolver(name: str) -> Resolver:
    """The resolver that ``KIND`` or ``KIND:MODEL`` names. Raises ``PipelineError`` where there is none."""
    kind, _, model = name.partition(":")
    if kind == "stanza":
        return StanzaResolver(model or None)
    raise PipelineError(f"There is no coreference by {name!r}; give stanza or stanza:FOLDER.")
