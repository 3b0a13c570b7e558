"""The ledger: one run of a job at a time, in any number of processes, however runs end."""

from __future__ import annotations

import errno
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from deltalake.exceptions import CommitFailedError

from weir.errors import BusyError
from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger import claims
from weir.lake.ledger import runs as ledger
from weir.lake.ledger.claims import AlreadyRunning
from weir.lake.ledger.processes import identity, lives
from weir.lake.ledger.runs import LedgerRow
from weir.lake.tables import GRAPHS, RUNS
from weir.lake.upkeep import small_files
from weir.stage import claimed

LEASE = 3600


def statuses(root: Path) -> list[tuple[int, str]]:
    rows = Lake(str(root)).rows("runs", columns=["number", "status"]).to_pylist()
    return sorted((row["number"], row["status"]) for row in rows)


def write_claim(root: Path, *, host: str, pid: int, recorded_at: datetime) -> None:
    """A claim as another process would have left it."""
    row = {"run_id": "other", "number": 1, "job": "ingest", "status": "claimed"}
    row |= {"host": host, "pid": pid, "recorded_at": recorded_at}
    write(Lake(str(root)), RUNS, [row], Metadata("other", "ingest", 0))


def _claim_and_stay(
    root: str, start: Barrier, end: Barrier, won: multiprocessing.Queue[bool]
) -> None:
    start.wait()
    try:
        claims.claim(Lake(root), "ingest", f"run-{os.getpid()}", lease_seconds=LEASE)
        won.put(True)
    except AlreadyRunning:
        won.put(False)
    end.wait()


