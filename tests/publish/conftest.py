"""The lake of each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.settings import Settings
from tests.support.projects.handmade import HandMadeLake


@pytest.fixture
def distributed() -> bool:
    """Whether Spark does what the driver could do; overridden by parametrization."""
    return False


@pytest.fixture
def lake(tmp_path: Path, distributed: bool) -> HandMadeLake:
    """An empty lake and an empty folder of queries."""
    (tmp_path / "queries").mkdir()
    config = tmp_path / "weir.toml"
    config.write_text('lake = "tables"\n')
    settings = Settings.load(config)
    if distributed:
        nothing = {"driver_rows": 0, "driver_table_bytes": 0}
        settings.limits = settings.limits.model_copy(update=nothing)
    return HandMadeLake(settings)
