"""The summary of the ledger gives the same readings as all rows, also after files were changed."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import CommitProperties, write_deltalake

from tests.support.killed import run_killed
from tests.support.ledgers import RandomLedger, newest, open_claims, random_ledger, watermark
from weir.lake.delta import appended
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger import summary as ledger_summary
from weir.lake.ledger.claims import claim
from weir.lake.ledger.runs import SUCCEEDED, UNTOUCHED, LedgerRow, record
from weir.lake.ledger.summary import Ledger, read_ledger, summed_up
from weir.lake.ledger.untouched import expanded
from weir.lake.tables import LEDGER_SUMMARY, RUNS
from weir.lake.upkeep import small_files
from weir.lake.upkeep.maintenance import compact_files

LEASE = 3600
SEEDS = range(60)


def same(one: pa.Table, other: pa.Table) -> bool:
    return sorted(map(repr, one.to_pylist())) == sorted(map(repr, other.to_pylist()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_gives_the_same_readings_as_all_rows(seed: int) -> None:
    ledger = random_ledger(seed, runs=40)
    every = expanded(ledger.rows()).to_pylist()
    few = summed_up(ledger.rows()).to_pylist()
    assert open_claims(few) == open_claims(every)
    for job in {row["job"] for row in every}:
        numbers = [[r["number"] for r in rows if r["job"] == job] for rows in (few, every)]
        assert max(numbers[0]) == max(numbers[1])
    validated = [
        max(r["to_epoch"] or 0 for r in rows if (r["job"], r["query"]) == ("validate", None))
        for rows in (few, every)
    ]
    assert validated[0] == validated[1]
    for key, row in newest(every).items():
        reading = newest(few)[key]
        compared = ("run_id", "status", "mode", "reason", "table_version", "checked_run")
        assert [reading[name] for name in compared] == [row[name] for name in compared]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_newest_untouched_range_gives_the_watermark_that_all_give(seed: int) -> None:
    ledger = random_ledger(seed, runs=60)
    every = expanded(ledger.rows()).to_pylist()
    few = summed_up(ledger.rows()).to_pylist()
    for (job, query), committed in ledger.committed.items():
        assert watermark(few, job, query, committed) == watermark(every, job, query, committed)
        # Nor is it ever too late for a table that was restored to an earlier state.
        for earlier in range(committed):
            most = watermark(every, job, query, earlier)
            assert earlier <= watermark(few, job, query, earlier) <= most


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", SEEDS)
def test_summing_up_in_steps_gives_what_summing_up_at_once_gives(seed: int) -> None:
    ledger = random_ledger(seed, runs=40)
    whole = summed_up(ledger.rows())
    for step in (1, 3, 10):
        in_steps = summed_up(ledger.rows(0, step))
        for first in range(step, len(ledger.commits), step):
            later = ledger.rows(first, first + step)
            in_steps = summed_up(pa.concat_tables([in_steps, later]))
        assert in_steps.equals(whole)


def test_consecutive_untouched_ranges_are_one_row() -> None:
    ledger = RandomLedger(None, ())  # type: ignore[arg-type]
    for number, (start, end) in enumerate([(1, 3), (3, 4), (7, 8), (8, 12), (9, 12)]):
        values = {"mode": UNTOUCHED, "from_epoch": start, "to_epoch": end}
        ledger.commits.append([ledger._row("maintain", number, SUCCEEDED, "q", **values)])
    (row,) = summed_up(ledger.rows()).to_pylist()
    assert (row["from_epoch"], row["to_epoch"]) == (7, 12)


# In a lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


@pytest.fixture(autouse=True)
def not_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is not merged; here its rows are written like those of other tables."""
    monkeypatch.setattr(small_files, "MANY", 10**9)


def fill(lake: Lake, ledger: RandomLedger, first: int = 0, last: int | None = None) -> None:
    """Write commits of a ledger, each as one of `runs`."""
    for number in range(first, len(ledger.commits) if last is None else last):
        rows = ledger.rows(number, number + 1)
        write(lake, RUNS, rows, Metadata(f"r{number}", "test", number))


