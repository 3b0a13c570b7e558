"""The changes of a range of epochs, read from the change feeds of `quads` and `triples`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import all_of, column, number, rows_of, select, text
from weir.engine.graph import graphs_of, shown_columns, stored_logs
from weir.engine.relations import EpochRange
from weir.lake.delta.change_feed import (
    CHANGE_TYPE,
    INSERT,
    ChangeFeedGap,
    lost_files_are_a_gap,
)
from weir.lake.tables import QUADS, TRIPLES, Table
from weir.plan.scope import Scope
from weir.progress.watermarks import IngestedEpoch


def read_changes(
    engine: Engine,
    name: str,
    scope: Scope,
    epochs: EpochRange,
    ingested: Sequence[IngestedEpoch],
    predicates: frozenset[str] | None,
) -> None:
    """Make the relation `name` of the log rows (`log_columns`) of `scope` within `epochs`.

    Args:
        engine: makes it.
        name: of the relation.
        scope: the union of all graphs, one graph, a derived one, or each graph by itself; of a
            merge of stored graphs, the changes of each.
        epochs: the range.
        ingested: at least those of the range.
        predicates: the predicates to read; None for all.

    Raises:
        ChangeFeedGap: the feed does not hold every commit of the range, or holds something that
            only appending does not explain.
    """
    if scope.derived or engine.has_pending:
        _read_log(engine, name, scope, epochs, predicates)
        return
    table, first, last = _feed(scope, epochs, ingested)
    inside = [t for t in ingested if epochs.after < t.epoch <= epochs.last]
    rows = sum(epoch.changes for epoch in inside)
    keep: Keep = "small" if engine.placement.holds(rows) else "cache"
    feed, about = f"{name}_feed", _about(scope, epochs, predicates)
    with lost_files_are_a_gap(table.name):
        kinds = engine.open_feed(feed, table.name, first, last, rows)
        if kinds - {INSERT}:
            # A log that is consolidated loses rows of epochs before the range.
            seen = select(column(CHANGE_TYPE)).distinct().from_(rows_of(feed)).where(*about)
            if others := {str(kind) for (kind,) in engine.rows(seen)} - {INSERT}:
                # Any other event means that a foreign writer changed the log.
                raise ChangeFeedGap(
                    f"{table.name} was not only appended to: {', '.join(sorted(others))}"
                )
        changes = select(*shown_columns(scope)).from_(rows_of(feed)).where(*about)
        engine.make(Statement(name, changes, keep))
        # Looks at every row, and so opens every file.
        engine.count(name)


def _read_log(
    engine: Engine,
    name: str,
    scope: Scope,
    epochs: EpochRange,
    predicates: frozenset[str] | None,
) -> None:
    """The same without a feed: of a log that is only appended to, or replaced as a whole."""
    ((table, relation),) = stored_logs(scope).items()
    new = f"{name}_{relation}"
    engine.open(new, table, where=all_of(_about(scope, epochs, predicates)))
    keep: Keep = "small" if engine.placement.holds(engine.count(new)) else "cache"
    engine.make(Statement(name, select(*shown_columns(scope), from_=rows_of(new)), keep))


def _about(scope: Scope, epochs: EpochRange, predicates: frozenset[str] | None) -> list[exp.Expr]:
    """The conditions on the rows of the feed."""
    wanted: list[exp.Expr] = [
        column("epoch") > number(epochs.after),
        column("epoch") <= number(epochs.last),
    ]
    if not scope.is_union and not scope.derived:
        wanted.append(graphs_of(scope))
    if predicates is not None:
        wanted.append(
            column("predicate").isin(*(text(predicate) for predicate in sorted(predicates)))
        )
    return wanted


def _feed(
    scope: Scope, epochs: EpochRange, ingested: Sequence[IngestedEpoch]
) -> tuple[Table, int, int]:
    """The table whose feed has the changes of a range, and its first and last version in it.

    Raises:
        ChangeFeedGap: an epoch of the range is not in `ingested`.
    """
    inside = [t for t in ingested if epochs.after < t.epoch <= epochs.last]
    if len(inside) != epochs.last - epochs.after:
        raise ChangeFeedGap(
            f"`transactions` names {len(inside)} of the epochs {epochs.after + 1}..{epochs.last}"
        )
    # An epoch without changes has the version of an earlier commit, whose feed may be gone.
    inside = [t for t in inside if t.changes] or inside
    if scope.is_union:
        table, versions = TRIPLES, [t.triples_version for t in inside]
    else:
        table, versions = QUADS, [t.quads_version for t in inside]
    return table, min(versions), max(versions)
