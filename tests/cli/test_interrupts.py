"""Ctrl-C always ends a run, says what that means, and the next run goes on from there."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.laws import Seeds
from tests.support.projects.command_line import Weir
from weir.lake import interrupts
from weir.lake.lake import Lake
from weir.process.interrupts import INTERRUPTED

TITLES = "SELECT ?title { ?exhibit <http://example.org/title> ?title }"
SENTENCE = "interrupted: what was committed stays; the next run goes on from there\n"
ANSWER = {("Greek vase", 1), ("Roman coin", 1), ("Bronze mask", 1)}
_WEIR = """
import signal, sys
# A process that is started in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from weir.cli import main
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def project(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_spark: None
) -> Iterator[Path]:
    """A project with two queries that has not run, where starting Spark fails."""
    del without_spark
    monkeypatch.chdir(tmp_path)
    weir("init", "museum")
    monkeypatch.chdir(tmp_path / "museum")
    Path("queries/titles.rq").write_text(TITLES)
    yield tmp_path / "museum"
    interrupts._requested.clear()


def answer(weir: Weir) -> set[tuple[str, int]]:
    rows = weir("show", "titles", "--output", "json").json
    return {(row["title"], row["weight"]) for row in rows}


def test_nothing_is_committed_after_an_interrupt_that_a_library_has_swallowed(weir: Weir) -> None:
    interrupts.request()
    called = weir("run")
    assert (called.code, called.err) == (INTERRUPTED, SENTENCE)
    assert not [*Path("lake").glob("*/*.parquet")]


@pytest.mark.parametrize(
    "at",
    ["ingest:after:quads", "maintain:before:embeddings/titles", "publish:after:answers/exhibits"],
)
def test_an_interrupt_at_a_commit_ends_there_and_the_next_run_goes_on(
    weir: Weir, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    seen: list[str] = []
    heed = interrupts.heed

    def interrupted(name: str) -> None:
        seen.append(name)
        if name == at:
            interrupts.request()
        heed()

    with monkeypatch.context() as patched:
        for module in (
            "weir.lake.delta.commit",
            "weir.lake.ledger.runs",
            "weir.lake.ledger.claims",
        ):
            patched.setattr(f"{module}.checkpoint", interrupted)
        called = weir("run")
    assert (called.code, called.err) == (INTERRUPTED, SENTENCE)
    (end,) = [name for name in seen[seen.index(at) :] if name.endswith("before:runs")]
    interrupts._requested.clear()
    stage = at.partition(":")[0]
    assert end == f"{stage}:before:runs"
    assert reasons(stage) == ["interrupted"]
    assert weir("run").code == 0
    assert answer(weir) == ANSWER


def reasons(job: str) -> list[str]:
    """Why runs of a job failed."""
    rows = Lake("lake").rows("runs", ["reason"], [("job", "=", job), ("status", "=", "failed")])
    return list(map(str, rows["reason"].to_pylist()))


def test_an_interrupt_that_became_an_error_of_a_query_ends_the_run_instead(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        del arguments, options
        interrupts.request()
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

    with monkeypatch.context() as patched:
        patched.setattr("weir.publish.publication._publish_one", interrupted)
        called = weir("run")
    assert (called.code, called.err) == (INTERRUPTED, SENTENCE)
    interrupts._requested.clear()
    assert reasons("publish") == ["interrupted"]
    assert weir("run").code == 0
    assert answer(weir) == ANSWER


def started(*arguments: str) -> subprocess.Popen[str]:
    """A process of `weir` in the current folder."""
    return subprocess.Popen(
        [sys.executable, "-c", _WEIR, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.usefixtures("slow")
@pytest.mark.law("interrupts")
def test_an_interrupt_at_a_random_moment_ends_a_process(
    weir: Weir, project: Path, seeds: Seeds
) -> None:
    before = project.with_name("before")
    shutil.copytree(project, before)
    began = time.monotonic()
    whole = started("run")
    _, printed = whole.communicate()
    assert whole.returncode == 0, printed
    duration = time.monotonic() - began
    for seed in seeds:
        moment = random.Random(f"interrupt {seed}").uniform(0.05, 1.0) * duration
        for name in ("lake", ".cache"):
            shutil.rmtree(project / name, ignore_errors=True)
        shutil.copytree(before, project, dirs_exist_ok=True)
        process = started("run")
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        results, printed = process.communicate()
        waited = time.monotonic() - asked
        print(f"after {moment:.2f} of {duration:.2f} s: {process.returncode} in {waited:.2f} s")
        if process.returncode == 0:
            # It was done.
            assert "2 published; 5 rows appended" in results
        else:
            assert (process.returncode, printed.count(SENTENCE)) == (INTERRUPTED, 1), printed
            assert "Traceback" not in printed
        assert weir("run").code == 0
        assert answer(weir) == ANSWER
