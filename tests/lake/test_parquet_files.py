"""Data files: what the log says about them is right for every value."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import eq, gt, le
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta import parquet_files
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.parquet_files import write_files
from weir.lake.lake import Lake
from weir.lake.tables import QUALITY, Column

KINDS = replace(
    QUALITY,
    name="kinds",
    columns=(
        Column("text", "STRING", ""),
        Column("whole", "BIGINT", ""),
        Column("truth", "BOOLEAN", ""),
        Column("number", "DOUBLE", ""),
        Column("at", "TIMESTAMP", ""),
    ),
    log_commits=None,
)
METADATA = Metadata("r", "test", 0)
INSTANT = datetime(2026, 1, 1, tzinfo=UTC)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_LONG = st.builds(lambda text, times: text * times, _TEXTS, st.sampled_from([1, 100, 2000]))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | _LONG,
            "whole": st.none() | st.integers(-(2**62), 2**62),
            "truth": st.none() | st.booleans(),
            "number": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "at": st.none() | st.integers(0, 10**7).map(lambda n: INSTANT + timedelta(0, 0, n)),
        }
    ),
    min_size=1,
    max_size=5,
)


@given(rows=ROWS)
@settings(max_examples=20, deadline=None)
def test_no_filter_skips_a_row_that_meets_it(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    lake = Lake(str(tmp_path_factory.mktemp("lake")))
    write(lake, KINDS, rows, METADATA)
    dataset = DeltaTable(lake.location("kinds")).to_pyarrow_dataset()
    schema = arrow_schema(KINDS)
    for row in rows:
        for name, value in row.items():
            if value is None:
                condition = ds.field(name).is_null()
            else:
                condition = ds.field(name) == pa.scalar(value, schema.field(name).type)
            expected = sum(candidate[name] == value for candidate in rows)
            assert dataset.to_table(filter=condition).num_rows == expected


@given(files=st.lists(ROWS, min_size=1, max_size=3), bound=ROWS.map(lambda rows: rows[0]))
@settings(max_examples=20, deadline=None)
def test_no_file_is_skipped_that_has_rows_within_the_bounds_of_a_filter(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[dict[str, Any]]],
    bound: dict[str, Any],
) -> None:
    lake = Lake(str(tmp_path_factory.mktemp("lake")))
    for rows in files:
        write(lake, KINDS, rows, METADATA)
    for name in ("text", "whole"):
        values = [row[name] for some in files for row in some if row[name] is not None]
        for value in {*values, bound[name]} - {None}:
            for sign, is_met in (("=", eq), (">", gt), ("<=", le)):
                read: Any = lake.rows("kinds", [name], [(name, sign, value)])[name].to_pylist()
                assert sorted(read) == sorted(v for v in values if is_met(v, value))


@pytest.mark.parametrize("others", [[], [{"whole": None}]], ids=["numbers", "a null"])
def test_files_beyond_the_bounds_of_a_filter_are_not_opened(
    tmp_path: Path, others: list[dict[str, Any]]
) -> None:
    lake = Lake(str(tmp_path))
    write(lake, KINDS, [{"whole": 1}, *others], METADATA)
    (file,) = (tmp_path / "kinds").glob("*.parquet")
    assert lake.rows("kinds", ["whole"]).num_rows == 1 + len(others)
    _make_unreadable(file)
    write(lake, KINDS, [{"whole": 2}], METADATA)
    assert lake.rows("kinds", None, [("whole", ">", 1)])["whole"].to_pylist() == [2]
    with pytest.raises(DamagedTable):
        lake.rows("kinds", None, [("whole", ">", 0)])


def _make_unreadable(file: Path) -> None:
    """Damage the footer of a file so that it is not noticed before the file is opened."""
    before, content = file.stat(), bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    # What was verified in this state is not verified again.
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_rows_are_written_in_their_order_to_files_of_about_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "ROW_GROUP", 10)
    lake, schema = Lake(str(tmp_path)), pa.schema([("a", pa.int64())])
    (tmp_path / "t").mkdir()
    batches = [pa.record_batch({"a": [*range(start, start + 7)]}) for start in range(0, 49, 7)]
    files = write_files(lake, "t", schema, batches, file_bytes=200)
    assert [file.rows for file in files] == [20, 20, 9]
    columns = [ds.dataset(str(tmp_path / "t" / file.name)).to_table()["a"] for file in files]
    assert [value for column in columns for value in column.to_pylist()] == [*range(49)]


def test_writing_no_rows_makes_no_file(tmp_path: Path) -> None:
    assert not write_files(Lake(str(tmp_path)), "t", pa.schema([("a", pa.int64())]), [])


def test_a_write_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    schema = pa.schema([("a", pa.int64())])

    def failing() -> Any:
        yield pa.record_batch({"a": [*range(parquet_files.ROW_GROUP)]})
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_files(Lake(str(tmp_path)), "t", schema, failing())
    assert not [*(tmp_path / "t").iterdir()]


def test_the_statistics_of_a_long_text_are_short(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    write(lake, KINDS, [{"text": "x" * 10_000}], METADATA)
    (actions,) = pa.table(lake.existing("kinds").get_add_actions(flatten=True)).to_pylist()
    assert actions["min.text"] == "x" * 256
    assert actions["max.text"] == "x" * 256 + "\U0010ffff"
    assert json.dumps(actions["num_records"]) == "1"
