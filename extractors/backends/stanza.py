"""Stanza as a parser of the annotation pass. Needs the extra ``stanza``.

It runs as the one component of a spaCy pipeline, so that texts are cut, batched and tokenized, and values kept
whole, as for every other parser. Stanza's tokenizer, where the models have one, says where sentences end.
Models come from a folder; nothing is downloaded.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from extractors.annotate import PipelineError, SpacyAnnotator

LANGUAGE = "en"

#: Without these there is no parse.
REQUIRED = ("pos", "lemma", "depparse")
#: These are used where their models are there.
OPTIONAL = ("tokenize", "ner")

#: Tokens of a sentence. A longer one is cut: the parser scores every pair of its tokens.
MAX_SENTENCE = 1_000
#: Tokens in one batch of a processor: what bounds peak memory inside a paragraph.
MAX_BATCH = 2_000


def stanza_annotator(folder: str | None = None) -> SpacyAnnotator:
    """The annotator over the English models in ``folder``, or in Stanza's own resources folder.

    Raises ``PipelineError`` where Stanza is not installed or its models are not there.
    """
    nlp = spacy.blank(LANGUAGE)
    nlp.add_pipe("stanza_parser", config={"folder": folder})
    annotator = SpacyAnnotator(nlp)
    annotator.name = f"stanza-{LANGUAGE}"
    annotator.version = StanzaModels(folder).identity((*OPTIONAL, *REQUIRED))
    return annotator


class StanzaModels:
    """The English models in a folder as ``stanza.download`` leaves it: ``resources.json`` and ``en/KIND/NAME.pt``.

    Where a kind's default model is not there, the only one of its kind is taken.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.stanza = _stanza()
        from stanza.resources.common import DEFAULT_MODEL_DIR

        self.folder = Path(folder or DEFAULT_MODEL_DIR).expanduser()
        index = self.folder / "resources.json"
        try:
            self._listed: Mapping[str, Any] = json.loads(index.read_text("utf-8"))[LANGUAGE]
            defaults = self._listed["packages"]["default"]
            self._defaults: Mapping[str, str] = {**defaults.get("optional", {}), **defaults}
        except FileNotFoundError:
            raise PipelineError(f"There is no {index}; {self._remedy()}") from None
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise PipelineError(f"{index} is no list of Stanza's English models; {self._remedy()}") from error

    def _remedy(self) -> str:
        return (
            "download the models with: "
            f"python -c \"import stanza; stanza.download('{LANGUAGE}', model_dir='{self.folder}')\""
        )

    def model(self, kind: str) -> Path | None:
        """The file of the model of that kind, or None where there is none to choose."""
        found = sorted((self.folder / LANGUAGE / kind).glob("*.pt"))
        default = [path for path in found if path.stem == self._defaults.get(kind)]
        return next(iter(default or (found if len(found) == 1 else ())), None)

    def identity(self, kinds: Sequence[str]) -> str:
        """Stanza's version and a hash of the models: what a table depends on."""
        hashed = hashlib.blake2b(digest_size=4)
        for path in filter(None, map(self.model, kinds)):
            with path.open("rb") as file:
                hashed.update(hashlib.file_digest(file, "blake2b").digest())
        return f"{self.stanza.__version__}-{hashed.hexdigest()}"

    def pipeline(self, required: Sequence[str], optional: Sequence[str] = (), **options: Any) -> Any:
        """Stanza's ``Pipeline`` of these kinds of processor; it takes tokens where ``tokenize`` is not among them.

        Raises ``PipelineError`` where one that is required is missing, or one cannot be loaded.
        """
        models = {kind: path for kind in (*optional, *required) if (path := self.model(kind)) is not None}
        missing = [kind for kind in required if kind not in models]
        if missing:
            raise PipelineError(
                f"{self.folder / LANGUAGE} has no Stanza model for {', '.join(missing)}; {self._remedy()}"
            )
        if "tokenize" not in models:
            options["tokenize_pretokenized"] = True
        packages = {"tokenize": "default", **{kind: path.stem for kind, path in models.items()}}
        for kind, path in models.items():
            if path.stem not in self._listed.get(kind, {}):  # The user's own: not found by name.
                options[f"{kind}_model_path"] = str(path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.stanza.Pipeline(
                    LANGUAGE,
                    dir=str(self.folder),
                    package=None,
                    processors=packages,
                    download_method=None,
                    verbose=False,
                    **options,
                )
        except ImportError as error:
            raise PipelineError(
                f"Stanza's models in {self.folder} need more packages ({error}): "
                "run `pip install transformers peft`."
            ) from error
        except Exception as error:
            reason = " ".join(str(error).split())
            raise PipelineError(
                f"Stanza cannot load its models in {self.folder} ({reason}); {self._remedy()}"
            ) from error


@Language.factory("stanza_parser", default_config={"folder": None})
class StanzaParser:
    """A spaCy component: tags, lemmas, heads and labels, sentences and entities of a document by Stanza.

    A document goes through Stanza on its own, in batches bounded by tokens: what it gets does not depend on
    other documents.
    """

    def __init__(self, nlp: Language, name: str, folder: str | None) -> None:
        models = StanzaModels(folder)
        self._stanza = models.stanza
        self._pipeline = models.pipeline(
            REQUIRED,
            OPTIONAL,
            pos_batch_maximum_tokens=MAX_BATCH,
            depparse_batch_size=MAX_BATCH,
        )
        self._splits = not self._pipeline.processors["tokenize"].config.get("pretokenized")
        self._sentencizer = spacy.blank(LANGUAGE).add_pipe("sentencizer")
        self._processors = ",".join(
            kind for kind in self._pipeline.processors if kind not in {"tokenize", "mwt"}
        )

    def __call__(self, doc: Doc) -> Doc:
        if not len(doc):
            return doc
        if self._splits:
            self._split(doc)
        doc = self._sentencizer(doc)  # What is still open is settled by punctuation.
        words = [token.text for token in doc]
        bounds = list(_bounds([token.i for token in doc if token.is_sent_start], len(doc)))
        parsed = self._pipeline.process(
            self._stanza.Document(
                [[{"id": (i - a + 1,), "text": words[i]} for i in range(a, b)] for a, b in bounds]
            ),
            self._processors,
        )
        return self._filled(doc, words, bounds, parsed)

    def _split(self, doc: Doc) -> None:
        """Let a sentence begin where Stanza's tokenizer begins one, at tokens where that is open."""
        spans: list[tuple[int, int]] = doc.user_data["spans"]
        gaps = [following > end for (_, end), (following, _) in pairwise(spans)]
        spaced = Doc(doc.vocab, words=[token.text for token in doc], spaces=[*gaps, False])
        found = self._pipeline.processors["tokenize"].process(spaced.text)
        begins = {sentence.tokens[0].start_char for sentence in found.sentences}
        for token, place in zip(doc, spaced, strict=True):
            if token.i and token.is_sent_start is None:
                token.is_sent_start = place.idx in begins

    def _filled(self, doc: Doc, words: Sequence[str], bounds: Sequence[tuple[int, int]], parsed: Any) -> Doc:
        tokens = [word for sentence in parsed.sentences for word in sentence.words]
        firsts = [a for a, b in bounds for _ in range(a, b)]
        filled = Doc(
            doc.vocab,
            words=list(words),
            user_data=doc.user_data,
            pos=[word.upos or "X" for word in tokens],
            tags=[word.xpos or "" for word in tokens],
            lemmas=[word.lemma or "" for word in tokens],
            deps=[word.deprel for word in tokens],
            heads=[
                first + word.head - 1 if word.head else i
                for i, (word, first) in enumerate(zip(tokens, firsts, strict=True))
            ],
        )
        entities = [
            Span(filled, first + entity.words[0].id - 1, first + entity.words[-1].id, entity.type)
            for (first, _), sentence in zip(bounds, parsed.sentences, strict=True)
            for entity in sentence.ents
        ]
        filled.ents = tuple(filter_spans(entities))
        return filled


def _bounds(firsts: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Half-open token ranges of the sentences, none longer than ``MAX_SENTENCE``."""
    for first, end in pairwise([*firsts, count]):
        for start in range(first, end, MAX_SENTENCE):
            yield start, min(start + MAX_SENTENCE, end)


def _stanza() -> ModuleType:
    """Stanza is optional and slow to import, so it is imported when it is needed."""
    try:
        import stanza
    except ImportError as error:
        raise PipelineError("Stanza is not installed: run `pip install drop-parsing[stanza]`.") from error
    module: ModuleType = stanza
    return module
