"""Features: columns of real sentences, and the index that finds the known ones."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.annotate import Annotation, SpacyAnnotator, load_pipeline
from extractors.dependencies import collapsed_tree
from extractors.srl import shipped_model
from extractors.srl_candidates import candidates
from extractors.srl_feature_index import FeatureIndex
from extractors.srl_features import COUNTS, EMPTY, TEMPLATES, UNKNOWN
from extractors.srl_instances import GROUPS, Instances, Inventory, Pairs
from extractors.srl_model import neighbours


@pytest.fixture(scope="module")
def annotator() -> SpacyAnnotator:
    return SpacyAnnotator(load_pipeline())


class Numbering(dict[str, int]):
    """Numbers each string that it is asked for."""

    def get(self, key: str, default: int | None = None) -> int:  # type: ignore[override]
        return self.setdefault(key, len(self) + EMPTY)


class Steps(dict[tuple[int, str], int]):
    """Paths of one step up or down."""

    def get(self, key: tuple[int, str], default: int | None = None) -> int | None:  # type: ignore[override]
        return self.setdefault(key, len(self) + 1) if key[0] == 0 else None


def pairs_in(annotation: Annotation, symbols: Numbering, predicates: list[int]) -> Pairs:
    tree = collapsed_tree(annotation)
    kinds = {c.kind for start, end in annotation.sentences for c in candidates(tree, start, end)}
    inventory = Inventory(Steps(), frozenset(product(range(60), kinds)), frozenset(), symbols, {})
    instances = Instances(annotation, tree, neighbours(annotation, tree), inventory)
    return instances.pairs(predicates, instances.predicates(predicates))


def test_the_columns_of_a_pair_say_what_is_there(annotator: SpacyAnnotator) -> None:
    words = "Ada sold three old boats in Hull after 1912 .".split()
    (annotation,) = annotator.annotate_words([words])
    symbols = Numbering({"": EMPTY})
    pairs = pairs_in(annotation, symbols, [words.index("sold")])
    names = {number: string for string, number in symbols.items()}
    found = [" ".join(words[first : last + 1]) for _, first, last in pairs.spans.tolist()]

    def column(name: str, text: str) -> str:
        own, paired = pairs.candidate_columns, pairs.pair_columns
        candidate = found.index(text)
        (pair,) = np.flatnonzero(pairs.of_candidate == candidate)[:1].tolist()
        return names[int(own[name][candidate] if name in own else paired[name][pair])]

    assert column("lemma", "in Hull") == "hull"
    assert column("lead", "in Hull") == "in"
    assert column("first word", "three old boats") == "three"
    assert column("second word", "three old boats") == "old"
    assert column("second word", "Ada") == ""
    assert [column(f"word {k}", "three old boats") for k in range(1, 5)] == ["three", "old", "boats", ""]
    assert column("word before", "Ada") == ""
    assert column("word after", "Ada") == "sold"
    assert column("value", "three old boats") in {"CARDINAL", "number"}
    assert column("voice", "Ada") == "active"
    assert column("filled", "Ada") == "so"
    assert column("between 1", "in Hull") == "CD"
    assert "[" in column("place", "Ada")


def test_a_sentence_looks_the_same_in_a_paragraph(annotator: SpacyAnnotator) -> None:
    texts = ["Ada sold three boats in Hull .", "The mill was built by monks , who left ."]
    first, second = annotator.annotate_words(text.split() for text in texts)
    count = len(first.words)
    both = replace(
        first,
        words=[*first.words, *second.words],
        lemmas=[*first.lemmas, *second.lemmas],
        pos=[*first.pos, *second.pos],
        tags=[*first.tags, *second.tags],
        dependencies=[*first.dependencies, *second.dependencies],
        heads=[*first.heads, *(head + count for head in second.heads)],
        sentences=[(0, count), (count, count + len(second.words))],
        starts=range(count + len(second.words)),
        ends=range(1, count + len(second.words) + 1),
        entities=[],
        numbers=[],
        dates=[],
    )
    second = replace(second, entities=[], numbers=[], dates=[])
    symbols = Numbering({"": EMPTY})
    alone = pairs_in(second, symbols, [second.words.index("built")])
    within = pairs_in(both, symbols, [both.words.index("built")])
    assert (within.spans - count).tolist() == alone.spans.tolist()
    for own, other in (
        (alone.candidate_columns, within.candidate_columns),
        (alone.pair_columns, within.pair_columns),
    ):
        assert {name: column.tolist() for name, column in own.items()} == {
            name: column.tolist() for name, column in other.items()
        }


@given(
    st.sampled_from(GROUPS),
    st.lists(st.lists(st.integers(0, 5), min_size=40, max_size=40), min_size=1, max_size=30),
    st.integers(0, 2**32),
)
def test_the_index_finds_what_a_dictionary_finds(group: str, rows: list[list[int]], seed: int) -> None:
    names = sorted({name for template in TEMPLATES[group] for name in template})
    table = np.array(rows, np.int64)
    columns = {name: table[:, k] for k, name in enumerate(names)}
    draw = np.random.default_rng(seed)
    known = [draw.integers(1, 6, (draw.integers(0, 20), len(template))) for template in TEMPLATES[group]]
    known = [np.unique(numbers, axis=0) for numbers in known]
    found = FeatureIndex(group, known, 1000, 50).rows(columns)
    row = 1000
    for k, (template, numbers) in enumerate(zip(TEMPLATES[group], known, strict=True)):
        oracle = {tuple(one): row + n for n, one in enumerate(numbers.tolist())}
        row += len(numbers)
        asked = zip(*(columns[name].tolist() for name in template), strict=True)
        assert found[:, k].tolist() == [oracle.get(one, 50 + k) for one in asked]


def test_no_known_feature_has_an_unknown_string() -> None:
    inventory = shipped_model().inventory
    assert "" in inventory.symbols
    assert min(inventory.symbols.values()) == EMPTY > UNKNOWN
    for group in GROUPS:
        for template, numbers in zip(TEMPLATES[group], inventory.features[group], strict=True):
            assert numbers.shape[1] == len(template)
            strings = [k for k, name in enumerate(template) if name not in COUNTS]
            assert (numbers[:, strings] >= EMPTY).all()
            assert (numbers[:, strings] <= len(inventory.symbols)).all()
