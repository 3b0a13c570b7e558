"""FROM and FROM NAMED: https://www.w3.org/TR/sparql11-query/#specifyingDataset."""

from __future__ import annotations

from typing import Literal

from jobs.sparql.algebra.expressions import Constant
from jobs.sparql.algebra.queries import Dataset
from jobs.sparql.frontend.tree import Leaf, Tree


def read_dataset(tree: Tree, default_graph: Literal["union", "default"]) -> Dataset:
    """The dataset of a query; each graph is named once."""
    clauses = tree.all("datasetClause")
    if not clauses:
        return Dataset(default_graph)
    return Dataset(default_graph, _graphs(tree, "default"), _graphs(tree, "named"))


def _graphs(tree: Tree, part: str) -> tuple[str, ...]:
    graphs: list[str] = []
    for clause in tree.all("datasetClause"):
        assert isinstance(clause, Tree), "the grammar has a production here"
        named = clause.get(part)
        if isinstance(named, Leaf):
            assert isinstance(named.node, Constant), "FROM names an IRI"
            graphs.append(named.node.term)
    return tuple(dict.fromkeys(graphs))
