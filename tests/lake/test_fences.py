"""Of two runs that both believe that they hold a claim, the second to commit commits nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from weir.lake.delta.commit import write
from weir.lake.delta.commit_files import commit_file
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger import claims
from weir.lake.ledger.claims import claim, end
from weir.lake.ledger.fences import Fence, Guard, Superseded
from weir.lake.ledger.runs import SUCCEEDED, LedgerRow, record
from weir.lake.tables import GRAPHS, QUADS
from weir.lake.upkeep.row_deletion import delete_later_rows
from weir.lake.upkeep.small_files import merge_files

QUAD = {"graph": "", "subject": "<s>", "predicate": "<p>", "weight": 1}
Commit = Callable[[Lake, int], None]


def append(lake: Lake, number: int) -> None:
    rows = [QUAD | {"object": f'"{number}"', "epoch": 9}]
    write(lake, QUADS, rows, Metadata(f"run-{number}", "ingest", 9))


def overwrite(lake: Lake, number: int) -> None:
    rows = [QUAD | {"object": f'"{number}"', "epoch": 1}]
    write(lake, QUADS, rows, Metadata(f"run-{number}", "ingest", 1), mode="overwrite")


def delete(lake: Lake, number: int) -> None:
    delete_later_rows(lake, QUADS.name, 0, Metadata(f"run-{number}", "ingest", 0))


COMMITS = (append, overwrite, delete)


@pytest.fixture
def root(tmp_path: Path) -> str:
    write(Lake(str(tmp_path)), QUADS, [QUAD | {"object": '"0"', "epoch": 1}], Metadata("", "", 1))
    return str(tmp_path)


def run(root: str, number: int, *, name: str = "ingest") -> tuple[Lake, Fence]:
    """A run under a claim, which has looked at the table."""
    lake, fence = Lake(root), Fence(name, number)
    lake.hold(fence)
    assert lake.exists(QUADS.name)
    return lake, fence


def objects(root: str) -> list[str]:
    return sorted(row["object"] for row in Lake(root).rows(QUADS.name).to_pylist())


@pytest.mark.parametrize("second", COMMITS)
@pytest.mark.parametrize("first", COMMITS)
@pytest.mark.parametrize(("early", "late"), [(2, 1), (1, 2)])
def test_of_two_runs_that_hold_one_claim_the_second_to_commit_is_refused(
    root: str, first: Commit, second: Commit, early: int, late: int
) -> None:
    (early_lake, _), (late_lake, fence) = run(root, early), run(root, late)
    first(early_lake, early)
    stored, version = objects(root), Lake(root).version(QUADS.name)
    with pytest.raises(Superseded, match=f"number {late},"):
        second(late_lake, late)
    assert fence.lost is not None
    assert (objects(root), Lake(root).version(QUADS.name)) == (stored, version)
    # It is at its end, also with tables that the other did not commit to.
    with pytest.raises(Superseded):
        write(late_lake, GRAPHS, [], Metadata("late", "ingest", 1))


@pytest.mark.parametrize("second", COMMITS)
@pytest.mark.parametrize("first", COMMITS)
def test_a_run_is_refused_if_the_other_commits_between_its_look_and_its_commit(
    root: str, first: Commit, second: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other, _), (lake, _) = run(root, 2), run(root, 1)
    transactions, stored = Guard.transactions, list[list[str]]()

    def paused(guard: Guard) -> object:
        monkeypatch.setattr(Guard, "transactions", transactions)
        first(other, 2)
        stored.append(objects(root))
        return transactions(guard)

    monkeypatch.setattr(Guard, "transactions", paused)
    with pytest.raises(Superseded):
        second(lake, 1)
    assert [objects(root)] == stored


@pytest.mark.parametrize("commit", COMMITS)
def test_commits_of_other_jobs_earlier_runs_and_merges_do_not_matter(
    root: str, commit: Commit
) -> None:
    earlier, fence = run(root, 1)
    append(earlier, 1)
    earlier.release(fence)
    lake, _ = run(root, 2)
    append(run(root, 7, name="maintain")[0], 7)
    merge_files(Lake(root), QUADS.name, 10**8)
    commit(lake, 2)
    append(lake, 3)
    assert '"3"' in objects(root)


def test_a_run_commits_nothing_after_commits_that_the_log_has_forgotten(root: str) -> None:
    """They may have been made under its claim: nobody can look any more."""
    lake, fence = run(root, 1)
    for _ in range(3):
        append(Lake(root), 2)
    newest = Lake(root).existing(QUADS.name)
    newest.create_checkpoint()
    (Path(root) / QUADS.name / commit_file(fence.looked_at[QUADS.name] + 1)).unlink()
    with pytest.raises(Superseded, match="number 1,"):
        fence.check(partial(lake.commit, QUADS.name), QUADS.name, newest.version())
    with pytest.raises(Superseded):
        append(lake, 1)
    assert '"1"' not in objects(root)


def test_a_run_that_lost_its_claim_records_nothing_in_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    assert claim(lake, "maintain", "zombie", lease_seconds=60) == 1
    monkeypatch.setattr(claims, "_is_active", lambda *_: False)
    assert claim(Lake(str(tmp_path)), "maintain", "next", lease_seconds=60) == 2
    row = LedgerRow("zombie", "maintain", 1, SUCCEEDED)
    with pytest.raises(Superseded, match="took over"):
        end(lake, Fence("maintain", 1), [row])
    end(lake, Fence("maintain", 2), [LedgerRow("next", "maintain", 2, SUCCEEDED)])
    rows = Lake(str(tmp_path)).rows("runs", ["run_id", "status"]).to_pylist()
    assert sorted((row["run_id"], row["status"]) for row in rows) == [
        ("next", "claimed"),
        ("next", "succeeded"),
        ("zombie", "abandoned"),
        ("zombie", "claimed"),
    ]


def test_a_claim_that_is_lost_while_its_end_is_recorded_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    claim(lake, "maintain", "zombie", lease_seconds=60)
    monkeypatch.setattr(claims, "_is_active", lambda *_: False)

    def late(lake: Lake, rows: object, **options: object) -> None:
        def checked() -> None:
            options["checked"]()  # type: ignore[operator]
            if not taken_over:
                taken_over.append(claim(Lake(lake.root), "maintain", "next", lease_seconds=60))

        record(lake, rows, transaction=options["transaction"], checked=checked)  # type: ignore[arg-type]

    taken_over: list[int] = []
    monkeypatch.setattr(claims, "record", late)
    with pytest.raises(Superseded, match="took over"):
        end(lake, Fence("maintain", 1), [LedgerRow("zombie", "maintain", 1, SUCCEEDED)])
    assert taken_over == [2]


def test_commits_before_the_claim_do_not_matter_to_a_process_that_keeps_its_tables(
    root: str,
) -> None:
    kept = Lake(root)
    assert kept.exists(QUADS.name)
    append(run(root, 1)[0], 1)
    kept.catch_up()
    kept.hold(Fence("ingest", 2))
    assert kept.exists(QUADS.name)
    append(kept, 2)
    assert objects(root) == ['"0"', '"1"', '"2"']
