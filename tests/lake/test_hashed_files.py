"""A table of hashed files equals the changes made to it, and so does its change feed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable

from tests.support.dying import dies_at
from weir.lake.delta import hashed_files
from weir.lake.delta.commit import arrow_schema
from weir.lake.delta.file_commits import files_of
from weir.lake.delta.hashed_files import (
    RowChanges,
    UnknownRows,
    bits_of,
    change_hashed,
    hashes_of,
    overwrite_hashed,
)
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.fences import Fence, Superseded
from weir.lake.tables import Column, Decimals, Table, current

COLUMNS = (
    Column("name", "STRING", "a name"),
    Column("age", "BIGINT", ""),
    Column("size", Decimals(2), ""),
    Column("ratio", "DOUBLE", ""),
    Column("born", "DATE", ""),
    Column("seen", "TIMESTAMP", ""),
    Column("alive", "BOOLEAN", ""),
)
SET = current("q", COLUMNS, "people")
BAG = current("q", (*COLUMNS, Column("count", "BIGINT", "how often")), "people")
Row = tuple[Any, ...]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are split and merged early."""
    monkeypatch.setattr(hashed_files, "MOST_ROWS", 6)
    monkeypatch.setattr(hashed_files, "MOST_FILES", 3)


def person(number: int) -> Row:
    """A row; some lack cells."""
    return (
        f"n{number}" if number % 7 else None,
        number,
        Decimal(number) / 4 if number % 3 else None,
        float("nan") if number % 11 == 0 else number / 3,
        date(2000, 1, 1) + timedelta(number),
        datetime(2000, 1, 1, microsecond=number, tzinfo=UTC),
        number % 2 == 0 if number % 5 else None,
    )


def rows(table: Table, numbers: Mapping[int, int]) -> pa.Table:
    """The rows of numbers with their multiplicities."""
    names = table.column_names
    records = [
        dict(zip(names, (*person(number), count), strict=False))
        for number, count in numbers.items()
    ]
    return pa.Table.from_pylist(records, arrow_schema(table))


def changes(table: Table, numbers: Mapping[int, int]) -> RowChanges:
    count = "count" if table is BAG else None
    all_rows = rows(table, numbers)
    return RowChanges(all_rows.select([c.name for c in COLUMNS]), [*numbers.values()], count)


def begin(lake: Lake, table: Table, numbers: Mapping[int, int]) -> None:
    count = "count" if table is BAG else None
    overwrite_hashed(lake, table, rows(table, numbers), count, metadata(0))


def change(lake: Lake, table: Table, of: RowChanges, new: Metadata) -> None:
    change_hashed(lake, table, of, new)


def metadata(epoch: int) -> Metadata:
    return Metadata(f"r{epoch}", "publish", epoch)


def content(stored: pa.Table) -> Counter[int]:
    """The multiplicity of each row, by its age, which is its number."""
    return Counter({row["age"]: row.get("count", 1) for row in stored.to_pylist()})


def stored(lake: Lake) -> Counter[int]:
    table = Lake(lake.root).existing("current/q").to_pyarrow_table()
    assert len({*table["age"].to_pylist()}) == table.num_rows
    return content(table)


def feed(lake: Lake, first: int, last: int) -> Counter[int]:
    """What the change feed of some versions adds up to."""
    total: Counter[int] = Counter()
    for event in pa.table(DeltaTable(f"{lake.root}/current/q").load_cdf(first, last)).to_pylist():
        sign = {"insert": 1, "delete": -1}[event["_change_type"]]
        total[event["age"]] += sign * event.get("count", 1)
    return Counter({row: count for row, count in total.items() if count})


