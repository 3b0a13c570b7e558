"""A failure of files says which table and file, and what to do; other errors stay as they are."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake.exceptions import CommitFailedError, DeltaError
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from weir.lake.damage.integrity import damaged_commits
from weir.lake.damage.storage_errors import (
    DamagedTable,
    StorageError,
    storage_error,
    storage_errors,
)
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS

MINE = Metadata("run", "ingest", watermark=1)
ROW = {"graph": "<http://a/g>", "source": "s", "epoch": 1}
ANSWER = "/data/my lake/answers/q"


@pytest.mark.parametrize(
    ("error", "what", "where"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", f"{ANSWER}/part-0.parquet"),
            "the disk is full (table answers/q)",
            f"{ANSWER}/part-0.parquet",
        ),
        (
            DeltaError(
                "Failed to parse parquet: External: Generic LocalFileSystem error: Unable to copy"
                " data to file: No space left on device (os error 28)"
            ),
            "the disk is full (table answers/q)",
            ANSWER,
        ),
        (
            DeltaError(
                "Generic LocalFileSystem error: Unable to open file /lake/runs/part-0.parquet#1:"
                " Read-only file system (os error 30)"
            ),
            "the file system is read-only (table runs)",
            "/lake/runs/part-0.parquet",
        ),
        (
            duckdb.IOException(
                'IO Error: Cannot open file "/lake/triples/part-1.parquet": Too many open files'
            ),
            "too many files are open (table triples)",
            "/lake/triples/part-1.parquet",
        ),
        (
            duckdb.InvalidInputException(
                "Invalid Input Error: reading the stream failed: IOError: Failed to open local file"
                " '/lake/triples/part-1.parquet'. Detail: [errno 2] No such file or directory"
            ),
            "a file that the log of the table names is not there (table triples)",
            "/lake/triples/part-1.parquet",
        ),
        (
            pa.ArrowInvalid(
                "Could not open Parquet input source '/lake/quads/p.parquet': Parquet magic bytes"
                " not found in footer."
            ),
            "the file is damaged (table quads)",
            "/lake/quads/p.parquet",
        ),
        (
            OSError(
                errno.EROFS,
                "Failed to open local file '/lake/runs/part-aac1.unfinished'. Detail: [errno 30]"
                " Read-only file system",
            ),
            "the file system is read-only (table runs)",
            "/lake/runs/part-aac1.unfinished",
        ),
        (
            PermissionError(
                errno.EACCES, "Permission denied", "/lake/quads/_checksums/part-1.parquet.crc32"
            ),
            "permission denied (table quads)",
            "/lake/quads/_checksums/part-1.parquet.crc32",
        ),
        (
            NotADirectoryError(errno.ENOTDIR, "Not a directory", "/lake/runs/_delta_log/0.json"),
            "a file is where a folder is expected (table runs)",
            "/lake/runs/_delta_log/0.json",
        ),
        (
            Py4JError("ClassNotFoundException: Class org.x.S3AFileSystem not found"),
            "Spark lacks the jars for this object store (table answers/q)",
            ANSWER,
        ),
        (
            Py4JError('No FileSystem for scheme "gs"'),
            "Spark lacks the jars for this object store (table answers/q)",
            ANSWER,
        ),
    ],
)
def test_the_failures_of_files_are_recognized_in_the_words_of_each_library(
    error: Exception, what: str, where: str
) -> None:
    with pytest.raises(StorageError) as raised, storage_errors(ANSWER):
        raise error
    assert (raised.value.what, raised.value.where) == (what, where)
    assert raised.value.hint
    assert str(error) not in str(raised.value)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("wrong"),
        KeyError("/lake/quads/p.parquet"),
        CommitFailedError("a concurrent transaction"),
        DeltaError("Schema error: no such column"),
        duckdb.BinderException("Binder Error: no such column"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "data/versions"),
    ],
)
def test_errors_that_are_not_about_files_of_the_lake_stay_as_they_are(error: Exception) -> None:
    assert storage_error(error, ANSWER) is None
    with pytest.raises(type(error)) as raised, storage_errors(ANSWER):
        raise error
    assert raised.value is error


def test_the_file_at_the_place_of_the_lake_is_named_instead_of_one_below_it(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("mine")
    with pytest.raises(StorageError) as raised:
        write(Lake(str(tmp_path / "lake")), GRAPHS, [ROW], MINE)
    assert (raised.value.what, raised.value.where) == (
        "a file is where a folder is expected",
        str(tmp_path / "lake"),
    )


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The system refuses to write more into a file of this process, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a table of two commits."""
    lake = Lake(str(tmp_path / "lake"))
    for _ in range(2):
        write(lake, GRAPHS, [ROW], MINE)
    return Lake(lake.root)


def test_a_write_that_the_system_refuses_names_the_table_and_leaves_it_as_it_was(
    lake: Lake,
) -> None:
    with files_of_at_most(1), pytest.raises(StorageError) as raised:
        write(lake, GRAPHS, [ROW], MINE)
    assert "too large (table graphs)" in raised.value.what
    assert raised.value.where.startswith(lake.location("graphs"))
    assert "run again" in raised.value.hint
    assert len(Lake(lake.root).rows("graphs")) == 2
    write(lake, GRAPHS, [ROW], MINE)
    assert len(Lake(lake.root).rows("graphs")) == 3


@pytest.mark.parametrize("content", [b"{not json\n", b'{"add": \n', b"[1]\n", b"\x00\xff\n"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_garbled_commit_is_named_when_its_table_is_opened(
    lake: Lake, content: bytes, version: int
) -> None:
    commit = Path(lake.location("graphs")) / "_delta_log" / f"{version:020}.json"
    commit.write_bytes(content)
    with pytest.raises(DamagedTable) as raised:
        lake.open("graphs")
    assert (raised.value.where, raised.value.what) == (
        str(commit),
        "line 1 of the commit file is not JSON (log of the table graphs)",
    )
    assert [damage.file for damage in damaged_commits(commit.parent.parent)] == [commit]


def test_a_missing_commit_is_named(lake: Lake) -> None:
    folder = Path(lake.location("graphs"))
    (folder / "_delta_log" / f"{1:020}.json").unlink()
    (damage,) = damaged_commits(folder)
    assert (damage.file.name, damage.what) == (f"{1:020}.json", "the commit is missing")


def test_data_files_that_are_gone_or_cut_off_are_named(lake: Lake) -> None:
    folder = Path(lake.location("graphs"))
    gone, cut = sorted(folder.glob("*.parquet"))
    assert not [*lake.missing_files("graphs")]
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-1])
    damages = {damage.file: damage.what for damage in lake.missing_files("graphs")}
    assert damages[gone] == "the data file is missing, or cannot be read"
    assert "bytes and had" in damages[cut]


def test_reading_a_table_without_one_of_its_data_files_names_the_table(lake: Lake) -> None:
    next(Path(lake.location("graphs")).glob("*.parquet")).unlink()
    with pytest.raises(StorageError, match=r"\(table graphs\)"):
        lake.rows("graphs")


def test_reading_a_data_file_that_was_cut_off_names_the_file(lake: Lake) -> None:
    file = next(Path(lake.location("graphs")).glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedTable) as raised:
        lake.rows("graphs")
    assert raised.value.where == str(file)


def test_a_whole_table_has_no_damage(lake: Lake) -> None:
    assert lake.tables() == ("graphs",)
    assert not [*damaged_commits(Path(lake.location("graphs")))]
