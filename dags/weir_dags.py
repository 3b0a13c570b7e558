"""The DAGs of the projects in `WEIR_PROJECT`; without it, of this checkout."""

from pathlib import Path

from weir.airflow import configured_dags

globals().update(configured_dags(str(Path(__file__).resolve().parent.parent)))
