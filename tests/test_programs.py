"""The programs that a task runs beside Spark, as processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "program", ["check_freshness", "pending_work", "published_answers", "refresh_remotes"]
)
def test_a_program_without_spark_does_not_import_pandas(program: str) -> None:
    code = f"import sys, weir.jobs.{program}; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout
    assert {"pandas", "pyarrow"} & {*printed.split()} == {"pyarrow"}
