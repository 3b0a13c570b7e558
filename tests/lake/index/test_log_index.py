"""The index of a log: its rows are those of the table, or it says that it cannot be used."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.support.laws import Seeds
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.index import log_index
from weir.lake.index.log_index import LogIndex, NoIndex
from weir.lake.lake import Lake
from weir.lake.tables import QUADS

Row = tuple[str, str, str, str | None, int, int]
Key = tuple[str | None, ...]
KEYS = [f"<urn:s{i}>" for i in range(6)]
PREDICATES = ["<urn:p>", "<urn:pq>", "<urn:q>"]
_NAMES = ("graph", "subject", "predicate", "object", "epoch", "weight")
_KEY = ("subject", "predicate", "object")
_MUCH = 1_000_000
_PROCESSES = get_context("forkserver")
_DUCK = duckdb.connect()


def row(rng: random.Random, epoch: int) -> Row:
    subject, predicate, of = key(rng)
    return ("", str(subject), str(predicate), of, epoch, rng.choice([1, -1]))


def key(rng: random.Random) -> Key:
    objects = ['"a\\nb"', '"\u2028 \u001c tab\there"@en', "<urn:o>", '"' + "y" * 300 + '"', None]
    return rng.choice(KEYS), rng.choice(PREDICATES), rng.choice(objects)


def append(root: Path, rows: list[Row], mode: str = "append") -> None:
    table = pa.table([pa.array(values) for values in zip(*rows, strict=True)], [*_NAMES])
    write(Lake(str(root)), QUADS, table, Metadata("r", "ingest", 1), mode=mode)  # type: ignore[arg-type]


def index_of(root: Path, folder: Path) -> LogIndex:
    return LogIndex(Lake(str(root)), QUADS.name, _KEY, folder, _DUCK.cursor)


def followed(index: LogIndex, root: Path) -> bool:
    """Bring an index up to the table; whether all of the table was read."""
    whole: list[bool] = []
    index.follow(Lake(str(root)).existing(QUADS.name), lambda: whole.append(True))
    return bool(whole)


def rows_of(table: pa.Table) -> list[Row]:
    columns = [table[name].to_pylist() for name in _NAMES]
    return sorted(zip(*columns, strict=True), key=repr)


def stored(root: Path, wanted: set[Key]) -> list[Row]:
    """The same by delta-rs, which reads all rows."""
    rows = rows_of(DeltaTable(str(root / QUADS.name)).to_pyarrow_table())
    return [r for r in rows if any(r[1 : 1 + n] in wanted for n in (1, 2, 3))]


def check(index: LogIndex, root: Path, rng: random.Random) -> None:
    for _ in range(3):
        wanted = {key(rng)[: rng.randrange(1, 4)] for _ in range(3)}
        assert rows_of(index.rows_with(wanted, _MUCH)) == stored(root, wanted)


def live(root: Path, folder: Path, rng: random.Random) -> Iterator[None]:
    """Random changes of a table and of its index, with a stop after each."""
    copies = folder.with_name("copies")
    for epoch in range(1, 25):
        match rng.randrange(12):
            case 0:
                rows = [row(rng, epoch) for _ in range(rng.randrange(1, 30))]
                append(root, rows, "overwrite")
            case 1:
                DeltaTable(str(root / QUADS.name)).optimize.compact()
            case 2 if folder.exists():
                shutil.rmtree(copies, ignore_errors=True)
                shutil.copytree(folder, copies)
            case 3 if copies.exists():
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(copies, folder)
            case 4:
                shutil.rmtree(root / QUADS.name)
                append(root, [row(rng, epoch)])
            case 5:
                for file in [f for f in folder.glob("*.*") if f.stat().st_size]:
                    content = bytearray(file.read_bytes())
                    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
                    file.write_bytes(content)
                    break
            case _:
                append(root, [row(rng, epoch) for _ in range(rng.choice([1, 1, 5, 200]))])
        yield


@pytest.mark.law("indexes")
def test_an_index_has_the_rows_of_its_table_after_any_changes_of_both(
    seeds: Seeds, tmp_path: Path
) -> None:
    for seed in seeds:
        root, folder = tmp_path / f"lake{seed}", tmp_path / f"index{seed}"
        rng = random.Random(seed)
        append(root, [row(rng, 0)])
        with closing(index_of(root, folder)) as kept:
            for _ in live(root, folder, rng):
                with closing(index_of(root, folder)) as other:
                    for index in rng.sample([kept, other], 2):
                        try:
                            followed(index, root)
                            check(index, root, rng)
                        except NoIndex:
                            # It was damaged, and is removed; the next use makes it again.
                            followed(index, root)
                            check(index, root, rng)


def test_rows_that_are_appended_are_added_and_not_the_table_read_again(tmp_path: Path) -> None:
    root, rng = tmp_path / "lake", random.Random(1)
    append(root, [row(rng, 0) for _ in range(500)])
    with closing(index_of(root, tmp_path / "index")) as index:
        assert followed(index, root)
        for epoch in range(1, 60):
            append(root, [row(rng, epoch) for _ in range(5)])
            assert not followed(index, root)
        check(index, root, rng)
    # Files of like size are merged: fewer than four of each of the sizes up to 500 rows.
    assert len([*(tmp_path / "index").glob("*.rows")]) <= 12


def test_what_only_rearranges_files_adds_nothing(tmp_path: Path) -> None:
    root, rng = tmp_path / "lake", random.Random(1)
    for epoch in range(3):
        append(root, [row(rng, epoch) for _ in range(5)])
    with closing(index_of(root, tmp_path / "index")) as index:
        followed(index, root)
        before = {*(tmp_path / "index").glob("*.rows")}
        DeltaTable(str(root / QUADS.name)).optimize.compact()
        assert not followed(index, root)
        assert {*(tmp_path / "index").glob("*.rows")} == before
        check(index, root, rng)


def test_the_index_of_another_table_is_made_again(tmp_path: Path) -> None:
    rng = random.Random(1)
    for name in ("a", "b"):
        append(tmp_path / name, [row(rng, 0) for _ in range(20)])
    for name in ("a", "b", "a"):
        with closing(index_of(tmp_path / name, tmp_path / "index")) as index:
            assert followed(index, tmp_path / name)
            check(index, tmp_path / name, rng)


def test_a_reader_of_an_earlier_version_finds_its_rows_in_a_later_index(tmp_path: Path) -> None:
    root = tmp_path / "lake"
    append(root, [("", "<urn:s0>", "<urn:p>", '"1"', 1, 1)])
    earlier = Lake(str(root)).existing(QUADS.name)
    append(root, [("", "<urn:s0>", "<urn:p>", '"2"', 2, 1)])
    with closing(index_of(root, tmp_path / "index")) as index:
        followed(index, root)
    append(root, [("", "<urn:s0>", "<urn:p>", '"3"', 3, 1)])
    with closing(index_of(root, tmp_path / "index")) as index:
        followed(index, root)
        index.follow(earlier, lambda: None)
        rows = rows_of(index.rows_with([("<urn:s0>",)], _MUCH))
    assert [epoch for *_, epoch, _ in rows if epoch <= 1] == [1]


def test_an_index_that_another_process_changes_is_not_waited_for(tmp_path: Path) -> None:
    root, rng = tmp_path / "lake", random.Random(1)
    append(root, [row(rng, 0)])
    with closing(index_of(root, tmp_path / "index")) as index:
        with index._alone(), pytest.raises(NoIndex, match="another process"):
            followed(index, root)
        assert followed(index, root)


def test_rows_beyond_the_limit_are_left_to_a_scan(tmp_path: Path) -> None:
    root, rng = tmp_path / "lake", random.Random(1)
    append(root, [row(rng, 0) for _ in range(100)])
    with closing(index_of(root, tmp_path / "index")) as index:
        followed(index, root)
        with pytest.raises(NoIndex, match="more than 500 bytes"):
            index.rows_with([(subject,) for subject in KEYS], 500)
        check(index, root, rng)


@pytest.mark.parametrize("value", ["<urn:a\nb>", "<urn:a\rb>"])
def test_a_value_that_no_term_is_has_no_index(tmp_path: Path, value: str) -> None:
    root = tmp_path / "lake"
    append(root, [("", "<urn:s>", "<urn:p>", value, 1, 1)])
    with closing(index_of(root, tmp_path / "index")) as index, pytest.raises(NoIndex):
        followed(index, root)


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    root, rng = tmp_path / "lake", random.Random(1)
    append(root, [row(rng, 0)])
    (tmp_path / "file").touch()
    with closing(index_of(root, tmp_path / "file" / "index")) as index, pytest.raises(NoIndex):
        followed(index, root)


_POINTS = ("before rows", "after rows", "before note", "after note")


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("point", "earlier"),
    [*((point, 3) for point in _POINTS), *((p, 4) for p in (*_POINTS, "before removal"))],
)
def test_a_process_that_is_killed_leaves_an_index_that_can_be_used(
    point: str, earlier: int, tmp_path: Path
) -> None:
    root, folder, rng = tmp_path / "lake", tmp_path / "index", random.Random(1)
    # The fifth file is merged with those before.
    for epoch in range(earlier):
        append(root, [row(rng, epoch)])
        with closing(index_of(root, folder)) as index:
            followed(index, root)
    append(root, [row(rng, 8)])
    process = _PROCESSES.Process(target=follow_killed, args=(root, folder, point))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with closing(index_of(root, folder)) as index:
        assert not followed(index, root)
        check(index, root, rng)
        append(root, [row(rng, 9)])
        followed(index, root)
        check(index, root, rng)
    noted = log_index._State.read(folder)
    assert noted is not None
    parts = {part for file in noted.files for part in file.parts}
    assert {f.name for f in folder.iterdir()} == {"index.json", "lock"} | parts


def follow_killed(root: Path, folder: Path, point: str) -> None:
    """Bring an index up to its table in a process that kills itself at a point."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    when, what = point.split()
    owner, name = {
        "rows": (log_index, "write_sorted"),
        "note": (log_index, "write_whole"),
        "removal": (log_index, "_removed"),
    }[what]
    real: Callable[..., object] = getattr(owner, name)

    def dying(*arguments: object) -> object:
        if when == "before":
            die()
        result = real(*arguments)
        die()
        return result

    setattr(owner, name, dying)
    followed(index_of(root, folder), root)
