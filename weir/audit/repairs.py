"""Which damaged tables can be rebuilt from the rest of the lake, and how."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from weir.audit.checked import table_of
from weir.audit.files import FILES, LOG, is_damage
from weir.audit.from_sources import RebuiltGraph
from weir.audit.graph import union_query
from weir.audit.sources import SOURCES
from weir.compute.engine import Engine
from weir.compute.sql import column, number, rows_of, select
from weir.expectations.suite import QualityResult
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.commit import write
from weir.lake.delta.file_commits import Replacement, files_of
from weir.lake.delta.file_commits import replace as replace_files
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import REMOVED, SUCCEEDED, LedgerRow, record
from weir.lake.tables import (
    ANSWERS,
    CURRENT,
    DERIVED,
    EMBEDDINGS,
    LEDGER_SUMMARY,
    QUADS,
    TRANSACTIONS,
    TRIPLES,
    answers,
    split_name,
)
from weir.lake.upkeep.consolidated import consolidated_until, note_consolidation
from weir.lake.upkeep.maintenance import Snapshot, rearrange
from weir.maintain.tasks import Start
from weir.progress.backlog import REPAIRED
from weir.progress.completion import Completion
from weir.stage import Claim

Action = Literal[
    "rebuild graph", "rebuild triples", "recompute", "correct", "remove", "note", "none"
]
_GRAPH = (QUADS.name, TRANSACTIONS.name)
_LOGS = (QUADS.name, TRIPLES.name)
_EDITED = "the source has other content than was read: give what it has now as a new version"
_BACKUP = "it does not follow from other tables: restore it from a backup"
_FROM_SOURCES = f"{_BACKUP}, or have `weir repair --from-sources` rebuild it from the sources"
_NOT_COMPUTED = (
    "no run computes the query, which is broken or removed: correct its file, then repair;"
    " or `weir drop {}` ends its history"
)
_COUNTS = "counts_agree_with_quads"
"""The check of `transactions` that fails where `quads` is wrong."""


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of a table.

    Attributes:
        table: its name.
        action: `none` if it cannot be repaired, `note` if another repair includes it.
        what: the action, and what is lost, in words.
    """

    table: str
    action: Action
    what: str


def repairs(
    failed: Sequence[QualityResult],
    readers: Mapping[str, Collection[str]],
    behind: Sequence[str],
    starts: Mapping[str, Start],
    computed: Collection[str],
) -> list[Repair]:
    """The repairs, at most one per table, in the order in which they have to be done.

    Args:
        failed: the failed checks.
        readers: the queries with tables, each with the logs that it reads.
        behind: the queries that have not processed the newest epoch.
        starts: where queries start if they are computed again, as far as it is known.
        computed: the queries that runs compute: neither removed nor broken.
    """
    checks: dict[str, set[str]] = {}
    for result in failed:
        checks.setdefault(table_of(result), set()).add(result.expectation)
    damaged = {
        table_of(result): result.detail.splitlines()[0]
        for result in reversed(failed)
        if is_damage(result) and result.detail
    }
    graph_is_right = not any(checks.get(name, set()) - {SOURCES.name} for name in _GRAPH)
    planned = {
        repair.table: repair for repair in _of_tables(checks, graph_is_right, starts, computed)
    }
    triples = planned.get(TRIPLES.name)
    if triples is not None and triples.action == "rebuild triples":
        # Wrong rows may have been read since; lost rows cannot have been.
        only_lost = checks[TRIPLES.name] <= {FILES.name}
        for query, logs in readers.items():
            if TRIPLES.name in logs and (query in behind or not only_lost):
                planned[EMBEDDINGS.name(query)] = _recomputed(query, starts.get(query))
    return [
        replace(repair, what=f"{repair.what} ({damaged[repair.table]})")
        if repair.action == "none" and repair.table in damaged
        else repair
        for repair in planned.values()
    ]


def follows_from_sources(result: QualityResult) -> bool:
    """Whether a failed check will pass once the log of the graph is rebuilt from the sources."""
    table = table_of(result)
    return table in _LOGS or (table == TRANSACTIONS.name and result.expectation == _COUNTS)


def of_rebuilt(
    failed: Sequence[QualityResult], rebuilt: RebuiltGraph, readers: Collection[str]
) -> list[Repair]:
    """The repairs if the log of the graph is rebuilt from the sources.

    Args:
        failed: the failed checks of the log.
        rebuilt: the rebuilt log.
        readers: the queries with embeddings.
    """
    notes = [Repair(QUADS.name, "note", str(source)) for source in rebuilt.sources]
    planned = [Repair(QUADS.name, "rebuild graph", rebuilt.what), *notes]
    # Wrong rows may have been read since; lost rows cannot have been.
    only_lost = {result.expectation for result in failed} <= {FILES.name, LOG.name}
    if not (only_lost or rebuilt.corrected):
        planned += [_recomputed(query, None) for query in readers]
    return planned


