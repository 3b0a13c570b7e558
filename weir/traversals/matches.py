"""The patterns of queries over a traversal: what c_Match of paper 001 follows."""

from __future__ import annotations

from collections.abc import Iterable

from weir.plan.leaves import Component
from weir.plan.operators import Closure
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import Node
from weir.traversals.reading import DESCRIBED_BY
from weir.traversals.rules import Match


def matches_of(plans: Iterable[Plan], traversal: str) -> tuple[Match, ...]:
    """The triple patterns that read a traversal, each once.

    A path that begins at a term is a pattern, too, which no triple matches: its constant is a seed.
    """
    matches: dict[Match, None] = {}
    for plan in plans:
        for component in plan.components:
            if traversal in component.scope.traversals:
                matches |= dict.fromkeys(_of_component(component))
        for closure in plan.ids:
            if isinstance(closure, Closure) and closure.start is not None:
                parts = (part for part in plan.components if _is_below(part, closure))
                if any(traversal in part.scope.traversals for part in parts):
                    matches[Match(closure.start, "", "")] = None
    return tuple(matches)


def _of_component(component: Component) -> Iterable[Match]:
    for pattern in component.patterns:
        match = Match(*map(_term, pattern.nodes))
        if match.predicate != DESCRIBED_BY:
            yield match


def _term(node: Node) -> str:
    return node.term if isinstance(node, Constant) else f"?{node.name}"


def _is_below(component: Component, closure: Closure) -> bool:
    nodes = [closure.child]
    while nodes:
        node = nodes.pop()
        if node == component:
            return True
        nodes += node.children
    return False
