"""FROM and FROM NAMED: https://www.w3.org/TR/sparql11-query/#specifyingDataset."""

from __future__ import annotations

from typing import Literal

from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.queries import Dataset
from weir.sparql.frontend.refusals import check_graph
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Leaf, Tree


def read_dataset(tree: Tree, default_graph: Literal["union", "default"], source: Source) -> Dataset:
    """The dataset of a query; each graph is named once.

    Raises:
        UnsupportedQuery: a graph is reserved.
    """
    clauses = tree.all("datasetClause")
    if not clauses:
        return Dataset(default_graph)
    return Dataset(default_graph, _graphs(tree, "default", source), _graphs(tree, "named", source))


def _graphs(tree: Tree, part: str, source: Source) -> tuple[str, ...]:
    graphs: list[str] = []
    for clause in tree.all("datasetClause"):
        assert isinstance(clause, Tree), "the grammar has a production here"
        named = clause.get(part)
        if isinstance(named, Leaf):
            assert isinstance(named.node, Constant), "FROM names an IRI"
            check_graph(named, source)
            graphs.append(named.node.term)
    return tuple(dict.fromkeys(graphs))
