"""Two concurrent `weir run` on one lake: one runs, the other reports it and exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, LATER, QUERIES, ingest_change_sets
from tests.support.projects.project import PATCHES, Project
from weir.errors import EXIT_BUSY
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("slow")

_PATIENCE = 300
"""Seconds; on a busy machine Spark starts slowly."""


def weir_run(project: Project) -> subprocess.Popen[str]:
    """Start `weir run` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "import sys, weir.cli; sys.exit(weir.cli.main())", "run"],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def claim_of(project: Project, process: subprocess.Popen[str]) -> str | None:
    """The run id of the claim that a process holds, if it holds one."""
    if not open_lake(project.settings).exists("runs"):
        return None
    rows = [row for row in project.table("runs") if row["pid"] == process.pid]
    ended = {(row["job"], row["number"]) for row in rows if row["status"] != "claimed"}
    held = (row for row in rows if (row["job"], row["number"]) not in ended)
    return next((str(row["run_id"]) for row in held), None)


@contextmanager
def stopped_with_a_claim(project: Project, process: subprocess.Popen[str]) -> Iterator[str]:
    """Stop the process while it holds a claim, yield the run id, and continue it at the end."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if claim_of(project, process) is not None:
            process.send_signal(signal.SIGSTOP)
            run_id = claim_of(project, process)
            try:
                if run_id is not None:
                    yield run_id
                    return
            finally:
                process.send_signal(signal.SIGCONT)
        time.sleep(0.02)
    raise AssertionError("the process never held a claim")


def test_of_two_concurrent_runs_one_exits_and_names_the_other(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    for query, text in QUERIES.items():
        project.query(query, f"#+ history: full\n{text}")
    ingest_change_sets(project, FIRST + LATER)
    first = weir_run(project)
    try:
        with stopped_with_a_claim(project, first) as run_id:
            second = weir_run(project)
            _, message = second.communicate(timeout=_PATIENCE)
        assert second.returncode == EXIT_BUSY, message
        assert f"run {run_id} of " in message
        assert f"process {first.pid} on " in message
        out, err = first.communicate(timeout=_PATIENCE)
        assert first.returncode == 0, out + err
    finally:
        first.kill()
        first.wait()
    for query in QUERIES:
        check_answers(project, query, 1, len(project.change_sets))
        rows = project.signed(query)
        assert len(rows) == len({(epoch, solution) for epoch, _, solution in rows})