def _of_tables(
    checks: Mapping[str, set[str]],
    graph_is_right: bool,
    starts: Mapping[str, Start],
    computed: Collection[str],
) -> Iterator[Repair]:
    # The logs of the graph first: what follows from them is computed from them.
    for table in sorted(checks, key=lambda name: (name != TRIPLES.name, name)):
        kind, query = split_name(table)
        has_log = LOG.name not in checks[table]
        if table == LEDGER_SUMMARY.name or kind in (CURRENT.folder, DERIVED.folder):
            yield Repair(table, "remove", "it is removed; the next run writes it again")
        elif checks[table] == {SOURCES.name}:
            yield Repair(table, "none", _EDITED)
        elif table in _GRAPH or kind not in (TRIPLES.name, EMBEDDINGS.folder, ANSWERS.folder):
            from_sources = table in _LOGS or checks[table] == {_COUNTS}
            yield Repair(table, "none", _FROM_SOURCES if from_sources else _BACKUP)
        elif not graph_is_right:
            yield Repair(table, "none", "it follows from the graph, whose log is damaged")
        elif query and query not in computed and ANSWERS.name(query) in checks:
            # Its damaged rows would be removed, and no run would publish the right ones.
            yield Repair(table, "none", _NOT_COMPUTED.format(query))
        elif kind == EMBEDDINGS.folder:
            yield _recomputed(query, starts.get(query))
        elif not has_log:
            hint = f"; or `weir drop {query}` ends its history" if query else ""
            yield Repair(table, "none", f"its log is damaged: restore it from a backup{hint}")
        elif kind == TRIPLES.name:
            yield Repair(table, "rebuild triples", "it is computed again from quads")
        else:
            lost = FILES.name in checks[table]
            what = "the next run publishes the difference to the right answer"
            if lost:
                what += "; single changes in its damaged files are lost"
            yield Repair(table, "correct", what)


def _recomputed(query: str, start: Start | None) -> Repair:
    what = "it is removed; the next run computes it from the graph"
    if start is not None:
        what += f" as of epoch {start.epoch} and goes on epoch by epoch"
    what += ", and publishes the difference"
    if start is not None and start.merged:
        what += f"; {start.merged}"
    return Repair(EMBEDDINGS.name(query), "recompute", what)


def rebuild_triples(engine: Engine, lake: Lake, head: int, rows_per_file: int) -> None:
    """Replace all rows of `triples` by the union of `quads`; change feeds do not show it."""
    engine.query("rebuilt_triples", union_query(head), "cache")
    note_consolidation(lake, TRIPLES.name, consolidated_until(lake, QUADS.name))
    files = -(-engine.count("rebuilt_triples") // rows_per_file) or 1
    snapshot = Snapshot.newest(lake, TRIPLES.name)
    rearrange(engine.frame("rebuilt_triples"), lake, TRIPLES, files, snapshot)


def recompute(engine: Engine, lake: Lake, completion: Completion, query: str, run: Claim) -> None:
    """Make the next run compute a query from the graph, and publish the difference.

    Args:
        engine: reads the answer.
        lake: has the tables.
        completion: of the lake.
        query: its name.
        run: the claim of maintain.
    """
    table = EMBEDDINGS.name(query)
    _note_embeddings(lake, completion, query, run)
    # Nothing can be appended to an unreadable answer before it is restored.
    with suppress(DamagedTable):
        if completion.published(query) is not None:
            correct(engine, lake, completion, query, run.run_id)
    # Last: if the repair is killed before, the next audit still finds the wrong embeddings.
    lake.remove(table)


def _note_embeddings(lake: Lake, completion: Completion, query: str, run: Claim) -> None:
    """Record the last commit of the embeddings, which says where the answers of a query begin.

    The ledger may lack it if the run that made the commit was killed.
    """
    with suppress(DamagedTable):
        known = completion.maintained(query)
        if known is None:
            return
        row = LedgerRow(
            run.run_id,
            run.job,
            run.number,
            SUCCEEDED,
            query,
            REMOVED,
            "a repair removed its embeddings",
            table_version=known.version,
            commit_metadata=known.metadata.to_json(),
        )
        record(lake, [row])


def correct(engine: Engine, lake: Lake, completion: Completion, query: str, run_id: str) -> None:
    """Remove damaged files from an answer, and make the next run publish the difference."""
    table, published = ANSWERS.name(query), completion.published(query)
    assert published is not None, "it is published"
    stored = lake.existing(table)
    damaged = {file.name for file in lake.damaged_files(table)}

    def without_damaged(newest: object) -> Replacement | None:
        del newest
        removed = [
            stored_file
            for stored_file in files_of(stored)
            if stored_file[0].rpartition("/")[2] in damaged
        ]
        return Replacement(removed, (), changes_data=True) if removed else None

    metadata = Metadata(run_id, "repair", published.metadata.watermark)
    replace_files(stored, without_damaged, metadata=metadata.to_json())
    lake.committed(table)
    name = f"left_{query}"
    engine.open(name, table)
    total = exp.func("COALESCE", exp.Sum(this=column("weight")), number(0))
    ((rows,),) = engine.rows(select(total, from_=rows_of(name)))
    before = published.metadata
    extra = {**before.extra, "rows": int(str(rows)), "embeddings_version": REPAIRED}
    corrected = replace(before, run_id=run_id, mode="repaired", extra=extra)
    write(lake, answers(query, ()), (), corrected)
