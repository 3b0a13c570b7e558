"""The operators of a plan: what the engine maintains, as frozen values.

Every node has `variables`, the columns of its solutions, and `certain`, those that no solution
leaves unbound. In the plan of a group (`weir.plan.members`) every node has the column `member`, and
solutions of different members have nothing to do with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from weir.plan.leaves import MEMBER, Component, Values
from weir.plan.nodes import node
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import TriplePattern


@node
class Product:
    """Solutions of parts that share no variable but the member, combined (000, Lemma 3).

    `correlated` are the columns of a part that no pattern joins with the others: an EXISTS has the
    others evaluated for each of its values.
    """

    children: tuple[PlanNode, ...]
    correlated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for child in self.children:
            own = {*child.variables} - {MEMBER}
            if seen & own:
                raise ValueError(f"the parts of a product share variables: {seen & own}")
            seen |= own

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The children's variables, in order."""
        return tuple(dict.fromkeys(name for child in self.children for name in child.variables))

    @cached_property
    def certain(self) -> frozenset[str]:
        """What is certain in a child is certain here."""
        return frozenset().union(*(child.certain for child in self.children))


@node
class Join:
    """Compatible solutions of two sides that share variables, merged."""

    left: PlanNode
    right: PlanNode

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The left side's, then what only the right side has."""
        return tuple(dict.fromkeys((*self.left.variables, *self.right.variables)))

    @cached_property
    def certain(self) -> frozenset[str]:
        """What is certain on a side."""
        return self.left.certain | self.right.certain


@node
class LeftJoin:
    """Compatible solutions of both sides for which `condition` holds, merged; and the left ones
    that have no such match.
    """

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The left side's, then what only the right side has."""
        return tuple(dict.fromkeys((*self.left.variables, *self.right.variables)))

    @cached_property
    def certain(self) -> frozenset[str]:
        """What is certain on the left."""
        return self.left.certain


@node
class SemiJoin:
    """The left solutions for which a compatible right one satisfies `condition`: EXISTS.

    `condition` sees the variables of both sides.
    """

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The left side's."""
        return self.left.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The left side's."""
        return self.left.certain


@node
class AntiJoin:
    """Left solutions for which no compatible right one satisfies `condition`: MINUS, NOT EXISTS.

    `condition` sees the variables of both sides. If any variable is `overlapping`, a right solution
    counts only if both sides bind one of these, as MINUS asks.
    """

    left: PlanNode
    right: PlanNode
    condition: Expression | None = None
    overlapping: tuple[str, ...] = ()

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The left side's."""
        return self.left.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The left side's."""
        return self.left.certain


@node
class MarkJoin:
    """All left solutions, with `flag` true or false: EXISTS within an expression.

    True if a compatible right solution satisfies `condition`, which sees the variables of both
    sides.
    """

    left: PlanNode
    right: PlanNode
    flag: str
    condition: Expression | None = None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The left side's, and the flag."""
        return (*self.left.variables, self.flag)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The left side's, and the flag."""
        return self.left.certain | {self.flag}


@node
class Union:
    """The solutions of all children, as a bag; variables that a child does not have are unbound."""

    children: tuple[PlanNode, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Those of any child."""
        return tuple(dict.fromkeys(name for child in self.children for name in child.variables))

    @cached_property
    def certain(self) -> frozenset[str]:
        """What is certain in every child."""
        first, *others = (child.certain for child in self.children)
        return first.intersection(*others)


@node
class Filter:
    """Solutions for which the effective boolean value of `condition` is true."""

    condition: Expression
    child: PlanNode

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The child's."""
        return self.child.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The child's, and what has to be bound for the condition to be true."""
        match self.condition:
            case Call("BOUND" | "SAMETERM", arguments):
                bound = {part.name for part in arguments if isinstance(part, Variable)}
                return self.child.certain | (bound & set(self.variables))
            case Call() | Variable() | Constant() | Exists():
                return self.child.certain
            case _:
                assert_never(self.condition)


@node
class Extend:
    """Solutions with `variable` bound to the value of `expression`; unbound if it is an error."""

    variable: str
    expression: Expression
    child: PlanNode

    def __post_init__(self) -> None:
        if self.variable in self.child.variables:
            raise ValueError(f"{self.variable} is bound already")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The child's and the new one."""
        return (*self.child.variables, self.variable)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The child's; and the new one if nothing can be an error."""
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


@node
class Project:
    """Solutions restricted to `variables`; those that the child does not have are unbound."""

    variables: tuple[str, ...]
    child: PlanNode

    @cached_property
    def certain(self) -> frozenset[str]:
        """What is certain in the child, of these variables."""
        return self.child.certain & set(self.variables)


@node
class Distinct:
    """Each solution once."""

    child: PlanNode

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The child's."""
        return self.child.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The child's."""
        return self.child.certain


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a group: `argument` is a column of the child; None counts solutions."""

    function: str
    argument: str | None
    distinct: bool = False
    separator: str = " "


@node
class Group:
    """One solution per group of solutions that are equal in `keys`.

    With `always` there is a group even of no solutions, as in SPARQL without GROUP BY; of each
    member, if there are members.
    """

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    child: PlanNode
    always: bool = False

    def __post_init__(self) -> None:
        if self.always and {*self.keys} - {MEMBER}:
            raise ValueError("only the one group without keys is there without solutions")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The keys, then the aggregates."""
        return (*self.keys, *(name for name, _ in self.aggregates))

    @cached_property
    def certain(self) -> frozenset[str]:
        """The keys that are certain in the child, and what is never an error."""
        counts = {name for name, each in self.aggregates if each.function == "COUNT"}
        return frozenset(counts | (self.child.certain & set(self.keys)))


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column that orders solutions."""

    column: str
    descending: bool = False


@node
class Slice:
    """`limit` solutions (all if None) after the first `offset`, per value of `partition`.

    In the order of `keys`; where those are equal, of the terms of the columns `ties` as text.
    """

    keys: tuple[SortKey, ...]
    offset: int
    limit: int | None
    child: PlanNode
    partition: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The child's."""
        return self.child.variables

    @cached_property
    def certain(self) -> frozenset[str]:
        """The child's."""
        return self.child.certain


@node
class Closure:
    """The pairs that one or more steps connect, each once.

    The child's solutions are the steps, from `source` to `target`, and a path is made of steps with
    equal `partition`. `start`, if it is given, is the only term that a path may start from.
    """

    source: str
    target: str
    child: PlanNode
    start: str | None = None
    partition: tuple[str, ...] = ()

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The partition, source and target."""
        return (*self.partition, self.source, self.target)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The ends, and what is certain in every step."""
        return frozenset({self.source, self.target}) | (self.child.certain & {*self.partition})


@node
class Ask:
    """One solution at every epoch: `variable` is true if the child, a set of empty solutions, has
    one.
    """

    variable: str
    child: Distinct

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The one variable, after those of the empty solutions: the member, if there is one."""
        return (*self.child.variables, self.variable)

    @cached_property
    def certain(self) -> frozenset[str]:
        """All variables."""
        return frozenset(self.variables)


@node
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

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The member, if the child has it; subject, predicate and object."""
        return (*(name for name in self.child.variables if name == MEMBER), *self.targets)

    @cached_property
    def certain(self) -> frozenset[str]:
        """A triple has all three, and a member."""
        return frozenset(self.variables)


PlanNode = (
    Component
    | Values
    | Product
    | Join
    | LeftJoin
    | SemiJoin
    | AntiJoin
    | MarkJoin
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
