"""The change feed, read by the driver without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from weir.lake.delta.change_feed import (
    CHANGE_TYPE,
    ChangeFeedGap,
    feed_by_files,
    local_changes,
)
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import TRIPLES

METADATA = Metadata("test", "ingest", 1)


def row(name: str, epoch: int) -> dict[str, object]:
    terms = {"subject": f"<{name}>", "predicate": "<p>", "object": "<o>"}
    return {**terms, "epoch": epoch, "weight": 1}


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Versions 1, 2 and 3 of `triples` hold an epoch each; 0 created it."""
    for epoch, name in enumerate("abc", start=1):
        assert write(Lake(str(tmp_path)), TRIPLES, [row(name, epoch)], METADATA) == epoch
    return str(tmp_path)


def feed(root: str, first: int, last: int) -> list[tuple[str, str]]:
    lake = Lake(root)
    rows = local_changes(lake, "triples", feed_by_files(lake, "triples", first, last)).to_pylist()
    return sorted((row[CHANGE_TYPE], row["subject"]) for row in rows)


def test_the_feed_has_the_rows_of_the_range(root: str) -> None:
    assert feed(root, 2, 3) == [("insert", "<b>"), ("insert", "<c>")]


def test_compacting_a_table_is_no_change_of_it(root: str) -> None:
    table = DeltaTable(f"{root}/triples")
    table.optimize.compact()
    assert table.version() == 4
    write(Lake(root), TRIPLES, [row("d", 4)], METADATA)
    assert feed(root, 3, 5) == [("insert", "<c>"), ("insert", "<d>")]


def test_an_overwrite_shows_the_rows_that_it_removed(root: str) -> None:
    write(Lake(root), TRIPLES, arrow_schema(TRIPLES).empty_table(), METADATA, mode="overwrite")
    kinds = {kind for kind, _ in feed(root, 3, 4)}
    assert kinds == {"insert", "delete"}


def test_a_version_that_is_gone_is_a_gap(root: str) -> None:
    DeltaTable(f"{root}/triples").create_checkpoint()
    for gone in range(3):
        (Path(root) / f"triples/_delta_log/{gone:020d}.json").unlink()
    assert feed(root, 3, 3) == [("insert", "<c>")]
    with pytest.raises(ChangeFeedGap, match="no longer holds version 2"):
        feed(root, 2, 3)
