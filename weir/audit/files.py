"""Checks that logs and data files are as they were written, and that Weir made the commits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weir.audit.checked import CheckOf
from weir.expectations.damage import FILES_ARE_WHOLE, LOG_IS_WHOLE
from weir.expectations.suite import QualityResult
from weir.expected_errors import as_user_error
from weir.lake.damage.integrity import damaged_commits
from weir.lake.damage.step_back import step_back_text
from weir.lake.damage.storage_errors import with_addresses
from weir.lake.delta.commit_files import actions, commit_file
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import LEDGER_SUMMARY, RUNS

LOG = CheckOf(LOG_IS_WHOLE, "The commits that a reader needs are there and can be read.")
FILES = CheckOf(FILES_ARE_WHOLE, "Every data file is there, and its content is what was written.")
COMMITS = CheckOf(
    "commits_are_ours", "Every commit that changes rows says which run of Weir made it."
)
WATERMARKS = CheckOf("watermarks_grow", "No commit of a job goes back behind the one before it.")
_WITHOUT_METADATA = (RUNS.name, LEDGER_SUMMARY.name)


def file_results(lake: Lake, table: str) -> Iterator[QualityResult]:
    """Check the log, the files and the commits of a table; if the log is damaged, only it.

    Of a table in an object store, all files are brought again.
    """
    folder = lake.folder(table)
    with lake.using(table):
        lake.storage.bring_log(table)
    damages = [
        with_addresses(f"{damage.file}: {damage.what}") for damage in damaged_commits(folder)
    ]
    yield LOG.result(table, damages)
    if damages:
        return
    try:
        yield FILES.result(table, [with_addresses(str(file)) for file in lake.damaged_files(table)])
        yield COMMITS.result(table, [*_foreign_commits(lake, folder, table)])
        yield WATERMARKS.result(table, [*_steps_back(lake, table)])
    except Exception as error:
        expected = as_user_error(error)
        if expected is None:
            raise
        yield LOG.result(table, [f"{expected.where}: {expected.what}"])


def is_damage(result: QualityResult) -> bool:
    """Whether a result says that rows of its table cannot be read."""
    return not result.success and result.expectation in (LOG.name, FILES.name)


def _foreign_commits(lake: Lake, folder: Path, table: str) -> Iterator[str]:
    """The commits in the log by which other programs added or removed rows."""
    if table in _WITHOUT_METADATA:
        return
    for commit in lake.commits(table):
        if Metadata.from_json(commit.get("userMetadata")) is not None:
            continue
        file = folder / commit_file(commit["version"])
        try:
            with file.open("rb") as lines:
                changed = any(
                    kind in ("add", "remove") and value.get("dataChange", True)
                    for kind, value in actions(lines)
                )
        except FileNotFoundError:
            # Deleted: it is older than the last checkpoint.
            continue
        if changed:
            yield f"version {commit['version']} ({commit.get('operation')}) is of another program"


def _steps_back(lake: Lake, table: str) -> Iterator[str]:
    """The commits whose watermark is lower than an earlier one of the same job."""
    newer: dict[tuple[str, object], tuple[int, Metadata]] = {}
    for commit in lake.commits(table):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is None:
            continue
        key = metadata.job, metadata.extra.get("remote")
        if key in newer and (what := step_back_text(newer[key], commit["version"], metadata)):
            yield what
        newer[key] = commit["version"], metadata
