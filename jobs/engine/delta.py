"""The delta of a plan over a range of epochs, as statements.

The one rule of the engine (DESIGN.md, section 2):

    delta of an operator over (after, last]
        = differentiate( sequenced operator( children restricted to what the changes touch ) )

Why this is exact. `differentiate` looks only at ends of intervals within the range. A row of an
operator's result has such an end only if one of the rows it is made from has: a triple (for a
segment), or a row of a child with the same key (for an operator with memory). So leaving out rows
of untouched keys loses no end; and rows of touched keys are complete, from the beginning on, so
every end that is found is where it belongs. Complete means: with all that decides on the row. For
OPTIONAL, MINUS and EXISTS that is every match of a touched left row, whatever its key: compatible
rows need not be compatible with each other. Row-wise operators are linear and map their child's
delta.

* A segment reads the graph: its touched rows are the neighbourhood of the changes.
* An operator with memory reads the stored logs of its children, restricted to the keys that occur
  in their deltas. Each has a module of its own, with its equation and its keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from jobs.compute.relations import Keep, Statement
from jobs.compute.sql import column, columns, null_text, rows_of, same_row, select, text, union_all
from jobs.engine.closure import Steps, closure_delta, closure_statements
from jobs.engine.compatible import Sides
from jobs.engine.component import component_delta
from jobs.engine.distinct import distinct_delta
from jobs.engine.fixpoint import Step
from jobs.engine.group import GroupStatements
from jobs.engine.join import Pair, join_delta
from jobs.engine.product import Part, product_delta
from jobs.engine.relations import EpochRange
from jobs.engine.rowwise import (
    ask_delta,
    extend_delta,
    filter_delta,
    instantiate_delta,
    project_delta,
    union_delta,
    values_delta,
)
from jobs.engine.semi_join import match_delta
from jobs.engine.slice import slice_delta, slice_statements
from jobs.engine.stored_state import Keys, States
from jobs.engine.sweep import integrate, net
from jobs.plan.leaves import Component, Scope, Values
from jobs.plan.operators import (
    AntiJoin,
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Instantiate,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
    Union,
)
from jobs.plan.plan import Plan
from jobs.plan.structure import children, touch_key
from jobs.sparql.recursion import deep_recursion

_LOG = ("epoch", "weight")
# Nodes below one another in one statement: Spark's analyzer ends at 100 rounds, and needs one for
# each query inside another.
_NESTED = 32


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

    statements: tuple[Step, ...]
    result: Statement
    products: tuple[tuple[str, ...], ...]


@deep_recursion()
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
        rows_of(relation), copy=False
    )


@dataclass(slots=True)
class _Run:
    """Makes the delta of each node once."""

    plan: Plan
    epochs: EpochRange
    inputs: Inputs
    prefix: str
    keep: Keep
    statements: list[Step] = field(default_factory=list)
    made: dict[PlanNode, str] = field(default_factory=dict)
    products: list[tuple[str, ...]] = field(default_factory=list)
    levels: dict[PlanNode, int] = field(default_factory=dict)

    def stored(self, node: PlanNode) -> str:
        """The relation of a stored node's netted delta; it is written and read by its parent."""
        if node not in self.made:
            # The answer is only written; any other stored node is also read by its parent.
            keep: Keep = "view" if node == self.plan.root else self.keep
            delta = net(self.delta(node), node.variables)
            self.made[node] = self._make(self._name(node), delta, keep)
        return self.made[node]

    def delta(self, node: PlanNode) -> exp.Query:
        """The log of `node` within the range, not netted."""
        match node:
            case Component():
                return component_delta(node, self.inputs.graphs[node.scope], self.epochs)
            case Values():
                return values_delta(node, self.epochs)
            case Product(parts):
                made = [self._part(node, i) for i in range(len(parts))]
                self.products.append(tuple(part.intervals for part in made))
                return product_delta(made, self.epochs)
            case Join():
                return join_delta(self._pair(node))
            case LeftJoin():
                pair = self._pair(node)
                unmatched = match_delta(pair, self.epochs, "unmatched", node.condition)
                rest = self._as(node, node.left.variables, unmatched)
                return union_all([join_delta(pair, node.condition), rest])
            case SemiJoin():
                return match_delta(self._pair(node), self.epochs, "matched", node.condition)
            case AntiJoin():
                pair = self._pair(node)
                return match_delta(pair, self.epochs, "unmatched", node.condition, node.overlapping)
            case MarkJoin():
                pair = self._pair(node)
                return match_delta(pair, self.epochs, "all", node.condition, flag=node.flag)
            case Union(parts):
                return union_delta(node, [self._child(part) for part in parts])
            case Filter():
                return filter_delta(node, self._child(node.child))
            case Extend():
                return extend_delta(node, self._child(node.child))
            case Project():
                return project_delta(node, self._child(node.child))
            case Distinct():
                log = self._log(node, node.child)
                return distinct_delta(log, node.variables, self.epochs)
            case Group():
                return self._group(node)
            case Slice():
                return self._slice(node)
            case Closure():
                return self._closure(node)
            case Ask():
                return ask_delta(node, self._child(node.child), self.epochs)
            case Instantiate():
                return instantiate_delta(node, self._child(node.child))
            case _:
                assert_never(node)

    def _name(self, node: PlanNode) -> str:
        return f"{self.prefix}_{self.plan.ids[node]}"

    def _make(self, name: str, query: exp.Query, keep: Keep | None = None) -> str:
        self.statements.append(Statement(name, query, keep or self.keep))
        return name

    def _child(self, node: PlanNode) -> exp.Query:
        """The delta of a row-wise operator's child, in the same statement where it can be."""
        if node in self.plan.stored:
            return self._rows(node, self.stored(node))
        if node not in self.plan.reused and self._levels(node) % _NESTED:
            return self.delta(node)
        if node not in self.made:
            keep = self.keep if node in self.plan.reused else "view"
            self.made[node] = self._make(self._name(node), self.delta(node), keep)
        return self._rows(node, self.made[node])

    def _levels(self, node: PlanNode) -> int:
        """How many nodes that are not stored are one below the other, `node` the first."""
        if node not in self.levels:
            inside = (n for n in children(node) if n not in self.plan.stored)
            self.levels[node] = 1 + max(map(self._levels, inside), default=0)
        return self.levels[node]

    def _rows(self, node: PlanNode, relation: str) -> exp.Query:
        return select(*columns((*node.variables, *_LOG))).from_(rows_of(relation), copy=False)

    def _as(self, node: PlanNode, available: tuple[str, ...], delta: exp.Query) -> exp.Query:
        """`delta` in the columns of `node`; what it has not is unbound."""
        cells = [column(n) if n in available else null_text(n) for n in node.variables]
        return select(*cells, *columns(_LOG)).from_(delta.subquery("part", copy=False), copy=False)

    @property
    def _states(self) -> States:
        return States(self.plan, self.epochs, self.inputs.embeddings)

    def _log(self, node: PlanNode, child: PlanNode) -> exp.Query:
        """The log of a child's rows that its delta touches, from the state on."""
        delta, key = self.stored(child), touch_key(node)
        keys = None
        if key:
            touched = select(*columns(key)).distinct().from_(rows_of(delta))
            keys = Keys(touched, same_row(key, "s", "k", child.certain))
        elif key != child.variables:
            keys = Keys(select(exp.Literal.number(1)).from_(rows_of(delta)).limit(1), [])
        return union_all([*self._state(node, child, "", keys), self._rows(child, delta)])

    def _state(
        self, node: PlanNode, child: PlanNode, side: str, keys: Keys | None
    ) -> list[exp.Query]:
        """The state of a child's touched rows as a relation of `node`; nothing if there is none."""
        state = self._states.state(child, keys)
        if state is None:
            return []
        return [self._rows(child, self._make(f"{self._name(node)}_state{side}", state))]

    def _part(self, node: Product, index: int) -> Part:
        """A part of a product, whole: every row is touched as soon as another part changes."""
        child = node.children[index]
        delta = self.stored(child)
        log = union_all([*self._state(node, child, str(index), None), self._rows(child, delta)])
        name = f"{self._name(node)}_intervals{index}"
        return Part(child.variables, delta, self._make(name, integrate(log, child.variables)))

    def _pair(self, node: Join | LeftJoin | SemiJoin | AntiJoin | MarkJoin) -> Pair:
        """Both sides, of the rows that the changes touch."""
        sides = Sides.of(node.left, node.right)
        deltas = (self.stored(node.left), self.stored(node.right))
        keys = self._keys(node, sides, "keys", deltas)
        left_log, left = self._side(node, node.left, "l", keys)
        if sides.perhaps and not isinstance(node, Join):
            # Whether a left row has a match is a matter of all of them. If it leaves a variable
            # unbound, some are compatible with it and with no changed row.
            keys = self._keys(node, sides, "left_keys", (left_log,))
        _, right = self._side(node, node.right, "r", keys)
        if isinstance(node, LeftJoin) and not sides.shared:
            self.products.append((left, right))
        return Pair(sides, *deltas, left_log, left, right)

    def _keys(
        self, node: PlanNode, sides: Sides, name: str, relations: tuple[str, ...]
    ) -> Keys | None:
        """The rows that are compatible with those of `relations`; None if that is all."""
        if not sides.shared or self.epochs.from_nothing:
            return None
        rows = [
            select(*columns(sides.shared)).from_(rows_of(relation), copy=False)
            for relation in relations
        ]
        touched = select(*columns(sides.shared)).distinct(copy=False)
        touched = touched.from_(union_all(rows).subquery("changed", copy=False), copy=False)
        made = self._make(f"{self._name(node)}_{name}", touched)
        return Keys(select("*").from_(rows_of(made), copy=False), sides.compatible("s", "k"))

    def _side(
        self, node: PlanNode, child: PlanNode, side: str, keys: Keys | None
    ) -> tuple[str, str]:
        """The log of a side's touched rows, from the state on, and its intervals."""
        name = self._name(node)
        rows = [
            *self._state(node, child, f"_{side}", keys),
            self._rows(child, self.stored(child)),
        ]
        log = self._make(f"{name}_log_{side}", union_all(rows), "view")
        intervals = integrate(self._rows(child, log), child.variables)
        return log, self._make(f"{name}_iv_{side}", intervals)

    def _group(self, node: Group) -> exp.Query:
        log = self._make(f"{self._name(node)}_rows", self._log(node, node.child))
        group = GroupStatements(node, log, self._name(node), self.epochs, self.keep)
        delta = group.delta()
        self.statements += group.made
        return delta

    def _slice(self, node: Slice) -> exp.Query:
        delta, name = self.stored(node.child), self._name(node)
        state = self._states.state(node.child)
        relation = None if state is None else self._make(f"{name}_state", state)
        self.statements += slice_statements(node, relation, delta, name, self.keep)
        return slice_delta(node, name, self.epochs)

    def _closure(self, node: Closure) -> exp.Query:
        delta, name = self.stored(node.child), self._name(node)
        rows = [*self._state(node, node.child, "", None), self._rows(node.child, delta)]
        log = self._make(f"{name}_steps", union_all(rows), "view")
        self.statements += closure_statements(node, Steps(log, delta), f"{name}_pairs", self.keep)
        return closure_delta(node, f"{name}_pairs", self.epochs)
