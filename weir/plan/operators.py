"""The operators of a plan: what the engine maintains, as frozen values.

Every node has `variables`, the columns of its solutions, and `certain`, those that no solution
leaves unbound (`weir.plan.nodes` has all that a node answers). In the plan of a group
(`weir.plan.members`) every node has the column `member`, and solutions of different members have
nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self, assert_never

from weir.plan.leaves import MEMBER, Component, Values
from weir.plan.nodes import Operator, node, shared
from weir.plan.parameters import Change
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import TriplePattern


class Inner(Operator):
    """A node that reads others. It keeps the solutions of different members apart if those do."""

    def with_member(self) -> Self:
        """The same node: only an operation with a key has to add the member to it."""
        return self


class Nary(Inner):
    """An operation on any number of nodes."""

    children: tuple[PlanNode, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The children's variables, in order."""
        return _all_variables(*self.children)

    def with_children(self, children: tuple[Operator, ...]) -> Self:
        """The same operation on other nodes."""
        return self._with(children=children)


class Binary(Inner):
    """An operation on two sides; each of its solutions extends one of the left side."""

    has_memory = True
    left: PlanNode
    right: PlanNode

    @property
    def children(self) -> tuple[PlanNode, PlanNode]:
        """The left and the right side."""
        return (self.left, self.right)

    def with_children(self, children: tuple[Operator, ...]) -> Self:
        """The same operation on other sides."""
        left, right = children
        return self._with(left=left, right=right)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the left side."""
        return self.left.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the left side."""
        return self.left.certain

    @property
    def touch_key(self) -> tuple[str, ...]:
        """The variables of both sides."""
        return shared(self.left, self.right)

    def needs_triple(self, scope: Scope) -> bool:
        """Whether the left side has no solution as long as `scope` has no triple."""
        return self.left.needs_triple(scope)

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The columns that are graph terms of the left side."""
        return self.left.graph_terms(scope, graph)


class Unary(Inner):
    """An operation on one node, without a solution as long as that node has none."""

    child: PlanNode

    @property
    def children(self) -> tuple[PlanNode]:
        """The one node that is read."""
        return (self.child,)

    def with_children(self, children: tuple[Operator, ...]) -> Self:
        """The same operation on another node."""
        (child,) = children
        return self._with(child=child)

    def needs_triple(self, scope: Scope) -> bool:
        """Whether the child has no solution as long as `scope` has no triple."""
        return self.child.needs_triple(scope)


class Selection(Unary):
    """Solutions of one node, all or some of them, maybe with more columns."""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the child."""
        return self.child.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the child."""
        return self.child.certain

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The columns that are graph terms of the child."""
        return self.child.graph_terms(scope, graph)


@node
class Product(Nary):
    """Solutions of parts that share no variable but the member, combined (000, Lemma 3).

    `correlated` are the columns of a part that no pattern joins with the others: an EXISTS has the
    others evaluated for each of its values.
    """

    children: tuple[PlanNode, ...]
    correlated: tuple[str, ...] = ()

    has_memory = True

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for child in self.children:
            own = {*child.variables} - {MEMBER}
            if seen & own:
                raise ValueError(f"the parts of a product share variables: {seen & own}")
            seen |= own

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in any of the parts."""
        return frozenset().union(*(child.certain for child in self.children))

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:
        """The first part that has all of the variables; none for a condition without variables."""
        places = (i for i, part in enumerate(self.children) if variables <= {*part.variables})
        return tuple(places)[:1] if variables else ()

    def needs_triple(self, scope: Scope) -> bool:
        """Whether some part has no solution as long as `scope` has no triple."""
        return any(child.needs_triple(scope) for child in self.children)

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The columns that are graph terms of any of the parts."""
        return frozenset().union(*(child.graph_terms(scope, graph) for child in self.children))


@node
class Join(Binary):
    """Compatible solutions of two sides that share variables, merged."""

    left: PlanNode
    right: PlanNode

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the left side, then those that only the right side has."""
        return _all_variables(self.left, self.right)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the left or the right side."""
        return self.left.certain | self.right.certain

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:
        """A side that certainly binds all of the variables, the left one first."""
        if variables <= self.left.certain:
            return (0,)
        return (1,) if variables <= self.right.certain else ()

    def needs_triple(self, scope: Scope) -> bool:
        """Whether one of the sides has no solution as long as `scope` has no triple."""
        return self.left.needs_triple(scope) or self.right.needs_triple(scope)

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The columns that are graph terms of the left or the right side."""
        return self.left.graph_terms(scope, graph) | self.right.graph_terms(scope, graph)


@node
class LeftJoin(Binary):
    """Compatible solutions of both sides for which `condition` holds, merged; and the left ones
    that have no such match.
    """

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None

    constants = ("condition",)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the left side, then those that only the right side has."""
        return _all_variables(self.left, self.right)

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:
        """The left side, if it certainly binds all of the variables."""
        return (0,) if variables <= self.left.certain else ()


