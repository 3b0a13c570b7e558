"""Files of sorted rows: what is found by its beginning, and what is noticed."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.lake.index.sorted_rows import DamagedIndex, SortedFile, SortedRows, write_sorted

_WORDS = [
    "a",
    "ab",
    "b",
    "\u00fc",
    "\U0001f600",
    "x" * 70,
    "x" * 159,
    "x" * 160,
    "x" * 161,
    "x" * 400,
]
_ROWS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=2, max_size=3), max_size=60)


def written(folder: Path, rows: list[str], batch: int = 1_000) -> SortedFile:
    """A file of rows without their ends, which are sorted here."""
    texts = sorted(row.encode() + b"\n" for row in rows)
    table = pa.table({"row": pa.array([text.decode() for text in texts], pa.string())})
    folder.mkdir(exist_ok=True)
    return write_sorted(folder, table.to_batches(max_chunksize=batch))


def beginning_with(folder: Path, file: SortedFile, beginnings: list[str]) -> list[str]:
    opened = SortedRows(folder, file)
    try:
        parts = [*opened.beginning_with(sorted(text.encode() for text in beginnings))]
    finally:
        opened.close()
    return sorted(b"".join(parts).decode().split("\n")[:-1])


@given(rows=_ROWS, wanted=st.sets(st.sampled_from(_WORDS)), batch=st.sampled_from([1, 7, 1_000]))
@settings(max_examples=150, deadline=None)
def test_the_rows_with_a_key_are_those_of_a_filter(
    rows: list[list[str]], wanted: set[str], batch: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("index")
    texts = ["\r".join(row) for row in rows]
    file = written(folder, texts, batch)
    assert beginning_with(folder, file, [f"{key}\r" for key in wanted]) == sorted(
        "\r".join(row) for row in rows if row[0] in wanted
    )


def test_a_key_whose_rows_fill_many_blocks_has_them_all(tmp_path: Path) -> None:
    rows = [f"hub\r{i:06}" for i in range(5_000)] + [f"k{i}\rv" for i in range(5_000)]
    file = written(tmp_path, rows)
    assert len(beginning_with(tmp_path, file, ["hub\r"])) == 5_000
    assert beginning_with(tmp_path, file, ["hub\r004999", "k17\r"]) == ["hub\r004999", "k17\rv"]


def test_a_file_without_rows_has_none(tmp_path: Path) -> None:
    file = written(tmp_path, [])
    assert file.rows == 0
    assert beginning_with(tmp_path, file, ["a"]) == []


def test_a_row_of_a_megabyte_is_a_block(tmp_path: Path) -> None:
    file = written(tmp_path, ["a\r" + "x" * 1_000_000, "b\r1"])
    assert [len(row) for row in beginning_with(tmp_path, file, ["a\r", "b\r"])] == [1_000_002, 3]


@pytest.mark.parametrize("suffix", [".rows", ".bounds"])
def test_a_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path, suffix: str) -> None:
    file = written(tmp_path, [f"k{i % 50}\r{i}" for i in range(400)])
    wanted = [f"k{i}\r" for i in range(50)]
    right = beginning_with(tmp_path, file, wanted)
    path = tmp_path / f"{file.name}{suffix}"
    whole, rng, noticed = path.read_bytes(), random.Random(1), 0
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            assert beginning_with(tmp_path, file, wanted) == right
        except DamagedIndex:
            noticed += 1
    assert noticed == 200


@pytest.mark.parametrize("suffix", [".rows", ".bounds"])
@pytest.mark.parametrize("left", [0, 10, -1])
def test_a_file_that_was_cut_is_noticed(tmp_path: Path, suffix: str, left: int) -> None:
    file = written(tmp_path, [f"k{i}\r{i}" for i in range(300)])
    path = tmp_path / f"{file.name}{suffix}"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DamagedIndex):
        beginning_with(tmp_path, file, [f"k{i}\r" for i in range(300)])


@pytest.mark.parametrize("suffix", [".rows", ".bounds"])
def test_a_file_that_is_gone_is_noticed(tmp_path: Path, suffix: str) -> None:
    file = written(tmp_path, ["a\r1"])
    (tmp_path / f"{file.name}{suffix}").unlink()
    with pytest.raises(DamagedIndex):
        beginning_with(tmp_path, file, ["a\r"])
