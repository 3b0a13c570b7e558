"""Watermarks, backlogs and verdicts, all from one reading of the lake."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.project import Project
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.ledger import summary as ledger_summary
from weir.lake.ledger.claims import claim
from weir.lake.ledger.runs import FAILED, SUCCEEDED, LedgerRow, record
from weir.lake.tables import QUALITY, TRANSACTIONS, answers
from weir.lake.upkeep.maintenance import compact_files
from weir.progress import completion
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.watermarks import epochs_after, head
from weir.project import open_lake

A, B, C = "<http://a/a>", '"b"@en', "_:c"


def read(lake: HandMadeLake) -> Completion:
    return Completion.read(open_lake(lake.settings))


def verdict(lake: HandMadeLake, number: int, *, success: bool) -> None:
    """The ledger rows of a validation of `q` and of the graph up to the newest epoch."""
    maintained = read(lake).maintained("q")
    assert maintained is not None
    status = SUCCEEDED if success else FAILED
    (backlog,) = read(lake).backlog(["q"])
    about = LedgerRow(
        "v",
        "validate",
        number,
        status,
        "q",
        reason=None if success else "ask_has_one_row (1 rows)",
        from_epoch=backlog.from_epoch,
        to_epoch=backlog.to_epoch,
        table_version=maintained.version,
        checked_run=maintained.metadata.run_id,
    )
    graph = LedgerRow("v", "validate", number, status, to_epoch=lake.epochs if success else 0)
    record(open_lake(lake.settings), [about, graph])


def publish(lake: HandMadeLake, backlog: Backlog) -> None:
    """The commit of an answer table that takes it to the end of a backlog."""
    maintained = backlog.maintained
    metadata = Metadata(
        run_id="p",
        job="publish",
        watermark=backlog.to_epoch,
        base=maintained.metadata.base,
        fingerprint=maintained.metadata.fingerprint,
        extra={"columns": [], "rows": 1, "embeddings_version": maintained.version},
    )
    write(open_lake(lake.settings), answers("q", ("s", "o")), [], metadata)


def test_of_an_empty_lake_nothing_is_complete(lake: HandMadeLake) -> None:
    empty = read(lake)
    assert (empty.head, empty.graph_validated_to, empty.graph_failure) == (0, 0, None)
    assert (empty.maintained("q"), empty.published("q")) == (None, None)
    assert (empty.backlog(["q"]), empty.verdicts, empty.last_maintenance) == ((), {}, {})


def test_the_newest_epoch_is_that_of_all_files(lake: HandMadeLake) -> None:
    for epochs in (2, 1, 3):
        lake.ingest(epochs)
    assert head(open_lake(lake.settings)) == 6
    compact_files(open_lake(lake.settings), TRANSACTIONS.name, 10**8)
    assert head(open_lake(lake.settings)) == 6


def test_the_newest_epoch_is_found_in_files_without_statistics(lake: HandMadeLake) -> None:
    lake.ingest(2)
    table = open_lake(lake.settings).existing(TRANSACTIONS.name)
    table.alter.set_table_properties({"delta.dataSkippingNumIndexedCols": "0"})
    lake.ingest(2)
    tables = open_lake(lake.settings)
    files = pa.table(tables.existing(TRANSACTIONS.name).get_add_actions(flatten=True))
    assert "max.epoch" not in files.column_names or files["max.epoch"].null_count
    assert head(tables) == 4


def test_transactions_come_in_order_and_only_those_after_an_epoch(lake: HandMadeLake) -> None:
    for epochs in (2, 3):
        lake.ingest(epochs)
    tables = open_lake(lake.settings)
    assert [transaction.epoch for transaction in epochs_after(tables, 1)] == [2, 3, 4, 5]
    assert epochs_after(tables, 5) == ()


def test_epochs_that_did_not_touch_a_query_move_its_watermark(lake: HandMadeLake) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    for _ in range(3):
        before = lake.epochs
        lake.ingest(2)
        lake.leave_untouched("q", before)
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert (maintained.epoch, maintained.metadata.watermark) == (8, 2)


def test_a_range_that_starts_behind_the_watermark_does_not_move_it(lake: HandMadeLake) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    lake.ingest(4)
    lake.leave_untouched("q", 4)
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert maintained.epoch == 2


def test_a_query_that_was_dropped_and_comes_back_starts_at_its_own_commit(
    lake: HandMadeLake,
) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    lake.ingest(2)
    lake.leave_untouched("q", 2)
    open_lake(lake.settings).remove("embeddings/q")
    assert read(lake).maintained("q") is None
    lake.ingest(1)
    lake.maintain("q", [(5, 1, A, B)], base=5, mode="initial")
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert (maintained.epoch, maintained.metadata.base) == (5, 5)


def known_to_the_ledger(lake: HandMadeLake, number: int) -> None:
    """Let a run of maintain end with the newest commit of `q`."""
    last = open_lake(lake.settings).last_metadata("embeddings/q")
    assert last is not None
    version, metadata = last
    row = LedgerRow("m", "maintain", number, SUCCEEDED, "q", to_epoch=metadata.watermark)
    known = replace(row, table_version=version, commit_metadata=metadata.to_json())
    record(open_lake(lake.settings), [known])


def test_a_commit_of_a_run_that_died_before_the_ledger_counts(lake: HandMadeLake) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    known_to_the_ledger(lake, 1)
    lake.ingest(1)
    lake.maintain("q", [(3, 1, A, C)])
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert (maintained.epoch, maintained.version) == (3, 2)


def test_a_table_that_was_created_again_is_not_the_one_that_the_ledger_knows(
    lake: HandMadeLake,
) -> None:
    """Its versions start again, so that another commit has the version that the ledger names."""
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    known_to_the_ledger(lake, 1)
    open_lake(lake.settings).remove("embeddings/q")
    lake.ingest(1)
    lake.maintain("q", [(2, 1, A, B)], base=2, mode="initial")
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert (maintained.epoch, maintained.metadata.base) == (2, 2)


def test_the_backlog_is_what_lies_between_the_two_tables(lake: HandMadeLake) -> None:
    lake.ingest(2)
    assert read(lake).backlog(["q"]) == ()
    lake.maintain("q", [(1, 1, A, B)], base=2, mode="initial")
    (first,) = read(lake).backlog(["q"])
    assert (first.mode, first.from_epoch, first.to_epoch, first.rebuilt) == ("initial", 1, 2, True)
    publish(lake, first)
    assert read(lake).backlog(["q"]) == ()
    lake.ingest(1)
    lake.leave_untouched("q", 2)
    (untouched,) = read(lake).backlog(["q"])
    assert (untouched.from_epoch, untouched.to_epoch, untouched.has_rows) == (2, 3, False)
    lake.ingest(1)
    lake.maintain("q", [(4, 1, A, C)], base=2)
    (more,) = read(lake).backlog(["q", "nothing"])
    assert (more.mode, more.from_epoch, more.to_epoch) == ("incremental", 2, 4)
    lake.maintain("q", [(4, 1, A, C)], base=4, mode="rebased")
    (rebased,) = read(lake).backlog(["q"])
    assert (rebased.mode, rebased.from_epoch, rebased.rebuilt) == ("rebased", 3, True)
    lake.query("q", "SELECT DISTINCT ?s ?o WHERE { ?s <http://a/p> ?o }")
    lake.maintain("q", [(4, 1, A, C)], base=4, mode="edited")
    (edited,) = read(lake).backlog(["q"])
    assert (edited.mode, edited.from_epoch, edited.rebuilt) == ("edited", 3, True)
    assert edited.reason == "it was edited"


@pytest.mark.parametrize("mode", ["rebased", "migrated"])
def test_rows_that_were_replaced_at_the_same_base_are_published_again(
    lake: HandMadeLake, mode: str
) -> None:
    """`migrated` is what `edited` was called up to 0.1.0."""
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], base=2, mode="initial")
    publish(lake, *read(lake).backlog(["q"]))
    lake.maintain("q", [(1, 1, A, C)], base=2, mode=mode)
    lake.maintain("q", [], base=2)
    (backlog,) = read(lake).backlog(["q"])
    assert (backlog.mode, backlog.from_epoch, backlog.rebuilt) == ("rebased", 1, True)


def test_merged_files_do_not_change_the_backlog_but_the_version_to_read(
    lake: HandMadeLake,
) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], base=2, mode="initial")
    lake.ingest(1)
    lake.maintain("q", [(3, 1, A, C)], base=2)
    (before,) = read(lake).backlog(["q"])
    assert compact_files(open_lake(lake.settings), "embeddings/q", 10**8) == 1
    (after,) = read(lake).backlog(["q"])
    assert after.maintained.version == before.maintained.version
    assert after.snapshot == before.snapshot + 1


def test_the_last_verdict_counts_and_concerns_one_commit_and_one_range(lake: HandMadeLake) -> None:
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    verdict(lake, 1, success=False)
    (backlog,) = read(lake).backlog(["q"])
    last = read(lake).verdicts["q"]
    assert (last.success, last.is_about(backlog)) == (False, True)
    assert last.reason == "ask_has_one_row (1 rows)"
    assert read(lake).graph_validated_to == 0
    verdict(lake, 2, success=True)
    assert read(lake).verdicts["q"].success
    assert read(lake).graph_validated_to == 1
    lake.ingest(1)
    lake.maintain("q", [(2, 1, A, C)], base=1)
    (later,) = read(lake).backlog(["q"])
    assert not read(lake).verdicts["q"].is_about(later)


def test_a_failure_of_the_graph_is_reported_until_the_graph_is_validated(
    lake: HandMadeLake,
) -> None:
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], mode="initial")
    rows = [
        {"run_id": run, "query": query, "expectation": name, "success": success}
        | {"unexpected_rows": 3, "from_epoch": epoch, "recorded_at": datetime.now(UTC)}
        for run, query, name, success, epoch in [
            ("1", None, "passed", True, 0),
            ("1", "q", "of_a_query", False, 0),
            ("1", None, "first", False, 0),
            ("2", None, "second", False, 0),
            ("2", None, "third", False, 0),
        ]
    ]
    write(open_lake(lake.settings), QUALITY, rows, Metadata("v", "validate", 2))
    failure = "the graph: second (3 rows); third (3 rows)"
    assert read(lake).graph_failure == failure
    verdict(lake, 1, success=True)
    assert read(lake).graph_failure is None
    lake.ingest(1)
    assert read(lake).graph_failure is None


def test_the_last_maintenance_is_that_of_the_last_run_that_reported_on_the_query(
    lake: HandMadeLake,
) -> None:
    tables = open_lake(lake.settings)
    for number, mode in ((1, "initial"), (2, "incremental")):
        done = LedgerRow(f"m{number}", "maintain", number, SUCCEEDED, "gone", mode, f"why {number}")
        record(tables, [done])
    assert read(lake).last_maintenance == {"gone": ("incremental", "why 2")}


def test_a_summary_of_the_ledger_gives_the_same_completion(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_summary, "_COMMITS", 1)
    lake.ingest(2)
    lake.maintain("q", [(1, 1, A, B)], base=2, mode="initial")
    verdict(lake, 1, success=True)
    for _ in range(2):
        lake.ingest(1)
        lake.leave_untouched("q", lake.epochs - 1)
    before = read(lake)
    claim(open_lake(lake.settings), "compact", "c", lease_seconds=10)
    after = read(lake)
    assert open_lake(lake.settings).exists("ledger_summary")
    assert after.verdicts == before.verdicts
    assert after.maintained("q") == before.maintained("q")
    assert after.backlog(["q"]) == before.backlog(["q"])
    assert after.last_maintenance == before.last_maintenance
    assert after.graph_validated_to == before.graph_validated_to == 2


def test_one_completion_reads_the_ledger_once_and_each_watermark_once(
    lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    calls: list[str] = []
    for name in ("read_ledger", "watermark"):
        called = getattr(completion, name)

        def counted(*arguments: object, _name: str = name, _called: object = called) -> object:
            calls.append(_name)
            return _called(*arguments)  # type: ignore[operator]

        monkeypatch.setattr(completion, name, counted)
    progress = read(lake)
    for _ in range(2):
        assert len(progress.backlog(["q"])) == 1
        assert progress.verdicts == {}
        assert progress.maintained("q") is not None
    assert sorted(calls) == ["read_ledger", "watermark", "watermark"]


def test_a_foreign_commit_on_top_does_not_hide_a_watermark(lake: HandMadeLake) -> None:
    lake.ingest(1)
    lake.maintain("q", [(1, 1, A, B)], base=1, mode="initial")
    table = open_lake(lake.settings).existing("embeddings/q")
    write_deltalake(table, table.to_pyarrow_table().slice(0, 0), mode="append")
    maintained = read(lake).maintained("q")
    assert maintained is not None
    assert (maintained.epoch, maintained.snapshot) == (1, maintained.version + 1)


def test_the_quads_of_the_graph_are_those_inserted_without_those_deleted(
    project: Project,
) -> None:
    assert Completion.read(open_lake(project.settings)).quads == 0
    project.change("A <urn:a> <urn:p> <urn:b>", "A <urn:a> <urn:p> <urn:c>")
    project.change("D <urn:a> <urn:p> <urn:b>", "D <urn:a> <urn:p> <urn:no>")
    assert Completion.read(open_lake(project.settings)).quads == 1 == len(project.state(2))
