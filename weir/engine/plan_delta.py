"""The delta of a plan over a range of epochs, as statements."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import alias, columns, padded_columns, rows_of, select, text, union_all
from weir.engine.delta import delta
from weir.engine.fixpoint import Step
from weir.engine.relations import CHANGE, EpochRange, Inputs
from weir.engine.run import ProductOf, Run
from weir.plan.leaves import MEMBER
from weir.plan.operators import PlanNode
from weir.plan.plan import Plan
from weir.sparql.recursion import deep_recursion


@dataclass(frozen=True, slots=True)
class PlanDelta:
    """What to run for one query and range.

    `statements` in order; `result` is the relation (node, v0, .., epoch, weight) of the new rows of
    all stored nodes, of a group with the column `member`; `products` are what makes many rows of
    few.
    """

    statements: tuple[Step, ...]
    result: Statement
    products: tuple[ProductOf, ...]


@deep_recursion()
def plan_delta(
    plan: Plan,
    epochs: EpochRange,
    inputs: Inputs,
    prefix: str,
    keep: Keep = "small",
    engine: SqlEngine | None = None,
) -> PlanDelta:
    """The statements that make the new rows of every stored node of `plan`.

    Args:
        plan: the plan of a query or of a group.
        epochs: the range.
        inputs: the relations it reads.
        prefix: begins the names of the relations that are made.
        keep: how a relation that is read twice is stored.
        engine: makes statements while others are planned, so that what follows from empty relations
            is never planned; `statements` are then those that are left to make. None: all are left.
    """
    run = Run(plan, epochs, inputs, prefix, keep, delta, engine=engine)
    changed = [node for node in plan.stored if not run.is_untouched(node)] or [plan.root]
    names = {node: run.stored(node) for node in changed}
    left = {node: name for node, name in names.items() if not run.is_empty(name)} or names
    rows = [_stored_rows(plan, node, name) for node, name in left.items()]
    result = Statement(f"{prefix}_new", union_all(rows))
    return PlanDelta(tuple(run.statements), result, tuple(run.products))


def _stored_rows(plan: Plan, node: PlanNode, relation: str) -> exp.Query:
    """The rows of `relation` in the columns of the embedding table."""
    cells = padded_columns((f"v{i}" for i in range(plan.width)), node.variables)
    return select(
        *columns(name for name in node.variables if name == MEMBER),
        alias(text(plan.ids[node]), "node"),
        *cells,
        *columns(CHANGE),
        from_=rows_of(relation),
    )
