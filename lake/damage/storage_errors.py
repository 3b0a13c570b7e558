"""Failures of files and file systems as errors that say what is wrong, where, and what to do.

Python, Arrow, DuckDB, delta-rs and the JVM report the same failure in different ways, mostly with
an error number of the system in a text. Errors of other kinds are bugs, and stay as they are.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from weir.lake.damage.spark_errors import messages_of
from weir.lake.tables import FAMILIES

_NUMBER = re.compile(r"(?:os error |errno[ =]|Errno )(\d+)")
_PATH = re.compile(
    r"['\"]((?:[a-z0-9]+:)?/[^'\"]+)['\"]|((?:[a-z0-9]+:)?/\S*?\.(?:parquet|json))\b"
)
RESTORE = (
    "`weir audit` lists all that is damaged, and `weir repair` rebuilds what follows from other"
    " tables; restore the rest from a backup."
)
NO_FILE = "a folder is in the place of a file"
_AGAIN = "Then run again: what was committed is whole, and the run goes on from there."
_REASONS: Mapping[int, tuple[str, str]] = {
    errno.ENOSPC: ("the disk is full", f"Free some space. {_AGAIN}"),
    errno.EDQUOT: ("the quota of the disk is used up", f"Free some space. {_AGAIN}"),
    errno.EFBIG: (
        "a file would become too large",
        f"Raise the limit (`ulimit -f`). {_AGAIN}",
    ),
    errno.EROFS: ("the file system is read-only", f"Make it writable. {_AGAIN}"),
    errno.EACCES: ("permission denied", f"Grant access to the user who runs Weir. {_AGAIN}"),
    errno.EPERM: ("permission denied", f"Grant access to the user who runs Weir. {_AGAIN}"),
    errno.ENOTDIR: (
        "a file is where a folder is expected",
        "Remove the file, or correct `lake` in the configuration.",
    ),
    errno.EEXIST: (
        "a file is where a folder is expected",
        "Remove the file, or correct `lake` in the configuration.",
    ),
    errno.EISDIR: (NO_FILE, f"Remove the folder. {RESTORE}"),
    errno.EMFILE: ("too many files are open", f"Raise the limit (`ulimit -n 4096`). {_AGAIN}"),
    errno.ENFILE: ("too many files are open on this machine", f"Close other programs. {_AGAIN}"),
    errno.EIO: ("the disk reports an error", "Look at the log of the system before you go on."),
}
_MISSING = ("a file that the log of the table names is not there", RESTORE)
_DAMAGED = ("the file is damaged", RESTORE)
_NO_JARS = (
    "Spark lacks the jars for this object store",
    "For S3, run `weir setup-spark`; in a checkout, `make setup`. For others, name them in"
    " `spark.jars` (`[spark.conf]`).",
)
_TEXTS: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = (
    (
        re.compile(
            r"Class \S+FileSystem not found|No FileSystem for scheme|"
            r"NoClassDefFoundError: software/amazon/"
        ),
        _NO_JARS,
    ),
    (re.compile("No space left on device"), _REASONS[errno.ENOSPC]),
    (re.compile("Too many open files"), _REASONS[errno.EMFILE]),
    (re.compile("Read-only file system"), _REASONS[errno.EROFS]),
    (
        re.compile(
            r"No such file or directory|No files found that match|FileNotFound|"
            r"Object at location \S+ not found"
        ),
        _MISSING,
    ),
    (
        re.compile(
            "magic bytes|not a parquet file|thrift|CRC checksum|Corrupt |"
            "Parquet file size is|Unexpected end of stream|footer",
            re.IGNORECASE,
        ),
        _DAMAGED,
    ),
)
_GROUPS = frozenset(family.folder for family in FAMILIES)
"""The folders that hold one table per query, stream or remote."""
_INNER_FOLDERS = ("_delta_log", "_checksums")
"""The folders within a table."""
_DATA_FILES = (".parquet", ".unfinished")
"""The endings of data files: finished, and while they are written."""
_LIBRARIES = ("deltalake", "_internal", "pyarrow", "_duckdb", "py4j", "pyspark", "builtins")
"""The modules of errors that may be about files."""


_mirrors: dict[str, str] = {}
"""The addresses of object stores by the folders that are copies of them on this machine."""


def note_mirror(folder: Path, address: str) -> None:
    """Let errors name the files of a folder by the address of what they are copies of."""
    _mirrors[str(folder)] = address


class StorageError(Exception):
    """A table cannot be read or written, for a reason outside of Weir.

    Attributes:
        what: what is wrong, and in which table, if that is known.
        where: the file, or the folder of the table.
        hint: what to do.
    """

    def __init__(self, what: str, where: str, hint: str) -> None:
        self.what, self.where, self.hint = map(with_addresses, (what, where, hint))
        super().__init__(f"{self.where}: {self.what}. {self.hint}")


class DamagedTable(StorageError):  # noqa: N818  (named after what is wrong)
    """A file of a table is missing, or is not what was written."""


def with_addresses(text: str) -> str:
    """A text in which files have the addresses that users know, not those of copies."""
    for folder, address in _mirrors.items():
        text = text.replace(folder, address)
    return text


@contextmanager
def storage_errors(address: str) -> Iterator[None]:
    """A context for reading or writing a table: failures of files become `StorageError`.

    Args:
        address: folder or URI of the table.

    Raises:
        StorageError: files or the file system fail. Other errors pass unchanged.
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        failure = storage_error(error, address)
        if failure is None:
            raise
        raise failure from error


