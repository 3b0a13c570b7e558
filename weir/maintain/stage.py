"""Keep the embedding tables of all registered queries complete up to the newest epoch.

For every query: read the changes since its watermark, compute the delta of its stored nodes, append
it in one commit that carries the new watermark. A query that is new, edited or behind a gap starts
over from the whole graph at the newest epoch, its base.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from weir.catalog.catalog import Catalog
from weir.compute.session import Spark, session_of
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
from weir.settings import Settings
from weir.stage import Progress, claimed, run_stage, silent
from weir.text.near import meant


def maintain_queries(
    spark: Spark,
    settings: Settings,
    run_id: str,
    progress: Progress = silent,
    *,
    retry: Collection[str] = (),
) -> MaintainResult:
    """Bring every query's embedding table to the newest epoch.

    Args:
        spark: the session, or what starts it: few changes of a small graph need none.
        settings: where the lake and the queries are.
        run_id: of this run in the ledger.
        progress: receives a line per step.
        retry: queries that are tried at once though they took more than a limit.

    Raises:
        BusyError: another run maintains.
        ConfigurationError: there is no query of a name in `retry`.
        DamagedTable: a table of the graph is older than the others.
        WeirError: some queries could not be maintained; the others were.
    """
    session = session_of(spark)
    lake = settings.open_lake()
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
        result.errors += [str(error) for error in (*catalog.errors.values(), *wrong.values())]
        damaged = damaged_queries(completion, catalog.members)
        result.errors += [f"{name}: {error}" for name, error in damaged.items()]
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
        group = Group(session, settings, completion, outcome, progress)
        for at_one_epoch in groups(task for task in tasks if task.query.windowing is None):
            group.maintain(at_one_epoch)
        over_streams = StreamQueries(session, settings, lake, outcome, completion, progress)
        over_streams.maintain(
            [
                query
                for query in usable
                if query.windowing is not None and query.name not in put_off
            ],
            {task.query.name: task for task in tasks if task.query.windowing is not None},
            {*put_off, *damaged},
        )
        if result.errors:
            number = counted(len(result.errors), "query")
            raise WeirError(
                f"{number} could not be maintained:",
                "",
                "The others were maintained; correct these and run again.",
                parts=result.errors,
                done=result,
            ) from causes(result.causes)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point under spark-submit."""
    return run_stage(maintain_queries, JOB, __doc__, argv)
