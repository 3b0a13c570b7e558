"""The SPARQL algebra as frozen values, named as in the specification.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jobs.sparql.expressions import Constant, Expression, Variable

Node = Variable | Constant


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple pattern: https://www.w3.org/TR/sparql11-query/#sparqlTriplePatterns."""

    subject: Node
    predicate: Node
    object: Node

    @property
    def nodes(self) -> tuple[Node, Node, Node]:
        """Subject, predicate, object."""
        return (self.subject, self.predicate, self.object)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order, each once."""
        return tuple(dict.fromkeys(node.name for node in self.nodes if isinstance(node, Variable)))


@dataclass(frozen=True, slots=True)
class Bgp:
    """A basic graph pattern: https://www.w3.org/TR/sparql11-query/#sparqlBasicGraphPatterns."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Solutions whose effective boolean value is true:
    https://www.w3.org/TR/sparql11-query/#sparqlAlgebra.
    """

    condition: Expression
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Project:
    """Solutions restricted to `variables`, in this order."""

    variables: tuple[str, ...]
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each solution once."""

    pattern: Pattern


Pattern = Bgp | Filter | Project | Distinct


@dataclass(frozen=True, slots=True)
class Dataset:
    """Where a query's triple patterns look.

    `default_graph` is `union` (all graphs merged) or `default` (the unnamed graph only); FROM, when
    given, replaces it by the merge of the `from_graphs` (IRIs in N-Triples form).
    """

    default_graph: Literal["union", "default"] = "union"
    from_graphs: tuple[str, ...] = ()


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
    """A query: its form, its dataset, and what of the text has no effect on a maintained answer.

    `presentation` lists parts that are accepted but only present the answer (`ORDER BY` without
    `LIMIT`).
    """

    form: Select | Ask | Construct
    dataset: Dataset
    presentation: tuple[str, ...] = ()
