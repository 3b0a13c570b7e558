"""The interface of operators: deltas and logs of their children, and new relations.

An operator is a function `delta(node, run)` that gives the log of the node within the range as a
query, not netted. If it has no memory, it maps the delta of each child (`child`). If it has, its
children are stored: it reads their deltas (`stored`) and their logs from the state at the beginning
of the range on (`log`, `touched_log`). What it reads twice it makes a relation (`make`, `repeat`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Loaded, Statement
from weir.compute.sql import (
    alias,
    columns,
    null_text,
    number,
    rows_of,
    same_row,
    select,
    semi_join,
    small_number,
    subquery,
    union_all,
)
from weir.engine.fixpoint import Fixpoint, Step, Steps, make
from weir.engine.members import with_parameters
from weir.engine.relations import BEFORE_ALL, CHANGE, FOREVER, EpochRange, Inputs
from weir.engine.stored_state import TouchedKeys, stored_state
from weir.engine.sweep import net
from weir.plan.leaves import Component
from weir.plan.lookups import seed_of
from weir.plan.operators import Distinct, Group, PlanNode
from weir.plan.parameters import parameters_of
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Expression

# Nodes below one another in one statement: Spark's analyzer ends at 100 rounds, and needs one for
# each query inside another.
_NESTED = 32


@dataclass(frozen=True, slots=True)
class ProductOf:
    """The relations whose sizes a product multiplies.

    Attributes:
        parts: the intervals of its parts.
        correlated: the columns for whose values an EXISTS makes it; none if the query has the parts
            beside one another.
    """

    parts: tuple[str, ...]
    correlated: tuple[str, ...] = ()


class _NothingFollowsError(Exception):
    """Of the node that is being planned, what decides on its delta turned out to be empty."""


@dataclass(slots=True)
class Run:
    """One range of epochs of one plan: makes the delta of each node once.

    Attributes:
        plan: the query's plan.
        epochs: the range.
        inputs: the relations it reads.
        prefix: begins the names of the relations that are made.
        keep: how a relation that is read twice is stored.
        delta: the delta of a node (`weir.engine.delta`).
        statements: what has been made, in order.
        products: what multiplies the sizes of relations.
        engine: makes each statement as soon as it is planned, up to the first product, so that
            what follows from nothing is not planned; None to plan all.
        is_past: whether it gives the rows of looked-up nodes, and nothing that is stored.
    """

    plan: Plan
    epochs: EpochRange
    inputs: Inputs
    prefix: str
    keep: Keep
    delta: Callable[[PlanNode, Run], exp.Query]
    statements: list[Step] = field(default_factory=list)
    products: list[ProductOf] = field(default_factory=list)
    engine: SqlEngine | None = None
    is_past: bool = False
    _past: Run | None = None
    _changes: tuple[str, ...] = ()
    _narrowed: dict[PlanNode, tuple[str, ...]] = field(default_factory=dict)
    _relations: dict[PlanNode, str] = field(default_factory=dict)
    _untouched: dict[PlanNode, bool] = field(default_factory=dict)
    _levels: dict[PlanNode, int] = field(default_factory=dict)

    def is_untouched(self, node: PlanNode) -> bool:
        """Whether it is known that no pattern of a node has changes, so that its delta is empty."""
        touched = self.inputs.touched
        if touched is None or self.epochs.from_nothing:
            return False
        if node not in self._untouched:
            if isinstance(node, Component):
                own = (seed_of(node, pattern) for pattern in node.patterns)
                self._untouched[node] = touched.isdisjoint(own)
            else:
                self._untouched[node] = all(map(self.is_untouched, node.children))
        return self._untouched[node]

    def is_state(self, node: PlanNode) -> bool:
        """Whether the delta of a node has the solutions of one epoch, each once."""
        is_segment = isinstance(node, Component) and node.scope.window is None
        return is_segment and self.epochs.is_one_state

    def child(self, node: PlanNode) -> exp.Query:
        """The delta of a row-wise operator's child, in the same statement where it can be."""
        if self.is_untouched(node):
            return no_rows(node)
        if node in self._relations:
            return _log_rows(node, self._relations[node])
        if self._is_made_by_itself(node):
            return _log_rows(node, self.stored(node))
        is_read_once = self.is_past or node not in self.plan.reused
        if is_read_once and self._levels_of(node) % _NESTED:
            return self._delta(node)[0]
        self._make(node, "view" if is_read_once else self.keep)
        return _log_rows(node, self._relations[node])

    def _is_made_by_itself(self, node: PlanNode) -> bool:
        """Whether a node's netted delta is a relation, even if another node alone reads it."""
        if self.is_past:
            return False
        # Whether a segment has rows decides what has to be planned.
        return node in self.plan.stored or (isinstance(node, Component) and self._is_watched)

    def part(self, node: PlanNode) -> exp.Query | None:
        """The delta of one of many parts of a node: a relation, so that an empty one is not read.

        Of a plan of hundreds of parts, a change touches some, and most of these come to nothing;
        None if that is known already.
        """
        if self._comes_to_nothing(node):
            return None
        if not self._is_made_by_itself(node) and node not in self._relations:
            self._make(node, self.keep)
        rows = self.child(node)
        return None if self.is_empty(self._relations.get(node)) else rows

    @property
    def _is_watched(self) -> bool:
        """Whether it is known of the relations which have no rows."""
        return self.engine is not None and not self.epochs.from_nothing and not self.products

    def is_empty(self, relation: str | None) -> bool:
        """Whether it is known that a relation has no rows; None: it is not planned yet."""
        if self.engine is None or relation is None or not self._is_watched:
            return False
        return self.engine.is_empty(relation)

    def _comes_to_nothing(self, node: PlanNode) -> bool:
        """Whether the delta of a node is known to be empty, before it is planned."""
        if not self._is_watched:
            return False
        sources = self._sources(node)
        return bool(sources) and all(map(self.is_empty, sources or ()))

    def stored(self, node: PlanNode) -> str:
        """The relation of a stored node's netted delta; it is written and read by its parent."""
        if node not in self._relations and self.is_untouched(node):
            self._relations[node] = self.make(self.name(node), no_rows(node))
        if node not in self._relations:
            # The answer is only written; any other stored node is also read by its parent.
            keep: Keep = "view" if node == self.plan.root else self.keep
            self._make(node, keep, is_net=not self.is_state(node))
        return self._relations[node]

    def _make(self, node: PlanNode, keep: Keep, *, is_net: bool = False) -> None:
        """Make the relation of a node's delta; `is_net`: a row has one weight at an epoch."""
        rows, changes = self._delta(node)
        rows = net(rows, node.variables) if is_net else rows
        self._add(Statement(self.name(node), rows, keep, changes))
        self._relations[node] = self.name(node)

    def narrow(self, *relations: str) -> None:
        """What is made from here on for the present node has no rows without those of `relations`.

        So it need not be computed where they turn out to be empty.
        """
        if not self.epochs.from_nothing:
            self._changes = relations
        if all(map(self.is_empty, relations)):
            raise _NothingFollowsError

    def _delta(self, node: PlanNode) -> tuple[exp.Query, tuple[str, ...]]:
        """The delta of a node, and the relations without whose rows it has none, if any."""
        if node.children and self._comes_to_nothing(node):
            return no_rows(node), ()
        before = self._changes
        self._changes = (self._sources(node) or ()) if node.has_memory else ()
        try:
            try:
                rows = self.delta(node, self)
            except _NothingFollowsError:
                rows = no_rows(node)
            if node.has_memory:
                self._narrowed[node] = self._changes
            return rows, (self._sources(node) or ()) if node.children else ()
        finally:
            self._changes = before

    def _sources(self, node: PlanNode) -> tuple[str, ...] | None:
        """The stored deltas without whose rows the delta of a node has none; None: not known."""
        if self._is_watched and isinstance(node, Component) and not self.is_past:
            return (self.stored(node),)
        if self.epochs.from_nothing or not node.children:
            return None
        changed = [child for child in node.children if not self.is_untouched(child)]
        if node.has_memory:
            return self._narrowed.get(node) or tuple(map(self.stored, changed))
        sources: list[str] = []
        for child in changed:
            below = (self.stored(child),) if child in self.plan.stored else self._sources(child)
            if below is None:
                return None
            sources += below
        return tuple(sources)

    def state(self, node: PlanNode, keys: TouchedKeys | None = None) -> exp.Query | None:
        """The state of a stored node's touched rows at epoch `after`; None if there is no state."""
        if self.epochs.from_nothing:
            return None
        embeddings, stored_as = self.inputs.embeddings, self.plan.ids[node]
        return stored_state(embeddings, stored_as, node.variables, self.epochs, keys)

    def log(
        self, node: PlanNode, child: PlanNode, keys: TouchedKeys | None = None, part: str = "state"
    ) -> exp.Query:
        """The log of a child: the state of its touched rows, then all of its delta.

        Args:
            node: the operator.
            child: a stored child of it.
            keys: which rows of the state; all if None.
            part: ends the name of the relation of the state.
        """
        delta = _log_rows(child, self.stored(child))
        if child in self.plan.looked_up and not self.epochs.from_nothing:
            rows = self._looked_up(child, keys)
            return _log_rows(child, self.make(self.name(node, part), rows))
        state = self.state(child, keys)
        if state is None:
            return delta
        return union_all([_log_rows(child, self.make(self.name(node, part), state)), delta])

    def _looked_up(self, node: PlanNode, keys: TouchedKeys | None) -> exp.Query:
        """The log of a looked-up node's touched rows: all that was read of the graph, from nothing.

        Rows of other values need not be complete there.
        """
        if self._past is None:
            epochs = EpochRange(BEFORE_ALL, FOREVER - 1, from_nothing=True)
            inputs, prefix = replace(self.inputs, touched=None), f"{self.prefix}_past"
            past = Run(self.plan, epochs, inputs, prefix, self.keep, self.delta, self.statements)
            past.engine, past.is_past = self.engine, True
            self._past = past
        return select(
            *columns((*node.variables, *CHANGE), "s"),
            from_=subquery(self._past.child(node), "s"),
            joins=[]
            if keys is None
            else [semi_join(subquery(keys.relation, "k"), *keys.conditions)],
        )

    def touched_log(self, node: Distinct | Group) -> exp.Query:
        """The log of the child's rows whose key (`touch_key`) occurs in its delta."""
        child, key = node.child, node.touch_key
        delta = rows_of(self.stored(child))
        if key:
            touched = select(*columns(key), from_=delta, distinct=True)
            return self.log(
                node, child, TouchedKeys(touched, same_row(key, "s", "k", child.certain))
            )
        if child.variables:
            # One group of all rows: touched if anything changes.
            return self.log(
                node, child, TouchedKeys(select(small_number(1), from_=delta, limit=1), [])
            )
        return self.log(node, child)

    @property
    def members(self) -> str:
        """The relation of the members; only the plan of a group may ask for it."""
        assert self.inputs.members is not None, "the plan of one query has no members"
        return self.inputs.members

    def with_parameters(
        self, rows: exp.Query, names: tuple[str, ...], *expressions: Expression | None
    ) -> exp.Query:
        """`rows`, of the columns `names`, with the parameters that `expressions` have."""
        needed = parameters_of(expression for expression in expressions if expression is not None)
        return with_parameters(rows, names, needed, self.inputs.members)

    def name(self, node: PlanNode, part: str = "") -> str:
        """The name of the relation of a node's delta, or of a part of what makes it."""
        name = f"{self.prefix}_{self.plan.ids[node]}"
        return f"{name}_{part}" if part else name

    def make(self, name: str, query: exp.Query, keep: Keep | None = None) -> str:
        """Make a relation; gives its name."""
        self._add(Statement(name, query, keep or self.keep, self._changes))
        return name

    def load(self, name: str, rows: pa.Table) -> str:
        """Make a relation of given rows; gives its name."""
        self._add(Loaded(name, rows))
        return name

    def _add(self, step: Step) -> None:
        # The size of a product is checked before what computes it is made.
        if self.engine is None or self.products:
            self.statements.append(step)
        else:
            make(self.engine, step)

    def repeat(
        self,
        name: str,
        columns: tuple[str, ...],
        seed: exp.Query,
        steps: Steps,
        follow: Callable[[str, str], exp.Query],
    ) -> str:
        """Make what steps lead to from the rows of `seed` (`Fixpoint`); gives its name."""
        self._add(Fixpoint(name, columns, seed, steps, follow, self.keep))
        return name

    def _levels_of(self, node: PlanNode) -> int:
        """How many nodes that are not stored are one below the other, `node` the first."""
        if node not in self._levels:
            kept = () if self.is_past else self.plan.stored
            inside = (n for n in node.children if n not in kept)
            self._levels[node] = 1 + max(map(self._levels_of, inside), default=0)
        return self._levels[node]


def no_rows(node: PlanNode) -> exp.Select:
    """The log of a node without changes."""
    cells = [null_text(name) for name in node.variables]
    change = [alias(number(0), name) for name in CHANGE]
    return select(*cells, *change, where=[exp.false()])


def _log_rows(node: PlanNode, relation: str) -> exp.Query:
    return select(*columns((*node.variables, *CHANGE)), from_=rows_of(relation))