@pytest.mark.usefixtures("slow")
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("table", [SET, BAG], ids=["set", "bag"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_and_feed_equal_the_changes(lake: Lake, table: Table, seed: int) -> None:
    choose = random.Random(seed)
    model = Counter({n: 1 if table is SET else choose.randint(1, 3) for n in range(30)})
    begin(lake, table, model)
    for epoch in range(1, 15):
        own: dict[int, int] = {}
        for number in choose.sample(range(80), choose.randint(0, 12)):
            if table is SET:
                own[number] = -1 if model[number] else 1
            else:
                own[number] = choose.choice([w for w in range(-model[number], 4) if w])
        change(lake, table, changes(table, own), metadata(epoch))
        model = Counter({n: c for n in range(80) if (c := model[n] + own.get(n, 0))})
        assert stored(lake) == model
        newest = lake.last_metadata("current/q")
        assert newest is not None
        assert newest[1].watermark == epoch
    assert feed(lake, 0, lake.version("current/q") or 0) == model


def test_the_feed_of_a_change_has_the_changed_rows_alone(lake: Lake) -> None:
    begin(lake, SET, dict.fromkeys(range(100), 1))
    before = lake.version("current/q")
    change(lake, SET, changes(SET, {5: -1, 200: 1}), metadata(1))
    assert before is not None
    assert feed(lake, before + 1, lake.version("current/q") or 0) == {5: -1, 200: 1}


@pytest.mark.usefixtures("small")
def test_files_have_few_rows_whose_hashes_begin_with_their_bits(lake: Lake) -> None:
    begin(lake, BAG, dict.fromkeys(range(60), 1))
    for epoch in range(1, 20):
        change(lake, BAG, changes(BAG, {100 + epoch: 2, epoch: -1}), metadata(epoch))
    table = lake.existing("current/q")
    per_bits: Counter[str] = Counter()
    for path, _ in files_of(table):
        own = ds.dataset(lake.folder("current/q") / path).to_table()
        bits = bits_of(path)
        per_bits[bits] += own.num_rows
        assert all(f"{int(h):064b}".startswith(bits) for h in hashes_of(own, "count"))
    assert max(per_bits.values()) <= hashed_files.MOST_ROWS
    assert max(len(bits) for bits in per_bits) >= 2


def test_few_files_are_read_and_written_for_a_change(lake: Lake) -> None:
    begin(lake, SET, dict.fromkeys(range(100_000), 1))
    before = {*files_of(lake.existing("current/q"))}
    change(lake, SET, changes(SET, {5: -1}), metadata(1))
    after = {*files_of(lake.existing("current/q"))}
    assert len(before) >= 16
    assert (len(before - after), len(after - before)) == (1, 1)


def test_a_row_that_vanishes_must_be_there(lake: Lake) -> None:
    begin(lake, BAG, {1: 1, 2: 1})
    version = lake.version("current/q")
    with pytest.raises(UnknownRows):
        change(lake, BAG, changes(BAG, {1: -2}), metadata(1))
    with pytest.raises(UnknownRows):
        change(lake, BAG, changes(BAG, {3: -1}), metadata(1))
    assert Lake(lake.root).version("current/q") == version


MOVES = ["separated", "tidied"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("move", MOVES)
def test_a_run_that_lost_its_claim_moves_nothing(
    lake: Lake, move: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(lake, SET, dict.fromkeys(range(5), 1))
    early, late = run(lake, 1), list[Lake]()

    def paused(name: str) -> None:
        if name == f"publish:before:{move}:current/q" and not late:
            # It resumes after another run.
            late.append(run(lake, 2))
            monkeypatch.setattr(hashed_files, "tidy", lambda *_: None)
            change(late[0], SET, changes(SET, {100: 1}), metadata(9))

    monkeypatch.setattr(hashed_files, "checkpoint", paused)
    own = {0: -1} if move == "separated" else dict.fromkeys(range(20, 30), 1)
    with pytest.raises(Superseded):
        change(early, SET, changes(SET, own), metadata(1))
    assert late
    after = Lake(lake.root)
    newest = after.last_metadata("current/q")
    assert newest is not None
    assert newest[1].watermark == 9
    # The move was not committed.
    assert after.version("current/q") == newest[0]


def run(lake: Lake, number: int) -> Lake:
    """A run under a claim, which has looked at the table."""
    own = Lake(lake.root)
    own.hold(Fence("publish", number))
    assert own.exists("current/q")
    return own


@pytest.mark.usefixtures("small")
def test_moves_have_no_metadata_and_are_one_commit_for_all_bits(lake: Lake) -> None:
    begin(lake, SET, dict.fromkeys(range(40), 1))
    before = lake.version("current/q") or 0
    many = dict.fromkeys(range(100, 160), 1) | dict.fromkeys(range(5), -1)
    version = change_hashed(lake, SET, changes(SET, many), metadata(1))
    last = Lake(lake.root).version("current/q") or 0
    assert version == before + 2
    with_metadata = [
        commit["version"]
        for commit in Lake(lake.root).commits("current/q")
        if commit["version"] > before and commit.get("userMetadata")
    ]
    assert with_metadata == [version]
    # The root is split; then all those that got too many rows at once.
    assert version < last <= version + 3


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("move", MOVES)
def test_a_killed_move_changes_nothing(lake: Lake, move: str, when: str) -> None:
    begin(lake, SET, dict.fromkeys(range(5), 1))
    own = {0: -1, **dict.fromkeys(range(20, 30), 1)}
    with dies_at(f"publish:{when}:{move}:current/q"):
        change(lake, SET, changes(SET, own), metadata(1))
    lake = Lake(lake.root)
    newest = lake.last_metadata("current/q")
    assert newest is not None
    before, after = dict.fromkeys(range(5), 1), dict.fromkeys([*range(1, 5), *range(20, 30)], 1)
    if newest[1].watermark == 0:
        assert (move, stored(lake)) == ("separated", before)
        change(lake, SET, changes(SET, own), metadata(1))
    assert stored(lake) == after
    assert feed(lake, 0, lake.version("current/q") or 0) == after


@pytest.mark.usefixtures("small")
def test_few_rows_in_many_files_stay_as_they_are(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long rows do."""

    def one_each(lake: Lake, name: str, rows: pa.Table, bits: str) -> list[Any]:
        parts = [rows.slice(i, 1) for i in range(rows.num_rows)]
        return [file for part in parts for file in original(lake, name, part, bits)]

    original = hashed_files._write
    monkeypatch.setattr(hashed_files, "_write", one_each)
    begin(lake, SET, dict.fromkeys(range(5), 1))
    before = lake.version("current/q")
    hashed_files.tidy(lake, "current/q", None, "publish")
    assert lake.version("current/q") == before


@pytest.mark.parametrize("point", ["publish:before:current/q", "publish:after:current/q"])
def test_a_killed_change_is_whole_or_absent(lake: Lake, point: str) -> None:
    begin(lake, SET, {1: 1, 2: 1})
    with dies_at(point):
        change(lake, SET, changes(SET, {1: -1, 3: 1}), metadata(1))
    newest = Lake(lake.root).last_metadata("current/q")
    assert newest is not None
    assert stored(lake) == ({1: 1, 2: 1} if newest[1].watermark == 0 else {2: 1, 3: 1})


@pytest.mark.usefixtures("small")
def test_a_file_of_another_program_is_one_of_the_root(lake: Lake) -> None:
    begin(lake, SET, dict.fromkeys(range(20), 1))
    DeltaTable(f"{lake.root}/current/q").optimize.compact()
    lake = Lake(lake.root)
    change(lake, SET, changes(SET, {7: -1}), metadata(1))
    assert stored(lake) == Counter({n: 1 for n in range(20) if n != 7})


def test_columns_without_cells_do_not_change_a_hash() -> None:
    one = rows(SET, {1: 1, 2: 1})
    more = one.append_column("other", pa.nulls(2, pa.string())).select(
        ["other", *reversed(one.column_names)]
    )
    assert [*hashes_of(one)] == [*hashes_of(more)]
    assert hashes_of(one)[0] == 2841893992346161738


def test_statistics_of_all_types_let_rows_be_found(lake: Lake) -> None:
    begin(lake, SET, dict.fromkeys(range(40), 1))
    table = DeltaTable(f"{lake.root}/current/q")
    for name, value in zip(SET.column_names, person(13), strict=True):
        selected = table.to_pyarrow_table(filters=[(name, "=", value)])
        assert 13 in selected["age"].to_pylist(), name
    actions = pa.table(table.get_add_actions()).to_pylist()
    assert json.dumps(actions, default=str)
