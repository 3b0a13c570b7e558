"""The DAGs of the project in `WEIR_PROJECT`; without it, of this checkout."""

import os
from pathlib import Path

from weir.airflow import dags

globals().update(dags(os.environ.get("WEIR_PROJECT", Path(__file__).resolve().parent.parent)))
