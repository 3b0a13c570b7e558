"""Reading the history of a table from its newest commit on, no further than needed."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from lake.commit import write
from lake.lake import Lake, history
from lake.metadata import Metadata
from lake.tables import GRAPHS


class Log:
    """A history that counts what is read; `growing` commits arrive with every reading."""

    def __init__(self, length: int, growing: int = 0) -> None:
        self.length, self.growing, self.read = length, growing, 0

    def version(self) -> int:
        return self.length - 1

    def history(self, limit: int | None = None) -> list[dict[str, Any]]:
        newest = [{"version": version} for version in reversed(range(self.length))][:limit]
        self.length += self.growing
        self.read += len(newest)
        return newest


@given(length=st.integers(0, 700), growing=st.integers(0, 9))
def test_every_commit_comes_once_the_newest_first(length: int, growing: int) -> None:
    found = [commit["version"] for commit in history(cast(DeltaTable, Log(length, growing)))]
    assert found == [*reversed(range(length))]


@pytest.mark.parametrize("length", [10, 100, 10_000])
def test_the_newest_commits_cost_the_same_however_long_the_history_is(length: int) -> None:
    log = Log(length)
    assert len([*islice(history(cast(DeltaTable, log)), 3)]) == 3
    assert log.read <= 10


def test_the_metadata_of_a_job_is_found_behind_many_commits_of_others(tmp_path: Any) -> None:
    root = str(tmp_path)
    row = {"graph": "<g>", "source": "s", "run_id": "r"}
    write(Lake(root), GRAPHS, [row], Metadata("r", "ingest", 7))
    for _ in range(20):
        write(Lake(root), GRAPHS, [row], Metadata("r", "compact", 9))
    found = Lake(root).last_metadata("graphs", job="ingest")
    assert found == (1, Metadata("r", "ingest", 7))
    table = Lake(root).open("graphs")
    assert table is not None
    assert [each["version"] for each in history(table)] == [*reversed(range(22))]


def test_a_program_may_end_while_arrow_reads_ahead(tmp_path: Path) -> None:
    root = str(tmp_path)
    for each in range(20):
        row = {"graph": f"<g{each}>", "source": "s", "run_id": "r"}
        write(Lake(root), GRAPHS, [row], Metadata("r", "ingest", each))
    program = (
        "from lake.lake import Lake\n"
        f"batches = Lake({root!r}).open('graphs').to_pyarrow_dataset().to_batches()\n"
        "next(iter(batches))\n"
    )
    for _ in range(6):
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_table_with_many_commits_since_it_was_opened_is_opened_again(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    for number in range(60):
        write(lake, GRAPHS, [], Metadata("run", "ingest", watermark=number))
        lake.catch_up()
    assert lake.opened[GRAPHS.name] == 2
    found = lake.last_metadata(GRAPHS.name)
    assert found is not None
    assert found[1].watermark == 59
