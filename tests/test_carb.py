"""The CaRB scorer against cases worked out by hand from its published rule."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from extractors.registry import make_extractor


def load() -> ModuleType:
    file = Path(__file__).resolve().parent.parent / "benchmarks" / "carb.py"
    spec = importlib.util.spec_from_file_location("carb", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["carb"] = module  # where its dataclasses are looked up
    spec.loader.exec_module(module)
    return module


carb = load()


def extraction(line: str, confidence: float = 1.0) -> object:
    """An extraction from "relation | argument | ..."."""
    relation, *arguments = [tuple(part.split()) for part in line.split("|")]
    return carb.Extraction(relation, tuple(arguments), confidence)


@pytest.mark.parametrize(
    ("gold", "predicted", "precision", "recall"),
    [
        ("sold | Ada | the mill", "sold | Ada | the mill", 1, 1),
        ("sold | Ada | the mill", "sold | Ada | the old mill", 4 / 5, 1),
        ("sold | Ada | the old mill", "sold | Ada | mill", 1, 3 / 5),
        ("sold | Ada | the mill", "bought | Ada | the mill", 0, 0),  # no word of the relation
        ("sold | Ada | the mill", "sold | Ada", 0, 0),  # a slot is missing
        ("sank | the ferry", "sank | the ferry | in 1910", 1, 1),  # a slot beyond the gold ones
        ("sold | Ada | the mill | in 1910", "sold | Ada | the mill in 1910", 1, 1),  # binary
        ("sold | Ada | the mill", "sold | ada | The mill", 2 / 4, 2 / 4),  # case counts
        ("sold | Ada | the mill", "sold | the mill | Ada", 1 / 4, 1 / 4),  # slot by slot
        ("said | Ada | it sank", "said | it sank | Ada", 1, 1),  # but for speech
        ("is | Ada | tall", "be | Ada | tall", 1, 1),
        ("was sold | the the mill | x", "was sold | the mill | x", 1, 5 / 6),  # multisets
    ],
)
def test_match(gold: str, predicted: str, precision: float, recall: float) -> None:
    assert carb.match(extraction(gold), extraction(predicted)) == pytest.approx((precision, recall))


def test_a_prediction_serves_several_golds_but_counts_once() -> None:
    gold = {"s": [extraction("toured | Ada | Norway"), extraction("toured | Ada | Malta")]}
    predicted = {"s": [extraction("toured | Ada | Norway and Malta")]}
    (point,) = carb.curve(gold, predicted)
    assert point.recall == pytest.approx(1)  # all three words of both golds
    assert point.precision == pytest.approx(3 / 5)


def test_a_gold_extraction_is_matched_once() -> None:
    gold = {"s": [extraction("toured | Ada | Norway")]}
    predicted = {"s": [extraction("toured | Ada | Norway")] * 2}
    (point,) = carb.curve(gold, predicted)
    assert (point.precision, point.recall) == pytest.approx((1 / 2, 1))


def test_the_matching_takes_the_highest_precision_first() -> None:
    assert carb.one_to_one([[0.9, 1.0], [0.1, 0.9]]) == {1: 1.0, 0: 0.1}
    assert carb.one_to_one([[0.5, 0.5]]) == {0: 0.5}
    assert carb.one_to_one([[], []]) == {}


def test_thresholds_span_the_sentences() -> None:
    gold = {
        "s": [extraction("sold | Ada | mills")],
        "t": [extraction("saw | Bram | Hull")],
        "u": [extraction("left | Eyre | Leeds")],  # nothing is predicted
    }
    predicted = {
        "s": [extraction("sold | Ada | mills", 0.9), extraction("is | Ada | tall", 0.2)],
        "t": [extraction("saw | Bram | Leeds", 0.5)],
    }
    points = carb.curve(gold, predicted)
    assert [point.confidence for point in points] == [0.9, 0.5, 0.2]
    assert [point.recall for point in points] == pytest.approx([1 / 3, 5 / 9, 5 / 9])
    assert [point.precision for point in points] == pytest.approx([1, 5 / 6, 5 / 9])
    assert carb.best(points) == points[1]
    # From (recall 0, precision 1): a rectangle, then a trapezium, then nothing more in width.
    assert carb.area(points) == pytest.approx(1 / 3 + 2 / 9 * (1 + 5 / 6) / 2)


def test_nothing_predicted_scores_nothing() -> None:
    gold = {"s": [extraction("sold | Ada | mills")]}
    assert carb.curve(gold, {}) == []
    assert carb.best([]).f1 == carb.area([]) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ada and Bram agreed with Hull in May .",
            [("agreed with", "Ada", "Hull", "in May"), ("agreed with", "Bram", "Hull", "in May")],
        ),
        (
            "Gordon Vale -LRB- a mill town -RRB- sold `` Norway '' to Hull .",
            [("is", "Gordon Vale", "a mill town"), ("sold", "Gordon Vale", "Norway", "to Hull")],
        ),
        (
            "Ada did n't see Hull 's mayor .",
            [("did n't see", "Ada", "Hull 's mayor"), ("has", "Hull", "mayor")],
        ),
    ],
)
def test_rows_as_extractions(text: str, expected: list[tuple[str, ...]]) -> None:
    sentence = carb.Sentence(text)
    found = [
        (" ".join(e.relation), *(" ".join(words) for words in e.arguments))
        for row in make_extractor("openie").extract(sentence.paragraph).rows
        for e in carb.extractions_of(sentence, row)
    ]
    assert sorted(found) == sorted(expected)


def test_the_bar_on_real_data(shared_data: Path) -> None:
    """On every fourth sentence of the half that no rule was developed on."""
    gold = carb.read_gold(shared_data / "openie" / "carb_dev.tsv.gz")
    assert sum(map(len, gold.values())) == 2548
    chosen = [text for text in gold if carb.half(text) == "held-out"][::4]
    predicted, _ = carb.predict(chosen)
    point = carb.best(carb.curve({text: gold[text] for text in chosen}, predicted))
    assert math.isfinite(point.f1)
    assert point.f1 >= 0.5
