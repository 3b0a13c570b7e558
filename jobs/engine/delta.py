"""The delta of a plan over a range of epochs, as statements.

The one rule of the engine (DESIGN.md, section 2):

    delta of an operator over (after, last]
        = differentiate( sequenced operator( children restricted to what the changes touch ) )

Why this is exact. `differentiate` looks only at ends of intervals within the range. A row of an
operator's result has such an end only if one of the rows it is made from has: a triple (for a
segment), or a row of a child with the same key (for an operator with memory). So leaving out rows
of untouched keys loses no end; and rows of touched keys are complete, from the beginning on, so
every end that is found is where it belongs. Row-wise operators are linear and map their child's
delta.

* A segment reads the graph: its touched rows are the neighbourhood of the changes.
* An operator with memory reads the stored logs of its children, restricted to the keys that occur
  in their deltas.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp
from sqlglot.expressions import select

from jobs.engine.component import component_delta
from jobs.engine.distinct import distinct_delta
from jobs.engine.product import Part, product_delta
from jobs.engine.relations import (
    EpochRange,
    Keep,
    Statement,
    column,
    columns,
    null_text,
    number,
    same_row,
    text,
    union_all,
)
from jobs.engine.rowwise import exists_delta, filter_delta, instantiate_delta, project_delta
from jobs.engine.sweep import integrate, net
from jobs.plan.operators import (
    Component,
    Distinct,
    Exists,
    Filter,
    Instantiate,
    Plan,
    PlanNode,
    Product,
    Project,
    Scope,
)

_LOG = ("epoch", "weight")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Names of the relations that a plan reads.

    `graphs`: per scope, the interval relation of the (restricted) graph. `embeddings`: the query's
    stored logs (node, v0, .., epoch, weight); not read when the range starts from nothing.
    """

    graphs: dict[Scope, str]
    embeddings: str


@dataclass(frozen=True, slots=True)
class PlanDelta:
    """What to run for one query and range.

    `statements` in order; `result` is the relation (node, v0, .., epoch, weight) of the new rows of
    all stored nodes; `products` are the interval relations of the parts of each product.
    """

    statements: tuple[Statement, ...]
    result: Statement
    products: tuple[tuple[str, ...], ...]


def plan_delta(
    plan: Plan, epochs: EpochRange, inputs: Inputs, prefix: str, keep: Keep = "small"
) -> PlanDelta:
    """The statements that make the new rows of every stored node of `plan`.

    Args:
        plan: the query's plan.
        epochs: the range.
        inputs: the relations it reads.
        prefix: begins the names of the relations that are made.
        keep: how a relation that is read twice is kept.
    """
    run = _Run(plan, epochs, inputs, prefix, keep)
    names = {node: run.stored(node) for node in plan.stored}
    rows = [_stored_rows(plan, node, name) for node, name in names.items()]
    result = Statement(f"{prefix}_new", union_all(rows))
    return PlanDelta(tuple(run.statements), result, tuple(run.products))


def _stored_rows(plan: Plan, node: PlanNode, relation: str) -> exp.Query:
    """The rows of `relation` in the columns of the embedding table."""
    own = set(node.variables)
    cells = [
        column(name) if name in own else null_text(name)
        for name in (f"v{i}" for i in range(plan.width))
    ]
    return select(text(plan.ids[node]).as_("node", quoted=True), *cells, *columns(_LOG)).from_(
        relation, copy=False
    )


