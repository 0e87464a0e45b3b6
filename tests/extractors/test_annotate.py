"""The annotation pass: sentences, tokens, streams and long texts."""

import random
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from extractors import annotate as module
from extractors.annotate import Annotation, PipelineError, SpacyAnnotator, load_pipeline
from extractors.table import Paragraph
from extractors.values import Date, Number


@cache
def pipeline() -> Language:
    return load_pipeline()


@pytest.fixture(scope="session")
def nlp() -> Language:
    return pipeline()


def one(nlp: Language, text: str) -> Annotation:
    (annotation,) = SpacyAnnotator(nlp).annotate([Paragraph("p", text)])
    return annotation


def sentences(annotation: Annotation) -> list[str]:
    text = annotation.paragraph.text
    return [text[annotation.starts[a] : annotation.ends[b - 1]] for a, b in annotation.sentences]


def test_unknown_pipeline_says_how_to_install_it() -> None:
    with pytest.raises(PipelineError, match=r"'no_such_model'.*spacy download no_such_model"):
        load_pipeline("no_such_model")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The mine opened 29 Nov 1921 . It shut 30 Nov 1923 . Pit B followed pit A. Then came pit C.",
            [
                "The mine opened 29 Nov 1921 .",
                "It shut 30 Nov 1923 .",
                "Pit B followed pit A.",
                "Then came pit C.",
            ],
        ),
        (
            "Shaft D met shaft E. It was deep. The pump broke 4 Jan. 1890. They left.",
            ["Shaft D met shaft E.", "It was deep.", "The pump broke 4 Jan. 1890.", "They left."],
        ),
        (
            "He sailed to the U.S. The ship sank. J. Marsh and Lt. Hale swam.",
            ["He sailed to the U.S.", "The ship sank.", "J. Marsh and Lt. Hale swam."],
        ),
        (
            "Hale kicked a 40 yd. field goal. Brook missed.",
            ["Hale kicked a 40 yd. field goal.", "Brook missed."],
        ),
        ("RESULTS\n\nHull won\n\nLeeds lost", ["RESULTS", "Hull won", "Leeds lost"]),
    ],
)
def test_sentence_boundaries(nlp: Language, text: str, expected: list[str]) -> None:
    assert sentences(one(nlp, text)) == expected


@pytest.mark.parametrize(
    "date", ["29 Nov 1921", "Nov. 29, 1921", "29 November 1921", "May 1913\u2013July 1914"]
)
@pytest.mark.parametrize("frame", ["The mine opened {} . It shut later.", "It shut {}. Pit B opened."])
def test_no_sentence_begins_inside_a_value(nlp: Language, date: str, frame: str) -> None:
    annotation = one(nlp, frame.format(date))
    assert annotation.dates
    firsts = [annotation.starts[first] for first, _ in annotation.sentences]
    for date_found in annotation.dates:
        assert not any(date_found.start < first < date_found.end for first in firsts)


@pytest.mark.parametrize("dash", ["-", "\u2013", "\u2014"])
def test_both_ends_of_a_glued_range_are_tokens(nlp: Language, dash: str) -> None:
    assert {"17", "10"} <= set(one(nlp, f"Hull won 17{dash}10 at home.").words)


@pytest.mark.parametrize("space", ["  ", "\t", " \u00a0 ", " \n "])
def test_spacing_changes_no_parse(nlp: Language, space: str) -> None:
    plain = "The keeper lit the lamp . Then 40 ships came ."
    spaced = plain.replace(" ", space)
    a, b = one(nlp, plain), one(nlp, spaced)
    assert (a.words, a.heads, a.dependencies, a.sentences) == (b.words, b.heads, b.dependencies, b.sentences)
    assert [spaced[start:end] for start, end in zip(b.starts, b.ends, strict=True)] == list(b.words)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t \u2003", "\u200f", "\x00\x01", "a\ud800b", "السفينة غرقت 1900."]
)
def test_odd_texts_keep_their_offsets(nlp: Language, text: str) -> None:
    annotation = one(nlp, text)
    assert [text[s:e] for s, e in zip(annotation.starts, annotation.ends, strict=True)] == annotation.words
    assert "".join(annotation.words) == "".join(text.split())


