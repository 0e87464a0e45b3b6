"""A preset of the parser: everything that a training run depends on beside its data."""

from dataclasses import dataclass, field

from drop_parsing.parser.model import ParserSizes
from drop_parsing.reader.config import ContextualConfig
from drop_parsing.training import preset_files


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """``vectors`` as for readers (``random``, ``glove:FILE``, ...). A ``transformer``, the folder of a BERT-like model
    or ``minilm``, reads question and paragraph together in place of the LSTM over these vectors, and is trained too.
    Or the LSTM also reads ``contextual`` vectors of the question's words, as readers do, which are not trained.

    Of the consistent forms of a question ``candidates`` are taken (``choosing``), and it is trained on ``forms`` of
    them: the most plausible, or with ``refresh`` from the second epoch on those that the parser finds most likely.
    Weights of forms: ``prior`` is the power of their plausibility, ``size_prior`` is taken off the logarithm for each
    application, ``held_out_penalty`` is the strength of ``questions.penalise_single_tables``, ``form_weights`` names a
    file of ``choosing.read_weights``.

    The share ``rescoring`` of the passages is held out to fit the rescorer to (``rescoring``); 0 leaves the order of a
    beam to the decoder. A run ends after ``epochs``, after ``patience`` evaluations without a better dev F1, or after
    ``minutes``; with ``decay`` the learning rate falls to 0 over ``epochs``, in a straight line. Dev is evaluated every
    ``evaluate_every`` epochs, on the passages that make about ``evaluate_on`` questions, and on all of it at the end.
    """

    sizes: ParserSizes = field(default_factory=ParserSizes)
    vectors: str = "random"
    vector_dim: int = 100
    min_word_count: int = 2
    transformer: str | None = None
    contextual: ContextualConfig | None = None
    candidates: int = 40
    forms: int = 20
    prior: float = 1.0
    size_prior: float = 0.0
    held_out_penalty: float = 0.0
    form_weights: str | None = None
    refresh: bool = True
    rescoring: float = 0.15
    beam: int = 30
    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 1e-3
    decay: bool = False
    gradient_norm: float = 5.0
    patience: int = 5
    minutes: float | None = None
    evaluate_every: int = 1
    evaluate_on: int | None = None
    seed: int = 0


def preset_names() -> list[str]:
    return preset_files.preset_names("drop_parsing.parser")


def load_config(name: str) -> ParserConfig:
    """As ``preset_files.read_preset``."""
    return preset_files.read_preset(ParserConfig, "drop_parsing.parser", name)
