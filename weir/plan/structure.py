"""Traversal and properties of plan nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from weir.plan.leaves import Component, Values
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
    Union,
)


def children(node: PlanNode) -> tuple[PlanNode, ...]:
    """The nodes that `node` reads."""
    match node:
        case Component() | Values():
            return ()
        case Product(parts) | Union(parts):
            return parts
        case Join() | LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
            return (node.left, node.right)
        case (
            Filter()
            | Extend()
            | Project()
            | Distinct()
            | Group()
            | Slice()
            | Closure()
            | Ask()
            | Instantiate()
        ):
            return (node.child,)
        case _:
            assert_never(node)


def has_memory(node: PlanNode) -> bool:
    """Whether the delta of `node` needs its children's stored state, not only their deltas."""
    match node:
        case (
            Product()
            | Join()
            | LeftJoin()
            | SemiJoin()
            | AntiJoin()
            | MarkJoin()
            | Distinct()
            | Group()
            | Slice()
            | Closure()
        ):
            return True
        case (
            Component()
            | Values()
            | Union()
            | Filter()
            | Extend()
            | Project()
            | Ask()
            | Instantiate()
        ):
            return False
        case _:
            assert_never(node)


def touch_key(node: PlanNode) -> tuple[str, ...]:
    """The columns by which the delta of `node` reads its children's state.

    It reads the rows whose values of these columns occur in a child's delta; all rows if there are
    no such columns.
    """
    match node:
        case Join() | LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
            return shared(node.left, node.right)
        case Distinct():
            return node.variables
        case Group():
            return node.keys
        case Product() | Slice() | Closure():
            return ()
        case (
            Component()
            | Values()
            | Union()
            | Filter()
            | Extend()
            | Project()
            | Ask()
            | Instantiate()
        ):
            # Without memory: it reads no state.
            return ()
        case _:
            assert_never(node)


def walk(*nodes: PlanNode) -> Iterator[PlanNode]:
    """`nodes` and all nodes below them, each once, at its first place from the left."""
    seen: set[PlanNode] = set()
    ahead = [*reversed(nodes)]
    while ahead:
        following = ahead.pop()
        if following not in seen:
            seen.add(following)
            yield following
            ahead.extend(reversed(children(following)))


def shared(left: PlanNode, right: PlanNode) -> tuple[str, ...]:
    """The variables of both, in the order of `left`."""
    return tuple(name for name in left.variables if name in right.variables)
