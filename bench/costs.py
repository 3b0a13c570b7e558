"""What paper 001 (section 4, Definition 2) counts for a projection: operations, by either way.

*Direct* computes the projection of the new mappings and inserts each. *Incremental* is Algorithm 1:
first the mappings that vanished, each projected and checked for one that still gives the same; then
those that appeared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from weir.plan.plan import ANSWER


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """What one operation costs: project a mapping, insert one, look for another, delete one."""

    project: float = 1
    insert: float = 1
    look: float = 1
    delete: float = 1


@dataclass(frozen=True, slots=True)
class OperandChange:
    """How the operand of an operator changed.

    Attributes:
        after: mappings that it has now, |A'|.
        vanished: |dA-|.
        appeared: |dA+|.
    """

    after: int
    vanished: int
    appeared: int

    @property
    def is_surely_incremental(self) -> bool:
        """Whether the paper says, without a look at the result, that incremental costs less."""
        return not self.vanished and self.after > 2 * self.appeared


def direct_cost(change: OperandChange, unit: UnitCosts) -> float:
    """The cost of the projection from scratch."""
    return change.after * (unit.project + unit.insert)


def incremental_cost(change: OperandChange, kept: int, new: int, unit: UnitCosts) -> float:
    """The cost of Algorithm 1.

    Args:
        change: of the operand.
        kept: mappings that vanished while another one gives the same result (alpha).
        new: mappings that the result has more (beta).
        unit: costs of one operation.
    """
    vanished = change.vanished * (unit.project + unit.look)
    vanished += (change.vanished - kept) * (unit.delete + unit.insert)
    appeared = change.appeared * (unit.project + unit.insert) + new * unit.insert
    return vanished + appeared


def operand_change(log: pa.Table, after: int) -> OperandChange:
    """How the rows of a log changed since an epoch.

    Args:
        log: epoch, weight, and the columns of a row.
        after: the epoch; later rows are the change.
    """
    columns = ", ".join(f'"{name}"' for name in log.column_names if name not in ("epoch", "weight"))
    connection = duckdb.connect()
    connection.register("log", log)
    ((held, vanished, appeared),) = connection.execute(
        "SELECT coalesce(sum(now), 0), coalesce(sum(greatest(before - now, 0)), 0),"
        " coalesce(sum(greatest(now - before, 0)), 0) FROM (SELECT sum(weight) AS now,"
        " coalesce(sum(weight) FILTER (epoch <= $after), 0) AS before FROM log"
        f" GROUP BY {columns or '()'})",
        {"after": after},
    ).fetchall()
    return OperandChange(int(held), int(vanished), int(appeared))


def answer_change(lake: Path, query: str, after: int) -> OperandChange:
    """How the answer of a query changed since an epoch, by its embeddings.

    Args:
        lake: the folder of the tables.
        query: maintained up to the newest epoch.
        after: the epoch.
    """
    table = DeltaTable(lake / "embeddings" / query)
    log = table.to_pyarrow_table(filters=[("node", "=", ANSWER)])
    return operand_change(log.drop_columns("node"), after)
