"""The DAGs of the projects in `WEIR_PROJECT`; without it, of this checkout."""

import os
from pathlib import Path

from weir.airflow import dags, projects

_HERE = str(Path(__file__).resolve().parent.parent)

for name, project in projects(os.environ.get("WEIR_PROJECT", _HERE)).items():
    globals().update(dags(project, name))
