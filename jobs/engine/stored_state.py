"""The stored state of a plan's nodes at the beginning of a range, of the rows that are touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.sql import column, columns, number, rows_of, select, text
from jobs.engine.relations import EpochRange
from jobs.plan.operators import PlanNode
from jobs.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Keys:
    """Which rows are touched: those that satisfy `conditions` with a row of `relation`.

    In the conditions the stored rows are `s`, the keys `k`.
    """

    relation: exp.Query
    conditions: Sequence[exp.Expr]


@dataclass(frozen=True, slots=True)
class States:
    """Makes statements over the stored logs of one query.

    Attributes:
        plan: the query's plan.
        epochs: the range.
        embeddings: the relation of the stored logs (node, v0, .., epoch, weight).
    """

    plan: Plan
    epochs: EpochRange
    embeddings: str

    def state(self, node: PlanNode, keys: Keys | None = None) -> exp.Query | None:
        """The state of `node`: a row per solution, at epoch `after`; None if there is no state.

        It is the only statement that reads the whole stored log of a node.
        """
        if self.epochs.from_nothing:
            return None
        names = node.variables
        stored = (
            select(*columns((*names, "weight"), "s"))
            .from_(rows_of(self.embeddings).as_("s"), copy=False)
            .where(
                column("node", "s").eq(text(self.plan.ids[node])),
                column("epoch", "s") <= number(self.epochs.after),
                copy=False,
            )
        )
        if keys is not None:
            stored = stored.join(
                keys.relation.subquery("k"),
                on=exp.and_(*(keys.conditions or [exp.true()])),
                join_type="semi",
                copy=False,
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
        return state.group_by(*columns(names), copy=False) if names else state
