"""The check that derived graphs have the triples of the answers that they are the graphs of."""

from __future__ import annotations

from collections.abc import Iterator

from weir.audit.checked import CheckOf
from weir.audit.unexpected import unexpected
from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    column,
    columns,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.definitions.definition import Definition
from weir.engine.graph import POSITIONS
from weir.expectations.suite import QualityResult
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.maintain.derived_graphs import DerivedGraph

EQUAL = CheckOf(
    "equals_the_answer", "Up to its watermark the graph has the triples of the answer's log."
)
_LOG = (*POSITIONS, "epoch")


def derived_graph_results(
    engine: Engine, lake: Lake, definition: Definition
) -> Iterator[QualityResult]:
    """Check that a derived graph has the triples of the embeddings, by epoch; if it is of them."""
    graph = DerivedGraph.of(definition)
    known = None if graph is None else graph.continued(lake)
    if graph is None or known is None:
        # The next run writes it again.
        return
    table, upto = graph.table.name, column("epoch") <= number(known.watermark)
    embeddings = EMBEDDINGS.name(definition.name)
    stored = StoredTable("stored_triples", table, where=upto)
    answer = StoredTable("answer_triples", embeddings, where=upto.copy())
    there = select(*columns(_LOG), column("weight"), from_=rows_of(stored.name))
    wanted = select(
        *columns(_LOG),
        alias(-column("weight"), "weight"),
        from_=subquery(graph.log(answer.name), "wanted"),
    )
    total_weight = sum_of(column("weight"))
    difference = select(
        *columns(_LOG),
        alias(total_weight, "weight"),
        from_=subquery(union_all([there, wanted]), "rows"),
        group_by=columns(_LOG),
        having=total_weight.copy().neq(number(0)),
    )
    query = LakeQuery(difference, (stored, answer))
    total, examples = unexpected(engine, f"wrong_graph_{definition.name}", query)
    if total:
        lake.refresh()
        if graph.continued(lake) != known:
            # It was maintained meanwhile.
            return
    yield EQUAL.result(table, examples, total)
