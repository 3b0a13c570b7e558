"""Refresh: ask declared remotes for the keys that answers depend on, within their budgets.

An evaluation of a remote is a round in its inbox, `replicas/<remote>`; ingest makes an epoch of it
if it changes a mapping. Remotes are evaluated at whole multiples of `every`, each at most once:
what a killed run has begun, the next one continues with what is left of the budget.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from weir.errors import ConfigurationError, WeirError
from weir.expected_errors import as_user_error
from weir.ingest.changesets import SourcePosition
from weir.ingest.older_tables import refuse_older_inbox
from weir.ingest.pending import source_positions
from weir.ingest.sources.all_sources import check_names
from weir.lake.counted import counted
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import microseconds
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, SERVICES
from weir.progress.completion import Completion
from weir.project import Project
from weir.remotes.connections import Credentials, credentials_of
from weir.remotes.current import services_of
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.documents import DocumentFetcher
from weir.remotes.evaluation import Clock, Open, RemoteEvaluation
from weir.remotes.fetching import Fetcher, sleep_for, utc_now
from weir.remotes.inbox import JOB, RoundMark, last_round, why_not_stored
from weir.remotes.request_log import RequestLog
from weir.remotes.schedule import asked_next, asking_queries, evaluation_at
from weir.remotes.states import Missed, severity
from weir.remotes.unused import unused_patterns
from weir.remotes.wanted import Asker, askers
from weir.stage import Progress, StageResult, claimed, silent
from weir.text.near import meant

_NEWEST = 32
"""Commits of `freshness` that are looked at for the last round of a remote."""


@dataclass(frozen=True, slots=True)
class RefreshedRemote:
    """What came of a remote.

    Attributes:
        remote: its name.
        mark: its newest round; None before the first one.
        is_new: whether this run made it.
        next_at: when it is asked next, if a query still asks it.
        error: why it was not evaluated.
    """

    remote: str
    mark: RoundMark | None
    is_new: bool
    next_at: datetime | None = None
    error: WeirError | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of its newest round, one per pattern."""
        return [] if self.mark is None else self.mark.rows

    @property
    def worst(self) -> Mapping[str, Any] | None:
        """The row whose state is the worst; None before the first round."""
        return worst_row(self.rows)