class Matching(Binary):
    """All left solutions or some, by whether a compatible right one satisfies `condition`.

    `condition` sees the variables of both sides.
    """

    condition: Expression | None

    constants = ("condition",)

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:
        """The left side, if it has all of the variables."""
        return (0,) if variables <= {*self.left.variables} else ()


@node
class SemiJoin(Matching):
    """The left solutions for which a compatible right one satisfies `condition`: EXISTS."""

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None


@node
class AntiJoin(Matching):
    """Left solutions for which no compatible right one satisfies `condition`: MINUS, NOT EXISTS.

    If any variable is `overlapping`, a right solution counts only if both sides bind one of these,
    as MINUS asks.
    """

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None
    overlapping: tuple[str, ...] = ()


@node
class MarkJoin(Matching):
    """All left solutions, with `flag` true or false: EXISTS within an expression.

    True if a compatible right solution satisfies `condition`.
    """

    left: PlanNode
    right: PlanNode
    flag: str
    condition: Expression | None = None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the left side, then the flag."""
        return (*self.left.variables, self.flag)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the left side, and the flag."""
        return self.left.certain | {self.flag}


@node
class Union(Nary):
    """The solutions of all children, as a bag; variables that a child does not have are unbound."""

    children: tuple[PlanNode, ...]

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in every child."""
        first, *others = (child.certain for child in self.children)
        return first.intersection(*others)

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:  # noqa: ARG002
        """Every child: each applies the condition to its own solutions."""
        return tuple(range(len(self.children)))

    def needs_triple(self, scope: Scope) -> bool:
        """Whether no child has a solution as long as `scope` has no triple."""
        return all(child.needs_triple(scope) for child in self.children)


@node
class Filter(Selection):
    """Solutions for which the effective boolean value of `condition` is true."""

    condition: Expression
    child: PlanNode

    constants = ("condition",)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the child, and those without which the condition is not
        true.
        """
        match self.condition:
            case Call("BOUND" | "SAMETERM", arguments):
                bound = {part.name for part in arguments if isinstance(part, Variable)}
                return self.child.certain | (bound & set(self.variables))
            case Call() | Variable() | Constant() | Exists():
                return self.child.certain
            case _:
                assert_never(self.condition)

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:  # noqa: ARG002
        """The child, for every condition."""
        return (0,)


@node
class Extend(Selection):
    """Solutions with `variable` bound to the value of `expression`; unbound if it is an error."""

    variable: str
    expression: Expression
    child: PlanNode

    constants = ("expression",)

    def __post_init__(self) -> None:
        if self.variable in self.child.variables:
            raise ValueError(f"{self.variable} is bound already")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the child, then the one that is bound."""
        return (*self.child.variables, self.variable)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The variables that are certain in the child; and the new one if it cannot be an error."""
        before = self.child.certain
        match self.expression:
            case Constant() | Call("COALESCE", (*_, Constant())):
                return before | {self.variable}
            case Variable(name) if name in before:
                return before | {self.variable}
            case Call() | Variable() | Exists():
                return before
            case _:
                assert_never(self.expression)

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:
        """The child, unless the condition is on the new variable."""
        return () if self.variable in variables else (0,)


@node
class Project(Unary):
    """Solutions restricted to `variables`; those that the child does not have are unbound."""

    variables: tuple[str, ...]
    child: PlanNode

    @cached_property
    def certain(self) -> frozenset[str]:
        """The projected variables that are certain in the child."""
        return self.child.certain & set(self.variables)

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:
        """The projected columns that are graph terms of the child."""
        return self.child.graph_terms(scope, graph) & set(self.variables)

    def with_member(self) -> Self:
        """The same operation with the member as its first variable."""
        return self._with(variables=(MEMBER, *self.variables))


