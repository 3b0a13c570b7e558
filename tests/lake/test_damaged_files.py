"""A data file that turns out to be damaged while it is read is named, as the library does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.damage import damage_the_pages, data_files
from weir.lake.damage.damaged_files import damage_is_named, damaged_files
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.appended import appended_rows
from weir.lake.delta.change_feed import feed_by_files, local_changes
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS
from weir.lake.upkeep.row_deletion import delete_later_rows
from weir.lake.upkeep.small_files import MANY, merge_files

METADATA = Metadata("run", "ingest", watermark=1)


def append(lake: Lake, epoch: int) -> None:
    write(lake, GRAPHS, [{"graph": f"<g{epoch}>", "source": "s", "epoch": epoch}], METADATA)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a table of three files."""
    lake = Lake(str(tmp_path / "lake"))
    for epoch in (1, 2, 3):
        append(lake, epoch)
    return Lake(lake.root)


@pytest.fixture
def damaged(lake: Lake) -> Path:
    """One of them, which is damaged."""
    file = data_files(lake, GRAPHS.name)[1]
    damage_the_pages(file)
    return file


def fill(lake: Lake) -> None:
    for epoch in range(4, 4 + MANY):
        append(lake, epoch)


@pytest.mark.parametrize(
    "use",
    [
        lambda lake: lake.rows(GRAPHS.name),
        lambda lake: merge_files(lake, GRAPHS.name, 1 << 20),
        lambda lake: delete_later_rows(lake, GRAPHS.name, 0, METADATA),
        lambda lake: appended_rows(lake, GRAPHS.name, 0, 3, arrow_schema(GRAPHS)),
        lambda lake: local_changes(lake, GRAPHS.name, feed_by_files(lake, GRAPHS.name, 1, 3)),
        fill,
    ],
    ids=["read", "merge", "delete", "appended", "feed", "append until files are merged"],
)
def test_a_damaged_file_is_named(lake: Lake, damaged: Path, use: Callable[[Lake], object]) -> None:
    with pytest.raises(DamagedTable) as raised:
        use(lake)
    assert (raised.value.what, raised.value.where) == (
        "the content of this data file is not what was written (table graphs)",
        str(damaged),
    )


def test_the_damaged_and_the_missing_files_of_a_table_are_found(lake: Lake, damaged: Path) -> None:
    gone = data_files(lake, GRAPHS.name)[2]
    gone.unlink()
    folder = Path(lake.location(GRAPHS.name))
    assert {*damaged_files(folder, lake.existing(GRAPHS.name))} == {gone, damaged}


def test_an_error_while_all_files_are_whole_stays_as_it_is(lake: Lake) -> None:
    error = pa.ArrowInvalid("no such column")
    with pytest.raises(pa.ArrowInvalid) as raised, lake.using(GRAPHS.name):
        raise error
    assert raised.value is error


@pytest.mark.usefixtures("damaged")
def test_an_error_of_something_else_stays_as_it_is(lake: Lake) -> None:
    folder = Path(lake.location(GRAPHS.name))
    with pytest.raises(KeyError), damage_is_named(folder):
        raise KeyError("no such column")