def storage_error(error: BaseException, address: str = "") -> StorageError | None:
    """An error of a library as a `StorageError`; None if it is not about files.

    Args:
        error: of any library.
        address: folder or URI of the table, if it is known.
    """
    if type(error).__module__.partition(".")[0] not in _LIBRARIES:
        return None
    text = "\n".join(messages_of(error))
    reason = _reason(error, text)
    if reason is None:
        return None
    match = _PATH.search(text)
    path = "" if match is None else (match[1] or match[2]).removeprefix("file:")
    named = getattr(error, "filename", None)
    file = path or (str(named) if named else "") or address
    what, hint = reason
    if reason in (_REASONS[errno.ENOTDIR], _REASONS[errno.EEXIST]):
        in_the_way = _file_among_folders(file)
        if in_the_way:
            return StorageError(what, in_the_way, hint)
    table = table_of(file if path else address or file)
    return StorageError(f"{what} (table {table})" if table else what, file, hint)


def _reason(error: BaseException, text: str) -> tuple[str, str] | None:
    number = error.errno if isinstance(error, OSError) else None
    match = _NUMBER.search(text)
    if number is None and match is not None:
        number = int(match[1])
    if number is not None and number in _REASONS:
        return _REASONS[number]
    if type(error).__module__ == "builtins" and not isinstance(error, OSError):
        # Arrow raises some errors of Python; those about files have the number.
        return None
    if isinstance(error, OSError) and not _is_of_a_table(text):
        return None
    return next((reason for pattern, reason in _TEXTS if pattern.search(text)), None)


def _is_of_a_table(text: str) -> bool:
    return ".parquet" in text or "_delta_log" in text


def _file_among_folders(path: str) -> str:
    """The first part of a path, from the root, that is a file instead of a folder; or empty."""
    own = Path(path)
    return next((str(part) for part in (*reversed(own.parents), own) if part.is_file()), "")


def table_of(file: str) -> str:
    """The name of the table that a file or folder belongs to; empty if it is not known."""
    parts = PurePosixPath(file).parts
    inner = [parts.index(name) for name in _INNER_FOLDERS if name in parts]
    if inner:
        parts = parts[: min(inner)]
    elif file.endswith(_DATA_FILES):
        parts = parts[:-1]
    if len(parts) > 1 and parts[-2] in _GROUPS:
        return "/".join(parts[-2:])
    return parts[-1] if parts else ""
