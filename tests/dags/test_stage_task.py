"""What a stage's task does with the exit code of spark-submit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dags.installation import CODE, HERE, environment
from weir.errors import EXIT_BUSY, EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE

BLOCK = "error: 1 answer held back:\n  limited: 2 rows, max_rows is 1\nnext: Raise it."


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How the task ends, by the exit code of a program that takes the place of spark-submit."""
    folder = tmp_path_factory.mktemp("stage")
    program = folder / "spark-submit"
    program.write_text(f'#!/bin/sh\necho "a line of Spark"\ncat <<EOF\n{BLOCK}\nEOF\nexit $CODE\n')
    program.chmod(0o755)
    variables = environment(folder / "home", HERE / "project")
    variables["PATH"] = f"{folder}:{variables['PATH']}"
    variables["PYTHONPATH"] = str(CODE)
    codes = (0, EXIT_FAILED, EXIT_USAGE, EXIT_QUALITY, EXIT_BUSY)
    done = subprocess.run(
        [sys.executable, HERE / "end_of_stage.py", *map(str, codes)],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    states: dict[str, Any] = json.loads(Path(folder / "home" / "ended.json").read_text())
    return states


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (0, None),
        (EXIT_FAILED, "AirflowException"),
        (EXIT_USAGE, "AirflowFailException"),
        (EXIT_QUALITY, "AirflowFailException"),
        (EXIT_BUSY, "AirflowException"),
    ],
)
def test_a_wrong_configuration_and_a_failed_check_are_not_retried(
    ended: dict[str, Any], code: int, error: str | None
) -> None:
    assert ended[str(code)]["error"] == error


def test_the_error_of_the_task_is_the_reason_of_the_stage_alone(ended: dict[str, Any]) -> None:
    assert ended[str(EXIT_QUALITY)]["message"].splitlines() == [
        "publish_answers ended with exit code 3.",
        "1 answer held back:",
        "limited: 2 rows, max_rows is 1",
        "next: Raise it.",
    ]
