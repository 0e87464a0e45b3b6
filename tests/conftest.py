"""Fixtures that every floor's tests share."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# A shell starts what it puts into the background with interrupts ignored, and the processes of tests would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; skipped where there is none, required where CI=true."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no Chromium on the PATH: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., tuple[Any, list[str]]]]:
    """Open a file, or what ``fragment`` names in it; what the console and requests for anything else say is gathered
    in the list."""
    context = browser.new_context()

    def open_file(path: Path, fragment: str = "") -> tuple[Any, list[str]]:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda r: said.append(r.url) if r.url.partition("#")[0] != path.as_uri() else None)
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(path.as_uri() + fragment)
        return page, said

    yield open_file
    context.close()
