"""Fixtures that every floor's tests share."""

import os
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
