"""Extractors by name: which scheme, made by which backend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from extractors.annotate import Annotator
from extractors.backends.allennlp_archive import TRUST_FLAG
from extractors.backends.allennlp_tagger import AllenNlpTagger
from extractors.backends.coref import CorefAnnotator, make_resolver
from extractors.backends.spacy import spacy_annotator
from extractors.backends.stanza import stanza_annotator
from extractors.extractor import Extractor, Scheme
from extractors.openie import OpenIE
from extractors.srl import Srl
from extractors.syndep import SynDep


@dataclass(frozen=True, slots=True)
class Backend:
    """What makes the tables, as the user names it: small and picklable, so that workers load it themselves.

    ``name`` is ``KIND`` or ``KIND:MODEL``; None takes spaCy's first installed English pipeline. ``trusted`` lets
    the archive that it names run code as it loads. ``coref`` names what resolves pronouns, in the same form.
    """

    name: str | None = None
    trusted: bool = False
    coref: str | None = None

    @property
    def kind(self) -> str:
        return (self.name or "spacy").partition(":")[0]

    @property
    def model(self) -> str | None:
        return (self.name or "").partition(":")[2] or None


DEFAULT_BACKEND = Backend()

#: The kinds of backend that parse: any scheme runs over them.
_ANNOTATORS: dict[str, Callable[[str | None], Annotator]] = {
    "spacy": spacy_annotator,
    "stanza": stanza_annotator,
}
#: The schemes, as they are made over any parse.
_SCHEMES: dict[str, Callable[[], Scheme]] = {
    "syndep": SynDep,
    "openie": OpenIE,
    "srl": Srl,
}
#: The schemes that an AllenNLP tagger makes, too, over spaCy's parse.
_TAGGED = frozenset({"openie", "srl"})


def schemes() -> tuple[str, ...]:
    """The schemes that this version has."""
    return tuple(_SCHEMES)


def make_extractors(chosen: Sequence[str], backend: Backend = DEFAULT_BACKEND) -> dict[str, Extractor]:
    """The extractors of several schemes, over one annotator that they share."""
    return {scheme: make_extractor(scheme, backend) for scheme in chosen}


@cache
def make_extractor(scheme: str, backend: Backend = DEFAULT_BACKEND) -> Extractor:
    """The extractor of a scheme, loaded once a process.

    Raises ``ValueError`` where there is no such scheme or backend, ``PipelineError`` where its model is not
    installed or not trusted.
    """
    if scheme not in _SCHEMES:
        raise ValueError(f"There is no scheme {scheme!r}; this version has: {', '.join(_SCHEMES)}.")
    if backend.trusted and backend.kind != "allennlp":
        raise ValueError(
            f"{TRUST_FLAG} is for a backend allennlp:ARCHIVE, not for {backend.name or 'spacy'!r}."
        )
    if backend.kind == "allennlp" and backend.model and scheme in _TAGGED:
        rules: Scheme = AllenNlpTagger(scheme, backend.model, backend.trusted)
        return Extractor(_annotator("spacy", None, backend.coref), rules)
    if backend.kind not in _ANNOTATORS:
        known = ["spacy:NAME", "stanza:FOLDER", *(["allennlp:ARCHIVE"] if scheme in _TAGGED else [])]
        raise ValueError(
            f"The scheme {scheme!r} has no backend {backend.name!r}; it has: {', '.join(known)}."
        )
    return Extractor(_annotator(backend.kind, backend.model, backend.coref), _SCHEMES[scheme]())


@cache
def _annotator(kind: str, model: str | None, coref: str | None) -> Annotator:
    annotator = _ANNOTATORS[kind](model)
    return annotator if coref is None else CorefAnnotator(annotator, make_resolver(coref))
