"""Extractors by name: which scheme, made by which backend."""

from collections.abc import Callable
from functools import cache

from extractors.annotate import load_pipeline
from extractors.syndep import SynDepExtractor
from extractors.table import Extractor

#: scheme -> backend -> what makes the extractor from the part of the backend's name after the colon.
_BUILDERS: dict[str, dict[str, Callable[[str | None], Extractor]]] = {
    "syndep": {"spacy": lambda model: SynDepExtractor(load_pipeline(model))},
}


def schemes() -> tuple[str, ...]:
    """The schemes that this version has."""
    return tuple(_BUILDERS)


@cache
def make_extractor(scheme: str, backend: str | None = None) -> Extractor:
    """The extractor of a scheme, loaded once a process.

    ``backend`` is ``spacy`` or ``spacy:NAME`` with the name or path of a spaCy pipeline; None takes the
    scheme's first backend with its default model. Raises ``ValueError`` where there is no such scheme or
    backend, ``PipelineError`` where its model is not installed.
    """
    if scheme not in _BUILDERS:
        raise ValueError(f"There is no scheme {scheme!r}; this version has: {', '.join(_BUILDERS)}.")
    backends = _BUILDERS[scheme]
    kind, _, model = (backend or next(iter(backends))).partition(":")
    if kind not in backends:
        known = ", ".join(f"{name}:NAME" for name in backends)
        raise ValueError(f"The scheme {scheme!r} has no backend {backend!r}; it has: {known}.")
    return backends[kind](model or None)
