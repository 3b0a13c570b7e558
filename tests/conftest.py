"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data and papers beside the checkout; in CI its absence is a failure."""
    folder = Path(os.environ.get("WEIR_SHARED", PROJECT.parent / "shared"))
    if folder.is_dir():
        return folder
    if os.environ.get("CI") == "true":
        pytest.fail(f"{folder} is not there, and in CI it must be (WEIR_SHARED names another place)")
    pytest.skip(f"{folder} is not there (WEIR_SHARED names another place)")
