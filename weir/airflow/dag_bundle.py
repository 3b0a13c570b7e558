"""A bundle of DAGs for an Airflow into which the package is installed: no file has to be written.

[dag_processor]
dag_bundle_config_list =
    [{"name": "weir", "classpath": "weir.airflow.dag_bundle.ProjectsBundle", "kwargs": {}}]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from airflow.dag_processing.bundles.local import LocalDagBundle

_FOLDER: Final = Path(__file__).parent / "dag_files"


class ProjectsBundle(LocalDagBundle):
    """The DAGs of the projects in the environment variable `WEIR_PROJECT`.

    The DAG processor and the workers need the variable.

    Args:
        options: those of every bundle: its name, how often Airflow looks at it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(path=str(_FOLDER), **options)
