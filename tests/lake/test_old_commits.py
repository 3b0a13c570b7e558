"""Old commits leave the log of a table: it stays short, and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable

from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit import write
from weir.lake.delta.commit_files import LOG, checkpoint_files, commit_file, last_checkpoint
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import CLAIMED, LedgerRow, record
from weir.lake.tables import GRAPHS, RUNS
from weir.lake.upkeep import old_commits
from weir.lake.upkeep.old_commits import delete_old_commits

KEPT, AT_ONCE, CHECKPOINTS = 20, 5, 5
TABLE = replace(
    GRAPHS, log_commits=KEPT, properties=(("delta.checkpointInterval", str(CHECKPOINTS)),)
)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setattr(old_commits, "_AT_ONCE", AT_ONCE)
    return Lake(str(tmp_path))


def append(lake: Lake, *numbers: int) -> None:
    for number in numbers:
        row = {"graph": f"<urn:g{number}>", "source": "s", "run_id": str(number)}
        write(lake, TABLE, [row], Metadata(str(number), "ingest", number))


def numbers(lake: Lake) -> list[int]:
    return sorted(int(str(run)) for run in lake.rows(TABLE.name)["run_id"].to_pylist())


def logged(lake: Lake, name: str = TABLE.name) -> list[int]:
    """The versions whose commits the log has."""
    folder = Path(lake.location(name)) / LOG
    return sorted(int(file.stem) for file in folder.glob("*.json"))


@pytest.mark.usefixtures("slow")
def test_the_log_stays_short_and_has_all_rows(lake: Lake) -> None:
    for number in range(200):
        append(lake, number)
        assert len(logged(lake)) <= KEPT + AT_ONCE + CHECKPOINTS + 2
    assert numbers(Lake(lake.root)) == [*range(200)]


def test_at_least_as_many_commits_stay_as_the_table_says(lake: Lake) -> None:
    append(lake, *range(100))
    assert len(logged(lake)) >= KEPT


def test_the_commits_that_stay_have_no_gap_and_every_version_of_them_can_be_read(
    lake: Lake,
) -> None:
    append(lake, *range(100))
    versions = logged(lake)
    assert versions == [*range(versions[0], versions[-1] + 1)]
    for version in versions:
        assert DeltaTable(lake.location(TABLE.name), version=version).version() == version


def test_a_table_without_a_limit_keeps_its_log(lake: Lake) -> None:
    for number in range(60):
        row = {"graph": f"<urn:g{number}>", "source": "s", "run_id": str(number)}
        unlimited = replace(TABLE, log_commits=None)
        write(lake, unlimited, [row], Metadata(str(number), "ingest", number))
    assert logged(lake)[0] == 0


def test_a_process_whose_next_commit_is_gone_sees_the_newest_state(lake: Lake) -> None:
    append(lake, *range(3))
    other = Lake(lake.root)
    assert numbers(other) == [0, 1, 2]
    append(lake, *range(3, 100))
    other.catch_up()
    assert numbers(other) == [*range(100)]


def test_a_process_whose_next_commit_is_gone_appends_to_the_newest_state(lake: Lake) -> None:
    append(lake, *range(3))
    other = Lake(lake.root)
    assert other.exists(TABLE.name)
    append(lake, *range(3, 100))
    append(other, 100)
    assert numbers(Lake(lake.root)) == [*range(101)]


def test_deleting_that_is_interrupted_leaves_no_gap(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlimited = replace(TABLE, log_commits=None)
    for number in range(60):
        row = {"graph": f"<urn:g{number}>", "source": "s", "run_id": str(number)}
        write(lake, unlimited, [row], Metadata(str(number), "ingest", number))
    with dying_after(7, monkeypatch), pytest.raises(KeyboardInterrupt):
        delete_old_commits(lake, TABLE.name, 40)
    versions = logged(lake)
    assert versions[0] > 0
    assert versions == [*range(versions[0], versions[-1] + 1)]
    assert numbers(Lake(lake.root)) == [*range(60)]


@pytest.mark.usefixtures("slow")
def test_the_log_of_the_ledger_is_shortened(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        record(lake, [LedgerRow(str(number), "ingest", number, CLAIMED)])
    shortened = replace(RUNS, log_commits=20)
    monkeypatch.setattr("weir.lake.ledger.runs.RUNS", shortened)
    monkeypatch.setattr(old_commits, "_AT_ONCE", AT_ONCE)
    record(lake, [LedgerRow("120", "ingest", 120, CLAIMED)])
    assert logged(lake, RUNS.name)[0] > 0
    runs = Lake(lake.root).rows(RUNS.name, ["number"])["number"].to_pylist()
    assert sorted(int(str(run)) for run in runs) == [*range(121)]


@contextmanager
def dying_after(deletions: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process stops after so many deletions."""
    whole, left = Path.unlink, [deletions]

    def dying(file: Path, missing_ok: bool = False) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        whole(file, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", dying)
        yield


def test_the_checkpoint_that_a_short_log_begins_with_is_still_compared(lake: Lake) -> None:
    append(lake, *range(100))
    folder = Path(lake.location(TABLE.name))
    noted = (folder / NOTES / LOG_NOTES).read_text()
    first = min(checkpoint_files(folder))
    assert first.name in noted


def test_a_flipped_digit_in_the_commit_of_a_checkpoint_is_named(lake: Lake) -> None:
    """What a commit says about itself is read from it, though its files are in the checkpoint."""
    folder = Path(lake.location(TABLE.name))
    for number in range(2 * CHECKPOINTS):
        append(lake, number)
        if last_checkpoint(folder) == lake.version(TABLE.name):
            break
    commit = folder / commit_file(lake.version(TABLE.name) or 0)
    flipped, count = re.subn(rb"(watermark\W+)\d", rb"\g<1>9", commit.read_bytes())
    assert count == 1
    commit.write_bytes(flipped)
    with pytest.raises(DamagedTable, match="not what was written"):
        Lake(lake.root).last_metadata(TABLE.name)
