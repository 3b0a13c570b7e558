"""Graph patterns and solution modifiers as frozen values, named as in the specification.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

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
        return tuple(dict.fromkeys(variables_among(*self.nodes)))

    @property
    def ends(self) -> frozenset[str]:
        """The names of the variables that are subject or object."""
        return frozenset(variables_among(self.subject, self.object))


class Operation:
    """An operation of the algebra: its children, its expressions and what is known of its
    variables.
    """

    __slots__ = ()

    evaluated: ClassVar[str | None] = None
    """The field that is an expression or None, if there is one."""

    # A block of SERVICE has `certain` as a field, for which a dataclass must find no property here.
    if TYPE_CHECKING:

        @property
        def certain(self) -> frozenset[str]:
            """The variables that every solution binds; there may be more."""

        @property
        def children(self) -> tuple[Pattern, ...]:
            """The patterns that it is an operation on, from left to right; not those of EXISTS."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that the operation itself names, outside of its `expressions` and
        `children`.
        """
        return ()

    @property
    def in_scope(self) -> tuple[str, ...]:
        """The variables that its solutions may bind, in order of appearance, each once.

        Blank nodes and the variables that translation adds (`is_hidden`) are among them.
        https://www.w3.org/TR/sparql11-query/#variableScope
        """
        inside = (name for child in self.children for name in child.in_scope)
        return tuple(dict.fromkeys((*self.names, *inside)))

    @property
    def graph_terms(self) -> frozenset[str]:
        """Variables that triple patterns certainly bind to subjects or objects of the graph."""
        return frozenset()

    def map_children(self, change: Callable[[Pattern], Pattern]) -> Self:  # noqa: ARG002
        """The same operation on the changed `children`."""
        return self

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that the operation itself evaluates; not those of its `children`."""
        own = None if self.evaluated is None else getattr(self, self.evaluated)
        return () if own is None else (own,)

    def map_expressions(self, change: Callable[[Expression], Expression]) -> Self:
        """The same operation with the changed `expressions`."""
        return self._with(**{str(self.evaluated): change(own) for own in self.expressions})

    def _with(self, **changed: object) -> Self:
        return replace(self, **changed)  # type: ignore[type-var]


class Leaf(Operation):
    """A pattern that is no operation on others."""

    __slots__ = ()

    @property
    def children(self) -> tuple[()]:
        """A leaf has no children."""
        return ()


class Unary(Operation):
    """An operation on one pattern; it binds the same variables for certain as that pattern."""

    __slots__ = ()
    pattern: Pattern

    @property
    def children(self) -> tuple[Pattern]:
        """The one pattern."""
        return (self.pattern,)

    @property
    def certain(self) -> frozenset[str]:
        """The variables that every solution of the pattern binds."""
        return self.pattern.certain

    def map_children(self, change: Callable[[Pattern], Pattern]) -> Self:
        """The same operation on the changed pattern."""
        return self._with(pattern=change(self.pattern))


class Selection(Unary):
    """Some or all solutions of one pattern, maybe extended; each is decided by itself alone."""

    __slots__ = ()

    @property
    def graph_terms(self) -> frozenset[str]:
        """The variables that are graph terms of the pattern."""
        return self.pattern.graph_terms


class Binary(Operation):
    """An operation on two patterns. By default its solutions extend those of the left pattern."""

    __slots__ = ()
    left: Pattern
    right: Pattern

    @property
    def children(self) -> tuple[Pattern, Pattern]:
        """The left and the right pattern."""
        return (self.left, self.right)

    @property
    def certain(self) -> frozenset[str]:
        """The variables that every solution of the left pattern binds."""
        return self.left.certain

    @property
    def graph_terms(self) -> frozenset[str]:
        """The variables that are graph terms of the left pattern."""
        return self.left.graph_terms

    def map_children(self, change: Callable[[Pattern], Pattern]) -> Self:
        """The same operation on the changed patterns."""
        return self._with(left=change(self.left), right=change(self.right))


