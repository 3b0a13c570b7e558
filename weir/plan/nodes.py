"""What every node of a plan answers, and the decorator that makes a class one.

A plan is a graph: the left side of EXISTS is also below its right side. So what is derived from a
node is computed once per node, not once per path from the root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from weir.plan.parameters import Change, with_terms
from weir.plan.scope import Scope

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def node(cls: type[_Node]) -> type[_Node]:
    """A frozen dataclass that caches its hash and the node that it was last found equal to.

    Its properties may be cached (no slots). It must not be pickled: hashes are of this process.
    """
    made = dataclass(frozen=True)(cls)
    of_fields, fields_equal = made.__hash__, made.__eq__

    def cached_hash(self: _Node) -> int:
        known: int | None = vars(self).get("_hash")
        if known is None:
            known = of_fields(self)
            vars(self)["_hash"] = known
        return known

    def cached_equality(self: _Node, other: object) -> bool:
        if self is other or vars(self).get("_equal") is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        # Two copies that share nodes within themselves would be compared along every path.
        if equal := fields_equal(self, other):
            vars(self)["_equal"] = other
        return equal

    made.__hash__ = cached_hash  # type: ignore[method-assign, assignment]
    made.__eq__ = cached_equality  # type: ignore[method-assign, assignment]
    return made


class Operator:
    """A node of a plan, with what passes and engine need to know of it. Defaults are safe: they may
    cost time, never correctness.
    """

    has_memory: ClassVar[bool] = False
    """Whether its delta needs its children's stored state, not only their deltas."""
    constants: ClassVar[tuple[str, ...]] = ()
    """The fields with patterns and expressions, whose constants may be parameters."""

    # Some nodes have these as fields, for which a dataclass must not find a property here.
    if TYPE_CHECKING:

        @property
        def variables(self) -> tuple[str, ...]:
            """The columns of the node's solutions."""

        @property
        def certain(self) -> frozenset[str]:
            """Those of `variables` that no solution leaves unbound."""

        @property
        def children(self) -> tuple[Operator, ...]:
            """The nodes that are read, from left to right."""

    def with_children(self, children: tuple[Operator, ...]) -> Self:
        """The same operation on other children."""
        raise NotImplementedError

    @property
    def touch_key(self) -> tuple[str, ...]:
        """The columns by which the delta reads the children's state.

        It reads the rows whose values of these columns occur in a child's delta; all rows if it has
        a memory and there are no such columns.
        """
        return ()

    def filter_places(self, variables: frozenset[str]) -> tuple[int, ...]:  # noqa: ARG002
        """The places of those children that can apply a condition on `variables` to their own
        solutions.
        """
        return ()

    def needs_triple(self, scope: Scope) -> bool:  # noqa: ARG002
        """Whether the node certainly has no solution as long as `scope` has no triple."""
        return False

    def graph_terms(self, scope: Scope, graph: str | None) -> frozenset[str]:  # noqa: ARG002
        """Columns whose values are certainly subjects or objects of a graph.

        Args:
            scope: which graph.
            graph: the column of its name, where each graph is by itself.
        """
        return frozenset()

    def with_terms(self, change: Change) -> Self:
        """The same operation with other constants, where these may be parameters."""
        own = {name: with_terms(getattr(self, name), change) for name in self.constants}
        return self._with(**own) if own else self

    def with_member(self) -> Operator:
        """The operation in the plan of a group: it keeps different members apart."""
        raise NotImplementedError

    def _with(self, **changed: Any) -> Self:
        return replace(self, **changed)  # type: ignore[type-var]


def shared(left: Operator, right: Operator) -> tuple[str, ...]:
    """The variables of both, in the order of `left`."""
    return tuple(name for name in left.variables if name in right.variables)
