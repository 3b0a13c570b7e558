"""What makes a class a node of a plan.

A node is used in several places: the left side of EXISTS is also below its right side. So what is
asked of a node is computed once for the node, not once for each path from the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def node(cls: type[_Node]) -> type[_Node]:
    """A frozen dataclass that keeps its hash and what it was equal to last.

    Its properties may be cached (no slots). It is not to be pickled: hashes are of this process.
    """
    made = dataclass(frozen=True)(cls)
    of_fields, fields_equal = made.__hash__, made.__eq__

    def kept_hash(self: _Node) -> int:
        found: int | None = vars(self).get("_hash")
        if found is None:
            found = of_fields(self)
            vars(self)["_hash"] = found
        return found

    def kept_equality(self: _Node, other: object) -> bool:
        if self is other or vars(self).get("_equal") is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        # Two copies that share nodes within themselves would be compared along every path.
        if equal := fields_equal(self, other):
            vars(self)["_equal"] = other
        return equal

    made.__hash__ = kept_hash  # type: ignore[method-assign, assignment]
    made.__eq__ = kept_equality  # type: ignore[method-assign, assignment]
    return made
