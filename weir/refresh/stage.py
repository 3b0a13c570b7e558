"""Refresh: ask declared remotes for the keys that answers depend on, within their budgets.

An evaluation of a remote is a round in its inbox, `replicas/<remote>`; ingest makes an epoch of it
if it changes a mapping. Remotes are evaluated at whole multiples of `every`, each at most once:
what a killed run has begun, the next one continues with what is left of the budget.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
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
from weir.lake.tables import SERVICES
from weir.progress.completion import Completion
from weir.project import Project
from weir.refresh.traversals import RefreshedTraversal, refresh_traversal
from weir.remotes.connections import Credentials, credentials_of
from weir.remotes.current import services_of
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.documents import DocumentFetcher
from weir.remotes.evaluation import Clock, Open, RemoteEvaluation
from weir.remotes.fetching import Fetcher, sleep_for, utc_now
from weir.remotes.freshness_log import complete_freshness, record_freshness, worst_row
from weir.remotes.http.request import Secret
from weir.remotes.inbox import JOB
from weir.remotes.replica_inbox import RoundMark, replica_inbox, why_not_stored
from weir.remotes.request_log import RequestLog
from weir.remotes.schedule import asked_next, asking_queries, evaluation_at
from weir.remotes.unused import unused_patterns
from weir.remotes.wanted import Asker, askers
from weir.stage import Progress, StageResult, claimed, silent
from weir.text.near import meant
from weir.traversals.declarations import Traversal, load_traversals
from weir.traversals.evaluation import Fetch
from weir.traversals.fetching import page_fetcher
from weir.traversals.reading import ReadingOptions


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
    def name(self) -> str:
        """Its name."""
        return self.remote

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
    traversals: tuple[RefreshedTraversal, ...] = ()

    @property
    def did_something(self) -> bool:
        """Whether a remote or a traversal was evaluated."""
        return any(refreshed.is_new for refreshed in self.all)

    @property
    def all(self) -> tuple[RefreshedRemote | RefreshedTraversal, ...]:
        """What came of each remote and traversal."""
        return (*self.remotes, *self.traversals)

    @property
    def summary(self) -> str:
        """How many keys were answered, and how many answers changed."""
        rows = [row for refreshed in self.remotes if refreshed.is_new for row in refreshed.rows]
        asked, answered = (sum(row[name] for row in rows) for name in ("elected", "answered"))
        changed = sum(row["changed"] + row["gone"] for row in rows)
        remotes = counted(sum(refreshed.is_new for refreshed in self.remotes), "remote")
        texts = []
        if self.remotes or not self.traversals:
            texts.append(f"{remotes}: {answered:,} of {asked:,} keys answered, {changed:,} changed")
        if self.traversals:
            number = sum(refreshed.is_new for refreshed in self.traversals)
            pages = sum(refreshed.asked for refreshed in self.traversals)
            texts.append(f"{counted(number, 'traversal')}: {counted(pages, 'page')} asked for")
        return "; ".join(texts)

    @property
    def errors(self) -> tuple[WeirError, ...]:
        """Why remotes were not evaluated."""
        return tuple(refreshed.error for refreshed in self.all if refreshed.error is not None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with what was evaluated, a line each."""
        worst = ((refreshed.name, refreshed.worst) for refreshed in self.all if refreshed.is_new)
        return tuple(f"{name}: {row['reason']}" for name, row in worst if row and row["reason"])


