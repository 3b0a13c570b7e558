"""Small files are merged as they arise: the rows and the change feed stay, the files are few."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from weir.lake.delta.change_feed import feed_by_files, local_changes
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import QUADS
from weir.lake.upkeep import small_files
from weir.lake.upkeep.small_files import MANY

COMMITS = 3 * MANY


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path))


def quad(epoch: int, subject: str) -> dict[str, object]:
    terms = {"subject": subject, "predicate": "<urn:p>", "object": '"o"', "graph": "<urn:g>"}
    return {**terms, "epoch": epoch, "weight": 1}


def metadata(epoch: int) -> Metadata:
    return Metadata(f"run{epoch}", "ingest", epoch)


def append(lake: Lake, epoch: int) -> int:
    return write(lake, QUADS, [quad(epoch, f"<urn:s{epoch}>")], metadata(epoch))


def files(lake: Lake) -> int:
    return len(lake.existing(QUADS.name).file_uris())


def epochs(rows: pa.Table) -> list[int]:
    return sorted(int(str(epoch)) for epoch in rows["epoch"].to_pylist())


def test_the_files_stay_few_and_the_rows_the_same(lake: Lake) -> None:
    for epoch in range(1, COMMITS + 1):
        append(lake, epoch)
        assert files(lake) <= MANY
    assert epochs(lake.rows(QUADS.name)) == [*range(1, COMMITS + 1)]


def test_every_commit_returns_its_own_version(lake: Lake) -> None:
    versions = [append(lake, epoch) for epoch in range(1, COMMITS + 1)]
    written = {
        commit["version"]: commit["userMetadata"]
        for commit in lake.commits(QUADS.name)
        if "userMetadata" in commit
    }
    assert [written[version] for version in versions] == [
        metadata(epoch).to_json() for epoch in range(1, COMMITS + 1)
    ]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(3))
def test_the_change_feed_has_each_row_once(lake: Lake, seed: int) -> None:
    versions = [append(lake, epoch) for epoch in range(1, COMMITS + 1)]
    choose = random.Random(seed)
    after, last = sorted(choose.sample(range(1, COMMITS + 1), 2))
    files = feed_by_files(lake, QUADS.name, versions[after - 1] + 1, versions[last - 1])
    feed = local_changes(lake, QUADS.name, files)
    assert epochs(feed) == [*range(after + 1, last + 1)]
    assert {*feed["_change_type"].to_pylist()} == {"insert"}


def test_a_large_file_is_not_written_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "SIZES", (1 << 14,))
    rows = [quad(1, f"<urn:{random.Random(number).random()}>") for number in range(1500)]
    write(lake, QUADS, rows, metadata(1))
    (large,) = lake.existing(QUADS.name).file_uris()
    assert Path(large).stat().st_size > 1 << 14
    for epoch in range(2, MANY + 3):
        append(lake, epoch)
    assert large in lake.existing(QUADS.name).file_uris()
    assert files(lake) < MANY
