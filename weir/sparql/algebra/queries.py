"""A whole query as a frozen value: its form and its dataset.

https://www.w3.org/TR/sparql11-query/#sparqlQuery
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir.sparql.algebra.patterns import Pattern, TriplePattern
from weir.sparql.algebra.services import Asked
from weir.sparql.algebra.windows import Registration, WindowClause


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs that a query reads: https://www.w3.org/TR/sparql11-query/#rdfDataset.

    `default_graph` is `union` (all graphs merged) or `default` (the unnamed graph only); FROM, when
    given, replaces it by the merge of the `from_graphs` (IRIs in N-Triples form). `named_graphs`
    are the graphs of FROM NAMED, which GRAPH reads; without FROM and FROM NAMED they are None, and
    GRAPH reads all named graphs. With FROM NAMED only, the default graph is empty.

    The default graph is merged with the graphs that definitions with the names `derived` give.
    """

    default_graph: Literal["union", "default"] = "union"
    from_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    derived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT query; `pattern` has its Project and Distinct on top."""

    pattern: Pattern
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """An ASK query."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Construct:
    """A CONSTRUCT query; blank nodes of the template are variables named `_:label`."""

    template: tuple[TriplePattern, ...]
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its form, its dataset, and the parts without an effect on a maintained answer.

    `presentation` lists those: they are accepted but only present the answer (`ORDER BY` without
    `LIMIT`, `REDUCED`). `windows` are the windows of an RSP-QL query: a `Graph` pattern with the
    name of one reads its content. `registration` is the stream that such a query publishes, None if
    its text says nothing of one. `asked` is what the blocks of SERVICE ask of remotes; `remotes`
    names these with their places: IRI in N-Triples form, line, column. `traversals` names the
    traversals whose documents it reads, in the same way, by their names.
    """

    form: Select | Ask | Construct
    dataset: Dataset
    presentation: tuple[str, ...] = ()
    windows: tuple[WindowClause, ...] = ()
    registration: Registration | None = None
    asked: tuple[Asked, ...] = ()
    remotes: tuple[tuple[str, int, int], ...] = ()
    traversals: tuple[tuple[str, int, int], ...] = ()
