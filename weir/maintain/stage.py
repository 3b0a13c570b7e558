"""Keep the embedding tables of all registered queries complete up to the newest epoch.

For every query: read the changes since its watermark, compute the delta of its stored nodes, append
it in one commit that carries the new watermark. A query that is new, edited or behind a gap starts
over from the whole graph at the newest epoch, its base.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from weir.catalog.catalog import Catalog
from weir.errors import ConfigurationError, WeirError, causes
from weir.ingest.older_tables import refuse_older_tables
from weir.ingest.undeclared import undeclared
from weir.lake.counted import counted
from weir.maintain.damaged import damaged_queries
from weir.maintain.group import Group
from weir.maintain.outcome import MaintainResult, Outcome
from weir.maintain.stream_queries import StreamQueries
from weir.maintain.tasks import JOB, groups, tasks_behind
from weir.progress.completion import Completion
from weir.progress.watermarks import require_graph
from weir.project import Project
from weir.stage import Progress, claimed, silent
from weir.text.near import meant


def maintain_queries(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    retry: Collection[str] = (),
) -> MaintainResult:
    """Bring every query's embedding table to the newest epoch.

    Args:
        project: whose queries are maintained.
        run_id: of this run in the ledger.
        progress: receives a line per step.
        retry: queries that are tried at once though they took more than a limit.

    Raises:
        BusyError: another run maintains.
        ConfigurationError: there is no query of a name in `retry`.
        DamagedTable: a table of the graph is older than the others.
        WeirError: some queries could not be maintained; the others were.
    """
    lake, settings = project.open_lake(), project.settings
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        require_graph(lake)
        refuse_older_tables(lake)
        last = completion.head
        result = MaintainResult(last)
        progress("reading the queries")
        catalog = Catalog.of(settings)
        unknown = sorted({*retry} - {query.name for query in catalog.members} - {*catalog.errors})
        if unknown:
            raise ConfigurationError(
                f"there is no query {', '.join(unknown)}",
                str(settings.queries),
                f"{meant(unknown[0], catalog.names)}`weir status` lists them.",
            )
        wrong = undeclared(catalog.members, settings)
        result.failures += [str(error) for error in (*catalog.errors.values(), *wrong.values())]
        damaged = damaged_queries(completion, catalog.members)
        result.failures += [f"{name}: {error}" for name, error in damaged.items()]
        usable = [each for each in catalog.members if each.name not in {*wrong, *damaged}]
        run.totals |= {"to_epoch": last}
        limits, now = settings.limits.of_queries, datetime.now(UTC)
        outcome = Outcome(run, result, limits, completion.failed_attempts, now)
        behind = tasks_behind(completion, usable)
        put_off = {
            task.query.name
            for task in behind
            if task.query.name not in retry and outcome.puts_off(task)
        }
        tasks = [task for task in behind if task.query.name not in put_off]
        group = Group(project, completion, outcome, progress)
        for at_one_epoch in groups(task for task in tasks if task.query.windowing is None):
            group.maintain(at_one_epoch)
        over_streams = StreamQueries(project, outcome, completion, progress)
        over_streams.maintain(
            [
                query
                for query in usable
                if query.windowing is not None and query.name not in put_off
            ],
            {task.query.name: task for task in tasks if task.query.windowing is not None},
            {*put_off, *damaged},
        )
        if result.failures:
            number = counted(len(result.failures), "query")
            raise WeirError(
                f"{number} could not be maintained:",
                "",
                "The others were maintained; correct these and run again.",
                parts=result.failures,
                done=result,
            ) from causes(result.causes)
    return result