def sum_up(lake: Lake) -> Ledger:
    """Write a summary of the ledger as it is now."""
    ledger = read_ledger(Lake(lake.root))
    digest = appended.commit_digest(lake, RUNS.name, ledger.version)
    extra = {"format": ledger_summary._FORMAT, "version": ledger.version, "commit": digest}
    metadata = Metadata("s", "test", 0, extra=extra)
    write(lake, LEDGER_SUMMARY, ledger.rows, metadata, mode="overwrite")
    return ledger


def read(lake: Lake) -> Ledger:
    """What another process reads; it must agree with all rows."""
    ledger = read_ledger(Lake(lake.root))
    assert same(ledger.rows, summed_up(ledger_summary._whole(Lake(lake.root))))
    return ledger


def commits_read(lake: Lake) -> int:
    return read(lake).commits


def test_a_lake_without_a_ledger_has_no_rows(lake: Lake) -> None:
    empty = read_ledger(lake)
    assert (empty.rows.num_rows, empty.version, empty.commits) == (0, -1, 0)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(5))
def test_the_summary_and_the_commits_after_it_are_the_ledger(lake: Lake, seed: int) -> None:
    ledger = random_ledger(seed, runs=16)
    middle = len(ledger.commits) // 2
    fill(lake, ledger, 0, middle)
    sum_up(lake)
    assert commits_read(lake) == 0
    fill(lake, ledger, middle)
    assert commits_read(lake) == len(ledger.commits) - middle


def test_merged_files_are_not_read_again(lake: Lake) -> None:
    ledger = random_ledger(1, runs=16)
    fill(lake, ledger, 0, 10)
    sum_up(lake)
    fill(lake, ledger, 10, 14)
    assert compact_files(Lake(lake.root), RUNS.name, 10**8) > 0
    fill(lake, ledger, 14)
    read_now = read(lake)
    # The merging is a commit, too, without rows.
    assert read_now.commits == len(ledger.commits) - 10 + 1
    assert read_now.rows_read < ledger.rows().num_rows + sum_up(lake).rows.num_rows


def test_if_merged_files_were_deleted_all_rows_are_read(lake: Lake) -> None:
    ledger = random_ledger(2, runs=16)
    fill(lake, ledger, 0, 10)
    sum_up(lake)
    fill(lake, ledger, 10)
    compact_files(Lake(lake.root), RUNS.name, 10**8)
    table = Lake(lake.root).existing(RUNS.name)
    assert table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    read_now = read(lake)
    assert read_now.rows_read == ledger.rows().num_rows


def _log(lake: Lake, version: int) -> Path:
    return Path(lake.root) / RUNS.name / "_delta_log" / f"{version:020}.json"


@pytest.mark.parametrize("version", [5, 8])
def test_if_the_log_no_longer_holds_a_commit_all_rows_are_read(lake: Lake, version: int) -> None:
    ledger = random_ledger(3, runs=16)
    fill(lake, ledger, 0, 5)
    sum_up(lake)
    fill(lake, ledger, 5)
    Lake(lake.root).existing(RUNS.name).create_checkpoint()
    # As Delta does with commits that are older than `logRetentionDuration`.
    for old in range(version + 1):
        _log(lake, old).unlink()
    assert read(lake).rows_read == ledger.rows().num_rows


def test_after_a_foreign_deletion_all_rows_are_read(lake: Lake) -> None:
    ledger = random_ledger(4, runs=16)
    fill(lake, ledger)
    sum_up(lake)
    Lake(lake.root).existing(RUNS.name).delete("job = 'ingest'")
    read_now = read(lake)
    assert read_now.rows_read == len(
        [row for row in ledger.rows().to_pylist() if row["job"] != "ingest"]
    )


def test_a_summary_of_a_past_that_was_restored_away_is_not_used(lake: Lake, tmp_path: Path) -> None:
    past, other = random_ledger(5, runs=6), random_ledger(6, runs=12)
    fill(lake, past, 0, 6)
    shutil.copytree(Path(lake.root) / RUNS.name, tmp_path / "backup")
    fill(lake, past, 6)
    sum_up(lake)
    shutil.rmtree(Path(lake.root) / RUNS.name)
    shutil.copytree(tmp_path / "backup", Path(lake.root) / RUNS.name)
    lake.refresh()
    # The ledger is shorter than the summary, then as long, then longer.
    for first in range(6, len(past.commits) + 3):
        assert commits_read(lake) == first + 1
        fill(lake, other, first, first + 1)


