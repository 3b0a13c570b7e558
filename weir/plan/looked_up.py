"""Looked-up nodes: those whose rows with given values are read from the graph, and not stored.

An operator with a memory reads the rows of its children that have the values of a change. If a
child is made row by row of segments of the graph, these rows can be looked up: the lookups go from
the changed triples through their own segment, and over the variables of both sides into the segment
of the other one, as if both were one. So there is nothing to store of it.

An operator's rows are complete if all that it counts is looked up:

| operator | what a change leads to |
| --- | --- |
| `Join` | from one side to the other one |
| `LeftJoin`, `SemiJoin`, `AntiJoin`, `MarkJoin` | from the left side to the right one; from the \
right side to the left one, and from there to all that may match on the right |
| `Group`, `Distinct` | from the child to its rows with the same keys |

A side cannot be looked up if no variable that both sides certainly bind leads from a change into
its segment: because it is in another scope, or the values come from a closure or a slice, which
have rows that no changed triple is next to. And from its own changes, a child is only looked up by
subjects: with an object there may be as many triples as there are instances of a class, which are
counted faster where they are stored. What is not looked up is stored, and so is a child that
another operator needs to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import assert_never

from weir.plan.leaves import MEMBER, Component, Values
from weir.plan.lookups import SIDES, Followed, Lookup, Places, Position, from_changes, from_values
from weir.plan.operators import (
    AntiJoin,
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Instantiate,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
    TwoSided,
    Union,
)
from weir.sparql.algebra.expressions import Variable

_MOST_WAYS = 64
"""A node with more ways is not followed: each would be another lookup."""

_BACK: tuple[Position, ...] = ("subject",)
"""The sides on which rows are looked up from other rows of the same node."""

_UNKNOWN: tuple[Places, ...] = ({},)
"""The way of changes that are followed nowhere."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a plan looks up.

    Attributes:
        nodes: those that are looked up where operators need their rows.
        lookups: all that starts at a changed pattern of the plan.
    """

    nodes: frozenset[PlanNode]
    lookups: tuple[Lookup, ...]


def looked_up(nodes: Sequence[PlanNode], kept: Iterable[PlanNode]) -> LookedUp:
    """What a plan looks up.

    Args:
        nodes: of the plan, parents first.
        kept: those whose rows are stored in any case.
    """
    readers = [node for node in nodes if node.has_memory]
    candidates = {child for node in readers for child in node.children if _is_made_by_rows(child)}
    candidates -= {*kept}
    while True:
        ways = _Ways(frozenset(candidates))
        refused = {child for node in readers for child in ways.refused(node)}
        if not refused & candidates:
            break
        candidates -= refused
    for node in nodes:
        if isinstance(node, Component):
            ways.of_changes(node)
    return LookedUp(frozenset(candidates), tuple(ways.lookups))


def _is_made_by_rows(node: PlanNode) -> bool:
    """Whether the rows of a node are those of segments, changed one by one."""
    match node:
        case Component():
            return True
        case Filter() | Extend() | Project() | Union():
            return all(map(_is_made_by_rows, node.children))
        case (
            Values()
            | Product()
            | Join()
            | LeftJoin()
            | SemiJoin()
            | AntiJoin()
            | MarkJoin()
            | Distinct()
            | Group()
            | Slice()
            | Closure()
            | Ask()
            | Instantiate()
        ):
            return False
        case _:
            assert_never(node)


@dataclass(slots=True)
class _Ways:
    """The ways from changes to rows: where the values of a node's variables are on each of them.

    Attributes:
        nodes: the nodes that are looked up.
        lookups: those on all ways.
    """

    nodes: frozenset[PlanNode]
    lookups: dict[Lookup, None] = field(default_factory=dict)
    _of_changes: dict[PlanNode, tuple[Places, ...]] = field(default_factory=dict)

    def refused(self, node: PlanNode) -> Iterator[PlanNode]:
        """The children of an operator with a memory that cannot be looked up for it."""
        match node:
            case Distinct() | Group():
                keys = _keys(node)
                own = () if _has_one_row(node.child, keys) else self.of_changes(node.child)
                if not self._lead_to(node.child, own, keys, _BACK):
                    yield node.child
            case Join() | LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
                keys = _keys(node)
                left, right = map(self.of_changes, node.children)
                if not self._lead_to(node.left, right, keys):
                    yield node.left
                # The left rows that a change on the right concerns may have other matches.
                is_single = isinstance(node, Join) or _has_one_row(node.right, keys)
                back = () if is_single else self._on_to_left(node, right)
                if not (
                    self._lead_to(node.right, left, keys)
                    and self._lead_to(node.right, back, keys, _BACK)
                ):
                    yield node.right
            case _:
                yield from node.children

    def _lead_to(
        self,
        node: PlanNode,
        ways: Iterable[Places],
        keys: frozenset[str],
        sides: Sequence[Position] = SIDES,
    ) -> bool:
        """Whether all of some ways lead to the rows of a node, if it is to be looked up."""
        if node not in self.nodes:
            return True
        return all(self._into(node, _shown(way, keys), sides) is not None for way in ways)

    def of_changes(self, node: PlanNode) -> tuple[Places, ...]:
        """The ways to the changed rows of a node."""
        known = self._of_changes.get(node)
        if known is None:
            followed = (_shown(way, node.variables) for way in self._followed(node))
            known = tuple(islice(followed, _MOST_WAYS + 1))
            known = known if len(known) <= _MOST_WAYS else _UNKNOWN
            self._of_changes[node] = known
        return known

    def _followed(self, node: PlanNode) -> Iterator[Places]:
        match node:
            case Component():
                for pattern in node.patterns:
                    yield self._with_lookups(from_changes(node, pattern))
            case Values():
                pass
            case Extend(variable, Variable(name)):
                for way in self.of_changes(node.child):
                    yield {**way, variable: way[name]} if name in way else way
            case Filter() | Extend() | Project() | Distinct() | Group() | Union() | Product():
                for child in node.children:
                    yield from self.of_changes(child)
            case Join() | LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
                left, right = map(self.of_changes, node.children)
                yield from self._on_to_right(node, left)
                yield from self._on_to_left(node, right)
            case Slice() | Closure() | Ask() | Instantiate():
                yield from _UNKNOWN
            case _:
                assert_never(node)

    def _on_to_right(self, node: TwoSided, ways: Iterable[Places]) -> Iterator[Places]:
        """Ways to rows of the left side, led on to the right one. A row need not have a match."""
        for way in ways:
            yield from ({**other, **way} for other in self._matches(node.right, way, _keys(node)))

    def _on_to_left(self, node: TwoSided, ways: Iterable[Places]) -> Iterator[Places]:
        """Ways to rows of the right side, led on to the left one, without which nothing follows."""
        for way in ways:
            yield from ({**way, **other} for other in self._matches(node.left, way, _keys(node)))

    def _matches(self, node: PlanNode, way: Places, keys: frozenset[str]) -> Sequence[Places]:
        """Where a way leads to in another node: nowhere if that is stored."""
        on = self._into(node, _shown(way, keys)) if node in self.nodes else None
        return _UNKNOWN if on is None else on

    def _into(
        self, node: PlanNode, values: Places, sides: Sequence[Position] = SIDES
    ) -> Sequence[Places] | None:
        """The ways to the rows of a node with the values at some places; None if none leads."""
        match node:
            case Component():
                followed = from_values(node, values, sides)
                return None if followed is None else [self._with_lookups(followed)]
            case Extend(variable, Variable(name)) if variable in values:
                values = {name: values[variable], **values}
            case _:
                pass
        ways: list[Places] = []
        for child in node.children:
            on = self._into(child, _shown(values, child.variables), sides)
            if on is None:
                return None
            ways += (_shown(way, node.variables) for way in on)
        return ways

    def _with_lookups(self, followed: Followed) -> Places:
        self.lookups |= dict.fromkeys(followed.lookups)
        return followed.places


def _keys(node: TwoSided | Distinct | Group) -> frozenset[str]:
    """The variables by whose values the rows of children are looked up."""
    certain = frozenset[str].intersection(*(child.certain for child in node.children))
    return certain & {*node.touch_key} - {MEMBER}


def _has_one_row(node: PlanNode, keys: frozenset[str]) -> bool:
    """Whether a node has at most one row with the same values of some variables."""
    while isinstance(node, Filter):
        node = node.child
    return isinstance(node, Component) and {*node.variables} - {MEMBER} <= keys


def _shown(places: Places, variables: Iterable[str]) -> Places:
    return {name: places[name] for name in variables if name in places}
