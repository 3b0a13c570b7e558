"""Commits that go back: complete up to an earlier epoch than a commit of the same job before them.

No run makes such a commit. It is a copy of an earlier commit, or two commits were swapped, by a
restored backup or a failed synchronisation. Going on from it would repeat the work of the commits
between.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from weir.lake.damage.storage_errors import DamagedTable, table_of
from weir.lake.delta.metadata import BEGUN_TO, DISCARDS, LOG_ID, WHOLE_STATE, Metadata

_COMPARED = 8
"""How many commits before the newest of a job are searched for the one before it."""


def steps_back(newer: Metadata, older: Metadata) -> bool:
    """Whether a commit goes back behind an older one of the same job and remote."""
    if newer.job != older.job or newer.extra.get("remote") != older.extra.get("remote"):
        return False
    begins = newer.job == "maintain" and newer.mode in WHOLE_STATE
    may_go_back = begins or newer.mode == DISCARDS or _is_of_a_later_log(newer, older)
    return newer.watermark < older.watermark and not may_go_back


def _is_of_a_later_log(newer: Metadata, older: Metadata) -> bool:
    """Whether a log was begun again, by several commits, after an older commit."""
    is_another = newer.extra.get(LOG_ID) != older.extra.get(LOG_ID)
    return is_another and older.watermark <= int(newer.extra.get(BEGUN_TO, -1))


def step_back_text(newer: tuple[int, Metadata], version: int, older: Metadata) -> str | None:
    """How a commit goes back behind an older one, in words; None if it does not.

    Args:
        newer: version and metadata of the newer commit.
        version: of the older commit.
        older: metadata of the older commit.
    """
    if not steps_back(newer[1], older):
        return None
    return (
        f"version {newer[0]} is complete up to epoch {newer[1].watermark}, and version"
        f" {version} before it up to {older.watermark}"
    )


def refuse_step_back(
    address: str, newer: tuple[int, Metadata], version: int, older: Metadata
) -> None:
    """Refuse a commit that goes back behind an older one.

    Args:
        address: of the table.
        newer: version and metadata of the newer commit.
        version: of the older commit.
        older: metadata of the older commit.

    Raises:
        DamagedTable: it goes back.
    """
    what = step_back_text(newer, version, older)
    if what is not None:
        raise DamagedTable(
            f"{what}: it is a copy of an earlier commit, or in the place of another"
            f" (table {table_of(address)})",
            address,
            "Restore its log from a backup.",
        )


def newest_commit_of(
    address: str, commits: Iterable[tuple[int, Metadata | None]], job: str | None
) -> tuple[int, Metadata] | None:
    """The newest commit with metadata of Weir, and its version; None if there is none.

    Args:
        address: of the table.
        commits: versions and metadata, newest first; read no further than needed.
        job: only commits of this job count; None for all jobs.

    Raises:
        DamagedTable: it goes back behind the commit of its job before it.
    """
    left = iter(commits)
    of_job = (
        (version, metadata)
        for version, metadata in left
        if metadata is not None and job in (None, metadata.job)
    )
    newest = next(of_job, None)
    if newest is None:
        return None
    for version, older in islice(left, _COMPARED):
        if older is not None and older.job == newest[1].job:
            refuse_step_back(address, newest, version, older)
            break
    return newest
