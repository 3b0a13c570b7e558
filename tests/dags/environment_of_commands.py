"""Execute the tasks that read the lake, with a command that stores its variables; a program."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from weir.airflow.deployment import Deployment
from weir.airflow.programs import announce_changes, check_freshness

STORE = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"

if __name__ == "__main__":
    deployment = Deployment.of(Path(os.environ["WEIR_PROJECT"]))
    folder = Path(os.environ["AIRFLOW_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    environments = {}
    for task in (announce_changes(deployment), check_freshness(deployment)):
        file = folder / f"{task.task_id}.json"
        task.bash_command = shlex.join([sys.executable, "-c", STORE, str(file)])
        task.execute({})
        environments[task.task_id] = json.loads(file.read_text())
    (folder / "environments.json").write_text(json.dumps(environments))
