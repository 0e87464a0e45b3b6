"""Real models, tiny ones, made where a test runs: each is saved in the format of its library."""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: What the parsers learn by heart.
SENTENCES = (
    ("Ada sold 3 boats in Hull .", ["S-PERSON", "O", "O", "O", "O", "S-GPE", "O"]),
    ("The wall was thick .", ["O", "O", "O", "O", "O"]),
    ("He bought 40 ships .", ["O", "O", "O", "O", "O"]),
)
CONLLU = """
1 Ada Ada PROPN NNP _ 2 nsubj _ _
2 sold sell VERB VBD _ 0 root _ _
3 3 3 NUM CD _ 4 nummod _ _
4 boats boat NOUN NNS _ 2 obj _ _
5 in in ADP IN _ 6 case _ _
6 Hull Hull PROPN NNP _ 2 obl _ _
7 . . PUNCT . _ 2 punct _ _

1 The the DET DT _ 2 det _ _
2 wall wall NOUN NN _ 4 nsubj _ _
3 was be AUX VBD _ 4 cop _ _
4 thick thick ADJ JJ _ 0 root _ _
5 . . PUNCT . _ 4 punct _ _

1 He he PRON PRP _ 2 nsubj _ _
2 bought buy VERB VBD _ 0 root _ _
3 40 40 NUM CD _ 4 nummod _ _
4 ships ship NOUN NNS _ 2 obj _ _
5 . . PUNCT . _ 2 punct _ _

"""


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings and logs of a library that trains."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def stanza_folder(folder: Path) -> Path:
    """A folder as ``stanza.download`` leaves it, with a tagger, a lemmatizer and a parser; returned."""
    from stanza.models import lemmatizer, parser, tagger

    treebank = folder / "train.conllu"
    treebank.parent.mkdir(parents=True, exist_ok=True)
    treebank.write_text(CONLLU.lstrip().replace(" ", "\t") * 4)
    shared = ["--train_file", treebank, "--eval_file", treebank, "--output_file", folder / "out.conllu"]
    shared += ["--shorthand", "en_tiny", "--save_name", "tiny.pt", "--hidden_dim", 16, "--seed", 1]
    network = ["--lang", "en", "--no_pretrain", "--max_steps", 80, "--eval_interval", 80, "--num_layers", 1]
    network += ["--no_char", "--word_emb_dim", 16, "--tag_emb_dim", 8, "--transformed_dim", 8]
    network += ["--deep_biaff_hidden_dim", 16, "--dropout", 0, "--word_dropout", 0, "--word_cutoff", 0]
    letters = ["--num_epoch", 2, "--emb_dim", 8, "--pos_dim", 8]
    with quiet():
        for main, kind, options in (
            (tagger.main, "pos", [*network, "--composite_deep_biaff_hidden_dim", 8, "--no_second_optim"]),
            (parser.main, "depparse", [*network, "--deep_biaff_output_dim", 16, "--no_checkpoint"]),
            (lemmatizer.main, "lemma", letters),
        ):
            main([str(o) for o in (*shared, "--save_dir", folder / "en" / kind, *options)])
    return stanza_index(folder)


def stanza_index(folder: Path) -> Path:
    """Write ``resources.json`` for the models that the folder has."""
    kinds = {path.parent.name: path.stem for path in sorted((folder / "en").glob("*/*.pt"))}
    models = {kind: {name: {}} for kind, name in kinds.items()}
    english = {"lang_name": "English", "packages": {"default": kinds}, **models}
    (folder / "resources.json").write_text(json.dumps({"en": english}))
    return folder


def add_stanza_tokenizer(folder: Path) -> Path:
    """A tokenizer that has hardly learnt: where it ends sentences is its own."""
    from stanza.models import tokenizer

    text = " ".join(sentence for sentence, _ in SENTENCES)
    labels = ["0"] * len(text)
    end = -1
    for sentence, _ in SENTENCES:
        for word in sentence.split():
            end += len(word) + 1
            labels[end - 1 if end else 0] = "2" if word == "." else "1"
    (folder / "text.txt").write_text(text + "\n\n")
    (folder / "text.label").write_text("".join(labels) + "\n\n")
    (folder / "mwt.json").write_text("[]")
    options = ["--txt_file", folder / "text.txt", "--label_file", folder / "text.label"]
    options += ["--mwt_json_file", folder / "mwt.json"]
    options += ["--dev_txt_file", folder / "text.txt", "--dev_label_file", folder / "text.label"]
    options += ["--lang", "en", "--shorthand", "en_tiny", "--save_name", "tiny.pt", "--seed", 1]
    options += ["--save_dir", folder / "en" / "tokenize", "--steps", 10, "--eval_steps", 10, "--no_use_mwt"]
    options += ["--hidden_dim", 8, "--emb_dim", 8]
    with quiet():
        tokenizer.main([str(option) for option in options])
    return stanza_index(folder)