@dataclass(slots=True)
class _Run:
    """Makes the delta of each node once."""

    plan: Plan
    epochs: EpochRange
    inputs: Inputs
    prefix: str
    keep: Keep
    statements: list[Statement] = field(default_factory=list)
    made: dict[PlanNode, str] = field(default_factory=dict)
    products: list[tuple[str, ...]] = field(default_factory=list)

    def stored(self, node: PlanNode) -> str:
        """The relation of a stored node's netted delta; it is written and read by its parent."""
        if node not in self.made:
            name = f"{self.prefix}_{self.plan.ids[node]}"
            # The answer is only written; any other stored node is also read by its parent.
            keep: Keep = "view" if node == self.plan.root else self.keep
            statement = Statement(name, net(self.delta(node), node.variables), keep)
            self.statements.append(statement)
            self.made[node] = name
        return self.made[node]

    def delta(self, node: PlanNode) -> exp.Query:
        """The log of `node` within the range, not netted."""
        match node:
            case Component():
                return component_delta(node, self.inputs.graphs[node.scope], self.epochs)
            case Product(parts):
                made = [self._part(part) for part in parts]
                self.products.append(tuple(part.intervals for part in made))
                return product_delta(made, self.epochs)
            case Filter():
                return filter_delta(node, self._child(node.child))
            case Project():
                return project_delta(node, self._child(node.child))
            case Distinct():
                return distinct_delta(self._touched(node.child), node.variables, self.epochs)
            case Exists():
                return exists_delta(node, self._child(node.child), self.epochs)
            case Instantiate():
                return instantiate_delta(node, self._child(node.child))
            case _:
                assert_never(node)

    def _child(self, node: PlanNode) -> exp.Query:
        """The delta of a row-wise operator's child, in the same statement where it can be."""
        if node in self.plan.stored:
            return select(*columns((*node.variables, *_LOG))).from_(self.stored(node), copy=False)
        return self.delta(node)

    def _part(self, node: PlanNode) -> Part:
        """A part of a product: every row is touched as soon as another part changes."""
        delta = self.stored(node)
        name = f"{delta}_intervals"
        log = union_all([*self._state(node, delta, every_row=True), self._rows(node, delta)])
        self.statements.append(Statement(name, integrate(log, node.variables), self.keep))
        return Part(node.variables, delta, name)

    def _touched(self, node: PlanNode) -> exp.Query:
        """The log of the rows that occur in the delta of `node`, from the beginning on."""
        delta = self.stored(node)
        return union_all([*self._state(node, delta, every_row=False), self._rows(node, delta)])

    def _state(self, node: PlanNode, delta: str, *, every_row: bool) -> list[exp.Query]:
        """The stored state at the beginning of the range, of the rows in `delta` or of all.

        One row per solution, at epoch `after`; an empty list if there is no state. A statement of
        its own, because it is the only one that reads the whole stored log.
        """
        if self.epochs.from_nothing:
            return []
        names = node.variables
        stored = (
            select(*columns((*names, "weight"), "s"))
            .from_(exp.to_table(self.inputs.embeddings).as_("s"), copy=False)
            .where(
                column("node", "s").eq(text(self.plan.ids[node])),
                column("epoch", "s") <= number(self.epochs.after),
                copy=False,
            )
        )
        if not every_row:
            keys = select(*columns(names)).distinct().from_(delta) if names else _any(delta)
            same = same_row(names, "s", "k", node.certain) or [exp.true()]
            stored = stored.join(
                keys.subquery("k"), on=exp.and_(*same), join_type="inner", copy=False
            )
        total = exp.func("SUM", column("weight"))
        state = (
            select(*columns(names))
            .select(
                number(self.epochs.after).as_("epoch", quoted=True),
                exp.cast(total, "BIGINT").as_("weight", quoted=True),
                copy=False,
            )
            .from_(stored.subquery("stored", copy=False), copy=False)
            .having(total.copy().neq(0), copy=False)
        )
        if names:
            state = state.group_by(*columns(names), copy=False)
        name = f"{delta}_state"
        self.statements.append(Statement(name, state, self.keep))
        return [self._rows(node, name)]

    def _rows(self, node: PlanNode, relation: str) -> exp.Query:
        return select(*columns((*node.variables, *_LOG))).from_(relation, copy=False)


def _any(relation: str) -> exp.Select:
    """One row if `relation` has any: the key of a node without variables."""
    return (
        select(exp.Literal.number(1).as_("any", quoted=True))
        .from_(relation, copy=False)
        .having(exp.func("COUNT", exp.Star()) > 0, copy=False)
    )
