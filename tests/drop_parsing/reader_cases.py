"""Small passages, questions and readers of every kind."""

import json
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from drop_parsing.data.reader_columns import build_columns
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.reader.build import build_reader, new_vocabulary
from drop_parsing.reader.collate import Collator, training_limits
from drop_parsing.reader.config import (
    BiDAFConfig,
    ContextualConfig,
    DataConfig,
    EmbeddingConfig,
    QANetConfig,
    ReaderConfig,
    TransformerConfig,
)
from drop_parsing.reader.contextual import cached_vectors
from drop_parsing.reader.heads import HEAD_NAMES, HeadName
from drop_parsing.reader.model import Reader
from drop_parsing.reader.vocabulary import count_words

CARN = (
    "Carn had 70 boats and sold 25 of them to Ulf, a trader of Hull. In May 1913 two crews rowed from Carn to Hull; "
    "9 men of the first crew and 12 men of the second stayed there, and 5.5% of the nets were lost."
)
FORT = "The fort fell. Ada and Bo held it."

PASSAGES = [
    Passage(
        "carn",
        CARN,
        (
            Question("left", "How many boats were left in Carn?", Answer(number="45")),
            Question("crews", "How many crews rowed?", Answer(number="2")),
            Question("trader", "Who was a trader of Hull?", Answer(spans=("Ulf",))),
            Question("percent", "How many percent of the nets were not lost?", Answer(number="94.5")),
        ),
    ),
    Passage(
        "fort",
        FORT,
        (
            Question("who", "Who held the fort?", Answer(spans=("Ada", "Bo"))),
            Question("what", "Which fell first, the tower or the fort?", Answer(spans=("tower",))),
        ),
    ),
]

EMBEDDING = EmbeddingConfig(vector_dim=8, character_dim=4, character_filters=6, pad_short_words=True)
QANET = QANetConfig(
    dim=8,
    heads=2,
    phrase_convolutions=2,
    phrase_kernel=3,
    modelling_blocks=1,
    modelling_kernel=3,
    embedding=EMBEDDING,
)
BIDAF = BiDAFConfig(dim=8, modelling_layers=1, embedding=EMBEDDING)
DATA = DataConfig(numbers="values")


def save_tiny_bert(folder: Path) -> TransformerConfig:
    """A BERT with random weights whose pieces are single characters."""
    torch.manual_seed(3)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz0123456789.,;%?"]
    vocabulary = {piece: place for place, piece in enumerate(pieces)}
    vocabulary |= {f"##{piece}": len(pieces) + place for place, piece in enumerate(pieces[4:])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=512,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == 8
    return TransformerConfig(str(folder))


def save_contextual(folder: Path) -> QANetConfig:
    """A QANet over two layers of a BERT as above."""
    contextual = ContextualConfig(save_tiny_bert(folder).model, (0, 2))
    return replace(QANET, embedding=replace(EMBEDDING, contextual=contextual))


def make(
    encoder: QANetConfig | BiDAFConfig | TransformerConfig,
    heads: tuple[HeadName, ...] = HEAD_NAMES,
    data: DataConfig = DATA,
    passages: list[Passage] = PASSAGES,
    cache: Path = Path("nowhere"),
) -> tuple[Reader, Collator]:
    """A reader with random weights and the passages as it reads them; ``cache`` is for vectors in context."""
    torch.manual_seed(1)
    config = ReaderConfig(heads, encoder, data)
    columns = build_columns(passages, data.numbers, data.most_numbers)
    vocabulary, vectors = new_vocabulary(config, count_words(columns))
    reader = build_reader(config, vocabulary, vectors, pretrained=True)
    contextual = cached_vectors(columns, config, cache)
    return reader, Collator(columns, vocabulary, data, training_limits(data), heads, contextual)