def test_a_summary_of_another_ledger_is_not_used(lake: Lake) -> None:
    fill(lake, random_ledger(7, runs=10))
    sum_up(lake)
    shutil.rmtree(Path(lake.root) / RUNS.name)
    lake.refresh()
    other = random_ledger(8, runs=20)
    fill(lake, other)
    assert commits_read(lake) == len(other.commits) + 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: shutil.rmtree(folder),
        lambda folder: [file.unlink() for file in folder.glob("*.parquet")],
        lambda folder: [file.write_bytes(b"PAR1") for file in folder.glob("*.parquet")],
    ],
    ids=["deleted", "files-deleted", "files-cut"],
)
def test_without_a_usable_summary_all_rows_are_read(lake: Lake, damage: Any) -> None:
    ledger = random_ledger(9, runs=10)
    fill(lake, ledger)
    sum_up(lake)
    damage(Path(lake.root) / LEDGER_SUMMARY.name)
    assert read(lake).rows_read == ledger.rows().num_rows


def test_a_summary_of_another_format_is_not_used(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = random_ledger(10, runs=10)
    fill(lake, ledger)
    sum_up(lake)
    monkeypatch.setattr(ledger_summary, "_FORMAT", 99)
    assert read(lake).rows_read == ledger.rows().num_rows


def test_a_summary_that_lacks_a_column_of_a_later_version_has_nulls_there(lake: Lake) -> None:
    ledger = random_ledger(11, runs=10)
    fill(lake, ledger, 0, 8)
    sum_up(lake)
    stored = Lake(lake.root).existing(LEDGER_SUMMARY.name)
    whole = stored.to_pyarrow_table().drop_columns(["checked_run", "process"])
    extra = Lake(lake.root).last_metadata(LEDGER_SUMMARY.name)
    assert extra is not None
    write_deltalake(
        stored,
        whole,
        mode="overwrite",
        schema_mode="overwrite",
        commit_properties=CommitProperties(custom_metadata={"userMetadata": extra[1].to_json()}),
    )
    fill(lake, ledger, 8)
    assert commits_read(lake) == len(ledger.commits) - 8


# Claims write it


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim that had to read a commit or more writes a summary."""
    monkeypatch.setattr(ledger_summary, "_COMMITS", 4)


def take_turns(lake: Lake, runs: int, jobs: tuple[str, ...] = ("ingest", "maintain")) -> None:
    """Runs of jobs in turn, each with a row about a query."""
    for turn in range(runs):
        job = jobs[turn % len(jobs)]
        number = claim(lake, job, f"{job}-{turn}", lease_seconds=LEASE)
        rows = [
            LedgerRow(f"{job}-{turn}", job, number, SUCCEEDED, query="q", mode="incremental"),
            LedgerRow(f"{job}-{turn}", job, number, SUCCEEDED),
        ]
        record(lake, rows)


@pytest.mark.usefixtures("soon")
def test_a_claim_sums_the_ledger_up_once_reading_it_takes_many_commits(lake: Lake) -> None:
    most = 0
    for _ in range(12):
        take_turns(lake, 1)
        most = max(most, commits_read(lake))
    assert lake.exists(LEDGER_SUMMARY.name)
    # Those that make it due, the two of the run that writes it, and those of the run after.
    assert most <= 4 + 2 + 2


def test_a_claim_sums_a_long_ledger_up_at_once(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_summary, "_ROWS", 50)
    _history(lake, 20)
    take_turns(lake, 1)
    assert commits_read(lake) == 2


def _history(lake: Lake, runs: int) -> None:
    """As many runs of maintain and publish, in few commits: most touch no query."""
    rows = []
    for number in range(1, runs + 1):
        for job in ("maintain", "publish"):
            run = {"run_id": f"{job}-{number}", "job": job, "number": number}
            for query in ("a", "b", "c"):
                mode = UNTOUCHED if (number + ord(query)) % 10 else "incremental"
                epochs = {"mode": mode, "from_epoch": number - 1, "to_epoch": number}
                rows.append({**run, "status": SUCCEEDED, "query": query, **epochs})
            rows += [{**run, "status": status} for status in ("claimed", SUCCEEDED)]
    ledger = RandomLedger(None, ())  # type: ignore[arg-type]
    at = ledger._row("", 0, "")["recorded_at"]
    table = pa.Table.from_pylist([row | {"recorded_at": at} for row in rows], schema=_SCHEMA)
    part = -(-table.num_rows // 5)
    for i in range(5):
        write(lake, RUNS, table.slice(i * part, part), Metadata(f"h{i}", "test", i))


_SCHEMA = RandomLedger(None, ()).rows().schema  # type: ignore[arg-type]


def test_reading_the_ledger_costs_the_same_after_10_000_runs_as_after_100(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_summary, "_COMMITS", 4)
    opened: list[str] = []
    dataset = ds.dataset

    def counted(paths: list[str], **options: Any) -> Any:
        opened.extend(paths)
        return dataset(paths, **options)

    monkeypatch.setattr(ds, "dataset", counted)
    costs = []
    for runs in (100, 10_000):
        lake = Lake(str(tmp_path / str(runs)))
        _history(lake, runs)
        take_turns(lake, 4, ("maintain", "publish"))
        opened.clear()
        with monkeypatch.context() as patched:
            patched.setattr(ledger_summary, "_whole", None)
            reading = read_ledger(Lake(lake.root))
        summary = Lake(lake.root).existing(LEDGER_SUMMARY.name)
        costs.append((reading.commits, reading.rows_read, len(opened), len(summary.file_uris())))
        assert reading.rows_read < 40
        read(lake)
    assert costs[0] == costs[1]


_CLAIM = """
import sys
from weir.lake.ledger import summary as ledger_summary
from weir.lake.ledger.claims import claim
from weir.lake.lake import Lake

ledger_summary._COMMITS = 4
claim(Lake(sys.argv[1]), "maintain", "killed", lease_seconds=3600)
"""


@pytest.mark.usefixtures("sampled")
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("table", ["claim", "ledger_summary"])
def test_a_run_that_dies_while_it_sums_up_does_not_change_the_readings(
    lake: Lake, moment: str, table: str
) -> None:
    fill(lake, random_ledger(12, runs=3))
    ended = [LedgerRow("r", "maintain", number, SUCCEEDED) for number in range(1, 9)]
    record(lake, ended)
    before = read(lake).rows.num_rows
    run_killed(_CLAIM, lake.root, at=f"maintain:{moment}:{table}")
    assert read(lake).rows.num_rows >= before
    lake.refresh()
    number = claim(lake, "maintain", "next", lease_seconds=LEASE)
    rows = Lake(lake.root).rows(RUNS.name, ["number", "status", "job"]).to_pylist()
    abandoned = [row["number"] for row in rows if row["status"] == "abandoned"]
    assert number - 1 in abandoned or (moment, table) == ("before", "claim")
    read(lake)


def _take_turns(root: str, job: str) -> None:
    ledger_summary._COMMITS = 2
    take_turns(Lake(root), 8, (job,))


@pytest.mark.usefixtures("slow")
def test_two_processes_that_sum_up_at_once_do_not_change_the_readings(lake: Lake) -> None:
    context = multiprocessing.get_context("spawn")
    jobs = ("maintain", "publish", "validate")
    processes = [context.Process(target=_take_turns, args=(lake.root, job)) for job in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert Lake(lake.root).exists(LEDGER_SUMMARY.name)
    read(lake)
    take_turns(lake, 3, jobs)
    numbers = Lake(lake.root).rows(RUNS.name, ["job", "number", "status"]).to_pylist()
    ends = sorted((row["job"], row["number"]) for row in numbers if row["status"] == SUCCEEDED)
    assert sorted({*ends}) == [(job, number) for job in sorted(jobs) for number in range(1, 10)]
