"""FROM and FROM NAMED: https://www.w3.org/TR/sparql11-query/#specifyingDataset."""

from __future__ import annotations

from typing import Literal

from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.queries import Dataset
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Leaf, Tree


def read_dataset(
    tree: Tree, default_graph: Literal["union", "default"], translation: Translation
) -> Dataset:
    """The dataset of a query; each graph is named once.

    Raises:
        UnsupportedQuery: a graph is reserved.
    """
    clauses = tree.all("datasetClause")
    if not clauses:
        return Dataset(default_graph)
    default, named = (_graphs(tree, part, translation) for part in ("default", "named"))
    return Dataset(default_graph, default, named)


def _graphs(tree: Tree, part: str, translation: Translation) -> tuple[str, ...]:
    graphs: list[str] = []
    for clause in tree.all("datasetClause"):
        assert isinstance(clause, Tree), "the grammar has a production here"
        named = clause.get(part)
        if isinstance(named, Leaf):
            assert isinstance(named.node, Constant), "FROM names an IRI"
            translation.name_graph(named)
            graphs.append(named.node.term)
    return tuple(dict.fromkeys(graphs))