@dataclass(frozen=True, slots=True)
class Bgp(Leaf):
    """A basic graph pattern: https://www.w3.org/TR/sparql11-query/#sparqlBasicGraphPatterns."""

    patterns: tuple[TriplePattern, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the triple patterns, maybe repeated."""
        return tuple(name for triple in self.patterns for name in triple.variables)

    @property
    def graph_terms(self) -> frozenset[str]:
        """The variables that are subject or object of a triple pattern."""
        return frozenset().union(*(triple.ends for triple in self.patterns))

    @property
    def certain(self) -> frozenset[str]:
        """Every variable of the triple patterns."""
        return frozenset(self.names)


@dataclass(frozen=True, slots=True)
class PathPattern(Leaf):
    """A property path pattern that triple patterns cannot express; `path` starts at the subject.

    https://www.w3.org/TR/sparql11-query/#sparqlPropertyPaths
    """

    subject: Node
    path: Path
    object: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The subject and the object, as far as they are variables."""
        return variables_among(self.subject, self.object)

    @property
    def certain(self) -> frozenset[str]:
        """The subject and the object, as far as they are variables: every solution binds both."""
        return frozenset(self.names)


@dataclass(frozen=True, slots=True)
class Values(Leaf):
    """Inline data: a row per solution, terms in N-Triples form; None for UNDEF."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the data block."""
        return self.variables

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are bound in every row."""
        places = range(len(self.variables))
        return frozenset(self.variables[i] for i in places if all(row[i] for row in self.rows))


@dataclass(frozen=True, slots=True)
class Join(Binary):
    """Compatible solutions of both, merged:
    https://www.w3.org/TR/sparql11-query/#defn_algJoin.
    """

    left: Pattern
    right: Pattern

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the left or the right pattern."""
        return self.left.certain | self.right.certain

    @property
    def graph_terms(self) -> frozenset[str]:
        """The variables that are graph terms of the left or the right pattern."""
        return self.left.graph_terms | self.right.graph_terms


@dataclass(frozen=True, slots=True)
class LeftJoin(Binary):
    """OPTIONAL: the join where `condition` holds, and the left solutions that have no such match.

    `condition` sees both sides; None is true.
    """

    left: Pattern
    right: Pattern
    condition: Expression | None = None

    evaluated = "condition"


@dataclass(frozen=True, slots=True)
class Union(Binary):
    """The solutions of both patterns, as a bag."""

    left: Pattern
    right: Pattern

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in both patterns."""
        return self.left.certain & self.right.certain

    @property
    def graph_terms(self) -> frozenset[str]:
        """No variable: each solution is of one of the patterns only."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Minus(Binary):
    """Left solutions without a compatible right solution that shares a bound variable:
    https://www.w3.org/TR/sparql11-query/#defn_algMinus.
    """

    left: Pattern
    right: Pattern

    @property
    def in_scope(self) -> tuple[str, ...]:
        """The variables of the left pattern, the only ones that its solutions bind."""
        return self.left.in_scope


@dataclass(frozen=True, slots=True)
class Graph(Unary):
    """The pattern in one named graph or window, or in each graph with `name` bound to its name."""

    name: Node
    pattern: Pattern

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the graph, if it is a variable."""
        return variables_among(self.name)

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the pattern, and the graph's name if a variable."""
        return self.pattern.certain | {*self.names}


@dataclass(frozen=True, slots=True)
class Service(Leaf):
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

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the block, then the flags."""
        return (*self.variables, *(flag for _, flag in self.flags))


@dataclass(frozen=True, slots=True)
class Extend(Selection):
    """BIND and `(expression AS ?variable)`: unbound where the expression is an error."""

    pattern: Pattern
    variable: str
    expression: Expression

    evaluated = "expression"

    @property
    def names(self) -> tuple[str, ...]:
        """The variable that is bound."""
        return (self.variable,)

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the pattern; and the new one if it is always bound."""
        before = self.pattern.certain
        match self.expression:
            case Constant():
                return before | {self.variable}
            case Variable(name) if name in before:
                return before | {self.variable}
            case _:
                return before

    @property
    def in_scope(self) -> tuple[str, ...]:
        """The variables of the pattern, then the one that is bound."""
        return tuple(dict.fromkeys((*self.pattern.in_scope, self.variable)))


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
class Group(Unary):
    """One solution per group: the key `variables` and, by variable, the aggregates.

    Without keys there is one group, even of no solutions.
    https://www.w3.org/TR/sparql11-query/#sparqlAggregateAlgebra
    """

    variables: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    pattern: Pattern

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, then the variables of the aggregates."""
        return (*self.variables, *(name for name, _ in self.aggregates))

    @property
    def in_scope(self) -> tuple[str, ...]:
        """The keys and the variables of the aggregates only, each once."""
        return tuple(dict.fromkeys(self.names))

    @property
    def certain(self) -> frozenset[str]:
        """The keys that are certain in the pattern."""
        return self.pattern.certain & {*self.variables}

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The arguments of the aggregates."""
        arguments = (aggregate.argument for _, aggregate in self.aggregates)
        return tuple(argument for argument in arguments if argument is not None)

    def map_expressions(self, change: Callable[[Expression], Expression]) -> Self:
        """The same groups with aggregates of the changed arguments."""
        aggregates = (
            (name, made if made.argument is None else replace(made, argument=change(made.argument)))
            for name, made in self.aggregates
        )
        return self._with(aggregates=tuple(aggregates))


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One comparator of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Slice(Unary):
    """`limit` solutions (all if None) after the first `offset`, in the order of `keys`.

    Solutions that are equal in all keys are in the order of their terms as text: SPARQL leaves
    their order open, and a maintained answer must not change without a change of the data. ORDER BY
    without LIMIT or OFFSET only presents the answer and has no Slice.
    """

    pattern: Pattern
    keys: tuple[OrderKey, ...]
    offset: int = 0
    limit: int | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that the solutions are ordered by."""
        return tuple(key.expression for key in self.keys)

    def map_expressions(self, change: Callable[[Expression], Expression]) -> Self:
        """The same operation in the order of the changed expressions."""
        keys = (replace(key, expression=change(key.expression)) for key in self.keys)
        return self._with(keys=tuple(keys))


@dataclass(frozen=True, slots=True)
class Filter(Selection):
    """Solutions whose effective boolean value is true:
    https://www.w3.org/TR/sparql11-query/#sparqlAlgebra.
    """

    condition: Expression
    pattern: Pattern

    evaluated = "condition"


@dataclass(frozen=True, slots=True)
class Project(Unary):
    """Solutions restricted to `variables`, in this order."""

    variables: tuple[str, ...]
    pattern: Pattern

    @property
    def names(self) -> tuple[str, ...]:
        """The projected variables."""
        return self.variables

    @property
    def in_scope(self) -> tuple[str, ...]:
        """The projected variables only, each once."""
        return tuple(dict.fromkeys(self.names))

    @property
    def certain(self) -> frozenset[str]:
        """The projected variables that are certain in the pattern."""
        return self.pattern.certain & {*self.variables}


@dataclass(frozen=True, slots=True)
class Distinct(Selection):
    """Each solution once."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Reduced(Selection):
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


def variables_among(*nodes: Node) -> tuple[str, ...]:
    """The names of the variables among terms and variables."""
    return tuple(node.name for node in nodes if isinstance(node, Variable))
