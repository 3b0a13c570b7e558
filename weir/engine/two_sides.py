"""The two sides of a join as relations, of the rows that the changes touch.

Touched are the rows that are compatible with a row of a side's delta. But all matches of a left row
decide whether it has one. If a shared variable may be unbound, some of them are compatible with the
row and with no changed one, so the right side then has all that is compatible with a touched left
row.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import columns, rows_of, select, subquery, union_all
from weir.engine.conditions import condition_sql
from weir.engine.join_keys import JoinKeys
from weir.engine.members import with_parameters
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.engine.stored_state import TouchedKeys
from weir.engine.sweep import integrate
from weir.plan.operators import Join, PlanNode, TwoSided
from weir.plan.parameters import parameters_of
from weir.sparql.algebra.expressions import Expression


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Two sides and their relations, of the rows that the changes touch.

    Logs and intervals are from the state at the beginning of the range on. `members` is the
    relation of the members, where conditions have parameters of them.
    """

    keys: JoinKeys
    left_delta: str
    right_delta: str
    left_log: str
    left_intervals: str
    right_intervals: str
    members: str | None = None

    def satisfying(
        self, pairs: exp.Query, names: tuple[str, ...], condition: Expression
    ) -> tuple[exp.Query, exp.Expr]:
        """What to select from, and the SQL that says for which of `pairs` a condition holds.

        Args:
            pairs: merged solutions of both sides, maybe with more columns.
            names: the columns of `pairs`.
            condition: over the variables of both sides.
        """
        rows = with_parameters(pairs, names, parameters_of([condition]), self.members)
        return rows, condition_sql(condition, frozenset(self.keys.variables))


def two_sides(node: TwoSided, run: Run) -> TwoSides:
    """Make the relations of both sides of `node`."""
    keys = JoinKeys.of(node.left, node.right)
    deltas = (run.stored(node.left), run.stored(node.right))
    restricted = keys.shared and not run.epochs.from_nothing
    touched = _touched(node, run, keys, "keys", deltas) if restricted else None
    left_log, left = _side(node, run, node.left, "l", _compatible(keys, touched))
    # Every row of the result is of a left row.
    run.narrow(run.name(node, "state_l"), deltas[0])
    if restricted and keys.optional and not isinstance(node, Join):
        touched = _touched(node, run, keys, "left_keys", (left_log,))
    _, right = _side(node, run, node.right, "r", _compatible(keys, touched))
    return TwoSides(keys, *deltas, left_log, left, right, run.inputs.members)


def _touched(
    node: TwoSided, run: Run, keys: JoinKeys, part: str, relations: tuple[str, ...]
) -> str:
    """Make the relation of the shared variables' values in `relations`."""
    rows = [select(*columns(keys.shared), from_=rows_of(relation)) for relation in relations]
    changed = subquery(union_all(rows), "changed")
    return run.make(
        run.name(node, part), select(*columns(keys.shared), from_=changed, distinct=True)
    )


def _compatible(keys: JoinKeys, touched: str | None) -> TouchedKeys | None:
    """The stored rows that are compatible with a row of relation `touched`; None for all."""
    if touched is None:
        return None
    return TouchedKeys(select("*", from_=rows_of(touched)), keys.compatible("s", "k"))


def _side(
    node: TwoSided, run: Run, child: PlanNode, side: str, keys: TouchedKeys | None
) -> tuple[str, str]:
    """Make the log of a side's touched rows, and its intervals."""
    rows = run.log(node, child, keys, f"state_{side}")
    log = run.make(run.name(node, f"log_{side}"), rows, "view")
    intervals = integrate(_log_rows(child, log), child.variables)
    return log, run.make(run.name(node, f"iv_{side}"), intervals)


def _log_rows(child: PlanNode, log: str) -> exp.Query:
    return select(*columns((*child.variables, *CHANGE)), from_=rows_of(log))
