"""Extractors by name: which scheme, made by which backend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from extractors.annotate import Annotator, SpacyAnnotator, load_pipeline
from extractors.extractor import Extractor, Scheme
from extractors.syndep import SynDep


@dataclass(frozen=True, slots=True)
class Backend:
    """What makes the tables, as the user names it: small and picklable, so that workers load it themselves.

    ``name`` is ``KIND`` or ``KIND:MODEL``; None takes spaCy's first installed English pipeline.
    """

    name: str | None = None

    @property
    def kind(self) -> str:
        return (self.name or "spacy").partition(":")[0]

    @property
    def model(self) -> str | None:
        return (self.name or "").partition(":")[2] or None


DEFAULT_BACKEND = Backend()

#: The kinds of backend that parse: any scheme runs over them.
_ANNOTATORS: dict[str, Callable[[str | None], Annotator]] = {
    "spacy": lambda model: SpacyAnnotator(load_pipeline(model)),
}
#: The schemes, as they are made over any parse.
_SCHEMES: dict[str, Callable[[], Scheme]] = {
    "syndep": SynDep,
}


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
    installed.
    """
    if scheme not in _SCHEMES:
        raise ValueError(f"There is no scheme {scheme!r}; this version has: {', '.join(_SCHEMES)}.")
    if backend.kind not in _ANNOTATORS:
        known = ", ".join(f"{name}:NAME" for name in _ANNOTATORS)
        raise ValueError(f"The scheme {scheme!r} has no backend {backend.name!r}; it has: {known}.")
    return Extractor(_annotator(backend.kind, backend.model), _SCHEMES[scheme]())


@cache
def _annotator(kind: str, model: str | None) -> Annotator:
    return _ANNOTATORS[kind](model)
