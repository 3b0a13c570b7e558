"""Airflow's own database below `AIRFLOW_HOME`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from setup.steps import Step, call, text_of


def step(environment: Mapping[str, str] = os.environ) -> Step:
    """Create it or migrate it to the installed version, once: the check alone takes seconds."""
    home = Path(environment["AIRFLOW_HOME"])
    return Step(
        "airflow",
        "Airflow's database",
        lambda: f"{home}\0{text_of('requirements/weir.txt')}",
        (home / "airflow.db").exists,
        lambda: call(
            ("airflow", "db", "migrate"), f"Can the database below {home} be opened?", environment
        ),
    )
