"""Graph patterns and solution modifiers as frozen values, named as in the specification.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.sparql.algebra.expressions import Constant, Expression, Variable
from weir.sparql.algebra.paths import Path

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

    @property
    def ends(self) -> frozenset[str]:
        """The names of the variables that are subject or object."""
        ends = (self.subject, self.object)
        return frozenset(node.name for node in ends if isinstance(node, Variable))


@dataclass(frozen=True, slots=True)
class Bgp:
    """A basic graph pattern: https://www.w3.org/TR/sparql11-query/#sparqlBasicGraphPatterns."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A property path pattern that triple patterns cannot express; `path` starts at the subject.

    https://www.w3.org/TR/sparql11-query/#sparqlPropertyPaths
    """

    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data: a row per solution, terms in N-Triples form; None for UNDEF."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Compatible solutions of both, merged:
    https://www.w3.org/TR/sparql11-query/#defn_algJoin.
    """

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: the join where `condition` holds, and the left solutions that have no such match.

    `condition` sees both sides; None is true.
    """

    left: Pattern
    right: Pattern
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """The solutions of both, as a bag."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    """Left solutions without a compatible right solution that shares a bound variable:
    https://www.w3.org/TR/sparql11-query/#defn_algMinus.
    """

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Graph:
    """The pattern in one named graph or window, or in each graph with `name` bound to its name."""

    name: Node
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Service:
    """SERVICE: the solutions of a block that a remote endpoint evaluates.

    https://www.w3.org/TR/sparql11-federated-query/

    Attributes:
        remote: the IRI of the endpoint, in N-Triples form.
        block: the text of the block without its braces; names are written out as IRIs.
        variables: what its solutions may bind.
        certain: those of `variables` that every solution binds.
        key: those of `certain` by whose values the remote is asked; none: for the whole answer.
        flags: more variables, each bound where one of `variables` is: pairs of that and the flag.
    """

    remote: str
    block: str
    variables: tuple[str, ...]
    certain: frozenset[str]
    key: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND and `(expression AS ?variable)`: unbound where the expression is an error."""

    pattern: Pattern
    variable: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of the solutions of a group.

    `function` is COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT; `argument` is None for
    COUNT(*). `separator` is GROUP_CONCAT's.
    """

    function: str
    argument: Expression | None
    distinct: bool = False
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Group:
    """One solution per group: the key `variables` and, by variable, the aggregates.

    Without keys there is one group, even of no solutions.
    https://www.w3.org/TR/sparql11-query/#sparqlAggregateAlgebra
    """

    variables: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One comparator of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Slice:
    """`limit` solutions (all if None) after the first `offset`, in the order of `keys`.

    Solutions that are equal in all keys are in the order of their terms as text: SPARQL leaves
    their order open, and a maintained answer must not change without a change of the data. ORDER BY
    without LIMIT or OFFSET only presents the answer and has no Slice.
    """

    pattern: Pattern
    keys: tuple[OrderKey, ...]
    offset: int = 0
    limit: int | None = None


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


@dataclass(frozen=True, slots=True)
class Reduced:
    """SELECT REDUCED: each solution at least once; Weir keeps them all."""

    pattern: Pattern


Pattern = (
    Bgp
    | PathPattern
    | Values
    | Join
    | LeftJoin
    | Union
    | Minus
    | Graph
    | Service
    | Extend
    | Group
    | Slice
    | Filter
    | Project
    | Distinct
    | Reduced
)
