"""Rebuild tables that an audit finds wrong, if they follow from other tables.

`triples` follows from `quads`, embeddings from the graph, answers from embeddings. Answers are
corrected by signed rows, which the next run publishes: readers of their log see what was wrong.
Nothing is computed from a damaged log. With `from_sources`, a damaged log of the graph is rebuilt
from the sources; see `weir.audit.from_sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from weir.audit.files import file_results
from weir.audit.from_sources import RebuiltGraph, rebuilt_graph
from weir.audit.rebuild_folders import discard
from weir.audit.repairs import (
    Repair,
    correct,
    follows_from_sources,
    of_rebuilt,
    rebuild_triples,
    recompute,
    repairs,
)
from weir.audit.replacement import put_in_place
from weir.audit.stage import examined
from weir.definitions.catalog import Catalog
from weir.errors import QualityError, listed
from weir.lake.damage.storage_errors import DamagedTable, StorageError
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS, QUADS, TRIPLES, split_name
from weir.maintain.tasks import Start, start_again
from weir.progress.completion import Completion
from weir.progress.watermarks import head
from weir.project import Project
from weir.stage import Job, Progress, claimed, silent
from weir.validate.quality_results import record_results
from weir.validate.validation import Validation

_CLAIMS: tuple[Job, ...] = ("ingest", "maintain", "validate", "publish")
"""The stages that a repair excludes."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The repairs that were done, and the tables that cannot be repaired (`left`)."""

    done: tuple[Repair, ...] = ()
    left: tuple[Repair, ...] = ()


def repair_lake(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    full: bool = False,
    from_sources: bool = False,
    confirm: Callable[[Sequence[Repair]], bool] = lambda _: True,
) -> RepairResult:
    """Audit the lake, and rebuild what is wrong.

    Args:
        project: whose lake is rebuilt.
        run_id: of the run.
        progress: receives lines.
        full: whether the audit is a full one.
        from_sources: whether the log of the graph, if it is wrong, is rebuilt from the sources.
        confirm: is called with the planned repairs; if it returns false, nothing is done.

    Raises:
        BusyError: a stage is in progress.
        ConfigurationError: there is no lake; nothing is written.
        QualityError: some tables cannot be rebuilt; its `done` has the repairs of the others.
    """
    failed = examined(project, run_id, progress, full=full).failed
    lake, settings = project.open_lake(), project.settings
    with ExitStack() as claims:
        lease = settings.limits.lease_seconds
        held = {job: claims.enter_context(claimed(lake, job, run_id, lease)) for job in _CLAIMS}
        lake.refresh()
        completion, catalog = Completion.read(lake), Catalog.of(settings)
        computed = [name for name in catalog.names if catalog.is_usable(name)]
        readers = {
            name: catalog.member(name).reads
            for name in computed
            if lake.exists(EMBEDDINGS.name(name))
        }
        damaged = completion.damaged(readers)
        behind = [
            name
            for name in readers
            if name in damaged
            or (known := completion.maintained(name)) is None
            or known.epoch < completion.head
        ]
        starts = {name: start for name in readers if (start := _start(completion, catalog, name))}
        rebuilt: RebuiltGraph | None = None
        planned: list[Repair] = []
        of_graph = [result for result in failed if follows_from_sources(result)]
        if from_sources and of_graph:
            claims.callback(discard, lake)
            rebuilt = rebuilt_graph(project, run_id, progress)
            planned += of_rebuilt(of_graph, rebuilt, [*readers])
            failed = tuple(result for result in failed if result not in of_graph)
            starts = {}
        tables = {repair.table for repair in planned}
        others = repairs(failed, readers, behind, starts, computed)
        planned += [repair for repair in others if repair.table not in tables]
        possible = [repair for repair in planned if repair.action != "none"]
        left = tuple(repair for repair in planned if repair.action == "none")
        done: list[Repair] = []
        if possible and confirm(possible):
            for repair in possible:
                progress(f"{repair.table}: {repair.what}")
                _, query = split_name(repair.table)
                with project.engine("repair") as engine:
                    match repair.action:
                        case "rebuild graph":
                            assert rebuilt is not None, "it is planned"
                            put_in_place(lake, rebuilt, run_id)
                            _record_whole(lake, run_id, (QUADS.name, TRIPLES.name))
                        case "note":
                            pass
                        case "rebuild triples":
                            rows = settings.limits.rows_per_file
                            rebuild_triples(engine, lake, completion.head, rows)
                            _record_whole(lake, run_id, (TRIPLES.name,))
                        case "recompute":
                            recompute(engine, lake, completion, query, held["maintain"])
                        case "correct":
                            correct(engine, lake, completion, query, run_id)
                        case "remove":
                            lake.remove(repair.table)
                        case "none":
                            raise AssertionError("it is left")
                done.append(repair)
    result = RepairResult(tuple(done), left)
    if left:
        raise QualityError(
            "this cannot be rebuilt:",
            settings.lake,
            "Then run `weir audit`.",
            parts=listed((repair.table, repair.what) for repair in left),
            done=result,
        )
    return result


def _record_whole(lake: Lake, run_id: str, tables: Sequence[str]) -> None:
    """Record the checks of the files of rebuilt tables."""
    # If this fails, the next audit records it.
    with suppress(StorageError):
        results = [result for name in tables for result in file_results(lake, name)]
        of_tables = Validation("", 0, head(lake), tuple(results))
        record_results(lake, run_id, [of_tables], "audit")


def _start(completion: Completion, catalog: Catalog, query: str) -> Start | None:
    """Where a query starts if it is computed again; None if that is not known."""
    member = catalog.member(query)
    try:
        return start_again(completion, member)
    except DamagedTable:
        # Its answer, or the graph, is damaged.
        return None
