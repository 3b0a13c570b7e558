"""Who publishes: the driver, or Spark."""

from __future__ import annotations

import pytest

from tests.support.opened import no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.session import Spark


@pytest.fixture(params=["driver", pytest.param("spark", marks=pytest.mark.spark)])
def session(request: pytest.FixtureRequest, lake: HandMadeLake) -> Spark:
    """The session of a run in which Spark does all, or nothing, that the driver could do."""
    if request.param == "driver":
        return no_spark
    lake.project.configure(driver_rows=0, driver_table_bytes=0)
    spark = request.getfixturevalue("spark")
    return lambda: spark
