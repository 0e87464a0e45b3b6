"""Parses written out by hand: one token a line."""

from extractors.annotate import Annotation
from extractors.table import Paragraph


def annotation(lines: str, universal: bool) -> Annotation:
    """A token is: word, lemma, universal and Penn part of speech, head, universal label, ClearNLP label, and the
    head in ClearNLP's tree where it differs."""
    tokens = [line.split() for line in lines.strip().splitlines()]
    heads = []
    for i, token in enumerate(tokens):
        head = token[4] if universal or len(token) < 8 else token[7]
        heads.append(i if head in {"0", str(i + 1)} else int(head) - 1)
    words = [token[0] for token in tokens]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    return Annotation(
        paragraph=Paragraph("p", " ".join(words)),
        words=words,
        starts=starts,
        ends=[start + len(word) for start, word in zip(starts, words, strict=True)],
        lemmas=[token[1].lower() for token in tokens],
        pos=[token[2] for token in tokens],
        tags=[token[3] for token in tokens],
        dependencies=[token[5 if universal else 6] for token in tokens],
        heads=heads,
        sentences=[(0, len(words))],
        entities=[],
        numbers=[],
        dates=[],
    )
