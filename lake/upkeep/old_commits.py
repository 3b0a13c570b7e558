"""Deleting commits that nobody reads any more, so that a commit costs the same after a year.

For each commit a local file system lists the whole folder of the log, 10 µs per file; an object
store lists only what follows the last checkpoint. So a local log is shortened after commits, a log
in an object store only by `compact_lake`.
"""

from __future__ import annotations

from contextlib import suppress

from pyarrow import fs

from weir.lake.damage.log_checks import forget_commits
from weir.lake.delta.commit_files import LOG, commit_file
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import Table

_AT_ONCE = 100
"""A log is shortened once it has so many commits more than it keeps."""
_DIGITS = 20
"""Digits of the version, with which names of commits and checkpoints start."""


def delete_old_commits_as_they_arise(lake: Lake, table: Table) -> int:
    """Shorten the log of a local table that has many commits more than it keeps.

    Returns:
        How many files were deleted.
    """
    folder, version = local_folder(lake.location(table.name)), lake.version(table.name)
    if table.log_commits is None or folder is None or version is None:
        return 0
    if not (folder / commit_file(version - table.log_commits - _AT_ONCE)).exists():
        return 0
    return delete_old_commits(lake, table.name, version - table.log_commits)


def delete_old_commits(lake: Lake, table_name: str, before: int) -> int:
    """Delete commits before the version `before`, as far as a checkpoint replaces them.

    From the last checkpoint up to `before` on, every version can still be read. The oldest files go
    first, so that a log that was shortened only in part has no gap.

    Returns:
        How many files were deleted, of commits and of earlier checkpoints.
    """
    if not lake.exists(table_name):
        return 0
    files = lake.files(table_name)
    versioned = [
        (int(file.base_name[:_DIGITS]), file)
        for file in files.get_file_info(fs.FileSelector(LOG))
        if file.is_file and file.base_name[:_DIGITS].isdigit()
    ]
    checkpoints = [version for version, file in versioned if ".checkpoint" in file.base_name]
    first = max((version for version in checkpoints if version <= before), default=0)
    old = sorted((version, file.path) for version, file in versioned if version < first)
    for _, path in old:
        # Another process may delete it at the same time.
        with suppress(FileNotFoundError):
            files.delete_file(path)
    folder = local_folder(lake.location(table_name))
    if old and folder is not None:
        forget_commits(folder, first)
    return len(old)
