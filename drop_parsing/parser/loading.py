"""What a training run reads: the tables of its passages, and the forms that a search has found for its questions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from drop_parsing.data.types import Passage
from drop_parsing.extraction import Failed, extract_tables, open_store
from drop_parsing.parser.choosing import read_weights, save_weights
from drop_parsing.parser.config import ParserConfig
from drop_parsing.parser.questions import (
    Source,
    check_trainable,
    hold_out,
    penalise_single_tables,
    read_questions,
)
from drop_parsing.parser.run_files import Tables, encoder_of, pieces_of
from drop_parsing.parser.training import Data
from drop_parsing.searching import SearchSettings, cached_forms, open_forms
from extractors.annotate import load_pipeline
from extractors.registry import Backend
from extractors.remote import Place
from extractors.store import TableStore
from extractors.table import Table, text_hash

Advance = Callable[[int], None]
#: Shows how far one part of the work is, given its name and how many steps it has.
Show = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def silent(label: str, total: int) -> Iterator[Advance]:
    """Shows nothing."""
    yield lambda steps: None


def load_data(
    config: ParserConfig,
    wanted: Tables,
    train: Sequence[Passage],
    dev: Sequence[Passage],
    cache: Place,
    settings: SearchSettings,
    source_name: str,
    chosen: Path | None = None,
    show: Show = silent,
) -> tuple[Data, list[Failed]]:
    """Training and dev questions, and the passages without a table; tables that ``cache`` lacks are extracted.

    The forms to learn from, which take long to choose, are kept in the file ``chosen``; where it is there, those are
    taken. Raises InputError where there is nothing to learn from; ``source_name`` is then named as what to search.
    """
    with show("tables", len(train) + len(dev)) as advance:
        tables, store, failed = tables_of([*train, *dev], wanted, cache, advance)
    searched = open_forms(cache, wanted.scheme, settings)
    known = chosen if chosen and chosen.exists() else config.form_weights
    source = Source(
        lambda passages: cached_forms(passages, store, searched, forests=True),
        config.candidates,
        config.prior,
        config.size_prior,
        read_weights(Path(known), wanted.scheme) if known else {},
    )
    pipeline, limit, pieces = load_pipeline(), config.sizes.max_length, pieces_of(config.transformer)
    encoder = encoder_of(config)
    with show("training passages read", len(train)) as advance:
        trained = read_questions(train, tables, pipeline, source, limit, pieces, encoder, advance)
    check_trainable(trained, wanted.scheme, source_name)
    if chosen and known != chosen:
        chosen.parent.mkdir(parents=True, exist_ok=True)
        asked = (trained.questions[place][0] for place in trained.trained)
        save_weights(chosen, wanted.scheme, ((question.id, question.learnt()) for question in asked))
    if config.rescoring:
        hold_out(trained, train, config.rescoring)
    if config.held_out_penalty:
        penalise_single_tables(trained, train, config.held_out_penalty)
    with show("dev passages read", len(dev)) as advance:
        evaluated = read_questions(dev, tables, pipeline, None, limit, pieces, encoder, advance)
    return Data(trained, train, evaluated, dev, wanted), failed


def tables_of(
    passages: Sequence[Passage], wanted: Tables, cache: Place, advance: Advance = lambda passages: None
) -> tuple[dict[str, Table], TableStore, list[Failed]]:
    """The tables of passages by the hash of their text, where they are kept, and which passages have none."""
    backend = Backend(wanted.backend)
    store = open_store(cache, wanted.scheme, backend)
    failed = extract_tables(passages, {wanted.scheme: store}, backend, progress=advance).failed
    return store.get_many({text_hash(passage.text) for passage in passages}), store, failed
