"""Plan nodes: what the engine maintains, as frozen values.

In a plan a variable is a column name `v<number>`, because SPARQL names are case-sensitive and
column names are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, assert_never

from jobs.sparql.algebra import TriplePattern
from jobs.sparql.expressions import Expression, variables_of

ComponentClass = Literal["ground", "simple var-centric star", "connected-variable"]

ANSWER = "answer"
"""The node id of a plan's root."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which triples a pattern sees: the union of all graphs (`graphs` is None), or the merge of
    some.

    Graph names are in N-Triples form; the empty string is the unnamed graph.
    """

    graphs: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """What `explain` calls it."""
        if self.graphs is None:
            return "union of all graphs"
        return "merge of " + ", ".join(graph or "the unnamed graph" for graph in self.graphs)


@dataclass(frozen=True, slots=True)
class Component:
    """A segment of a basic graph pattern's connected-variable decomposition (000, Section 4.2).

    `conditions` are the filters that mention only the segment's variables.
    """

    patterns: tuple[TriplePattern, ...]
    scope: Scope
    kind: ComponentClass
    conditions: tuple[Expression, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the patterns, in order of appearance."""
        return tuple(dict.fromkeys(name for pattern in self.patterns for name in pattern.variables))

    @property
    def certain(self) -> frozenset[str]:
        """Every variable is bound in every solution."""
        return frozenset(self.variables)


@dataclass(frozen=True, slots=True)
class Product:
    """Solutions of parts that share no variable, combined (000, Lemma 3)."""

    children: tuple[PlanNode, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for child in self.children:
            if seen & set(child.variables):
                raise ValueError(
                    f"the parts of a product share variables: {seen & set(child.variables)}"
                )
            seen |= set(child.variables)

    @property
    def variables(self) -> tuple[str, ...]:
        """The children's variables, in order."""
        return tuple(name for child in self.children for name in child.variables)

    @property
    def certain(self) -> frozenset[str]:
        """What is certain in a child is certain here."""
        return frozenset().union(*(child.certain for child in self.children))


@dataclass(frozen=True, slots=True)
class Filter:
    """Solutions for which the effective boolean value of `condition` is true."""

    condition: Expression
    child: PlanNode

    @property
    def variables(self) -> tuple[str, ...]:
        """The child's."""
        return self.child.variables

    @property
    def certain(self) -> frozenset[str]:
        """The child's."""
        return self.child.certain


@dataclass(frozen=True, slots=True)
class Project:
    """Solutions restricted to `variables`; one that the child does not have is unbound."""

    variables: tuple[str, ...]
    child: PlanNode

    @property
    def certain(self) -> frozenset[str]:
        """What is certain in the child and kept."""
        return self.child.certain & set(self.variables)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each solution once."""

    child: PlanNode

    @property
    def variables(self) -> tuple[str, ...]:
        """The child's."""
        return self.child.variables

    @property
    def certain(self) -> frozenset[str]:
        """The child's."""
        return self.child.certain


@dataclass(frozen=True, slots=True)
class Exists:
    """One solution at every epoch: `variable` is true if the child, a set of empty solutions, has
    one.
    """

    variable: str
    child: Distinct

    @property
    def variables(self) -> tuple[str, ...]:
        """The one variable."""
        return (self.variable,)

    @property
    def certain(self) -> frozenset[str]:
        """The one variable."""
        return frozenset(self.variables)


@dataclass(frozen=True, slots=True)
class Instantiate:
    """The triples that a CONSTRUCT template makes of the child's solutions, as a bag.

    `targets` are the columns that hold subject, predicate and object. A blank node of the template
    (`blank_nodes`) gets a label made of its own name and the solution, so it is the same in every
    run.
    """

    template: tuple[TriplePattern, ...]
    targets: tuple[str, str, str]
    blank_nodes: frozenset[str]
    child: PlanNode

    @property
    def variables(self) -> tuple[str, ...]:
        """Subject, predicate and object."""
        return self.targets

    @property
    def certain(self) -> frozenset[str]:
        """A triple has all three."""
        return frozenset(self.targets)


PlanNode = Component | Product | Filter | Project | Distinct | Exists | Instantiate


def children(node: PlanNode) -> tuple[PlanNode, ...]:
    """The nodes that `node` reads."""
    match node:
        case Component():
            return ()
        case Product(parts):
            return parts
        case Filter() | Project() | Distinct() | Exists() | Instantiate():
            return (node.child,)
        case _:
            assert_never(node)


def has_memory(node: PlanNode) -> bool:
    """Whether the delta of `node` needs its children's stored state, not only their deltas."""
    match node:
        case Product() | Distinct():
            return True
        case Component() | Filter() | Project() | Exists() | Instantiate():
            return False
        case _:
            assert_never(node)


def walk(node: PlanNode) -> Iterator[PlanNode]:
    """`node` and all nodes below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one query.

    `names[i]` is the SPARQL name of column `v<i>`. `columns` are the published columns: (name,
    internal column). `is_set` says that the answer is a set by construction. Equal nodes share one
    id and one stored log.
    """

    root: PlanNode
    names: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    is_set: bool
    allow_product: bool = False
    ids: dict[PlanNode, str] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        ids: dict[PlanNode, str] = {}
        for node in walk(self.root):
            ids.setdefault(node, f"n{len(ids)}" if ids else ANSWER)
        object.__setattr__(self, "ids", ids)

    @property
    def components(self) -> tuple[Component, ...]:
        """The leaves."""
        found = (node for node in walk(self.root) if isinstance(node, Component))
        return tuple(dict.fromkeys(found))

    @property
    def stored(self) -> tuple[PlanNode, ...]:
        """The nodes whose logs are kept: the answer, and each child of an operator with memory."""
        kept = [self.root]
        for node in walk(self.root):
            if has_memory(node):
                kept.extend(children(node))
        return tuple(dict.fromkeys(kept))

    @property
    def width(self) -> int:
        """Number of internal columns."""
        return len(self.names)


def unmentioned(expression: Expression, node: PlanNode) -> frozenset[str]:
    """Variables of `expression` that `node` cannot bind."""
    return variables_of(expression) - set(node.variables)
