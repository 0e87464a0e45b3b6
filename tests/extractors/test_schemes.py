"""What holds for every scheme, and for several of them over one parse."""

import random
from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.annotate import Annotation
from extractors.dependencies import Tree
from extractors.extractor import Extractor, extract_together
from extractors.registry import make_extractor, make_extractors, schemes
from extractors.syndep import SynDep
from extractors.table import Paragraph, Row, Table

MILL = "Ada, who owned 40 ships, sold them on 3 May 1900 and left."

every_scheme = pytest.mark.parametrize("scheme", schemes())


def table(scheme: str, text: str) -> Table:
    return make_extractor(scheme).extract(Paragraph("p", text))


def cells(found: Table) -> Iterator[tuple[str, int, int]]:
    for row in found.rows:
        for _, cell in row.cells():
            yield cell.text, cell.start, cell.end
            for span in (*cell.entities, *cell.phrases):
                yield span.text, span.start, span.end
                assert cell.start <= span.start < span.end <= cell.end
            assert all(cell.start <= v.start and v.end <= cell.end for v in (*cell.numbers, *cell.dates))


# fmt: off
WORDS = st.sampled_from([
    "the", "a", "army", "300", "carts", "Hull", "17\u201310", "25%", "%", "1900", "May", "been", "mill",
    ",", ".", "(", ")", '"', "\n", "which", "who", "and", "needed", "is", "was", "in", "from", "to", "of",
    "'s", "not", "will", "said", "that",
])
# fmt: on


@every_scheme
@given(st.one_of(st.text(max_size=100), st.lists(WORDS, max_size=40).map(" ".join)))
@settings(max_examples=60, deadline=None)
def test_every_cell_is_a_slice_of_any_text_and_no_value_is_lost(scheme: str, text: str) -> None:
    found = table(scheme, text)
    for part, start, end in cells(found):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == part
    for row in found.rows:
        assert all(row.arguments.values())
        assert 0 <= row.confidence <= 1


@every_scheme
@pytest.mark.parametrize("text", ["The    keeper   lit  the\tlamp .", "A  crew\n of 40\trowed   home"])
def test_odd_spacing_stays_in_the_cells(scheme: str, text: str) -> None:
    found = table(scheme, text)
    assert any("  " in part or "\t" in part for part, *_ in cells(found))


@every_scheme
@pytest.mark.parametrize(
    ("text", "predicate", "argument"),
    [
        ("They get paid on Fridays.", "paid", "Fridays"),
        ("The wall is 9 m thick.", "is", "9 m"),
        ("Hull had 40 ships.", "had", "40 ships"),
        ("The mill was a ruin in 1900.", "was", "1900"),
    ],
)
def test_short_factual_sentences_have_a_row(scheme: str, text: str, predicate: str, argument: str) -> None:
    rows = [row for row in table(scheme, text).rows if predicate in row.predicate.text.split()]
    assert any(argument in cell.text for row in rows for relation, cell in row.cells() if relation != "verb")


@every_scheme
def test_an_auxiliary_has_no_row_of_its_own(scheme: str) -> None:
    found = table(scheme, "She is running a mill and has moved north. The crew had been seen by Bram.")
    lone = [row.predicate.text for row in found.rows if row.predicate.text in {"is", "has", "had", "been"}]
    assert lone == []
    assert len([row for row in found.rows if "running" in row.predicate.text]) == 1
    assert len([row for row in found.rows if "moved" in row.predicate.text]) == 1


@every_scheme
def test_a_table_does_not_depend_on_its_neighbours(scheme: str) -> None:
    extractor = make_extractor(scheme)
    short = Paragraph("short", MILL)
    others = [
        Paragraph(str(i), f"In {1700 + i} Bram built {i} mills, of which 2 fell. " * (1 + i % 7))
        for i in range(63)
    ]
    alone = extractor.extract(short)
    for seed in (0, 1):
        stream = [short, *others]
        random.Random(seed).shuffle(stream)
        found = list(extractor.pipe(stream))
        assert [t.paragraph_id for t in found] == [p.id for p in stream]
        assert found[stream.index(short)] == alone


@every_scheme
@pytest.mark.parametrize("text", ["", "   ", "\n\n", ".", "Champions once more!"])
def test_little_or_nothing_is_no_error(scheme: str, text: str) -> None:
    assert table(scheme, text).scheme == scheme


@every_scheme
def test_no_row_comes_twice(scheme: str) -> None:
    text = f"{MILL} Gordon Vale, a mill town, and Eyre supplied the northern army, which needed 300 carts."
    found = table(scheme, text)
    rows = [(row.predicate, tuple(row.arguments.items())) for row in found.rows]
    assert len(rows) == len({repr(row) for row in rows})


class Counting:
    """An annotator that counts what it is given."""

    def __init__(self) -> None:
        self._annotator = make_extractor("syndep").annotator
        self.name, self.version = self._annotator.name, self._annotator.version
        self.seen = 0

    def annotate(self, paragraphs: Iterable[Paragraph]) -> Iterator[Annotation]:
        def counted() -> Iterator[Paragraph]:
            for paragraph in paragraphs:
                self.seen += 1
                yield paragraph

        return self._annotator.annotate(counted())


class Fails:
    name, maker, version = "fails", "", "1"

    def rows(self, annotation: Annotation, tree: Tree) -> Sequence[Row]:
        if "Bram" in annotation.paragraph.text:
            raise RuntimeError("no Bram")
        return []


def test_schemes_share_one_parse_and_one_that_fails_spoils_no_other() -> None:
    counting = Counting()
    extractors = {"syndep": Extractor(counting, SynDep()), "fails": Extractor(counting, Fails())}
    paragraphs = [Paragraph("a", MILL), Paragraph("b", "Bram left.")]
    first, second = extract_together(extractors, paragraphs)
    assert counting.seen == 2
    assert isinstance(first["fails"], Table)
    assert isinstance(second["fails"], RuntimeError)
    assert second["syndep"] == make_extractor("syndep").extract(paragraphs[1])


def test_together_and_alone_give_the_same_tables() -> None:
    paragraph = Paragraph("p", MILL)
    (together,) = extract_together(make_extractors(schemes()), [paragraph])
    assert together == {scheme: make_extractor(scheme).extract(paragraph) for scheme in schemes()}


def test_extractors_that_parse_differently_do_not_run_together() -> None:
    apart = {"a": Extractor(Counting(), SynDep()), "b": Extractor(Counting(), SynDep())}
    with pytest.raises(ValueError, match="share one annotator"):
        next(extract_together(apart, [Paragraph("p", MILL)]))