@dataclass(slots=True)
class Surroundings:
    """What a refresh takes from outside of the project.

    Attributes:
        credentials: by name of the connection; others are looked up in the environment.
        clock: the time.
        open: makes what sends requests to a remote; by default over HTTP.
        fetch: asks for the pages of traversals; by default over HTTP.
    """

    credentials: Mapping[str, Credentials] = field(default_factory=dict)
    clock: Clock = field(default_factory=lambda: Clock(utc_now, sleep_for))
    open: Open | None = None
    fetch: Fetch | None = None

    def opened(self, remote: Remote, sent: Sequence[datetime]) -> Any:
        """What sends requests to a remote.

        Raises:
            ConfigurationError: its connection is not there.
        """
        if self.open is not None:
            return self.open(remote, sent)
        secret = self._secret(remote.connection)
        if remote.kind == "file":
            return DocumentFetcher(remote, self.clock.now, secret)
        return Fetcher(remote, secret, [*sent], self.clock.now, self.clock.sleep)

    def following_links(
        self, traversal: Traversal, options: ReadingOptions, seeds: Sequence[str], cache: Path
    ) -> AbstractContextManager[Fetch]:
        """What asks for the pages of a traversal, while a block runs.

        Args:
            traversal: whose pages.
            options: what is read of them.
            seeds: where it starts.
            cache: folder of what is kept for the next process.

        Raises:
            ConfigurationError: its connection is not there.
        """
        if self.fetch is not None:
            return nullcontext(self.fetch)
        secret = self._secret(traversal.connection)
        robots = cache / "robots"
        return page_fetcher(traversal, options, seeds, secret, self.clock.now, robots=robots)

    def _secret(self, connection: str | None) -> Secret | None:
        if connection is None:
            return None
        known = self.credentials.get(connection)
        given = known or credentials_of(connection, os.environ)
        return given.authorization(connection)


def refresh_remotes(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    names: Sequence[str] = (),
    surroundings: Surroundings | None = None,
) -> RefreshResult:
    """Evaluate the declared remotes and traversals that are due.

    Args:
        project: whose remotes are asked.
        run_id: of this run in the ledger.
        progress: receives a line per remote.
        names: of remotes and traversals; by default all.
        surroundings: the clock, secrets and the network.

    Raises:
        ConfigurationError: remotes.yml is wrong, or does not declare one of `names`; or a remote
            has the name of a source.
    """
    settings = project.settings
    check_names(settings)
    remotes = {remote.name: remote for remote in load_remotes(settings.remotes).values()}
    traversals = load_traversals(settings.traversals)
    declared = [*remotes, *traversals]
    unknown = [name for name in names if name not in declared]
    if unknown:
        raise ConfigurationError(
            f"there is no remote {unknown[0]}",
            str(settings.remotes),
            f"{meant(unknown[0], declared)}Remotes: {', '.join(declared) or 'none yet'}.",
        )
    around = surroundings or Surroundings()
    asked: list[RefreshedRemote] = []
    followed: list[RefreshedTraversal] = []
    for name in names or declared:
        try:
            if name in remotes:
                asked.append(_refresh(project, run_id, progress, remotes[name], around))
            else:
                own = traversals[name]
                followed.append(refresh_traversal(project, run_id, progress, own, around))
        except Exception as error:
            # Tables of one remote that are damaged keep no other one from being asked.
            expected = as_user_error(error)
            if expected is None:
                raise
            if name in remotes:
                asked.append(RefreshedRemote(name, None, False, error=expected))
            else:
                followed.append(RefreshedTraversal(name, None, False, error=expected))
    return RefreshResult(tuple(asked), tuple(followed))


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
        last = replica_inbox(remote.name).last(lake)
        if last is not None:
            # A run that was killed may have left the round without its rows.
            complete_freshness(lake, remote.name, last.mark, run_id)
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
        log = RequestLog.of_remote(lake, remote, evaluation, run_id, around.clock.now, version)
        with project.engine(JOB) as engine:
            mark = RemoteEvaluation(
                engine, lake, remote, listed, last, log, around.clock, around.opened
            ).run()
        record_freshness(lake, remote.name, mark, run_id)
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
    changed = {one.name: one.mark.changed_round for one in result.all if one.mark}
    nothing = SourcePosition()
    return any(round_ > ingested.get(name, nothing).round for name, round_ in changed.items())
