"""Canonical labelling of a small edge-labelled graph: colour refinement, then branching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Edge = tuple[str, str, str]
"""From, label, to."""

_COMPARISONS = 4_000
"""All choices are compared if candidates times edges are at most so many."""
_VISITS = 2_000_000
"""Visits of nodes and edges, after which nodes that are still alike stay in the order of `own`."""


def canonical_labelling(
    own: Mapping[str, tuple[str, ...]],
    pointers: Mapping[str, tuple[str, ...]],
    edges: Iterable[Edge],
    budget: Budget | None = None,
) -> dict[str, int]:
    """The position (from 0) of each node in an order that does not depend on the nodes' names.

    Colour refinement distinguishes nodes by `own` and their edges, then by `pointers`. If nodes
    still share a colour, each of them is tried as the first, and the choice with the least graph is
    taken; if several give the same graph (they are usually automorphic), the first in the order of
    `own`. If there are too many choices to compare, the first is taken without trying, and when the
    budget is used up, nodes that are still alike stay in the order of `own`. The same document then
    gives the same order, but an isomorphic one may give another.

    Args:
        own: by node, its properties that point out of the graph.
        pointers: by node, what points to it from outside the graph.
        edges: between the nodes.
        budget: for several labellings together; by default a new one.
    """
    budget = budget or Budget()
    graph = _Graph([*edges], budget)
    colours = graph.refined(_ranked(own))
    pointed = {node: (colour, pointers[node]) for node, colour in colours.items()}
    colours = graph.refined(_ranked(pointed))
    while budget.visits > 0 and (alike := _first_alike(colours)):
        tried = alike if len(alike) * len(graph.edges) <= _COMPARISONS else alike[:1]
        colours = min((graph.refined(_set_apart(n, colours)) for n in tried), key=graph.form)
    return _ranked({node: (colour, i) for i, (node, colour) in enumerate(colours.items())})


def equal_colours(own: Mapping[str, tuple[str, ...]], edges: Iterable[Edge]) -> dict[str, int]:
    """A number for each node; equal for nodes that `own` and their edges do not distinguish.

    Args:
        own: by node, its properties that point out of the graph.
        edges: between the nodes.
    """
    return _Graph([*edges], Budget()).refined(_ranked(own))


@dataclass(slots=True)
class Budget:
    """How many visits of nodes and edges are left."""

    visits: int = _VISITS


@dataclass(slots=True)
class _Graph:
    """The edges of a graph, and the budget for refining its colours."""

    edges: list[Edge]
    budget: Budget

    def refined(self, colours: dict[str, int]) -> dict[str, int]:
        """Split colours until nodes of one colour have equal edges to and from equal colours."""
        while self.budget.visits > 0:
            self.budget.visits -= len(self.edges) + len(colours)
            around: dict[str, list[tuple[bool, str, int]]] = {node: [] for node in colours}
            for source, label, target in self.edges:
                around[source].append((True, label, colours[target]))
                around[target].append((False, label, colours[source]))
            split = _ranked(
                {n: (colour, tuple(sorted(around[n]))) for n, colour in colours.items()}
            )
            if len(set(split.values())) == len(set(colours.values())):
                return split
            colours = split
        return colours

    def form(self, colours: Mapping[str, int]) -> list[tuple[int, str, int]]:
        """The edges of the graph, with colours in place of nodes."""
        return sorted((colours[source], label, colours[to]) for source, label, to in self.edges)


def _ranked(values: Mapping[str, Any]) -> dict[str, int]:
    """A colour for each distinct value, in the order of the values."""
    rank = {value: i for i, value in enumerate(sorted(set(values.values())))}
    return {node: rank[value] for node, value in values.items()}


def _first_alike(colours: Mapping[str, int]) -> list[str]:
    """The nodes of the lowest colour that several nodes have; empty if all colours differ."""
    shared = [colour for colour, nodes in Counter(colours.values()).items() if nodes > 1]
    least = min(shared, default=None)
    return [node for node, colour in colours.items() if colour == least]


def _set_apart(chosen: str, colours: Mapping[str, int]) -> dict[str, int]:
    return {node: 2 * colour + (node != chosen) for node, colour in colours.items()}
