"""Reading the history of a table from its newest commit on, no further than needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.commit import write
from weir.lake.delta.commit_files import commit_file
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake, history
from weir.lake.tables import GRAPHS


def tables(folder: Path, commits: int) -> tuple[DeltaTable, Callable[[int], bytes]]:
    """A table whose commits say which they are, and what reads a commit."""
    for number in range(commits):
        said = CommitProperties(custom_metadata={"userMetadata": str(number)})
        write_deltalake(folder, pa.table({"a": [1]}), mode="append", commit_properties=said)
    return DeltaTable(folder), partial(Lake(str(folder.parent)).commit, folder.name)


def test_commits_have_their_numbers_though_others_are_made_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    table, commit = tables(folder, 4)
    newest_first = history(table, commit)
    assert next(newest_first)["userMetadata"] == "3"
    write_deltalake(folder, pa.table({"a": [1]}), mode="append")
    for commits in ([*newest_first], [*history(table, commit)][1:]):
        assert [(version["version"], version["userMetadata"]) for version in commits] == [
            (number, str(number)) for number in (2, 1, 0)
        ]


def test_no_commit_is_read_that_is_not_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    table, commit = tables(folder, 4)
    (folder / commit_file(0)).write_text("{")
    (folder / commit_file(1)).unlink()
    assert len([*history(table, commit)]) == 2
    (folder / commit_file(2)).write_text("{")
    assert [commit_info["version"] for commit_info in islice(history(table, commit), 1)] == [3]
    with pytest.raises(DamagedTable, match="is not JSON"):
        [*history(table, commit)]


def test_the_metadata_of_a_job_is_found_behind_many_commits_of_others(tmp_path: Any) -> None:
    root = str(tmp_path)
    row = {"graph": "<g>", "source": "s", "run_id": "r"}
    write(Lake(root), GRAPHS, [row], Metadata("r", "ingest", 7))
    for _ in range(20):
        write(Lake(root), GRAPHS, [row], Metadata("r", "compact", 9))
    last = Lake(root).last_metadata("graphs", job="ingest")
    assert last == (1, Metadata("r", "ingest", 7))
    assert [commit["version"] for commit in Lake(root).commits("graphs")] == [*reversed(range(22))]


@pytest.mark.usefixtures("slow")
def test_a_program_may_end_while_arrow_reads_ahead(tmp_path: Path) -> None:
    root = str(tmp_path)
    for number in range(20):
        row = {"graph": f"<g{number}>", "source": "s", "run_id": "r"}
        write(Lake(root), GRAPHS, [row], Metadata("r", "ingest", number))
    program = (
        "from weir.lake.lake import Lake\n"
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
    last = lake.last_metadata(GRAPHS.name)
    assert last is not None
    assert last[1].watermark == 59
