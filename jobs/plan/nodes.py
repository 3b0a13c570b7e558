"""What makes a class a node of a plan.

A node is used in several places: the left side of EXISTS is also below its right side. So what is
asked of a node is computed once for the node, not once for each path from the root.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def node(cls: type[_Node]) -> type[_Node]:
    """A frozen dataclass that keeps its hash; its properties may be cached (no slots)."""
    made = dataclass(frozen=True)(cls)
    of_fields = made.__hash__

    def kept_hash(self: _Node) -> int:
        found: int | None = vars(self).get("_hash")
        if found is None:
            found = of_fields(self)
            vars(self)["_hash"] = found
        return found

    def without_kept(self: _Node) -> dict[str, Any]:
        # In another process strings have other hashes.
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    made.__hash__ = kept_hash  # type: ignore[method-assign, assignment]
    made.__getstate__ = without_kept  # type: ignore[method-assign, assignment]
    return made
