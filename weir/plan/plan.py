"""The plan of one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace

from weir.plan.leaves import Component
from weir.plan.looked_up import looked_up
from weir.plan.lookups import Lookup
from weir.plan.operators import PlanNode, map_children, walk

ANSWER = "answer"
"""The node id of a plan's root."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one query.

    `names[i]` is the SPARQL name of column `v<i>`. `columns` are the published columns: (name,
    internal column). `is_set` says that the answer is a set by construction. Equal nodes share one
    id and one stored log. `stored` are, in order, the nodes that have a log: the answer, each child
    of an operator with memory that is not looked up in the graph (`looked_up`), and those that are
    `asked`: the nodes whose solutions are the keys that a block of SERVICE asks for, each with the
    id of its pattern. What such keys are made of is stored, too, if there is a window. `reused` are
    the nodes that several nodes read, or one several times. `lookups` is what its changes lead to
    in the graph.
    """

    root: PlanNode
    names: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    is_set: bool
    allow_product: bool = False
    asked: tuple[tuple[str, PlanNode], ...] = ()
    ids: dict[PlanNode, str] = field(init=False, repr=False, compare=False, hash=False)
    stored: Set[PlanNode] = field(init=False, repr=False, compare=False, hash=False)
    looked_up: frozenset[PlanNode] = field(init=False, repr=False, compare=False, hash=False)
    lookups: tuple[Lookup, ...] = field(init=False, repr=False, compare=False, hash=False)
    reused: frozenset[PlanNode] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        ids: dict[PlanNode, str] = {}
        keys = tuple(node for _, node in self.asked)
        for node in walk(self.root, *keys):
            ids[node] = f"n{len(ids)}" if ids else ANSWER
        object.__setattr__(self, "ids", ids)
        stored = [self.root, *keys]
        kept = [*stored]
        if any(component.scope.window is not None for component in self.components):
            # When a window last had a key is seen by the rows that the keys are made of.
            kept.extend(child for node in keys for child in node.children)
        read_back = looked_up([*ids], kept)
        object.__setattr__(self, "looked_up", read_back.nodes)
        object.__setattr__(self, "lookups", read_back.lookups)
        for node in ids:
            if node.has_memory:
                stored.extend(child for child in node.children if child not in read_back.nodes)
        object.__setattr__(self, "stored", dict.fromkeys(stored).keys())
        read = Counter(child for node in ids for child in node.children)
        reused = frozenset(node for node, times in read.items() if times > 1)
        object.__setattr__(self, "reused", reused)

    @property
    def components(self) -> tuple[Component, ...]:
        """The leaves that read the graph."""
        return tuple(node for node in self.ids if isinstance(node, Component))

    @property
    def whole_reads(self) -> tuple[PlanNode, ...]:
        """The nodes that look at all of their children's stored rows whenever one changes."""
        return tuple(node for node in self.ids if node.has_memory and not node.touch_key)

    @property
    def width(self) -> int:
        """Number of internal columns."""
        return len(self.names)

    def map_nodes(self, change: Callable[[PlanNode], PlanNode]) -> Plan:
        """The plan with each node changed, once however many nodes read it.

        Args:
            change: from a node to what takes its place; it leaves the children alone.
        """
        changed: dict[PlanNode, PlanNode] = {}

        def of(node: PlanNode) -> PlanNode:
            if node not in changed:
                changed[node] = map_children(change(node), of)
            return changed[node]

        asked = tuple((pattern, of(node)) for pattern, node in self.asked)
        return replace(self, root=of(self.root), asked=asked)
