"""The decorator that makes a class a node of a plan.

A plan is a graph: the left side of EXISTS is also below its right side. So what is derived from a
node is computed once per node, not once per path from the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def node(cls: type[_Node]) -> type[_Node]:
    """A frozen dataclass that caches its hash and the node that it was last found equal to.

    Its properties may be cached (no slots). It must not be pickled: hashes are of this process.
    """
    made = dataclass(frozen=True)(cls)
    of_fields, fields_equal = made.__hash__, made.__eq__

    def cached_hash(self: _Node) -> int:
        found: int | None = vars(self).get("_hash")
        if found is None:
            found = of_fields(self)
            vars(self)["_hash"] = found
        return found

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
