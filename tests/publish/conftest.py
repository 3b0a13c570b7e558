"""The lake of each test."""

from __future__ import annotations

import pytest

from tests.support.projects.handmade import HandMadeLake


@pytest.fixture
def distributed() -> bool:
    """Whether Spark does what the driver could do; overridden by parametrization."""
    return False


@pytest.fixture
def lake(lake: HandMadeLake, distributed: bool) -> HandMadeLake:
    """An empty lake and an empty folder of queries."""
    if distributed:
        lake.project.configure(driver_rows=0, driver_table_bytes=0)
    return lake