@dataclass(frozen=True, slots=True)
class RefreshResult(StageResult):
    """What a run refreshed, by remote."""

    remotes: tuple[RefreshedRemote, ...] = ()

    @property
    def did_something(self) -> bool:
        """Whether a remote was evaluated."""
        return any(refreshed.is_new for refreshed in self.remotes)

    @property
    def summary(self) -> str:
        """How many keys were answered, and how many answers changed."""
        rows = [row for refreshed in self.remotes if refreshed.is_new for row in refreshed.rows]
        asked, answered = (sum(row[name] for row in rows) for name in ("elected", "answered"))
        changed = sum(row["changed"] + row["gone"] for row in rows)
        remotes = counted(sum(refreshed.is_new for refreshed in self.remotes), "remote")
        return f"{remotes}: {answered:,} of {asked:,} keys answered, {changed:,} changed"

    @property
    def errors(self) -> tuple[WeirError, ...]:
        """Why remotes were not evaluated."""
        return tuple(remote.error for remote in self.remotes if remote.error is not None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the remotes that were evaluated, a line each."""
        worst = ((remote.remote, remote.worst) for remote in self.remotes if remote.is_new)
        return tuple(f"{name}: {row['reason']}" for name, row in worst if row and row["reason"])


@dataclass(slots=True)
class Surroundings:
    """What a refresh takes from outside of the project.

    Attributes:
        credentials: by name of the connection; others are looked up in the environment.
        clock: the time.
        open: makes what sends requests to a remote; by default over HTTP.
    """

    credentials: Mapping[str, Credentials] = field(default_factory=dict)
    clock: Clock = field(default_factory=lambda: Clock(utc_now, sleep_for))
    open: Open | None = None

    def opened(self, remote: Remote, sent: Sequence[datetime]) -> Any:
        """What sends requests to a remote.

        Raises:
            ConfigurationError: its connection is not there.
        """
        if self.open is not None:
            return self.open(remote, sent)
        secret = None
        if remote.connection is not None:
            known = self.credentials.get(remote.connection)
            given = known or credentials_of(remote.connection, os.environ)
            secret = given.authorization(remote.connection)
        if remote.kind == "file":
            return DocumentFetcher(remote, self.clock.now, secret)
        return Fetcher(remote, secret, [*sent], self.clock.now, self.clock.sleep)


def refresh_remotes(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    names: Sequence[str] = (),
    surroundings: Surroundings | None = None,
) -> RefreshResult:
    """Evaluate the declared remotes that are due.

    Args:
        project: whose remotes are asked.
        run_id: of this run in the ledger.
        progress: receives a line per remote.
        names: of remotes; by default all.
        surroundings: the clock, secrets and the network.

    Raises:
        ConfigurationError: remotes.yml is wrong, or does not declare one of `names`; or a remote
            has the name of a source.
    """
    settings = project.settings
    check_names(settings)
    declared = {remote.name: remote for remote in load_remotes(settings.remotes).values()}
    unknown = [name for name in names if name not in declared]
    if unknown:
        raise ConfigurationError(
            f"there is no remote {unknown[0]}",
            str(settings.remotes),
            f"{meant(unknown[0], declared)}Remotes: {', '.join(declared) or 'none yet'}.",
        )
    around = surroundings or Surroundings()
    refreshed = []
    for name in names or declared:
        try:
            refreshed.append(_refresh(project, run_id, progress, declared[name], around))
        except Exception as error:
            # Tables of one remote that are damaged keep no other one from being asked.
            expected = as_user_error(error)
            if expected is None:
                raise
            refreshed.append(RefreshedRemote(name, None, False, error=expected))
    return RefreshResult(tuple(refreshed))


def _refresh(
    project: Project,
    run_id: str,
    progress: Progress,
    remote: Remote,
    around: Surroundings,
) -> RefreshedRemote:
    lake, settings = project.open_lake(), project.settings
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds, of=remote.name) as run:
        refuse_older_inbox(lake, remote.name)
        last = last_round(lake, remote.name)
        if last is not None:
            # A run that was killed may have left the round without its rows.
            _complete_freshness(lake, remote.name, last.mark, run_id)
        evaluation = evaluation_at(remote, last.mark if last else None, around.clock.now())
        if last is not None and last.mark.evaluation == microseconds(evaluation):
            next_at = asked_next(remote, evaluation, last.mark.rows)
            progress(f"{remote.name}: evaluated for {evaluation:%H:%M:%S}, next {next_at:%H:%M:%S}")
            return RefreshedRemote(remote.name, last.mark, False, next_at)
        completion = Completion.read(lake)
        listed = askers(asking_queries(settings), completion, remote.term)
        asked = {asker.block.pattern for asker in listed}
        now, mark = around.clock.now(), last.mark if last else None
        if not listed and not unused_patterns(remote, mark, asked, now):
            progress(f"{remote.name}: no maintained query asks it")
            return RefreshedRemote(remote.name, mark, False)
        services = services_of(lake)
        if reason := why_not_stored(lake, remote, services):
            raise ConfigurationError(reason, str(settings.remotes))
        _record_services(lake, remote, listed, services, around.clock.now(), run_id)
        progress(f"{remote.name}: asking it for {counted(len(asked), 'pattern')}")
        version = last.mark.requests_version if last else -1
        log = RequestLog.since(lake, remote, evaluation, run_id, around.clock.now, version)
        with project.engine(JOB) as engine:
            mark = RemoteEvaluation(
                engine, lake, remote, listed, last, log, around.clock, around.opened
            ).run()
        _record_freshness(lake, remote.name, mark, run_id)
        rows = mark.rows
        run.totals |= {
            "rows_in": sum(row["answered"] for row in rows),
            "rows_out": sum(row["changed"] + row["gone"] for row in rows),
        }
        progress(_summary(remote, rows))
        return RefreshedRemote(remote.name, mark, True, asked_next(remote, evaluation, rows))


def _record_services(
    lake: Lake,
    remote: Remote,
    listed: Sequence[Asker],
    services: Sequence[Mapping[str, Any]],
    now: datetime,
    run_id: str,
) -> None:
    """Add the patterns that `services` does not have of the remote."""
    known = {row["pattern"] for row in services if row["remote"] == remote.name}
    new = {asker.block.pattern: asker.block for asker in listed if asker.block.pattern not in known}
    if not new:
        return
    rows = [
        {
            "pattern": block.pattern,
            "remote": remote.name,
            "iri": block.remote,
            "text": block.text,
            "variables": json.dumps(block.variables),
            "certain": json.dumps(sorted(block.certain)),
            "key": json.dumps(block.key),
            "first_seen": now,
            "run_id": run_id,
        }
        for block in new.values()
    ]
    write(lake, SERVICES, rows, Metadata(run_id, JOB, watermark=0))


def _complete_freshness(lake: Lake, remote: str, mark: RoundMark, run_id: str) -> None:
    """Add the rows of an earlier round to `freshness` unless they are there."""
    for commit in islice(lake.commits(FRESHNESS.name), _NEWEST):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.extra.get("remote") == remote:
            if metadata.watermark < mark.round:
                break
            return
    else:
        # Other remotes have had so many rounds meanwhile that the table itself is looked at.
        of_round = [("remote", "=", remote), ("round", "=", mark.round)]
        if lake.exists(FRESHNESS.name) and lake.rows(FRESHNESS.name, ["round"], of_round).num_rows:
            return
    _record_freshness(lake, remote, mark, run_id)


def _record_freshness(lake: Lake, remote: str, mark: RoundMark, run_id: str) -> None:
    """Add the rows of a round to `freshness`."""
    rows = mark.rows
    if rows:
        metadata = Metadata(run_id, JOB, watermark=mark.round, extra={"remote": remote})
        # A table of an earlier version of Weir gets the columns that are new.
        write(lake, FRESHNESS, rows, metadata, merge_schema=True)


def worst_row(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Of the rows of a round the one whose state is the worst; None if there is none."""
    return max(rows, key=lambda row: severity(row["state"], Missed.of(row)), default=None)


def _summary(remote: Remote, rows: Sequence[Mapping[str, Any]]) -> str:
    elected, answered, changed, gone = (
        sum(row[name] for row in rows) for name in ("elected", "answered", "changed", "gone")
    )
    worst = worst_row(rows)
    reason = f"; {worst['reason']}" if worst and worst["reason"] else ""
    counts = f"{answered} of {elected} keys answered, {changed + gone} changed"
    return f"{remote.name}: {counts}{reason}"


def has_rounds_to_ingest(project: Project, result: RefreshResult) -> bool:
    """Whether a round of a remote changes a mapping and is no epoch yet."""
    ingested = source_positions(project.open_lake())
    changed = {
        refreshed.remote: refreshed.mark.changed_round
        for refreshed in result.remotes
        if refreshed.mark
    }
    return any(round_ > _ingested_round(ingested.get(name)) for name, round_ in changed.items())


def _ingested_round(position: SourcePosition | None) -> int:
    return 0 if position is None or position.last is None else int(position.last)
