"""Fixtures that every floor's tests share."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository: skipped where absent, required where CI=true."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        reason = f"real data is absent: no folder {folder}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def stanza_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny Stanza models that parse: tagger, lemmatizer, parser."""
    pytest.importorskip("stanza")
    from tests.extractors.tiny_models import stanza_folder

    return stanza_folder(tmp_path_factory.mktemp("stanza"))


@pytest.fixture(scope="session")
def srl_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny AllenNLP archive that tags the semantic roles it has learnt by heart."""
    if find_spec("allennlp") is None:
        pytest.skip("AllenNLP is installed on Python 3.11 only")
    from tests.extractors import tiny_models

    return tiny_models.srl_archive(tmp_path_factory.mktemp("srl"))
