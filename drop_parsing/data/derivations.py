"""Every way in which a reader can reach a given answer: what weakly supervised training sums over.

The answer strings are looked for as the reference implementation of NAQANet does it: each span of an answer
with several, and each part of a date, counts as right by itself. What a reader with a tagging head can do
better, all spans at once, is under ``taggings``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product

import numpy as np

from drop_parsing.data.reader_numbers import Numbers, integer
from drop_parsing.data.reader_tokens import Tokens, normalised, tokenise
from drop_parsing.data.types import Answer

#: First and last token, both included.
TokenSpan = tuple[int, int]
#: A sign for some numbers, the others left out: the number's place counted from 1, negative for a minus.
Signs = tuple[int, ...]

#: The counts that the count head can give.
COUNTS = range(10)
#: Taggings kept of one question: the choices among repeated spans multiply.
MAX_TAGGINGS = 32

_ARTICLES = frozenset(("a", "an", "the"))
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derivations of one question, head by head. ``taggings`` are sets of disjoint passage spans."""

    passage_spans: tuple[TokenSpan, ...] = ()
    question_spans: tuple[TokenSpan, ...] = ()
    counts: tuple[int, ...] = ()
    signs: tuple[Signs, ...] = ()
    taggings: tuple[tuple[TokenSpan, ...], ...] = ()

    def __bool__(self) -> bool:
        return any((self.passage_spans, self.question_spans, self.counts, self.signs, self.taggings))


class SpanIndex:
    """Where each word of a text stands, to find spans in it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = normalised(words)
        self.places: Mapping[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self.words):
            self.places[word].append(place)

    def find(self, answer: Sequence[str]) -> list[TokenSpan]:
        """Every span whose normalised words are those of ``answer``, articles inside the span aside."""
        if not answer or answer[0] not in self.places:
            return []
        spans = (self._match(answer, start) for start in self.places[answer[0]])
        return [span for span in spans if span]

    def _match(self, answer: Sequence[str], start: int) -> TokenSpan | None:
        end, matched = start, 1
        while matched < len(answer):
            if end + 1 == len(self.words):
                return None
            word = self.words[end + 1]
            if word == answer[matched]:
                matched += 1
            elif word not in _ARTICLES:
                return None
            end += 1
        return start, end


class SignedSums:
    """The signed sums of at most ``most`` (1 to 3) numbers of a passage, to find those with a given value."""

    def __init__(self, values: Sequence[float], most: int = 2) -> None:
        if not 1 <= most <= 3:
            raise ValueError(f"a sum may have 1 to 3 numbers, not {most}")
        self._groups: list[tuple[np.ndarray, np.ndarray]] = []
        numbers = np.asarray(values, dtype=np.float64)
        for terms in range(1, most + 1):
            # (combinations, terms) places, (signs, terms) signs, (combinations, signs) sums
            places = np.array(list(combinations(range(len(numbers)), terms)), dtype=np.int64).reshape(
                -1, terms
            )
            signs = np.array(list(product((-1, 1), repeat=terms)))
            sums = np.round(numbers[places] @ signs.T, _DECIMALS)
            signed = (places[:, None, :] + 1) * signs
            self._groups.append((sums.reshape(-1), signed.reshape(-1, terms)))

    def find(self, target: float) -> list[Signs]:
        """Every assignment of signs whose sum is ``target``, to six decimals."""
        rounded = round(target, _DECIMALS)
        return [
            tuple(assignment)
            for sums, signed in self._groups
            for assignment in signed[sums == rounded].tolist()
        ]


class DerivationSearch:
    """The derivations of answers to questions over one passage; what depends on the passage is done once."""

    def __init__(self, passage: Tokens, numbers: Numbers, most_numbers: int = 2) -> None:
        self._spans = SpanIndex(passage.words)
        self._sums = SignedSums(numbers.values, most_numbers)

    def find(self, question: Tokens, answer: Answer | None) -> Derivations:
        """The derivations of ``answer``; none where it is ``None`` or blank."""
        if answer is None or answer.kind is None:
            return Derivations()
        texts = [_answer_words(text) for text in _parts(answer)]
        in_passage = [self._spans.find(words) for words in texts]
        in_question = SpanIndex(question.words)
        targets = _targets(answer)
        return Derivations(
            passage_spans=_flat(in_passage),
            question_spans=_flat([in_question.find(words) for words in texts]),
            counts=tuple(count for count in COUNTS if answer.kind == "number" and count in targets),
            signs=tuple(dict.fromkeys(signs for target in targets for signs in self._sums.find(target))),
            taggings=_taggings(in_passage) if answer.kind == "spans" else (),
        )


def _parts(answer: Answer) -> tuple[str, ...]:
    """The strings that are looked for: of a date, month, day and year each by itself."""
    if answer.kind == "date" and answer.date:
        date = answer.date
        return tuple(part for part in (date.month, date.day, date.year) if part.strip())
    return answer.texts()


def _targets(answer: Answer) -> list[float]:
    """The values that a count or a sum must have: none for spans."""
    if answer.kind == "number":
        whole = integer(answer.number)
        value = answer.value if whole is None else float(whole)
        return [] if value is None else [value]
    if answer.kind == "date":
        return [float(value) for part in _parts(answer) if (value := integer(part)) is not None]
    return []


def _answer_words(text: str) -> list[str]:
    words = list(normalised(tokenise(text).words))
    while words and not words[0]:
        del words[0]
    while words and not words[-1]:
        del words[-1]
    return words


def _flat(found: Sequence[Sequence[TokenSpan]]) -> tuple[TokenSpan, ...]:
    return tuple(dict.fromkeys(span for spans in found for span in spans))


def _taggings(found: Sequence[Sequence[TokenSpan]]) -> tuple[tuple[TokenSpan, ...], ...]:
    """Sets of disjoint spans that name each text of an answer once, or each wherever it stands."""
    if not all(found):
        return ()
    everywhere = tuple(sorted(set(_flat(found))))
    choices = (tuple(sorted(choice)) for choice in product(*found))
    distinct = dict.fromkeys(
        tagging for tagging in _with(everywhere, islice(choices, 16 * MAX_TAGGINGS)) if _disjoint(tagging)
    )
    return tuple(islice(distinct, MAX_TAGGINGS))


def _with(
    first: tuple[TokenSpan, ...], rest: Iterator[tuple[TokenSpan, ...]]
) -> Iterator[tuple[TokenSpan, ...]]:
    yield first
    yield from rest


def _disjoint(spans: Sequence[TokenSpan]) -> bool:
    return all(before[1] < after[0] for before, after in pairwise(spans))
