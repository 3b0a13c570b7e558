"""Keep the embedding tables of all registered queries complete up to the newest epoch.

For every query: read the changes since its watermark, compute the delta of its stored nodes, append
it in one commit that carries the new watermark. A query that is new, edited or behind a gap starts
over from the whole graph at the newest epoch, its base.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from itertools import chain

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.names import no_query
from weir.definitions.upstreams import all_upstreams_of
from weir.errors import WeirError, causes
from weir.ingest.older_tables import refuse_older_tables
from weir.ingest.undeclared import unusable
from weir.lake.counted import counted
from weir.maintain.damaged import damaged_queries
from weir.maintain.maintenance import Maintenance
from weir.maintain.outcome import MaintainResult, Outcome
from weir.maintain.run import Run
from weir.maintain.tasks import JOB, tasks_behind
from weir.progress.completion import Completion
from weir.progress.watermarks import require_graph
from weir.project import Project
from weir.stage import Progress, claimed, silent


def maintain_queries(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    retry: Collection[str] = (),
    only: Collection[str] | None = None,
) -> MaintainResult:
    """Bring every query's embedding table to the newest epoch.

    Args:
        project: whose queries are maintained.
        run_id: of this run in the ledger.
        progress: receives a line per step.
        retry: queries that are tried at once though they took more than a limit.
        only: the queries that are maintained, with those whose streams and graphs they read; None
            for all.

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
            raise no_query(settings, unknown[0], catalog.names)
        wrong = unusable(catalog, settings)
        result.failures += map(str, wrong.values())
        damaged = damaged_queries(completion, catalog.members)
        result.failures += [f"{name}: {error}" for name, error in damaged.items()]
        usable = [member for member in catalog.members if member.name not in {*wrong, *damaged}]
        run.totals |= {"to_epoch": last}
        limits, now = settings.limits.of_queries, datetime.now(UTC)
        outcome = Outcome(run, result, limits, completion.failed_attempts, now)
        if only is not None:
            usable = selected_with_upstreams(usable, only)
        behind = tasks_behind(completion, usable)
        put_off = {
            task.name for task in behind if task.name not in retry and outcome.puts_off(task)
        }
        tasks = [task for task in behind if task.name not in put_off]
        run_of_stage = Run(project, completion, outcome, progress)
        # What reads them would pass epochs whose rows come later.
        left_out = {*damaged, *wrong}
        Maintenance(run_of_stage, {task.name: task for task in tasks}, left_out).maintain(
            definition for definition in usable if definition.name not in put_off
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


def selected_with_upstreams(
    usable: Sequence[Definition], names: Collection[str]
) -> list[Definition]:
    """The definitions with these names, and those whose streams and graphs they depend on."""
    chosen = [definition for definition in usable if definition.name in names]
    wanted = {*names, *chain.from_iterable(map(all_upstreams_of, chosen))}
    return [definition for definition in usable if definition.name in wanted]
