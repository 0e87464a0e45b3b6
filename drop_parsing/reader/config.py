"""What a reader is made of: the part of a preset that its weights depend on."""

from dataclasses import dataclass, field
from typing import Literal

from drop_parsing.data.reader_numbers import NumberRule
from drop_parsing.reader.heads import DecodingConfig, HeadName

#: Which input a reader is trained and used without (Kaushik and Lipton 2018).
Blank = Literal["none", "passage", "question"]


@dataclass(frozen=True, slots=True)
class ContextualConfig:
    """Vectors of words in context from a pretrained encoder that is not trained: see ``contextual``.

    ``model`` is as in ``TransformerConfig``, or the folder of ELMo's own files (``*options.json`` and ``*.hdf5``;
    needs the extra ``allennlp``). Of ``layers``, 0 is its input."""

    model: str = "minilm"
    layers: tuple[int, ...] = (0, 2, 4, 6)


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Word vectors and characters. ``vectors`` is ``random``, ``glove:FILE``, ``spacy:MODEL`` or
    ``pieces:FOLDER`` (see ``vectors``); ``vector_dim`` counts for ``random`` alone. Words and characters seen
    less often in training than ``min_word_count`` and ``min_character_count`` share one vector."""

    vectors: str = "random"
    vector_dim: int = 300
    train_vectors: bool = False
    min_word_count: int = 1
    min_character_count: int = 1
    character_dim: int = 64
    character_filters: int = 200
    character_kernel: int = 5
    pad_short_words: bool = False
    highway_layers: int = 2
    contextual: ContextualConfig | None = None


@dataclass(frozen=True, slots=True)
class QANetConfig:
    """The QANet encoder: see ``qanet.QANetEncoder``."""

    dim: int = 128
    heads: int = 8
    phrase_blocks: int = 1
    phrase_convolutions: int = 4
    phrase_kernel: int = 7
    modelling_blocks: int = 6
    modelling_convolutions: int = 2
    modelling_kernel: int = 5
    layer_dropout: float = 0.1
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)


@dataclass(frozen=True, slots=True)
class BiDAFConfig:
    """Bidirectional LSTMs for phrases and modelling: see ``encoding.BiLSTM``."""

    dim: int = 200
    phrase_layers: int = 1
    modelling_layers: int = 2
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """A pretrained encoder in Hugging Face form: the path of its folder, or ``minilm`` for the packaged one."""

    model: str = "minilm"


@dataclass(frozen=True, slots=True)
class DataConfig:
    """What the reader sees. The limits are in tokens; those for prediction may be higher than in training."""

    numbers: NumberRule = "integers"
    most_numbers: int = 2
    passage_limit: int = 400
    question_limit: int = 50
    predict_passage_limit: int = 1000
    predict_question_limit: int = 100
    blank: Blank = "none"


@dataclass(frozen=True, slots=True)
class ReaderConfig:
    """One encoder, the data it reads, and the heads on top."""

    heads: tuple[HeadName, ...]
    encoder: QANetConfig | BiDAFConfig | TransformerConfig
    data: DataConfig = field(default_factory=DataConfig)
    dropout: float = 0.1
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
