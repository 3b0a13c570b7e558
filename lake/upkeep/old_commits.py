"""Deleting commits that nobody reads any more, so that a commit costs the same after a year.

For each commit delta-rs lists the whole folder of the log, 10 µs per file. So the log of a lake in
a folder is shortened after commits. Of a log in an object store a process has the newest part only;
`compact_lake` shortens it.
"""

from __future__ import annotations

from weir.lake.damage.log_checks import forget_commits
from weir.lake.delta.commit_files import commit_file, version_of
from weir.lake.lake import Lake
from weir.lake.tables import Table

_AT_ONCE = 100
"""A log is shortened once it has so many commits more than it keeps."""


def delete_old_commits_as_they_arise(lake: Lake, table: Table) -> int:
    """Shorten the log of a local table that has many commits more than it keeps.

    Returns:
        How many files were deleted.
    """
    version = lake.version(table.name)
    if table.log_commits is None or version is None:
        return 0
    if not (lake.folder(table.name) / commit_file(version - table.log_commits - _AT_ONCE)).exists():
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
    versioned = [
        (version, name)
        for name in lake.storage.log_files(table_name)
        if (version := version_of(name)) is not None
    ]
    checkpoints = [version for version, name in versioned if ".checkpoint" in name]
    first = max((version for version in checkpoints if version <= before), default=0)
    old = sorted((version, name) for version, name in versioned if version < first)
    lake.storage.delete_log_files(table_name, [name for _, name in old])
    if old:
        forget_commits(lake.folder(table_name), first)
    return len(old)
