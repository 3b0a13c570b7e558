"""A claim is renewed while its run goes on, so that others wait minutes for a lost machine."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.object_store import Store
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger import leases
from weir.lake.ledger.claims import AlreadyRunning, claim
from weir.lake.ledger.leases import FOLDER, forget, renew, renewed_at, renewing
from weir.lake.tables import RUNS
from weir.stage import claimed

LEASE = 300


@pytest.fixture(params=["folder", pytest.param("object store", marks=pytest.mark.store)])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """An empty lake."""
    if request.param == "folder":
        return Lake(str(tmp_path))
    store: Store = request.getfixturevalue("object_store")
    return Lake(store.empty(), store.options)


def lost(folder: Path, *, age: int) -> Lake:
    """A lake with a claim that another machine made so long ago."""
    lake = Lake(str(folder))
    row = {"run_id": "other", "number": 1, "job": "ingest", "status": "claimed", "pid": 1}
    row |= {"host": "elsewhere", "recorded_at": datetime.now(UTC) - timedelta(seconds=age)}
    write(lake, RUNS, [row], Metadata("other", "ingest", 0))
    return lake


def test_a_renewal_is_found_until_the_claim_ends(lake: Lake) -> None:
    assert renewed_at(lake, "refresh:wd", 7) is None
    began = datetime.now(UTC) - timedelta(seconds=5)
    renew(lake, "refresh:wd", 7)
    renew(lake, "refresh:wd", 7)
    instant = renewed_at(lake, "refresh:wd", 7)
    assert instant is not None
    assert began < instant < datetime.now(UTC) + timedelta(seconds=5)
    assert renewed_at(lake, "refresh:wd", 8) is None
    forget(lake, "refresh:wd", 7)
    assert renewed_at(lake, "refresh:wd", 7) is None
    forget(lake, "refresh:wd", 7)


def test_a_renewed_claim_of_another_machine_holds(tmp_path: Path) -> None:
    lake = lost(tmp_path, age=LEASE + 10)
    renew(lake, "ingest", 1)
    with pytest.raises(AlreadyRunning, match="on elsewhere"):
        claim(lake, "ingest", "next", lease_seconds=LEASE)


def test_a_claim_that_is_renewed_no_more_is_taken_over(tmp_path: Path) -> None:
    lake = lost(tmp_path, age=10 * LEASE)
    renew(lake, "ingest", 1)
    (file,) = (tmp_path / FOLDER / "ingest").iterdir()
    then = time.time() - LEASE - 10
    os.utime(file, (then, then))
    assert claim(lake, "ingest", "next", lease_seconds=LEASE) == 2
    assert not file.exists()


def test_a_stage_renews_its_claim_and_leaves_no_file(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    with claimed(lake, "ingest", "r", 1):
        deadline = time.monotonic() + 60
        while renewed_at(lake, "ingest", 1) is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert [*(tmp_path / FOLDER / "ingest").iterdir()] == []


def test_a_storage_that_does_not_answer_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = list[int]()

    def fail(lake: Lake, job: str, number: int) -> None:
        del lake, job
        tries.append(number)
        raise OSError("no route to host")

    monkeypatch.setattr(leases, "renew", fail)
    with renewing(Lake(str(tmp_path)), "ingest", 3, 0.06):
        deadline = time.monotonic() + 60
        while len(tries) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert {*tries} == {3}


def test_the_default_lease_is_minutes() -> None:
    from weir.settings import Limits

    assert Limits().lease_seconds <= 600