def add_stanza_entities(folder: Path) -> Path:
    """A recogniser of named entities."""
    from stanza.models import ner_tagger

    path = folder / "ner.json"
    path.write_text(
        json.dumps(
            [
                [{"text": word, "ner": tag} for word, tag in zip(sentence.split(), tags, strict=True)]
                for sentence, tags in SENTENCES
            ]
            * 4
        )
    )
    options = ["--train_file", path, "--eval_file", path, "--shorthand", "en_tiny"]
    options += [
        "--save_dir",
        folder / "en" / "ner",
        "--save_name",
        "tiny.pt",
        "--max_steps",
        100,
        "--seed",
        1,
    ]
    options += ["--eval_interval", 100, "--hidden_dim", 16, "--char_hidden_dim", 8, "--char_emb_dim", 8]
    options += ["--word_emb_dim", 16, "--dropout", 0, "--word_dropout", 0, "--no_pretrain"]
    options += ["--optim", "adam", "--lr", 0.02]
    with quiet():
        ner_tagger.main([str(option) for option in options])
    return stanza_index(folder)


#: Words, and the tags of each predicate that the SRL models learn by heart.
FRAMES = (
    ("Ada sold 3 boats in 1914 .", {1: "B-ARG0 B-V B-ARG1 I-ARG1 B-ARGM-TMP I-ARGM-TMP O"}),
    ("She is running a mill .", {2: "B-ARG0 O B-V B-ARG1 I-ARG1 O"}),
    ("The wall is 9 m thick .", {2: "B-ARG1 I-ARG1 B-V B-ARG2 I-ARG2 I-ARG2 O"}),
    ("Hull had 40 ships .", {1: "B-ARG0 B-V B-ARG1 I-ARG1 O"}),
    ("They get paid on Fridays .", {2: "B-ARG1 O B-V B-ARGM-TMP I-ARGM-TMP O"}),
    (
        "Bram decided to run in May .",
        {
            1: "B-ARG0 B-V I-V I-V B-ARGM-TMP I-ARGM-TMP O",
            3: "B-ARG0 B-V I-V I-V O O O",
        },
    ),
)


def srl_archive(folder: Path, **config: object) -> Path:
    """An AllenNLP archive of an LSTM tagger that knows ``FRAMES``; ``config`` changes its model's settings."""
    embedder = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 24}}}
    encoder = {"type": "lstm", "input_size": 32, "hidden_size": 24, "bidirectional": True}
    model = {"type": "srl", "text_field_embedder": embedder, "encoder": encoder, "binary_feature_dim": 8}
    return _train(folder, {"dataset_reader": {"type": "srl"}, "model": {**model, **config}}, 60)


def srl_bert_archive(folder: Path) -> Path:
    """The same with a BERT of two layers, which the archive names by the folder of its shape and its words."""
    from transformers.models.bert.configuration_bert import BertConfig

    encoder = folder / "tiny-uncased"
    encoder.mkdir(parents=True)
    words = sorted({word.lower() for text, _ in FRAMES for word in text.split()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, "##s", "mill"]
    (encoder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)) + "\n")
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    shape |= {"vocab_size": 60, "max_position_embeddings": 40, "hidden_dropout_prob": 0.0}
    BertConfig(**shape).save_pretrained(encoder)
    indexers = {"tokens": {"type": "single_id", "namespace": None, "feature_name": "text_id"}}
    reader = {"type": "srl", "bert_model_name": str(encoder), "token_indexers": indexers}
    model = {"type": "srl_bert", "bert_model": BertConfig(**shape).to_dict()}
    return _train(folder, {"dataset_reader": reader, "model": model}, 80, {"bert_model": str(encoder)})


def _train(folder: Path, config: dict, steps: int, saved: dict | None = None) -> Path:
    """Train on ``FRAMES`` and archive; ``saved`` is what the archived configuration says of the model instead."""
    import extractors.backends.allennlp_shim  # noqa: F401, I001 - before the first import of allennlp
    import allennlp_models.structured_prediction  # noqa: F401
    import torch
    from allennlp.common import Params
    from allennlp.data import Batch, DatasetReader, Token, Vocabulary
    from allennlp.models import Model
    from allennlp.models.archival import archive_model

    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        torch.manual_seed(1)
        reader = DatasetReader.from_params(Params(json.loads(json.dumps(config["dataset_reader"]))))
        instances = [
            reader.text_to_instance(
                [Token(word) for word in text.split()],
                [int(i == predicate) for i in range(len(text.split()))],
                tags.split(),
            )
            for text, frames in FRAMES
            for predicate, tags in frames.items()
        ]
        vocabulary = Vocabulary.from_instances(instances)
        model = Model.from_params(Params(json.loads(json.dumps(config["model"]))), vocab=vocabulary)
        batch = Batch(instances)
        batch.index_instances(vocabulary)
        tensors = batch.as_tensor_dict()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(steps):
            optimizer.zero_grad()
            model(**tensors)["loss"].backward()
            optimizer.step()
        (folder / "config.json").write_text(
            json.dumps({**config, "model": {**config["model"], **(saved or {})}})
        )
        vocabulary.save_to_files(str(folder / "vocabulary"))
        torch.save(model.state_dict(), folder / "best.th")
        return Path(archive_model(folder))


