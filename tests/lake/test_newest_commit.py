"""The newest commit agrees with the opened table, or is None: the table has to be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.commit import write
from weir.lake.delta.commit_files import LOG, commit_file
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.newest_commit import newest_metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS
from weir.lake.upkeep.maintenance import compact_files


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path))


def commit(lake: Lake, epoch: int, job: str = "ingest") -> None:
    rows = [{"graph": f"<g{epoch}>", "source": "s", "run_id": "r"}]
    write(lake, GRAPHS, rows, Metadata("r", job, epoch, extra={"text": 'é"\n'}))


def newest(lake: Lake, job: str = "ingest") -> tuple[int, Metadata] | None:
    """The newest commit by its file; it must be the one that opening the table gives."""
    result = newest_metadata(Lake(lake.root), "graphs", job)
    if result is not None:
        assert result == Lake(lake.root).last_metadata("graphs", job=job)
    return result


def test_the_newest_commit_is_found_before_and_after_checkpoints(lake: Lake) -> None:
    for epoch in range(1, 12):
        commit(lake, epoch)
        result = newest(lake)
        assert result is not None
        assert result[1].watermark == epoch
        if epoch % 4 == 0:
            Lake(lake.root).existing("graphs").create_checkpoint()


def test_a_missing_table_and_a_commit_of_another_job_are_left_to_opening(lake: Lake) -> None:
    assert newest(lake) is None
    commit(lake, 1)
    assert newest(lake, "maintain") is None
    commit(lake, 2, "maintain")
    assert newest(lake) is None


def test_a_commit_that_rearranges_files_is_left_to_opening(lake: Lake) -> None:
    commit(lake, 1)
    commit(lake, 2)
    compact_files(Lake(lake.root), "graphs", 10**8)
    assert newest(lake) is None


def test_a_table_that_is_open_stays_as_it_was(lake: Lake) -> None:
    commit(lake, 1)
    reader = Lake(lake.root)
    assert reader.version("graphs") == 1
    commit(lake, 2)
    assert newest_metadata(reader, "graphs", "ingest") is None
    reader.refresh()
    assert newest_metadata(reader, "graphs", "ingest") is not None


@pytest.mark.parametrize("content", [b"", b'{"commitInfo"', b"[]\n", b'{"commitInfo": 1}\n'])
def test_a_damaged_commit_is_left_to_opening(lake: Lake, content: bytes) -> None:
    commit(lake, 1)
    (Path(lake.root) / "graphs" / commit_file(2)).write_bytes(content)
    assert newest(lake) is None
    if not content:
        with pytest.raises(DamagedTable):
            Lake(lake.root).last_metadata("graphs")


def test_a_log_whose_first_commits_are_gone_is_read_from_its_checkpoint(lake: Lake) -> None:
    for epoch in range(1, 6):
        commit(lake, epoch)
    Lake(lake.root).existing("graphs").create_checkpoint()
    commit(lake, 6)
    table = Path(lake.root) / "graphs"
    for version in range(4):
        (table / commit_file(version)).unlink()
    result = newest(lake)
    assert result is not None
    assert result[1].watermark == 6
    (table / LOG / "_last_checkpoint").unlink()
    assert newest_metadata(Lake(lake.root), "graphs", "ingest") is None
