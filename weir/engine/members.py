"""The relation of a group's members, (member, p0, p1, ..), and rows joined with it.

Each member has one row: its name and its values of the parameters in which members differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from weir.compute.sql import columns, equal, inner_join, rows_of, select, subquery
from weir.plan.leaves import MEMBER
from weir.plan.members import MembersPlan


def members_table(names: Sequence[str], plan: MembersPlan) -> pa.Table:
    """The rows of the members relation; `names` are those of the members, in order."""
    cells = [[row[i] for row in plan.rows] for i in range(len(plan.columns))]
    arrays = [pa.array(values, pa.string()) for values in ([*names], *cells)]
    return pa.table(arrays, [MEMBER, *plan.columns])


def with_parameters(
    rows: exp.Query, names: Sequence[str], parameters: Sequence[str], members: str | None
) -> exp.Query:
    """`rows` with the parameters of each row's member; as they are if none is needed.

    Args:
        rows: a query; a name for each row's member is in the column `member`.
        names: the columns of `rows`.
        parameters: the columns to add.
        members: the members relation; None for the plan of one query, which has no parameters.
    """
    if not parameters:
        return rows
    assert members is not None, "the plan of one query has no parameters"
    return select(
        *columns(names, "rows"),
        *columns(parameters, "m"),
        from_=subquery(rows, "rows"),
        joins=[inner_join(rows_of(members, "m"), *equal((MEMBER,), "rows", "m"))],
    )
