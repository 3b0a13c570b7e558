"""How a query is maintained, as a picture: the nodes of its plan, and the rows stored of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from weir.answers.logs import register_table
from weir.compute.sql import alias, bigint, column, rows_of, select, sum_of
from weir.definitions.definition import Definition
from weir.definitions.plan_body import PlanBody
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.plan.descriptions import described
from weir.plan.plan import ANSWER

_COUNTED: Final = 1_000_000
"""Rows of a table of embeddings above which its nodes are not counted: that reads all of it."""


def plan_graph(bindings: Bindings, lake: Lake, definition: Definition) -> dict[str, Any] | None:
    """The nodes and edges of the plan of a definition; None of a program, which has no plan."""
    body = definition.body
    if not isinstance(body, PlanBody):
        return None
    plan, rows = body.plan, _stored(bindings, lake, definition.name)
    nodes, edges, ahead = dict[str, dict[str, Any]](), [], [plan.root]
    while ahead:
        node = ahead.pop()
        name = plan.ids[node]
        if name in nodes:
            continue
        stored = rows.get(ANSWER if node is plan.root else name)
        count = f"\n{stored:,} rows" if stored is not None else ""
        label = f"{described(plan, node)}{count}"
        kind = "this" if node is plan.root else "stored" if stored is not None else "node"
        nodes[name] = {"id": name, "label": label, "kind": kind, "href": ""}
        edges += [[plan.ids[child], name] for child in node.children]
        ahead += node.children
    return {"nodes": [*nodes.values()], "edges": edges}


def _stored(bindings: Bindings, lake: Lake, name: str) -> Mapping[str, int]:
    """How many rows are stored of each node; of none if there are too many to count."""
    table, relation = EMBEDDINGS.name(name), f"{name} embeddings"
    if not lake.exists(table):
        return {}
    if lake.existing(table).to_pyarrow_dataset().count_rows() > _COUNTED:
        return {}
    with bindings.scope():
        register_table(bindings, lake, table, relation)
        of_node = [column("node")]
        number = alias(bigint(sum_of(column("weight"))), "number")
        counted = select(column("node"), number, from_=rows_of(relation), group_by=of_node)
        with lake.using(table):
            rows = bindings.connection.execute(counted.sql(dialect="duckdb")).fetchall()
    return {str(node): int(number_ or 0) for node, number_ in rows}