def test_of_two_processes_that_claim_at_once_one_wins(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, end, won = context.Barrier(2), context.Barrier(3), context.Queue()
    contenders = [
        context.Process(target=_claim_and_stay, args=(str(tmp_path), start, end, won))
        for _ in range(2)
    ]
    for contender in contenders:
        contender.start()
    outcomes = sorted(won.get(timeout=60) for _ in contenders)
    end.wait()
    for contender in contenders:
        contender.join()
    won.close()
    won.join_thread()
    assert outcomes == [False, True]
    assert statuses(tmp_path) == [(1, "claimed")]


def test_a_commit_that_is_impossible_is_an_error_and_not_retried_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise CommitFailedError("read-only")

    monkeypatch.setattr(claims, "append_to", refuse)
    with pytest.raises(CommitFailedError, match="read-only"):
        claims.claim(Lake(str(tmp_path)), "ingest", "r", lease_seconds=LEASE)


def test_a_ledger_of_an_earlier_version_gets_the_columns_that_are_new(tmp_path: Path) -> None:
    root = str(tmp_path)
    new = {"checked_run", "process"}
    earlier = replace(RUNS, columns=tuple(c for c in RUNS.columns if c.name not in new))
    create_if_missing(Lake(root), earlier)
    assert claims.claim(Lake(root), "validate", "r", lease_seconds=LEASE) == 1
    with pytest.raises(AlreadyRunning):
        claims.claim(Lake(root), "validate", "s", lease_seconds=LEASE)
    ledger.record(Lake(root), [LedgerRow("r", "validate", 1, "succeeded", "q", checked_run="m")])
    rows = Lake(root).rows("runs", columns=["checked_run"]).to_pylist()
    assert {row["checked_run"] for row in rows} == {None, "m"}


def test_the_files_of_many_runs_are_merged(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    for number in range(1, 41):
        assert claims.claim(lake, "ingest", f"run-{number}", lease_seconds=LEASE) == number
        ledger.record(lake, [LedgerRow(f"run-{number}", "ingest", number, ledger.SUCCEEDED)])
    assert len(Lake(str(tmp_path)).existing("runs").file_uris()) < 2 * small_files.MANY
    assert len(statuses(tmp_path)) == 80


def test_a_finished_run_lets_the_next_one_in(tmp_path: Path) -> None:
    root = str(tmp_path)
    for number in (1, 2, 3):
        assert claims.claim(Lake(root), "ingest", f"r{number}", lease_seconds=LEASE) == number
        ledger.record(Lake(root), [LedgerRow(f"r{number}", "ingest", number, "succeeded")])


def test_the_error_of_the_loser_names_the_other_run_and_what_to_do(tmp_path: Path) -> None:
    claims.claim(Lake(str(tmp_path)), "ingest", "first", lease_seconds=LEASE)
    with pytest.raises(AlreadyRunning, match=rf"run first of ingest .*process {os.getpid()}.*Wait"):
        claims.claim(Lake(str(tmp_path)), "ingest", "second", lease_seconds=LEASE)


def test_jobs_do_not_exclude_each_other(tmp_path: Path) -> None:
    assert claims.claim(Lake(str(tmp_path)), "ingest", "r", lease_seconds=LEASE) == 1
    assert claims.claim(Lake(str(tmp_path)), "maintain", "r", lease_seconds=LEASE) == 1


def test_rows_about_queries_do_not_end_a_claim(tmp_path: Path) -> None:
    root = str(tmp_path)
    claims.claim(Lake(root), "maintain", "r", lease_seconds=LEASE)
    ledger.record(Lake(root), [LedgerRow("r", "maintain", 1, "succeeded", query="q")])
    with pytest.raises(AlreadyRunning):
        claims.claim(Lake(root), "maintain", "s", lease_seconds=LEASE)


def test_a_run_that_takes_over_a_claim_sees_what_the_dead_run_committed(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    row = {"graph": "<g>", "source": "s", "run_id": "r"}
    write(lake, GRAPHS, [row], Metadata("r", "ingest", 1))
    code = (
        "from weir.lake.ledger.claims import claim; from weir.lake.delta.commit import write;"
        "from weir.lake.lake import Lake;"
        "from weir.lake.delta.metadata import Metadata; from weir.lake.tables import GRAPHS;"
        f"lake = Lake({str(tmp_path)!r}); claim(lake, 'ingest', 'dead', lease_seconds={LEASE});"
        f"write(lake, GRAPHS, [{row!r}], Metadata('dead', 'ingest', 2))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert lake.version("graphs") == 1
    claims.claim(lake, "ingest", "next", lease_seconds=LEASE)
    assert lake.version("graphs") == 2


def test_a_claim_whose_process_died_is_abandoned(tmp_path: Path) -> None:
    claim = f"claims.claim(Lake({str(tmp_path)!r}), 'ingest', 'dead', lease_seconds={LEASE})"
    code = f"from weir.lake.ledger import claims; from weir.lake.lake import Lake; {claim}"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert claims.claim(Lake(str(tmp_path)), "ingest", "next", lease_seconds=LEASE) == 2
    assert statuses(tmp_path) == [(1, "abandoned"), (1, "claimed"), (2, "claimed")]


def test_a_process_that_reuses_the_id_of_a_dead_one_is_not_the_claimant(
    tmp_path: Path,
) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=400)
    write_claim(tmp_path, host=socket.gethostname(), pid=os.getpid(), recorded_at=long_ago)
    assert claims.claim(Lake(str(tmp_path)), "ingest", "next", lease_seconds=LEASE) == 2


@pytest.mark.parametrize(("age", "goes_on"), [(10, True), (LEASE + 10, False)])
def test_a_claim_of_another_machine_holds_for_the_lease(
    tmp_path: Path, age: int, goes_on: bool
) -> None:
    recorded_at = datetime.now(UTC) - timedelta(seconds=age)
    write_claim(tmp_path, host="elsewhere", pid=1, recorded_at=recorded_at)
    if goes_on:
        with pytest.raises(AlreadyRunning, match="on elsewhere"):
            claims.claim(Lake(str(tmp_path)), "ingest", "next", lease_seconds=LEASE)
    else:
        assert claims.claim(Lake(str(tmp_path)), "ingest", "next", lease_seconds=LEASE) == 2


def test_the_running_process_is_found_alive() -> None:
    assert lives(os.getpid(), datetime.now(UTC))


def test_setting_the_clock_does_not_end_a_process() -> None:
    before_it_started = datetime.now(UTC) - timedelta(days=400)
    assert lives(os.getpid(), before_it_started, identity(os.getpid()))


def test_a_later_process_with_the_same_id_is_distinguished() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert not lives(process.pid, datetime.now(UTC), identity(os.getpid()))
    finally:
        process.communicate()


def end_after(root: Path, job: str, number: int, seconds: float) -> threading.Timer:
    """End a claim in a while, from a thread."""
    row = LedgerRow("first", job, number, ledger.SUCCEEDED)
    timer = threading.Timer(seconds, ledger.record, [Lake(str(root)), [row]])
    timer.start()
    return timer


@pytest.mark.parametrize(("brief", "patience"), [(True, 0.0), (False, 60.0)])
def test_the_end_of_a_brief_claim_is_waited_for_and_that_of_another_with_patience(
    tmp_path: Path, brief: bool, patience: float
) -> None:
    claims.claim(Lake(str(tmp_path)), "ingest", "first", lease_seconds=LEASE, brief=brief)
    timer = end_after(tmp_path, "ingest", 1, 0.1)
    lake = Lake(str(tmp_path))
    assert claims.claim(lake, "ingest", "next", lease_seconds=LEASE, patience=patience) == 2
    timer.join()


def test_a_brief_claim_that_lasts_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "_WAIT_FOR_BRIEF", 0.1)
    claims.claim(Lake(str(tmp_path)), "ingest", "first", lease_seconds=LEASE, brief=True)
    with pytest.raises(AlreadyRunning):
        claims.claim(Lake(str(tmp_path)), "ingest", "next", lease_seconds=LEASE)


def test_a_run_whose_end_could_not_be_recorded_does_not_keep_its_process_from_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("weir.stage.end_claim", full)
        with (
            pytest.raises(OSError, match="No space"),
            claimed(lake, "ingest", "on a full disk", LEASE),
        ):
            pass
    with claimed(lake, "ingest", "second", LEASE) as run:
        assert run.number == 2
    of_first = [(n, status) for n, status in statuses(tmp_path) if n == 1]
    assert of_first == [(1, "abandoned"), (1, "claimed")]


def test_a_run_is_not_disturbed_by_another_thread_of_its_process(tmp_path: Path) -> None:
    def other() -> None:
        with claimed(Lake(str(tmp_path)), "ingest", "second", LEASE):
            pass

    with (
        claimed(Lake(str(tmp_path)), "ingest", "first", LEASE),
        ThreadPoolExecutor() as pool,
        pytest.raises(BusyError, match="run first of ingest"),
    ):
        pool.submit(other).result()