#: A text, and for each thing meant its mentions: first token, the one after the last, head.
COREFERENT = (
    ("Peter bought a boat . He sold it .", [[(0, 1, 0), (5, 6, 5)], [(2, 4, 3), (7, 8, 7)]]),
    ("Susan rowed home . She slept .", [[(0, 1, 0), (4, 5, 4)]]),
)


def add_stanza_coref(folder: Path) -> Path:
    """A coreference model that knows ``COREFERENT``, over a BERT of one layer that has learnt nothing."""
    import torch
    from stanza.models.coref.config import Config
    from stanza.models.coref.dataset import CorefDataset
    from stanza.models.coref.model import CorefModel

    encoder = bert_folder(folder / "encoder", [word for text, _ in COREFERENT for word in text.split()])
    documents = []
    for text, things in COREFERENT:
        words = text.split()
        documents.append(
            {
                "document_id": "tiny",
                "cased_words": words,
                "sent_id": [words[:i].count(".") for i in range(len(words))],
                "speaker": ["_"] * len(words),
                "head2span": [(head, first, end) for thing in things for first, end, head in thing],
                "word_clusters": [[head for _, _, head in thing] for thing in things],
                "span_clusters": [[(first, end) for first, end, _ in thing] for thing in things],
            }
        )
    data = folder / "coref.json"
    data.write_text(json.dumps(documents))
    paths = {
        "data_dir": str(folder),
        "save_dir": str(folder),
        "save_name": "tiny",
        "conll_log_dir": str(folder),
    }
    splits = {"train_data": str(data), "dev_data": str(data), "test_data": str(data)}
    sizes = {"bert_window_size": 64, "embedding_size": 8, "sp_embedding_size": 64, "hidden_size": 32}
    sizes |= {"a_scoring_batch_size": 64, "n_hidden_layers": 1, "max_span_len": 8, "rough_k": 8}
    lora = {"lora": False, "lora_alpha": 1, "lora_rank": 1, "lora_dropout": 0.0, "lora_target_modules": []}
    switches = {"full_pairwise": True, "clusters_starts_are_singletons": True, "bert_finetune": False}
    switches |= {"save_each_checkpoint": False, "log_norms": False, "singletons": False, "use_zeros": False}
    rates = {"dropout_rate": 0.0, "learning_rate": 0.01, "bert_learning_rate": 0.0, "bce_loss_weight": 0.5}
    rates |= {"bert_finetune_begin_epoch": 0.0, "train_epochs": 1, "plateau_epochs": 0, "max_train_len": 64}
    others = {"section": "tiny", "device": "cpu", "bert_model": str(encoder), "lora_modules_to_save": []}
    others |= {"tokenizer_kwargs": {}, "lang_lr_attenuation": "", "lang_lr_weights": ""}
    with quiet():
        torch.manual_seed(1)
        config = Config(**paths, **splits, **sizes, **lora, **switches, **rates, **others)
        model = CorefModel(config=config)
        model.training = True
        for _ in range(60):
            for document in CorefDataset(str(data), config, model.tokenizer):
                for optimizer in model.optimizers.values():
                    optimizer.zero_grad()
                result = model.run(document)
                loss = model._coref_criterion(result.coref_scores, result.coref_y)
                for side in (0, 1):
                    loss += model._span_criterion(result.span_scores[:, :, side], result.span_y[side])
                loss.backward()
                model.optimizers["general_optimizer"].step()
        model.save_weights(str(folder / "en" / "coref" / "tiny.pt"), save_optimizers=False)
    return stanza_index(folder)


def bert_folder(folder: Path, words: list[str]) -> Path:
    """A BERT of one layer that has learnt nothing, with these words, in lower case, as its pieces."""
    import torch
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word.lower() for word in words})]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    shape |= {"vocab_size": len(pieces), "max_position_embeddings": 64, "hidden_dropout_prob": 0.0}
    with quiet():
        torch.manual_seed(1)
        BertModel(BertConfig(**shape)).save_pretrained(folder)
    return folder
