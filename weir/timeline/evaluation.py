"""What a leg is computed with, on either axis, and a plan evaluated over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    greatest,
    number,
    rows_of,
    select,
    subquery,
)
from weir.engine.graph import POSITIONS
from weir.engine.plan_delta import PlanDelta, plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.engine.thresholds import Thresholds
from weir.engine.windows import Window, window_content
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Seed, by_scope, seeds
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.timeline.graph_log import GraphLog, read_graph
from weir.timeline.legs import Leg
from weir.timeline.recording import recorded

_FEW = 8
"""Of so many touched segments it need not be known which have rows before the rest is planned."""


@dataclass(frozen=True, slots=True)
class EpochInputs:
    """The inputs of a range of epochs: its only leg, in which nothing is corrected.

    Attributes:
        engine: makes relations.
        epochs: the range.
        graph: per scope the interval relation of the graph, restricted to what changes can join.
        stored: the relation of the stored rows; it need not be there if none are needed.
        prefix: begins the names of the relations that are made.
        keep: how a relation that is read twice is stored.
        touched: the patterns that have changes in the range; None if that is not known.
        changes: per scope the relation of the changes of its log, where they were read.
        table: the table of the stored rows, if these are rows of a table.
        is_whole: whether `graph` has all that is read, also what changes cannot join.
    """

    engine: SqlEngine
    epochs: EpochRange
    graph: dict[Scope, str]
    stored: str
    prefix: str
    keep: Keep = "small"
    touched: frozenset[Seed] | None = None
    changes: Mapping[Scope, str] = field(default_factory=dict)
    table: str | None = None
    is_whole: bool = False

    def graphs(self, _: Plan) -> dict[Scope, str]:
        """The graph, which was read once for all definitions at these epochs."""
        return self.graph

    def log(self, _: Sequence[str]) -> str:
        """The stored rows as they are: the axis is that of the epochs by which they are stored."""
        return self.stored

    def recorded(self, rows: exp.Query, _: Sequence[str]) -> Statement:
        """A statement that makes all of `rows`: no earlier epoch is evaluated again."""
        return Statement(f"{self.prefix}_new", rows)


@dataclass(frozen=True, slots=True)
class InstantInputs:
    """The inputs of a leg of instants, as known at its last epoch; others are as of `EpochInputs`.

    Attributes:
        leg: the epochs and instants.
        origin: the first instant of the definition.
        events: by window, the relation of its stream's events (`weir.engine.windows.EVENT`).
        windows: by name.
        stored: its embeddings up to the epoch before the leg: node, v0, .., instant, epoch, weight.
        thresholds: when to give up looking up in the graph.
        graph: the log of the graph; None if it does not read it.
        starts: the first instant of its streams, if that is not `origin`.
        product_rows: most rows of a product in a rule; None for any number.
    """

    engine: SqlEngine
    leg: Leg
    origin: int
    events: Mapping[str, str]
    windows: Mapping[str, Window]
    stored: str
    prefix: str
    thresholds: Thresholds
    graph: GraphLog | None = None
    starts: int | None = None
    product_rows: int | None = None
    keep: Keep = "small"

    @property
    def epochs(self) -> EpochRange:
        """The instants (low, high]."""
        leg = self.leg
        return EpochRange(leg.low, leg.high, from_nothing=leg.low < self.origin)

    def graphs(self, plan: Plan) -> dict[Scope, str]:
        """Per scope the content of a window, or what is needed of the graph, over the instants."""
        if self.graph is not None:
            self.graph.on_axis(self.engine, self.leg.low, self.origin)
        return {
            scope: self._content(scope, own, plan.lookups, f"{self.prefix}_g{number_}")
            for number_, (scope, own) in enumerate(by_scope(plan.components).items())
        }

    def _content(
        self, scope: Scope, components: Sequence[Component], lookups: Sequence[Lookup], name: str
    ) -> str:
        instants = self.epochs
        if scope.window is None:
            return read_graph(
                self.engine, components, lookups, scope, instants, self.thresholds, name
            )
        content = window_content(
            self.events[scope.window], self.windows[scope.window], instants.after, instants.last
        )
        if instants.from_nothing:
            content = _cut_before(content, instants.start)
        self.engine.make(Statement(name, content, "cache"))
        return name

    def log(self, names: Sequence[str]) -> str:
        """The stored rows by instant."""
        on_axis = f"{self.prefix}_stored"
        rows = select(
            *columns(names),
            alias(column("instant"), "epoch"),
            column("weight"),
            from_=rows_of(self.stored),
        )
        self.engine.make(Statement(on_axis, rows))
        return on_axis

    def recorded(self, rows: exp.Query, names: Sequence[str]) -> Statement:
        """What is evaluated again, less what is stored: names, instant, epoch, weight."""
        on_axis, now = f"{self.prefix}_stored", subquery(rows, "new")
        new = select(*columns((*names, "epoch", "weight")), from_=now)
        return recorded(self.engine, new, on_axis, tuple(names), self.leg, self.prefix)


LegInputs: TypeAlias = EpochInputs | InstantInputs
"""What a definition computes the new rows of a leg with, on the axis that it has.

`epochs` is the range that is evaluated: epochs, or instants. `graphs` gives per scope the interval
relation of what a plan needs of it, `log` the stored rows on the axis (names,
epoch, weight), and `recorded` the statement that makes what the leg stores of such rows.
"""


def plan_rows(
    plan: Plan, leg: LegInputs, members: str | None = None, *, allow_product: bool | None = None
) -> PlanDelta:
    """The statements that make the new rows of a leg: what a plan stores, in the axis' columns.

    Args:
        plan: of a query, or of a group.
        leg: what is read.
        members: of a group, the relation of its members.
        allow_product: whether products may be large; if not given, the plan says so.
    """
    names = ("node", *(f"v{i}" for i in range(plan.width)))
    # The patterns of a group have parameters in the place of the constants that changes match.
    touched = leg.touched if members is None and isinstance(leg, EpochInputs) else None
    inputs = Inputs(leg.graphs(plan), leg.log(names), members, touched)
    engine = leg.engine if _is_large(plan, inputs, leg.engine) else None
    delta = plan_delta(plan, leg.epochs, inputs, leg.prefix, leg.keep, engine)
    result = leg.recorded(delta.result.select, names)
    allowed = plan.allow_product if allow_product is None else allow_product
    return PlanDelta(delta.statements, result, () if allowed else delta.products)


def _is_large(plan: Plan, inputs: Inputs, engine: SqlEngine) -> bool:
    """Whether changes touch many segments of a plan, of which most come to nothing."""
    if inputs.touched is None:
        return False
    touched = [part for part in plan.components if not inputs.touched.isdisjoint(seeds([part]))]
    # Elsewhere it takes a job to know whether a relation has rows.
    graphs = {inputs.graphs[part.scope] for part in touched}
    return len(touched) > _FEW and all(map(engine.is_on_driver, graphs))


def _cut_before(content: exp.Select, start: int) -> exp.Select:
    """What a window has from `start` on: where nothing was before, all that it has appears there.

    That is a matter of queries that begin later than their streams.
    """
    return select(
        *columns(POSITIONS),
        alias(greatest(column("since"), number(start)), "since"),
        column("until"),
        from_=subquery(content, "content"),
        where=[column("until") > number(start)],
    )