def test_a_batch_changes_nothing(nlp: Language) -> None:
    short = Paragraph("short", "Hull had 40 ships, which sank on 3 May 1900.")
    others = [
        Paragraph(str(i), f"In {1700 + i} the guild built {i} mills. " * (1 + i % 9)) for i in range(63)
    ]
    alone = one(nlp, short.text)
    for seed in (0, 1):
        stream = [short, *others]
        random.Random(seed).shuffle(stream)
        found = list(SpacyAnnotator(nlp).annotate(stream))
        assert [a.paragraph for a in found] == stream
        beside = found[stream.index(short)]
        assert (beside.heads, beside.dependencies, beside.lemmas, beside.entities) == (
            alone.heads,
            alone.dependencies,
            alone.lemmas,
            alone.entities,
        )


def test_a_long_unpunctuated_paragraph_among_short_ones(nlp: Language) -> None:
    long = Paragraph("long", " ".join(f"mill {i} ground corn" for i in range(300)))
    stream = [Paragraph(str(i), f"Boat {i} sank.") for i in range(49)]
    stream.insert(20, long)
    found = list(SpacyAnnotator(nlp).annotate(stream))
    assert [a.paragraph for a in found] == stream
    assert len(found[20].words) == 1200


def test_batches_are_bounded_by_characters(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BATCH", 5_000)
    sizes = []
    bare = type(nlp).pipe

    def spy(self: Language, docs: list[Doc]) -> Iterator[Doc]:
        sizes.append(sum(len(token) for doc in docs for token in doc))
        return bare(self, docs)

    monkeypatch.setattr(type(nlp), "pipe", spy)
    texts = ["Hull had ships. " * n for n in (1, 300, 1, 1, 200, 40, 40, 40)]
    assert len(
        list(SpacyAnnotator(nlp).annotate([Paragraph(str(i), t) for i, t in enumerate(texts)]))
    ) == len(texts)
    assert len(sizes) > 1
    assert max(sizes) <= 5_000


@pytest.mark.parametrize(
    "sentence", ["The guild built 12 mills on 3 May 1900. ", "mill 1,200 wheel ", "water\n\n"]
)
def test_a_text_longer_than_the_pipeline_takes(
    nlp: Language, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CHUNK", 700)
    monkeypatch.setattr(nlp, "max_length", 1_000)
    text = sentence * (5_000 // len(sentence))
    annotation = one(nlp, text)
    assert [text[s:e] for s, e in zip(annotation.starts, annotation.ends, strict=True)] == annotation.words
    assert "".join(annotation.words) == "".join(text.split())
    assert annotation.sentences[0][0] == 0
    assert annotation.sentences[-1][1] == len(annotation.words)
    for first, end in annotation.sentences:
        assert all(first <= annotation.heads[i] < end for i in range(first, end))
    values: list[Number | Date] = [*annotation.numbers, *annotation.dates]
    for value in values:
        assert value.start in annotation.starts


def test_a_word_longer_than_a_chunk_is_kept(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHUNK", 50)
    assert "".join(one(nlp, "x" * 120).words) == "x" * 120


@given(st.text(max_size=120))
@settings(max_examples=80, deadline=None)
def test_columns_fit_any_text(text: str) -> None:
    annotation = one(pipeline(), text)
    count = len(annotation.words)
    columns = (annotation.starts, annotation.ends, annotation.lemmas, annotation.pos, annotation.heads)
    assert all(len(column) == count for column in columns)
    assert [text[s:e] for s, e in zip(annotation.starts, annotation.ends, strict=True)] == annotation.words
    assert [i for a, b in annotation.sentences for i in range(a, b)] == list(range(count))
