"""Which data files of a local table are damaged, and errors of libraries that do not say it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from weir.lake.damage.integrity import missing_files
from weir.lake.delta.checksums import damaged, is_intact

_THREADS = 4
"""Files that are read at once; checksums are computed without Python's lock."""
_OF_DUCKDB = ("InvalidInputException", "IOException")
"""The errors of DuckDB by which a file that Arrow or DuckDB reads is reported."""


def damaged_files(folder: Path, table: DeltaTable) -> list[Path]:
    """The data files of a local table that are missing, or whose content has changed.

    Args:
        folder: of the table.
        table: as it is now.
    """
    missing = [each.file for each in missing_files(folder, table)]
    paths = pa.table(table.get_add_actions())["path"].to_pylist()
    files = [folder / unquote(str(path)) for path in paths]
    there = [file for file in files if file not in missing]
    with ThreadPoolExecutor(_THREADS) as threads:
        intact = threads.map(_is_intact, there)
        return [*missing, *(file for file, good in zip(there, intact, strict=True) if not good)]


@contextmanager
def damage_is_named(*folders: Path | None) -> Iterator[None]:
    """Within the block rows of local tables are read, which may be found damaged midway.

    Arrow and DuckDB say what they cannot decode, not in which file: all files are verified then.

    Args:
        folders: of the tables; None of one that is not local.

    Raises:
        DamagedTable: reading failed, and this file is damaged; any other error as it was raised.
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
        # With a number it is the system's, which says what is wrong.
        return error.errno is None
    return isinstance(error, pa.ArrowException) or type(error).__name__ in _OF_DUCKDB


def _damaged_in(folder: Path) -> list[Path]:
    try:
        found = damaged_files(folder, DeltaTable(str(folder)))
    except (DeltaError, OSError):
        # Its log has another damage.
        return []
    return [file for file in found if file.exists()]


def _is_intact(file: Path) -> bool:
    try:
        return is_intact(file)
    except OSError:
        return False
