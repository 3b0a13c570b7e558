"""What is around an epoch of the graph: what it changed, and what its changes can join with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import alias, all_of, column, columns, number, rows_of, select
from weir.definitions.definition import Definition
from weir.engine.graph import graph_columns, scope_log, stored_logs
from weir.engine.read_graph import changes_relation, open_graph, read_neighbourhood
from weir.engine.relations import EpochRange
from weir.engine.thresholds import Thresholds
from weir.errors import WeirError
from weir.lake.tables import QUADS, TRIPLES
from weir.maintain.run import thresholds
from weir.plan.lookups import by_scope, predicates
from weir.plan.scope import Scope
from weir.progress.completion import Completion
from weir.project import Project
from weir.why.explanation import Part
from weir.why.graph_changes import newest
from weir.why.marked import MARKS, Mark, MarkedRows, differs
from weir.why.plan_surroundings import PlanSurroundings
from weir.why.whole_match import StoredGraph
from weir.why.worlds import Worlds

MOST_SCANNED = 1_000_000
"""A log of more quads is not read as a whole to look triples up, but only by its index."""
MOST_CHANGES = 100_000
"""More changes of an epoch, of what a query reads, are not looked at."""


def around_epoch(
    project: Project, completion: Completion, engine: Engine, definition: Definition, epoch: int
) -> PlanSurroundings:
    """Read what an epoch changed for a query, and what is around it.

    Args:
        project: whose lake it is.
        completion: of the lake.
        engine: has the embeddings up to the epoch as `STORED`.
        definition: the query.
        epoch: the epoch.

    Raises:
        WeirError: the epoch has more than `MOST_CHANGES` changes.
    """
    epochs = EpochRange(epoch - 1, epoch)
    at = all_of([column("epoch") > number(epoch - 1), column("epoch") <= number(epoch)])
    components = by_scope(definition.body.components)
    for table, relation in open_graph(engine, components).items():
        engine.open(newest(relation), table, where=at.copy())
    changes = {scope: f"why_changes{i}" for i, scope in enumerate(components)}
    for scope, parts in components.items():
        make_changes(engine, changes[scope], scope, epochs, predicates(parts))
    if sum(map(engine.count, changes.values())) > MOST_CHANGES:
        raise too_many_changes(completion, definition.name, epoch)
    graph: dict[Scope, str] = {}
    keep: Keep = "small"
    for i, (scope, parts) in enumerate(components.items()):
        prefix, lookups = f"why_graph{i}", definition.body.lookups
        limits = looked_up(project, completion)
        read = read_neighbourhood(
            engine, parts, lookups, changes[scope], scope, epochs, limits, prefix
        )
        graph[scope] = read.relation
        keep = "cache" if read.keep == "cache" else keep
    shown = [stored for _, stored in definition.columns]
    worlds = Worlds(engine, definition.body, definition.width, shown, keep)
    scans = completion.quads <= MOST_SCANNED
    stored = StoredGraph({table.name: table.name for table in (QUADS, TRIPLES)}, scans)
    return around_changes(worlds, graph, epoch, stored)


def around_changes(
    worlds: Worlds, graph: Mapping[Scope, str], epoch: int, stored: StoredGraph | None
) -> PlanSurroundings:
    """What is around an epoch, of which the neighbourhood of its changes was read.

    Args:
        worlds: has the quads of the epoch (`newest`), too.
        graph: by scope, the interval relation.
        epoch: the epoch.
        stored: the log of the graph; None if it is not looked up.
    """
    content = {}
    for i, (scope, relation) in enumerate(graph.items()):
        before, after = holds_at(epoch - 1), holds_at(epoch)
        name = f"why_marked{i}"
        content[scope] = marked_graph(
            worlds.engine,
            name,
            scope,
            relation,
            {
                "before": before,
                "after": after,
                "before_undone": before.copy(),
                "after_undone": before.copy(),
            },
        )
    changed = differs(("before", "after"))
    steps = steps_of(worlds.engine, content.values(), changed)
    upto = column("epoch") <= number(epoch - 1)
    known: Mapping[Mark, Sequence[exp.Expr]] = {"before": [upto], "after": []}
    return PlanSurroundings(
        worlds,
        content,
        dict.fromkeys(steps, 0),
        known,
        graph=stored,
        graph_epochs={"before": epoch - 1, "after": epoch},
    )


def marked_graph(
    engine: SqlEngine,
    name: str,
    scope: Scope,
    relation: str,
    marks: Mapping[Mark, exp.Expr],
) -> MarkedRows:
    """What a scope of the graph has, out of an interval relation.

    Args:
        engine: makes the relation.
        name: of the relation to make.
        scope: which triples.
        relation: of the intervals.
        marks: conditions on `since` and `until`.
    """
    triple = graph_columns(scope)
    one_each = select(
        *columns(triple),
        *(alias(exp.LogicalOr(this=marks[mark]), mark) for mark in MARKS),
        from_=rows_of(relation),
        group_by=columns(triple),
    )
    engine.make(Statement(name, one_each, "small"))
    return MarkedRows(name)


def no_rows(engine: SqlEngine, name: str, scope: Scope) -> MarkedRows:
    """What a scope of the graph has where nothing changes: nothing that needs to be looked at."""
    texts, marks = graph_columns(scope), MARKS
    kinds = [pa.string()] * len(texts) + [pa.bool_()] * len(marks)
    cells: list[pa.Array[Any]] = [pa.array([], kind) for kind in kinds]
    engine.load(name, pa.table(cells, [*texts, *marks]))
    return MarkedRows(name)


def holds_at(epoch: int) -> exp.Expr:
    """Whether an interval has an epoch."""
    return all_of([column("since") <= number(epoch), column("until") > number(epoch)])


def steps_of(engine: SqlEngine, content: Iterable[MarkedRows], where: exp.Expr) -> Sequence[Part]:
    """The steps of some rows, each once."""
    steps: dict[Part, None] = {}
    for rows in content:
        steps |= dict.fromkeys(rows.parts(engine, where.copy(), MOST_CHANGES))
    return [*steps]


def looked_up(project: Project, completion: Completion) -> Thresholds:
    """The whole graph is read only where the neighbourhood is too large."""
    limits = thresholds(project.settings.limits, completion.quads)
    return replace(limits, bulk_quads=0, bulk_share=inf)


def too_many_changes(completion: Completion, name: str, epoch: int) -> WeirError:
    """The error about an epoch that changed too much."""
    return WeirError(
        f"epoch {epoch} has more than {MOST_CHANGES:,} changes that {name} may read",
        completion.lake.root,
        f"Its rows are not explained one by one; `weir log {name}` has them.",
    )


def make_changes(
    engine: Engine, name: str, scope: Scope, epochs: EpochRange, known: frozenset[str] | None
) -> None:
    """Make the relation of the log rows of a scope within an epoch, with the predicates `known`.

    The rows of the epoch are there (`newest`).
    """
    if scope.is_merge:
        changes_relation(engine, scope, epochs, name, known)
        return
    stored = {table: newest(relation) for table, relation in stored_logs(scope).items()}
    log = scope_log(scope, epochs.last, known, stored)
    engine.make(Statement(name, log, "small"))
