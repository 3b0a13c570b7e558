"""The DAGs of a project, for Airflow.

`dag_bundle.ProjectsBundle` brings those of the projects in `WEIR_PROJECT`. Instead, a file in
Airflow's folder of DAGs can call `dags` with the folder of `weir.toml`:

    from weir.airflow import dags
    globals().update(dags("/path/to/project"))

If Airflow runs several projects, each has a name, which its DAGs and assets begin with:
`dags("/path/to/museum", name="museum")`.

A module per DAG says when stages run and in which order; `Deployment` is what its tasks have in
common. Nothing else of Weir imports Airflow, or this package.
"""

from __future__ import annotations

import os
from pathlib import Path

from airflow.sdk import DAG

from weir.airflow import (
    audit_lake,
    compact_lake,
    ingest_changes,
    maintain_queries,
    refresh_remotes,
)
from weir.airflow.deployment import Deployment
from weir.airflow.projects import VARIABLE, projects

__all__ = ["configured_dags", "dags"]


def dags(project: str | Path, name: str = "") -> dict[str, DAG]:
    """The DAGs of a project, by their ids.

    Airflow reads the file that calls this twice a minute: it reads `weir.toml`, `remotes.yml` and
    the heads of the definitions, and imports no engine.

    Args:
        project: the folder of `weir.toml`. What else can be set, the environment does; see
            `Deployment`.
        name: of the project, if this Airflow runs several: `museum.ingest_changes`.

    Raises:
        ConfigurationError: `weir.toml` is wrong. Airflow shows it as an error of the file.
    """
    deployment = Deployment.of(Path(project), name)
    built = (
        ingest_changes.dag(deployment),
        maintain_queries.dag(deployment),
        refresh_remotes.dag(deployment),
        compact_lake.dag(deployment),
        audit_lake.dag(deployment),
    )
    return {dag.dag_id: dag for dag in built if dag is not None}


def configured_dags(default: str = "") -> dict[str, DAG]:
    """The DAGs of the projects in `WEIR_PROJECT`, by their ids.

    Args:
        default: the folder of the project if the variable is not set; empty for none.

    Raises:
        ConfigurationError: no project is named, or a `weir.toml` is wrong.
    """
    built: dict[str, DAG] = {}
    for name, project in projects(os.environ.get(VARIABLE, default)).items():
        built |= dags(project, name)
    return built
