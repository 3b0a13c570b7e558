"""No byte of a data file is used unverified: one that changed is an error on every path."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import write_deltalake

from tests.support.laws import Seeds
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta import checksums
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.change_feed import feed_by_files, local_changes
from weir.lake.delta.checksums import NOTES, Checksums, is_intact, verify_files
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.scan import Part, attach, attach_all
from weir.lake.lake import Lake
from weir.lake.tables import QUADS
from weir.lake.upkeep.small_files import merge_files

METADATA = Metadata("r", "ingest", 1)
Reading = Callable[[Lake], pa.Table]


def quad(number: int) -> dict[str, object]:
    terms = {"graph": "", "subject": f"<http://example.org/{number % 97}>", "predicate": "<p>"}
    return {**terms, "object": f'"{number}"', "epoch": 1 + number // 50, "weight": 1}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("intact")
    write(Lake(str(root)), QUADS, [quad(number) for number in range(400)], METADATA)
    return root


@pytest.fixture(autouse=True)
def nothing_is_verified_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_files", "_footers"):
        monkeypatch.setattr(checksums, name, checksums.Verified())


def by_duckdb(lake: Lake) -> pa.Table:
    with duckdb.connect() as connection:
        attach(Bindings(connection), "rows", lake.existing(QUADS.name))
        table: pa.Table = connection.sql("SELECT * FROM rows").to_arrow_table()
        return table


def by_duckdb_from_an_epoch_on(lake: Lake) -> pa.Table:
    with duckdb.connect() as connection:
        attach(Bindings(connection), "rows", lake.existing(QUADS.name), after_epoch=0)
        table: pa.Table = connection.sql("SELECT * FROM rows WHERE epoch > 0").to_arrow_table()
        return table


def by_duckdb_with_others(lake: Lake) -> pa.Table:
    with duckdb.connect() as connection:
        parts = {"a": Part(lake.existing(QUADS.name))}
        attach_all(Bindings(connection), "rows", "key", [*QUADS.column_names], parts)
        columns = ", ".join(QUADS.column_names)
        table: pa.Table = connection.sql(f"SELECT {columns} FROM rows").to_arrow_table()
        return table


def by_arrow(lake: Lake) -> pa.Table:
    return lake.rows(QUADS.name)


def by_arrow_with_a_filter(lake: Lake) -> pa.Table:
    dataset = lake.existing(QUADS.name).to_pyarrow_dataset()
    return dataset.to_table(filter=ds.field("epoch") > 0)


def by_the_change_feed(lake: Lake) -> pa.Table:
    feed = feed_by_files(lake, QUADS.name, 0, 1)
    return local_changes(lake, QUADS.name, feed).select([*QUADS.column_names])


READINGS = [
    by_duckdb,
    by_duckdb_from_an_epoch_on,
    by_duckdb_with_others,
    by_arrow,
    by_arrow_with_a_filter,
    by_the_change_feed,
]


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def data_file(root: Path) -> Path:
    (file,) = (root / QUADS.name).glob("*.parquet")
    return file


@pytest.mark.parametrize("reading", READINGS)
def test_every_reader_gives_the_rows_that_were_written(intact: Path, reading: Reading) -> None:
    assert rows(reading(Lake(str(intact)))) == sorted(repr(quad(number)) for number in range(400))


@pytest.mark.law("flips of data files")
@pytest.mark.parametrize("reading", READINGS)
def test_no_flipped_bit_gives_other_rows(
    intact: Path, tmp_path: Path, reading: Reading, seeds: Seeds
) -> None:
    root = tmp_path / "lake"
    shutil.copytree(intact, root)
    file = data_file(root)
    content, expected = file.read_bytes(), rows(reading(Lake(str(intact))))
    for seed in seeds:
        choose, damaged = random.Random(f"{reading.__name__} {seed}"), bytearray(content)
        damaged[choose.randrange(len(damaged))] ^= 1 << choose.randrange(8)
        file.write_bytes(damaged)
        try:
            changed = rows(reading(Lake(str(root))))
        except (DamagedTable, OSError, pa.ArrowException):
            continue
        # A byte that no reader uses, such as one between two pages.
        assert changed == expected


def test_the_error_of_a_file_that_was_cut_off_names_it(intact: Path, tmp_path: Path) -> None:
    root = tmp_path / "lake"
    shutil.copytree(intact, root)
    file = data_file(root)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DamagedTable, match=file.name):
        by_duckdb(Lake(str(root)))


def test_a_file_is_read_again_only_if_it_changed(
    intact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "lake"
    shutil.copytree(intact, root)
    by_duckdb(Lake(str(root)))
    with monkeypatch.context() as patched:
        patched.setattr(checksums, "file_checksum", lambda _: pytest.fail("read again"))
        by_duckdb(Lake(str(root)))
    file = data_file(root)
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(DamagedTable):
        by_duckdb(Lake(str(root)))


def test_merged_files_have_checksums(intact: Path, tmp_path: Path) -> None:
    root = tmp_path / "lake"
    shutil.copytree(intact, root)
    lake = Lake(str(root))
    write(lake, QUADS, [quad(1000)], METADATA)
    assert merge_files(lake, QUADS.name, 1 << 20).added == 1
    files = [Path(file) for file in lake.existing(QUADS.name).file_uris()]
    assert all(Checksums.of_name(file.name) for file in files)
    assert all(map(is_intact, files))


# Files that another program wrote


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A data file of a program that verifies nothing."""
    write_deltalake(tmp_path / "table", pa.table({"a": [1, 2, 3]}))
    (file,) = (tmp_path / "table").glob("*.parquet")
    return file


def test_the_checksum_of_a_foreign_file_is_noted_when_it_is_first_read(foreign: Path) -> None:
    verify_files([foreign])
    assert [note.name for note in (foreign.parent / NOTES).iterdir()] == [f"{foreign.name}.crc32"]


def test_a_foreign_file_that_changes_later_is_damaged(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_files([foreign])
    content = bytearray(foreign.read_bytes())
    content[10] ^= 1
    foreign.write_bytes(content)
    monkeypatch.setattr(checksums, "_files", checksums.Verified())
    assert not is_intact(foreign)
    with pytest.raises(DamagedTable, match=foreign.name):
        verify_files([foreign])


def test_a_foreign_file_that_cannot_be_read_is_damaged(foreign: Path) -> None:
    foreign.write_bytes(foreign.read_bytes()[:-30])
    with pytest.raises(DamagedTable, match=foreign.name):
        verify_files([foreign])


def test_a_note_that_is_no_checksum_is_named(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_files([foreign])
    (note,) = (foreign.parent / NOTES).iterdir()
    note.write_text("")
    monkeypatch.setattr(checksums, "_files", checksums.Verified())
    with pytest.raises(DamagedTable, match=note.name):
        verify_files([foreign])
