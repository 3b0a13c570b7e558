"""Gives a query another name, with its tables and their history.

    copies of its tables    the new name gets the same versions of the same tables
    notifications           channels go on where they were with the old name
    runs                    what later runs need of the ledger, in one commit
    the file                by one rename
    the old tables          are deleted

Each step leaves a state that runs understand. Before the file is renamed, the copies are tables of
a query that is gone, and the query goes on under its old name; after it, those of the old name are.
Called again, it begins again, or deletes what is left: that tables are copies of others shows by
their Delta id.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from weir.definitions.catalog import registered
from weir.definitions.definition import Definition
from weir.definitions.names import Declaration, folders_of, is_declared
from weir.errors import ConfigurationError
from weir.lake.delta.commit import checkpoint, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import DROPPED, SUCCEEDED, LedgerRow, record
from weir.lake.ledger.summary import read_ledger
from weir.lake.names import Name
from weir.lake.tables import FAMILIES, NOTIFICATIONS, TableFamily
from weir.progress.completion import ABOUT_CURRENT
from weir.progress.notifications import BEGUN, Notifications
from weir.project import Project
from weir.settings import Settings
from weir.stage import Claim, Job, Progress, claimed, silent

_JOBS: Final[tuple[Job, ...]] = ("maintain", "validate", "publish", "notify", "compact")
"""A run in progress would go on with tables that are gone."""
_OF_QUERY: Final[tuple[TableFamily, ...]] = tuple(f for f in FAMILIES if f.one_per == "query")


def rename_query(project: Project, run_id: str, *, old: Name, new: Name) -> Path:
    """Rename a query or program: its file, its tables, and what runs know of it; gives the file.

    Its checks so far stay in `quality` under the old name, as do past runs in `runs`.

    Raises:
        BusyError: a run is in progress.
        ConfigurationError: there is no query of the old name, something has the new one, or it is
            one that cannot be renamed; nothing was changed.
    """
    settings, lake = project.settings, project.open_lake()
    if not _is_renamed(settings, old, new):
        # Before the claims: a name that is wrong is not a run that failed.
        _checked(settings, lake, old, new)
    with ExitStack() as claims:
        lease = settings.limits.lease_seconds
        held = {job: claims.enter_context(claimed(lake, job, run_id, lease)) for job in _JOBS}
        if _is_renamed(settings, old, new):
            file = registered(settings, new).file
            if any(_shared(lake, old, new)):
                # An earlier call died after it had renamed the file; a run may have made one of the
                # tables again.
                delete_tables(lake, held["maintain"], held["publish"], old)
                return file
        definition, file = _checked(settings, lake, old, new)
        if tables_of(lake, new):
            delete_tables(lake, held["maintain"], held["publish"], new)
        for family in _OF_QUERY:
            if lake.exists(family.name(old)):
                lake.copy(family.name(old), family.name(new))
                checkpoint(f"rename:after:{family.name(new)}")
        _copy_cursors(lake, run_id, old, new)
        record(lake, _rows(lake, held, run_id, old, new))
        definition.file.rename(file)
        checkpoint("rename:after:file")
        delete_tables(lake, held["maintain"], held["publish"], old)
    return file


def _is_renamed(settings: Settings, old: Name, new: Name) -> bool:
    """Whether the file has the new name already."""
    folders = folders_of(settings)
    return not is_declared(folders, old) and is_declared(folders, new)


def _checked(settings: Settings, lake: Lake, old: Name, new: Name) -> tuple[Definition, Path]:
    """A definition that can have a new name, and its file with that name."""
    definition, hint = registered(settings, old), "Take another name."
    file = definition.file.with_name(f"{new}{definition.kind.suffix}")
    Declaration(new, definition.kind, file).check_name()
    if any((folder / f"{new}{k.suffix}").exists() for k, folder in folders_of(settings).items()):
        raise ConfigurationError(f"{new} is declared already", str(file), hint)
    if not all(_shared(lake, new, old)):
        raise ConfigurationError(
            f"{new} has tables of a query that is gone", settings.lake, f"`weir drop {new}` first."
        )
    has_others = definition.services.remotes or definition.traversals
    if not definition.axis.has_states or definition.registration is not None or has_others:
        raise ConfigurationError(
            f"{old} reads streams, remotes or traversals, or gives a stream: what is stored beside"
            " its tables has its name",
            str(definition.file),
            f"Rename the file, and `weir drop {old}`: the answer begins again.",
        )
    for message in Notifications.read(lake).waiting:
        if any(commits.query == old for commits in message.about):
            raise ConfigurationError(
                f"a message about {old} to {message.channel} is not delivered yet",
                "",
                "`weir notify` delivers it.",
            )
    return definition, file


def tables_of(lake: Lake, name: str) -> list[str]:
    """The tables of a query that there are."""
    return [family.name(name) for family in _OF_QUERY if lake.exists(family.name(name))]


def _shared(lake: Lake, name: str, other: str) -> list[bool]:
    """Of each table of a name, whether it and that of another name are copies."""
    pairs = [(f.name(name), f.name(other)) for f in _OF_QUERY if lake.exists(f.name(name))]
    return [
        lake.exists(theirs)
        and lake.existing(own).metadata().id == lake.existing(theirs).metadata().id
        for own, theirs in pairs
    ]


def _copy_cursors(lake: Lake, run_id: str, old: str, new: str) -> None:
    """Let each channel go on from the version up to which it was notified."""
    nothing = dict.fromkeys(column.name for column in NOTIFICATIONS.columns)
    now = {"message": "", "status": BEGUN, "run_id": run_id, "recorded_at": datetime.now(UTC)}
    rows: list[dict[str, Any]] = [
        {
            **nothing,
            **now,
            "channel": channel,
            "query": new,
            "table_id": known.table_id,
            "to_version": known.version,
            "published_by": known.published_by,
        }
        for (channel, query), known in Notifications.read(lake).notified.items()
        if query == old
    ]
    if rows:
        write(lake, NOTIFICATIONS, rows, Metadata(run_id, "notify", 0))


def _rows(lake: Lake, held: dict[Job, Claim], run_id: str, old: str, new: str) -> list[LedgerRow]:
    """What later runs need of the ledger, of the new name; in the order of the old rows."""
    by_job: dict[str, int] = {job: claim.number for job, claim in held.items()}
    by_job[ABOUT_CURRENT] = held["publish"].number
    names = {own.name for own in fields(LedgerRow)}
    return [
        LedgerRow(
            **{name: value for name, value in row.items() if name in names}
            | {"query": new, "number": by_job[row["job"]], "run_id": run_id}
        )
        for row in read_ledger(lake).rows.to_pylist()
        if row["query"] == old and row["job"] in by_job
    ]


def delete_tables(
    lake: Lake, maintain: Claim, publish: Claim, query: str, deleted: Progress = silent
) -> None:
    """Delete the tables of a query: earlier rows about it do not count.

    Args:
        lake: has them.
        maintain: the claim of maintain.
        publish: the claim of publish.
        query: its name.
        deleted: called with each table.
    """
    rows = [
        LedgerRow(claim.run_id, job, claim.number, SUCCEEDED, query, DROPPED)
        for job, claim in ((ABOUT_CURRENT, publish), ("maintain", maintain))
    ]
    record(lake, rows)
    for table in tables_of(lake, query):
        lake.remove(table)
        checkpoint(f"drop:after:{table}")
        deleted(table)
