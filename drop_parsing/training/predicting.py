"""The predictions of a run for passages, in the order of their questions."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import torch

from drop_parsing.data.reader_columns import cached_columns
from drop_parsing.data.types import Passage
from drop_parsing.reader.collate import Collator, prediction_limits
from drop_parsing.reader.contextual import cached_vectors
from drop_parsing.reader.decoding import Prediction, predict
from drop_parsing.training.checkpoint import load_reader
from drop_parsing.training.devices import chosen_device, chosen_dtype


def predict_all(
    run: Path,
    passages: Sequence[Passage],
    cache: Path,
    batch_size: int = 32,
    device: str = "auto",
    precision: str = "float32",
    advance: Callable[[int], None] = lambda questions: None,
) -> list[Prediction]:
    """Every question's prediction by the best weights of ``run``.

    Raises InputError for a run, a device or a precision that cannot be used.
    """
    setup, reader = load_reader(run)
    where = chosen_device(device)
    dtype = chosen_dtype(precision, where)
    reader.to(where)
    config = setup.preset.reader
    data = config.data
    columns = cached_columns(passages, cache, data.numbers, data.most_numbers)
    contextual = cached_vectors(columns, config, cache)
    collator = Collator(columns, setup.vocabulary, data, prediction_limits(data), config.heads, contextual)
    found: dict[str, Prediction] = {}
    with torch.autocast(where.type, dtype) if dtype != torch.float32 else nullcontext():
        for predictions in predict(reader, collator, passages, batch_size, where):
            found |= {prediction.question: prediction for prediction in predictions}
            advance(len(predictions))
    return [found[question.id] for passage in passages for question in passage.questions]
