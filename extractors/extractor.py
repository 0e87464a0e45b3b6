"""An extractor is an annotator, which parses, and a scheme, which says which rows the parse gives.

Several schemes share one parse: ``extract_together`` runs the annotator once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from extractors.annotate import Annotation, Annotator
from extractors.dependencies import Tree, collapsed_tree
from extractors.losses import lost
from extractors.table import Paragraph, Row, Table


class Scheme(Protocol):
    """The rows of a parsed paragraph under one scheme. Pure: they depend on the parse alone.

    ``maker`` names a model that the rows depend on beside the parse, and is empty for rules; ``version``
    changes whenever the same parse can give other rows.
    """

    name: str
    maker: str
    version: str

    def rows(self, annotation: Annotation, tree: Tree) -> Sequence[Row]:
        """The rows in text order of their predicates. ``tree`` is ``collapsed_tree(annotation)``."""
        ...


@dataclass(frozen=True, slots=True)
class Extractor:
    """One scheme over one annotator. The table depends on the paragraph alone, never on its neighbours."""

    annotator: Annotator
    rules: Scheme

    @property
    def scheme(self) -> str:
        return self.rules.name

    @property
    def name(self) -> str:
        """What made the table, fit for a folder's name: the annotator, and the scheme's model if it has one."""
        return f"{self.rules.maker}-{self.annotator.name}" if self.rules.maker else self.annotator.name

    @property
    def version(self) -> str:
        return f"{self.rules.version}-{self.annotator.version}"

    def extract(self, paragraph: Paragraph) -> Table:
        return next(self.pipe([paragraph]))

    def pipe(self, paragraphs: Iterable[Paragraph]) -> Iterator[Table]:
        """The same for a stream, in order, batched inside."""
        for annotation in self.annotator.annotate(paragraphs):
            yield self.table(annotation, collapsed_tree(annotation))

    def table(self, annotation: Annotation, tree: Tree) -> Table:
        rows = tuple(self.rules.rows(annotation, tree))
        return Table(
            paragraph_id=annotation.paragraph.id,
            hash=annotation.paragraph.hash,
            scheme=self.scheme,
            extractor=self.name,
            version=self.version,
            rows=rows,
            lost=lost(annotation, rows),
        )


def extract_together(
    extractors: Mapping[str, Extractor], paragraphs: Iterable[Paragraph]
) -> Iterator[dict[str, Table | Exception]]:
    """One table a scheme for each paragraph, in order, from one parse by the annotator that they share.

    A scheme that raises on a paragraph has its exception in place of the table; the other schemes keep theirs.
    """
    annotators = {id(extractor.annotator): extractor.annotator for extractor in extractors.values()}
    if len(annotators) != 1:
        raise ValueError("Extractors run together when they share one annotator.")
    (annotator,) = annotators.values()
    for annotation in annotator.annotate(paragraphs):
        tree = collapsed_tree(annotation)
        made: dict[str, Table | Exception] = {}
        for name, extractor in extractors.items():
            try:
                made[name] = extractor.table(annotation, tree)
            except Exception as error:
                made[name] = error
        yield made
