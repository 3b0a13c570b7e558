"""Which data files of a local table are damaged; also for errors that do not name the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from weir.lake.damage.integrity import missing_files
from weir.lake.delta.checksums import damaged, is_intact
from weir.lake.delta.data_files import files_after, names_of

_THREADS = 4
"""Files that are read at once; checksums are computed without Python's lock."""
_OF_DUCKDB = ("InvalidInputException", "IOException")
"""DuckDB's errors about a file that it cannot read, or that Arrow cannot read for it."""


def damaged_files(folder: Path, table: DeltaTable) -> list[Path]:
    """The data files of a local table that are missing, or whose content has changed.

    Args:
        folder: of the table.
        table: in its newest version.
    """
    missing = [damage.file for damage in missing_files(folder, table, partial(sizes_of, folder))]
    files = [folder / name for name in names_of(files_after(table))]
    present = [file for file in files if file not in missing]
    with ThreadPoolExecutor(_THREADS) as threads:
        intact = threads.map(_is_intact, present)
        return [*missing, *(file for file, good in zip(present, intact, strict=True) if not good)]


@contextmanager
def damage_is_named(*folders: Path | None) -> Iterator[None]:
    """A context for reading rows of local tables: an error about a damaged file names the file.

    Arrow and DuckDB report what they cannot decode, but not in which file. So after an error all
    files are verified.

    Args:
        folders: of the tables; None for a table that is not local.

    Raises:
        DamagedTable: reading failed, and this file is damaged. Other errors pass unchanged.
    """
    try:
        yield
    except Exception as error:
        if _may_be_damage(error):
            for folder in filter(None, folders):
                for file in _damaged_in(folder):
                    raise damaged(file) from error
        raise


def _may_be_damage(error: Exception) -> bool:
    if isinstance(error, OSError):
        # An error with a number comes from the system, and says what is wrong.
        return error.errno is None
    return isinstance(error, pa.ArrowException) or type(error).__name__ in _OF_DUCKDB


def _damaged_in(folder: Path) -> list[Path]:
    try:
        files = damaged_files(folder, DeltaTable(str(folder)))
    except (DeltaError, OSError):
        # The log is damaged instead.
        return []
    return [file for file in files if file.exists()]


def sizes_of(folder: Path, names: Iterable[str]) -> Mapping[str, int]:
    """The bytes of the files of a folder, without those that are missing."""
    sizes = {}
    for name in names:
        with suppress(OSError):
            sizes[name] = (folder / name).stat().st_size
    return sizes


def _is_intact(file: Path) -> bool:
    try:
        return is_intact(file)
    except OSError:
        return False
