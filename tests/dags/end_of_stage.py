"""Execute the task of a stage once for each exit code given, and store how it ends; a program."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from airflow.sdk.exceptions import AirflowException

from weir.airflow.deployment import Deployment
from weir.airflow.stage_task import submit

DEPLOYMENT = Deployment.of(Path(os.environ["WEIR_PROJECT"]))


def ended(code: str) -> dict[str, Any]:
    """Class and message of the error of a task whose program ends with this code."""
    os.environ["CODE"] = code
    try:
        submit("publish_answers", DEPLOYMENT).execute({})
    except AirflowException as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"error": None, "message": ""}


if __name__ == "__main__":
    home = Path(os.environ["AIRFLOW_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "ended.json").write_text(json.dumps({code: ended(code) for code in sys.argv[1:]}))
