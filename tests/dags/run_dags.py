"""Run DAGs one after the other as `airflow dags test` does, and print their exit codes as JSON.

All in one process: starting Airflow takes longer than a task. Run as a program.
"""

from __future__ import annotations

import json
import sys

from airflow.__main__ import main


def exit_code(dag: str) -> int:
    """The exit code of `airflow dags test DAG`."""
    sys.argv = ["airflow", "dags", "test", dag]
    try:
        main()  # type: ignore[no-untyped-call]
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    print(json.dumps([exit_code(dag) for dag in sys.argv[1:]]))
