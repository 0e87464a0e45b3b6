"""The weights of an AllenNLP NAQANet as those of our reader, which then computes the same.

One thing differs by design: the reference lets the padding of a batch leak into the convolutions at the end of
a text, so what it gives a question depends on its batch. Ours is what the reference gives it alone.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

#: Answer abilities of the reference, in the order of its default, and our heads.
ABILITIES = {
    "passage_span_extraction": "passage-span",
    "question_span_extraction": "question-span",
    "addition_subtraction": "add-subtract",
    "counting": "count",
}

_WORDS = "_text_field_embedder.token_embedder_tokens.weight"

#: Patterns of whole names, and what they become.
_RENAMED = [
    (re.escape(_WORDS), "encoder.embedding.words.weight"),
    (
        r"_text_field_embedder\.token_embedder_token_characters\._embedding\._module\.weight",
        "encoder.embedding.characters.embedding.weight",
    ),
    (
        r"_text_field_embedder\.token_embedder_token_characters\._encoder\._module\.conv_layer_0\.(\w+)",
        r"encoder.embedding.characters.convolution.\1",
    ),
    (r"_embedding_proj_layer\.(\w+)", r"encoder.embedding.project.\1"),
    (r"_highway_layer\._layers\.(\d+)\.(\w+)", r"encoder.embedding.highway.layers.\1.\2"),
    (r"_encoding_proj_layer\.weight", "encoder.project_phrase.weight"),
    (r"_modeling_proj_layer\.weight", "encoder.project_modelling.weight"),
    (r"_matrix_attention\._bias", "encoder.attention.similarity.bias"),
    (r"_passage_weights_predictor\.(\w+)", r"pool_passage.weight.\1"),
    (r"_question_weights_predictor\.(\w+)", r"pool_question.weight.\1"),
    (r"_answer_ability_predictor\._linear_layers\.(\d)\.(\w+)", r"choose.@\1.\2"),
    (
        r"_(passage|question)_span_(start|end)_predictor\._linear_layers\.(\d)\.(\w+)",
        r"heads.\1-span.\2.@\3.\4",
    ),
    (r"_number_sign_predictor\._linear_layers\.(\d)\.(\w+)", r"heads.add-subtract.sign.@\1.\2"),
    (r"_count_number_predictor\._linear_layers\.(\d)\.(\w+)", r"heads.count.count.@\1.\2"),
]

_BLOCK = re.compile(r"_(phrase|modeling)_layer\._encoder_blocks\.(\d+)\.(.+)")
_IN_BLOCK = [
    (r"_conv_norm_layers\.(\d+)\.(\w+)", r"norms.\1.\2"),
    (r"_conv_layers\.(\d+)\.1\.weight", r"convolutions.\1.depthwise"),
    (r"_conv_layers\.(\d+)\.1\.bias", r"convolutions.\1.depthwise_bias"),
    (r"_conv_layers\.(\d+)\.2\.(\w+)", r"convolutions.\1.pointwise.\2"),
    (r"attention_norm_layer\.(\w+)", r"norms.-2.\1"),
    (r"feedforward_norm_layer\.(\w+)", r"norms.-1.\1"),
    (r"attention_layer\._combined_projection\.(\w+)", r"attention.project.\1"),
    (r"attention_layer\._output_projection\.(\w+)", r"attention.output.\1"),
    (r"feedforward\._linear_layers\.0\.(\w+)", r"feedforward_in.\1"),
    (r"feedforward\._linear_layers\.1\.(\w+)", r"feedforward_out.\1"),
]


def reader_weights(reference: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our state dict for ``reference``, that of a NAQANet whose words have vectors and a character CNN.

    Raises ValueError for a weight that such a model does not have.
    """
    convolutions = {
        layer: sum(
            bool(re.match(rf"_{layer}_layer\._encoder_blocks\.0\._conv_norm_layers\.\d+\.weight", name))
            for name in reference
        )
        for layer in ("phrase", "modeling")
    }
    weights: dict[str, Tensor] = {}
    for name, weight in reference.items():
        if name == "_matrix_attention._weight_vector":
            passage, question, both = weight.chunk(3)
            weights["encoder.attention.similarity.by_passage"] = passage
            weights["encoder.attention.similarity.by_question"] = question
            weights["encoder.attention.similarity.by_product"] = both
            continue
        renamed = _renamed(name, convolutions)
        if name == "_embedding_proj_layer.weight":  # the reference has the characters first
            vectors = reference[_WORDS].shape[1]
            weight = torch.cat([weight[:, -vectors:], weight[:, :-vectors]], dim=1)
        if renamed.endswith("pointwise.weight"):
            weight = weight.squeeze(-1)
        weights[renamed] = weight.reshape(()) if renamed.endswith("similarity.bias") else weight
    if "heads.add-subtract.sign.0.weight" in weights:
        dim = weights["encoder.project_phrase.weight"].shape[0]
        weights["heads.add-subtract.constant"] = torch.zeros(2 * dim)
    return weights


def _renamed(name: str, convolutions: Mapping[str, int]) -> str:
    block = _BLOCK.fullmatch(name)
    if block:
        layer, number, rest = block.groups()
        inside = _first_match(rest, _IN_BLOCK)
        if inside:
            count = convolutions[layer]
            inside = inside.replace("norms.-2", f"norms.{count}").replace("norms.-1", f"norms.{count + 1}")
            stack = "phrase" if layer == "phrase" else "modelling.0"
            return f"encoder.{stack}.blocks.{number}.{inside}"
    found = _first_match(name, _RENAMED)
    if not found:
        raise ValueError(f"{name} is no weight of a NAQANet with word vectors and a character CNN")
    # A ReLU and dropout stand between the two layers of a feed-forward network.
    return found.replace("@0", "0").replace("@1", "3")


def _first_match(name: str, patterns: list[tuple[str, str]]) -> str | None:
    for pattern, replacement in patterns:
        match = re.fullmatch(pattern, name)
        if match:
            return match.expand(replacement)
    return None
