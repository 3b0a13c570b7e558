"""Canonical labelling of a small edge-labelled graph: colour refinement, then branching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Edge = tuple[str, str, str]
"""From, label, to."""

_COMPARISONS = 4_000
"""Nodes to choose from, times edges, up to which all choices are compared."""


def canonical_labelling(
    own: Mapping[str, tuple[str, ...]],
    pointers: Mapping[str, tuple[str, ...]],
    edges: Iterable[Edge],
) -> dict[str, int]:
    """The place (from 0) of each node in an order that does not depend on the nodes' names.

    Nodes are distinguished by `own` and by their edges, as far as colour refinement goes, then by
    `pointers`. Of the nodes that still share a colour, each is tried as the first, and the one that
    gives the least graph is chosen; of several that give the same graph (usually automorphic) the
    first in the order of `own`. Where there are too many to compare, the first is chosen without
    trying: the same document then gives the same order, but an isomorphic one may give another.

    Args:
        own: by node, its properties that point out of the graph.
        pointers: by node, what points to it from outside the graph.
        edges: between the nodes.
    """
    graph = list(edges)
    colours = _refine(_ranked(own), graph)
    colours = _refine(_ranked({n: (colour, pointers[n]) for n, colour in colours.items()}), graph)
    while alike := _first_alike(colours):
        tried = alike if len(alike) * len(graph) <= _COMPARISONS else alike[:1]
        refined = (_refine(_set_apart(node, colours), graph) for node in tried)
        colours = min(refined, key=lambda colours: _form(colours, graph))
    return colours


def _ranked(values: Mapping[str, Any]) -> dict[str, int]:
    """A colour for each distinct value, in the order of the values."""
    rank = {value: i for i, value in enumerate(sorted(set(values.values())))}
    return {node: rank[value] for node, value in values.items()}


def _refine(colours: dict[str, int], edges: list[Edge]) -> dict[str, int]:
    """Split colours until nodes of one colour have equal edges to and from equal colours."""
    while True:
        around: dict[str, list[tuple[bool, str, int]]] = {node: [] for node in colours}
        for source, label, target in edges:
            around[source].append((True, label, colours[target]))
            around[target].append((False, label, colours[source]))
        signatures = {
            node: (colour, tuple(sorted(around[node]))) for node, colour in colours.items()
        }
        refined = _ranked(signatures)
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _first_alike(colours: Mapping[str, int]) -> list[str]:
    """The nodes of the lowest colour that several nodes have; none if every node has its own."""
    shared = [colour for colour, nodes in Counter(colours.values()).items() if nodes > 1]
    return [node for node, colour in colours.items() if colour == min(shared)] if shared else []


def _set_apart(chosen: str, colours: Mapping[str, int]) -> dict[str, int]:
    return {node: 2 * colour + (node != chosen) for node, colour in colours.items()}


def _form(colours: Mapping[str, int], edges: Iterable[Edge]) -> list[tuple[int, str, int]]:
    return sorted((colours[source], label, colours[target]) for source, label, target in edges)
