"""A lake in an object store: what one process commits, others read, whole and once."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pytest
from deltalake import Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

from tests.support.memory_store import ADDRESS, MemoryLakes, mirror_of
from weir.lake.damage.storage_errors import StorageError
from weir.lake.delta.appended import appended_rows
from weir.lake.delta.commit import add_missing_columns, append_rows, arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.claims import AlreadyRunning, claim, end, release
from weir.lake.ledger.fences import Fence, Superseded
from weir.lake.ledger.runs import CLAIMED, SUCCEEDED, LedgerRow
from weir.lake.storage import mirror
from weir.lake.storage.objects import StoredObject
from weir.lake.tables import GRAPHS, RUNS, TRIPLES, Table
from weir.lake.upkeep.old_commits import delete_old_commits
from weir.lake.upkeep.row_deletion import delete_rows
from weir.lake.upkeep.small_files import merge_files

TABLE = replace(TRIPLES, properties=(("delta.checkpointInterval", "5"),))


@pytest.fixture
def lakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryLakes:
    """An empty object store."""
    return MemoryLakes(monkeypatch, tmp_path)


def append(lake: Lake, *epochs: int, table: Table = TABLE) -> None:
    for epoch in epochs:
        terms = {"subject": f"<s{epoch}>", "predicate": "<p>", "object": "<o>"}
        row = {**terms, "epoch": epoch, "weight": 1}
        write(lake, table, [row], Metadata(f"r{epoch}", "ingest", epoch))


def epochs(lake: Lake) -> list[int]:
    return sorted(int(str(epoch)) for epoch in lake.rows(TABLE.name)["epoch"].to_pylist())


def requests(lake: Lake) -> dict[str, int]:
    """How many requests there were since the last call, by kind."""
    counts = dict(mirror_of(lake).objects.requests)
    mirror_of(lake).objects.requests.clear()
    return counts


def test_what_one_process_commits_another_reads(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(12))
    assert epochs(lakes.lake()) == [*range(12)]
    assert lakes.lake().last_metadata(TABLE.name) == (12, Metadata("r11", "ingest", 11))


def test_a_table_that_another_program_partitioned_is_read(
    lakes: MemoryLakes, tmp_path: Path
) -> None:
    table = tmp_path / TABLE.name
    store: Any = mirror_of(lakes.lake()).objects._store
    rows = pa.table({"predicate": ["<p>", "<q>"], "epoch": [1, 2]})
    write_deltalake(table, rows, partition_by=["predicate"])
    for file in table.rglob("*"):
        if file.is_file():
            obstore.put(store, file.relative_to(tmp_path).as_posix(), file.read_bytes())
    assert epochs(lakes.lake()) == [1, 2]


def test_a_table_that_nobody_made_does_not_exist(lakes: MemoryLakes) -> None:
    lake = lakes.lake()
    assert lake.open(TABLE.name) is None
    assert lake.tables() == ()
    append(lakes.lake(), 1)
    lake.refresh()
    assert lake.tables() == (TABLE.name,)


def test_a_version_before_the_last_checkpoint_can_be_read(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(23))
    lake = lakes.lake()
    assert epochs(lake) == [*range(23)]
    for version in (23, 17, 5, 1, 0):
        assert lake.open(TABLE.name, version).to_pyarrow_table().num_rows == version  # type: ignore[union-attr]


def test_the_history_goes_back_behind_the_last_checkpoint(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(12))
    assert [commit["version"] for commit in lakes.lake().commits(TABLE.name)] == [
        *range(12, -1, -1)
    ]
    rows = appended_rows(lakes.lake(), TABLE.name, 2, 4, arrow_schema(TABLE))
    assert {*rows["epoch"].to_pylist()} == {2, 3}


@pytest.mark.parametrize("behind", [1, 3, 11])
def test_an_append_of_a_process_that_is_behind_comes_after_the_others(
    lakes: MemoryLakes, behind: int
) -> None:
    append(lakes.lake(), 0)
    late = lakes.lake()
    assert epochs(late) == [0]
    append(lakes.lake(), *range(1, behind + 1))
    append(late, 100)
    assert epochs(late) == epochs(lakes.lake()) == [*range(behind + 1), 100]


def test_a_commit_with_a_transaction_of_others_fails(lakes: MemoryLakes) -> None:
    append(lakes.lake(), 0)
    first, second = lakes.lake(), lakes.lake()
    assert epochs(first) == epochs(second) == [0]
    row = {"subject": "<s>", "predicate": "<p>", "object": "<o>", "epoch": 1, "weight": 1}
    append_rows(first, TABLE, [row], transaction=Transaction("a", 1))
    with pytest.raises(CommitFailedError):
        append_rows(second, TABLE, [row], transaction=Transaction("a", 1))
    assert epochs(lakes.lake()) == [0, 1]


CHANGES: dict[str, tuple[Callable[[Lake], object], list[int]]] = {
    "merge": (lambda lake: merge_files(lake, TABLE.name, 1 << 20), [*range(9)]),
    "delete": (
        lambda lake: delete_rows(lake, TABLE.name, "epoch", "<", 3, Metadata("r", "t", 0)),
        [*range(3, 9)],
    ),
    "overwrite": (
        lambda lake: write(
            lake,
            TABLE,
            [{"subject": "s", "predicate": "p", "object": "o", "epoch": 77, "weight": 1}],
            Metadata("r", "t", 0),
            mode="overwrite",
        ),
        [77],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_are_replaced_though_another_process_committed_meanwhile(
    lakes: MemoryLakes, name: str
) -> None:
    change, expected = CHANGES[name]
    append(lakes.lake(), *range(8))
    late = lakes.lake()
    assert epochs(late) == [*range(8)]
    append(lakes.lake(), 8)
    change(late)
    assert epochs(late) == epochs(lakes.lake()) == expected


def test_columns_that_two_processes_add_at_once_are_there_once(lakes: MemoryLakes) -> None:
    fewer = replace(TABLE, columns=TABLE.columns[:-1])
    row = {"subject": "<s>", "predicate": "<p>", "object": "<o>", "epoch": 1}
    write(lakes.lake(), fewer, [row], Metadata("r", "t", 0))
    both = [lakes.lake(), lakes.lake()]
    for lake in both:
        lake.existing(TABLE.name)
    for lake in both:
        add_missing_columns(lake, TABLE)
    names = [field.name for field in lakes.lake().existing(TABLE.name).schema().fields]
    assert names == [*TABLE.column_names]


def test_many_writers_lose_no_row_and_double_none(lakes: MemoryLakes) -> None:
    append(lakes.lake(), 0)
    threads = [
        threading.Thread(target=append, args=(lakes.lake(), *range(100 * n + 1, 100 * n + 16)))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = [100 * n + i for n in range(4) for i in range(1, 16)]
    assert epochs(lakes.lake()) == sorted([0, *written])


def test_a_table_that_took_the_place_of_another_is_read_instead(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(6))
    lake = lakes.lake()
    assert epochs(lake) == [*range(6)]
    lakes.lake().remove(TABLE.name)
    append(lakes.lake(), *range(50, 57))
    lake.storage.expire()
    lake.catch_up()
    assert epochs(lake) == [*range(50, 57)]


class Killed(BaseException):
    """The end of the process."""


@contextmanager
def killed_at(request: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process dies before a request that changes something."""
    left = [request]

    def dying(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if not left[0]:
                raise Killed
            left[0] -= 1
            return whole(*arguments, **options)

        return call

    with monkeypatch.context() as patched:
        for name in ("put", "delete"):
            patched.setattr(obstore, name, dying(getattr(obstore, name)))
        yield


@pytest.mark.parametrize("request_number", range(12))
def test_a_removal_that_dies_leaves_the_table_or_none(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch, request_number: int
) -> None:
    append(lakes.lake(), 1, 2)
    lake = lakes.lake()
    with killed_at(request_number, monkeypatch), suppress(Killed):
        lake.remove(TABLE.name)
    if request_number == 0:
        assert epochs(lakes.lake()) == [1, 2]
        lakes.lake().remove(TABLE.name)
    assert not lakes.lake().exists(TABLE.name)
    append(lakes.lake(), 7)
    assert epochs(lakes.lake()) == [7]


@pytest.mark.parametrize("request_number", range(3))
def test_a_commit_is_there_as_a_whole_or_not_at_all(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch, request_number: int
) -> None:
    append(lakes.lake(), 1)
    lake = lakes.lake()
    with killed_at(request_number, monkeypatch), suppress(Killed):
        append(lake, 2)
    assert epochs(lakes.lake()) == ([1, 2] if request_number == 2 else [1])


def test_a_checkpoint_that_cannot_be_written_does_not_undo_the_commit(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, put = lakes.lake(), obstore.put

    def failing(store: Any, path: str, *arguments: Any, **options: Any) -> Any:
        if "checkpoint" in path:
            raise obstore.exceptions.GenericError("no")
        return put(store, path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", failing)
        append(lake, *range(12))
    append(lake, 12)
    assert epochs(lake) == epochs(lakes.lake()) == [*range(13)]


def test_a_commit_whose_answer_was_lost_is_our_own(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library repeats the request, and is refused by what it created."""
    lake, put = lakes.lake(), obstore.put

    def repeating(*arguments: Any, **options: Any) -> Any:
        if options.get("mode") == "create":
            put(*arguments, **options)
        return put(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", repeating)
        append(lake, 1, 2, 3)
    assert epochs(lake) == epochs(lakes.lake()) == [1, 2, 3]


def test_a_store_that_fails_names_the_table_and_commits_nothing(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(lakes.lake(), 1)
    lake = lakes.lake()

    def failing(*_: Any, **__: Any) -> Any:
        raise obstore.exceptions.GenericError("<Code>SlowDown</Code>")

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", failing)
        with pytest.raises(StorageError, match=r"slow down \(table triples\).*Then run again"):
            append(lake, 2)
    assert epochs(lakes.lake()) == [1]
    append(lake, 3)
    assert epochs(lakes.lake()) == [1, 3]


def test_a_shortened_log_is_read_and_written_on(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(23))
    lake = lakes.lake()
    assert delete_old_commits(lake, TABLE.name, 20) > 20
    append(lake, 23)
    append(lakes.lake(), 24)
    assert epochs(lakes.lake()) == [*range(25)]


def test_a_vacuum_deletes_what_no_version_needs(lakes: MemoryLakes) -> None:
    properties = (("delta.deletedFileRetentionDuration", "interval 0 seconds"),)
    table = replace(TABLE, properties=properties)
    append(lakes.lake(), *range(6), table=table)
    merge_files(lakes.lake(), TABLE.name, 1 << 20)
    lake = lakes.lake()
    before = len(mirror_of(lake).objects.below(TABLE.name))
    # A process that goes on wrote it; its commit follows.
    mirror_of(lake).objects.write(f"{TABLE.name}/part-new.parquet", b"x")
    opened = lake.existing(TABLE.name)
    # Its time is before that of the vacuum.
    time.sleep(0.01)
    assert lake.storage.vacuum(TABLE.name, opened) == 6
    assert len(mirror_of(lake).objects.below(TABLE.name)) == before + 1 - 6
    assert epochs(lakes.lake()) == [*range(6)]


def test_a_vacuum_deletes_what_a_killed_process_left_a_week_ago(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(lakes.lake(), *range(6))
    lake = lakes.lake()
    objects = mirror_of(lake).objects
    objects.write(f"{TABLE.name}/part-left.parquet", b"x")
    below = objects.below

    def old(folder: str, after: str | None = None) -> list[StoredObject]:
        ago = timedelta(days=8)
        return [replace(entry, modified=entry.modified - ago) for entry in below(folder, after)]

    opened = lake.existing(TABLE.name)
    with monkeypatch.context() as patched:
        patched.setattr(objects, "below", old)
        assert lake.storage.vacuum(TABLE.name, opened) == 1
    assert epochs(lakes.lake()) == [*range(6)]


@pytest.mark.parametrize("ending", [".parquet", "1.json"])
def test_a_damaged_object_is_named(lakes: MemoryLakes, ending: str) -> None:
    append(lakes.lake(), 1)
    lake = lakes.lake()
    (path,) = [
        entry.path
        for entry in mirror_of(lake).objects.below(TABLE.name)
        if entry.path.endswith(ending)
    ]
    store: Any = mirror_of(lake).objects._store
    written = obstore.get(store, path)
    # In the log this is another number, and no other sign of damage.
    content = bytes(written.bytes()).replace(b"1", b"3", 1)
    obstore.put(store, path, content, attributes=written.attributes)
    with pytest.raises(StorageError, match=f"{ADDRESS}/triples/.* is not what was written"):
        epochs(lake)


def test_nothing_is_listed_again_while_others_commit_nothing(lakes: MemoryLakes) -> None:
    lake = lakes.lake()
    row = {"graph": "<g>", "source": "s", "run_id": "r"}
    for number in range(3):
        held = claimed(lake, f"r{number}")
        write(lake, GRAPHS, [row], Metadata(f"r{number}", "ingest", number))
        append(lake, number)
        ended(lake, held)
    requests(lake)
    lake.catch_up()
    assert lake.rows(GRAPHS.name).num_rows == 3
    assert epochs(lake) == [0, 1, 2]
    assert requests(lake) == {"list": 1}


def test_what_others_commit_is_seen_after_their_run(lakes: MemoryLakes) -> None:
    lake, other = lakes.lake(), lakes.lake()
    run_of(lake, "r0", 0)
    run_of(other, "r1", 1)
    lake.catch_up()
    assert epochs(lake) == [0, 1]


def test_what_others_commit_is_seen_by_a_run_beside_theirs(lakes: MemoryLakes) -> None:
    """A run that goes on commits to tables while the ledger stands still."""
    lake, other = lakes.lake(), lakes.lake()
    append(lake, 0)
    row = {"run_id": "other", "number": 1, "job": "refresh", "status": CLAIMED, "pid": 1}
    row |= {"host": "elsewhere", "recorded_at": datetime.now(UTC)}
    write(other, RUNS, [row], Metadata("other", "refresh", 0))
    lake.catch_up()
    assert epochs(lake) == [0]
    append(other, 1)
    claimed(lake, "r2")
    lake.catch_up()
    assert epochs(lake) == [0, 1]


@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_process_begins_with_what_the_one_before_it_knew(
    lakes: MemoryLakes, is_quiet: bool
) -> None:
    lake = lakes.lake("here")
    run_of(lake, "r0", *range(7))
    lake.storage.remember()
    if not is_quiet:
        other = lakes.lake("there")
        run_of(other, "r1", 7)
    later = lakes.lake("here")
    assert epochs(later) == [*range(7 if is_quiet else 8)]
    assert requests(later) == ({"list": 1} if is_quiet else {"list": 2, "get": 2})


def test_a_run_that_lost_its_claim_commits_nothing(lakes: MemoryLakes) -> None:
    lake = lakes.lake()
    append(lake, 0)
    number = claimed(lake, "r0")
    fence = Fence("ingest", number)
    lake.hold(fence)
    append(lake, 1)
    other, later = lakes.lake(), Fence("ingest", number + 1)
    other.hold(later)
    append(other, 2)
    with pytest.raises(Superseded):
        append(lake, 3)
    assert epochs(lakes.lake()) == [0, 1, 2]
    release("r0", "ingest", number)


def test_two_processes_that_claim_at_once_get_one_claim(lakes: MemoryLakes) -> None:
    first, second = lakes.lake(), lakes.lake()
    number = claimed(first, "r0")
    ended(first, number)
    second.existing(RUNS.name)
    held = claimed(first, "r1")
    with pytest.raises(AlreadyRunning):
        claimed(second, "r2")
    ended(first, held)
    assert claimed(second, "r3") == held + 1
    release("r3", "ingest", held + 1)


_NAMES: dict[int, tuple[str, str]] = {}


def run_of(lake: Lake, run_id: str, *epochs: int) -> None:
    """A run that appends a row per epoch under a claim."""
    held = claimed(lake, run_id)
    append(lake, *epochs)
    ended(lake, held)


def claimed(lake: Lake, run_id: str, job: str = "ingest") -> int:
    number = claim(lake, job, run_id, lease_seconds=60)
    _NAMES[number] = run_id, job
    return number


def ended(lake: Lake, number: int) -> None:
    run_id, job = _NAMES[number]
    end(lake, Fence(job, number), [LedgerRow(run_id, job, number, SUCCEEDED)])
    release(run_id, job, number)


def test_a_table_that_is_being_removed_is_gone_and_left_to_the_remover(
    lakes: MemoryLakes,
) -> None:
    append(lakes.lake(), 1, 2)
    objects = mirror_of(lakes.lake()).objects
    objects.write(f"{TABLE.name}/_delta_log/_removed", b"")
    before = len(objects.below(TABLE.name))
    assert not lakes.lake().exists(TABLE.name)
    assert len(objects.below(TABLE.name)) == before
    append(lakes.lake(), 3)
    assert epochs(lakes.lake()) == [3]


def test_a_writer_that_was_paused_does_not_commit_to_a_table_that_was_replaced(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(lakes.lake(), *range(5))
    late = lakes.lake()
    assert epochs(late) == [*range(5)]
    lakes.lake().remove(TABLE.name)
    append(lakes.lake(), 50)
    monkeypatch.setattr(mirror, "_OLD_SECONDS", 0.0)
    with pytest.raises(CommitFailedError, match="was removed or replaced"):
        merge_files(late, TABLE.name, 1 << 20)
    assert epochs(lakes.lake()) == [50]


@pytest.mark.parametrize("number", [8, 9, 10])
def test_a_refused_commit_with_a_checkpoint_leaves_the_table_whole(
    lakes: MemoryLakes, number: int
) -> None:
    """Another process commits the version with the checkpoint first, and dies before its own."""
    append(lakes.lake(), *range(number))
    late, other, put = lakes.lake(), lakes.lake(), obstore.put
    assert epochs(late) == [*range(number)]

    def dying(store: Any, path: str, *arguments: Any, **options: Any) -> Any:
        if ".checkpoint" in path:
            raise Killed
        return put(store, path, *arguments, **options)

    with pytest.MonkeyPatch.context() as patched, suppress(Killed):
        patched.setattr(obstore, "put", dying)
        append(other, 50)
    append(late, 100)
    late.refresh()
    assert epochs(late) == epochs(lakes.lake()) == [*range(number), 50, 100]


def test_a_log_that_others_shortened_leaves_the_data_files(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(23))
    lake = lakes.lake()
    for version in (3, 23):
        assert lake.open(TABLE.name, version) is not None
    assert epochs(lake) == [*range(23)]
    assert delete_old_commits(lakes.lake(), TABLE.name, 20) > 20
    append(lakes.lake(), 23)
    lake.storage.log_files(TABLE.name)
    requests(lake)
    lake.storage.expire()
    lake.catch_up()
    assert epochs(lake) == [*range(24)]
    assert requests(lake)["get"] <= 3


def test_the_ledger_read_whole_still_says_that_others_committed(lakes: MemoryLakes) -> None:
    lake, other = lakes.lake(), lakes.lake()
    run_of(lake, "r0", 0)
    run_of(other, "r1", 1)
    lake.storage.log_files(RUNS.name)
    lake.catch_up()
    assert epochs(lake) == [0, 1]


def test_columns_are_added_though_others_append_meanwhile(lakes: MemoryLakes) -> None:
    fewer = replace(TABLE, columns=TABLE.columns[:-1])
    row = {"subject": "<s>", "predicate": "<p>", "object": "<o>", "epoch": 1}
    write(lakes.lake(), fewer, [row], Metadata("r", "t", 0))
    late = lakes.lake()
    late.existing(TABLE.name)
    write(lakes.lake(), fewer, [row], Metadata("r", "t", 0))
    add_missing_columns(late, TABLE)
    names = [field.name for field in lakes.lake().existing(TABLE.name).schema().fields]
    assert names == [*TABLE.column_names]


def test_a_copy_of_the_cache_that_is_damaged_is_brought_again(
    lakes: MemoryLakes, tmp_path: Path
) -> None:
    append(lakes.lake("here"), *range(3))
    for file in (tmp_path / "here").glob("*/*"):
        content = bytearray(file.read_bytes())
        if content[:4] == b"PAR1":
            content[len(content) // 2] ^= 1
            file.unlink()
            file.write_bytes(content)
    assert epochs(lakes.lake("here")) == [0, 1, 2]


def test_copies_of_the_cache_may_be_on_another_disk(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def across(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", across)
    append(lakes.lake("here"), *range(3))
    later = lakes.lake("here")
    assert epochs(later) == [0, 1, 2]
    assert requests(later) == {"list": 1}


def test_what_was_sent_but_not_answered_is_looked_for_before_the_next_commit(
    lakes: MemoryLakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(lakes.lake(), 0)
    lake, put = lakes.lake(), obstore.put

    def silent(*arguments: Any, **options: Any) -> Any:
        result = put(*arguments, **options)
        if options.get("mode") == "create":
            raise obstore.exceptions.GenericError("error sending request")
        return result

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", silent)
        with pytest.raises(StorageError, match="does not answer"):
            append(lake, 1)
    lake.catch_up()
    assert epochs(lake) == epochs(lakes.lake()) == [0, 1]


def test_threads_that_read_one_mirror_see_whole_tables(lakes: MemoryLakes) -> None:
    append(lakes.lake(), *range(12))
    storage = lakes.lake().storage
    seen = list[list[int]]()

    def read() -> None:
        seen.append(epochs(Lake(ADDRESS, storage=storage)))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[*range(12)]] * 8
