"""The DAGs of the projects in `WEIR_PROJECT`; the only file of the bundle."""

from weir.airflow import configured_dags

globals().update(configured_dags())
