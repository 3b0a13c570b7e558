"""Maintenance of tables alters neither states nor changes that are still needed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from weir.lake.delta.change_feed import feed_by_files, local_changes
from weir.lake.delta.commit import write
from weir.lake.delta.file_commits import Overtaken
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.session import read
from weir.lake.delta.spark_scan import scan_feed
from weir.lake.lake import Lake
from weir.lake.tables import QUADS, feed_retention
from weir.lake.upkeep import maintenance
from weir.lake.upkeep.consolidated import consolidated_until
from weir.lake.upkeep.maintenance import (
    compact_files,
    consolidate,
    keep_feed,
    keeps_feed,
    vacuum,
)

Log = list[tuple[str, int, int]]
EPOCHS = 12


def fill(root: str) -> Log:
    """A random log of a set, an epoch a commit: object, epoch, weight."""
    chance, state, log = random.Random(7), set[str](), []
    for epoch in range(1, EPOCHS + 1):
        changed = chance.sample(range(8), 4)
        rows = [(f'"{n}"', epoch, -1 if f'"{n}"' in state else 1) for n in changed]
        state ^= {row[0] for row in rows}
        log += rows
        quad = {"graph": "", "subject": "<s>", "predicate": "<p>"}
        write(
            Lake(root),
            QUADS,
            [quad | {"object": o, "epoch": e, "weight": w} for o, e, w in rows],
            Metadata("r", "ingest", epoch),
        )
    return log


def stored(root: str) -> Log:
    rows = Lake(root).rows("quads", columns=["object", "epoch", "weight"]).to_pylist()
    return sorted((row["object"], row["epoch"], row["weight"]) for row in rows)


def state(log: Log, epoch: int) -> set[str]:
    return {o for o, _, _ in log if sum(w for p, e, w in log if p == o and e <= epoch)}


def test_consolidation_keeps_every_later_state_and_change_and_the_feed(
    spark: SparkSession, tmp_path: Path
) -> None:
    root, until = str(tmp_path), 7
    log = fill(root)
    result = consolidate(spark, Lake(root), QUADS, until, least_share=0.1, rows_per_file=100)
    kept = stored(root)
    assert (result.before, result.after) == (len(log), len(kept))
    assert result.after < result.before
    assert [row for row in kept if row[1] > until] == sorted(row for row in log if row[1] > until)
    assert all(weight == 1 for _, epoch, weight in kept if epoch <= until)
    assert [state(kept, e) for e in range(until, EPOCHS + 1)] == [
        state(log, e) for e in range(until, EPOCHS + 1)
    ]
    newest = Lake(root).version("quads")
    assert newest is not None
    files = feed_by_files(Lake(root), "quads", 1, newest)
    feed = scan_feed(spark, Lake(root), "quads", files)
    columns = ["object", "epoch", "weight"]
    assert sorted(tuple(row) for row in feed.select(*columns).collect()) == sorted(log)
    here = local_changes(Lake(root), "quads", files).select(columns).to_pylist()
    assert sorted(tuple(row.values()) for row in here) == sorted(log)
    assert Lake(root).last_metadata("quads") == (EPOCHS, Metadata("r", "ingest", EPOCHS))
    assert (
        consolidate(spark, Lake(root), QUADS, until, least_share=0.1, rows_per_file=100).after
        == result.after
    )
    assert stored(root) == kept
    assert consolidated_until(Lake(root), "quads") == until


def _merging(root: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs within a task of Spark: merges the files that the task reads."""
    compact_files(Lake(root), "quads", 10**8)
    yield from batches


def test_a_consolidation_keeps_what_is_appended_meanwhile_and_gives_up_if_files_are_merged(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, until = str(tmp_path), 7
    log = fill(root)
    appended: Log = []

    def append_after_reading(*given: Any) -> DataFrame:
        frame = read(*given)
        epoch = EPOCHS + 1 + len(appended)
        appended.append((f'"new{epoch}"', epoch, 1))
        quad = {"graph": "", "subject": "<s>", "predicate": "<p>", "object": f'"new{epoch}"'}
        row = quad | {"epoch": epoch, "weight": 1}
        write(Lake(root), QUADS, [row], Metadata("r", "ingest", epoch))
        return frame

    def merge_while_it_is_rewritten(*given: Any) -> DataFrame:
        frame = read(*given)
        reads.append(frame)
        # The first time, rows are counted.
        return frame if len(reads) == 1 else frame.mapInArrow(partial(_merging, root), frame.schema)

    reads: list[DataFrame] = []
    monkeypatch.setattr(maintenance, "read", merge_while_it_is_rewritten)
    with pytest.raises(Overtaken):
        consolidate(spark, Lake(root), QUADS, until, least_share=0.1, rows_per_file=100)
    assert stored(root) == sorted(log)
    monkeypatch.setattr(maintenance, "read", append_after_reading)
    result = consolidate(spark, Lake(root), QUADS, until, least_share=0.1, rows_per_file=100)
    assert result.after < result.before
    assert len(appended) == 2
    log += appended
    for epoch in range(until, EPOCHS + 3):
        assert state(stored(root), epoch) == state(log, epoch)
    assert [r for r in stored(root) if r[1] > until] == sorted(r for r in log if r[1] > until)


def test_a_log_with_little_to_gain_is_not_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    log = fill(str(tmp_path))
    result = consolidate(
        spark, Lake(str(tmp_path)), QUADS, EPOCHS, least_share=0.99, rows_per_file=100
    )
    assert (result.before, result.after) == (len(log), len(log))
    assert stored(str(tmp_path)) == sorted(log)
    assert consolidated_until(Lake(str(tmp_path)), "quads") == 0


def test_compaction_leaves_the_rows_and_the_watermark(tmp_path: Path) -> None:
    root = str(tmp_path)
    log = fill(root)
    assert compact_files(Lake(root), "quads", 10**8) == EPOCHS - 1
    assert stored(root) == sorted(log)
    assert Lake(root).last_metadata("quads") == (EPOCHS, Metadata("r", "ingest", EPOCHS))
    assert compact_files(Lake(root), "quads", 10**8) == 0
    assert compact_files(Lake(root), "nothing", 10**8) == 0


def test_vacuum_keeps_what_the_retention_keeps(tmp_path: Path) -> None:
    root = str(tmp_path)
    fill(root)
    compact_files(Lake(root), "quads", 10**8)
    assert vacuum(Lake(root), "quads") == 0
    assert Lake(root).open("quads", version=3) is not None


def test_how_long_the_feed_is_kept_can_be_changed(tmp_path: Path) -> None:
    root = str(tmp_path)
    fill(root)
    assert keeps_feed(Lake(root), QUADS, 60, 30)
    assert not keeps_feed(Lake(root), QUADS, 20, 10)
    keep_feed(Lake(root), QUADS, 20, 10)
    assert keeps_feed(Lake(root), QUADS, 20, 10)
    table = Lake(root).open("quads")
    assert table is not None
    assert table.metadata().configuration.items() >= dict(feed_retention(20, 10)).items()
    assert Lake(root).last_metadata("quads") == (EPOCHS, Metadata("r", "ingest", EPOCHS))