@node
class Distinct(Selection):
    """Each solution once."""

    child: PlanNode

    has_memory = True

    @property
    def touch_key(self) -> tuple[str, ...]:
        """All variables: a solution is compared as a whole."""
        return self.variables

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:  # noqa: ARG002
        """The child, for every condition."""
        return (0,)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a group: `argument` is a column of the child; None counts solutions."""

    function: str
    argument: str | None
    distinct: bool = False
    separator: str = " "


@node
class Group(Unary):
    """One solution per group of solutions that are equal in `keys`.

    With `always` there is a group even of no solutions, as in SPARQL without GROUP BY; of each
    member, if there are members.
    """

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    child: PlanNode
    always: bool = False

    has_memory = True

    def __post_init__(self) -> None:
        if self.always and {*self.keys} - {MEMBER}:
            raise ValueError("only the one group without keys is there without solutions")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The keys, then the aggregates."""
        return (*self.keys, *(name for name, _ in self.aggregates))

    @cached_property
    def certain(self) -> frozenset[str]:
        """The keys that are certain in the child, and the aggregates that cannot be an error."""
        counts = {name for name, made in self.aggregates if made.function == "COUNT"}
        return frozenset(counts | (self.child.certain & set(self.keys)))

    @property
    def touch_key(self) -> tuple[str, ...]:
        """The keys of the groups."""
        return self.keys

    def needs_triple(self, scope: Scope) -> bool:
        """Whether there is no group as long as `scope` has no triple."""
        return not self.always and self.child.needs_triple(scope)

    def with_member(self) -> Self:
        """The same operation with the member as its first key."""
        return self._with(keys=(MEMBER, *self.keys))


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column that orders solutions."""

    column: str
    descending: bool = False


@node
class Slice(Selection):
    """`limit` solutions (all if None) after the first `offset`, per value of `partition`.

    In the order of `keys`; where those are equal, of the terms of the columns `ties` as text.
    """

    keys: tuple[SortKey, ...]
    offset: int
    limit: int | None
    child: PlanNode
    partition: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()

    has_memory = True

    def with_member(self) -> Self:
        """The same operation for each member by itself: the member is part of `partition`."""
        return self._with(partition=(MEMBER, *self.partition))


@node
class Closure(Unary):
    """The pairs that one or more steps connect, each once.

    The child's solutions are the steps, from `source` to `target`, and a path is made of steps with
    equal `partition`. `start`, if it is given, is the only term that a path may start from.
    """

    source: str
    target: str
    child: PlanNode
    start: str | None = None
    partition: tuple[str, ...] = ()

    has_memory = True

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The partition, source and target."""
        return (*self.partition, self.source, self.target)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The source, the target, and the partition's columns that are certain in every step."""
        return frozenset({self.source, self.target}) | (self.child.certain & {*self.partition})

    def with_terms(self, change: Change) -> Self:
        """The same closure with `start` changed, if it has a start."""
        return self if self.start is None else self._with(start=change(self.start))

    def with_member(self) -> Self:
        """The same closure for each member by itself: the member is part of `partition`."""
        return self._with(partition=(MEMBER, *self.partition))


@node
class Ask(Unary):
    """One solution at every epoch: `variable` is true if the child, a set of empty solutions, has
    one.
    """

    variable: str
    child: Distinct

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The member, if the child has it, then `variable`."""
        return (*self.child.variables, self.variable)

    @cached_property
    def certain(self) -> frozenset[str]:
        """All variables: no solution leaves one unbound."""
        return frozenset(self.variables)

    def needs_triple(self, scope: Scope) -> bool:  # noqa: ARG002
        """False: there is always a solution."""
        return False


@node
class Instantiate(Unary):
    """The triples that a CONSTRUCT template makes of the child's solutions, as a bag.

    `targets` are the columns that hold subject, predicate and object. A blank node of the template
    (`blank_nodes`) gets a label made of its own name and the solution, so it is the same in every
    run.
    """

    template: tuple[TriplePattern, ...]
    targets: tuple[str, str, str]
    blank_nodes: frozenset[str]
    child: PlanNode

    constants = ("template",)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The member, if the child has it, then subject, predicate and object."""
        return (*(name for name in self.child.variables if name == MEMBER), *self.targets)

    @cached_property
    def certain(self) -> frozenset[str]:
        """All variables: no triple leaves one unbound."""
        return frozenset(self.variables)


TwoSided = Join | LeftJoin | SemiJoin | AntiJoin | MarkJoin

PlanNode = (
    Component
    | Values
    | Product
    | TwoSided
    | Union
    | Filter
    | Extend
    | Project
    | Distinct
    | Group
    | Slice
    | Closure
    | Ask
    | Instantiate
)


def map_children(node: PlanNode, change: Callable[[PlanNode], PlanNode]) -> PlanNode:
    """The same operation on the children, each of them changed."""
    return node.with_children(tuple(map(change, node.children)))


def walk(*nodes: PlanNode) -> Iterator[PlanNode]:
    """`nodes` and all nodes below them, each once, at its first place from the left."""
    seen: set[PlanNode] = set()
    ahead = [*reversed(nodes)]
    while ahead:
        following = ahead.pop()
        if following not in seen:
            seen.add(following)
            yield following
            ahead.extend(reversed(following.children))


def _all_variables(*nodes: PlanNode) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for node in nodes for name in node.variables))
