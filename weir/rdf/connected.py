"""Strongly and weakly connected components of a directed graph whose nodes are texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping


def strongly_connected(
    nodes: Iterable[str], targets: Callable[[str], Iterable[str]]
) -> Iterator[list[str]]:
    """Groups of nodes that reach each other; a group comes after those that it points to.

    Members are in the order of `nodes`. This is Tarjan's algorithm without recursion, because
    chains of blank nodes (lists) may be long.

    Args:
        nodes: all nodes of the graph.
        targets: the nodes that a node points to.
    """
    position = {node: i for i, node in enumerate(nodes)}
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: dict[str, None] = {}  # nodes with a number but no group yet, in the order of numbers
    for start in position:
        if start in number:
            continue
        path = [(start, iter(targets(start)))]
        number[start] = lowest[start] = len(number)
        waiting[start] = None
        while path:
            node, left = path[-1]
            for target in left:
                if target not in number:
                    number[target] = lowest[target] = len(number)
                    waiting[target] = None
                    path.append((target, iter(targets(target))))
                    break
                if target in waiting:
                    lowest[node] = min(lowest[node], number[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == number[node]:
                    group = [waiting.popitem()[0]]
                    while group[-1] != node:
                        group.append(waiting.popitem()[0])
                    yield sorted(group, key=position.__getitem__)


def weakly_connected(
    starts: Iterable[str], neighbours: Mapping[str, Iterable[str]]
) -> Iterator[list[str]]:
    """The parts of a graph, with edges in both directions, that have one of `starts`.

    Args:
        starts: nodes of the graph.
        neighbours: by node, the nodes that it points to or that point to it.
    """
    seen: set[str] = set()
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for node in part:
            fresh = [other for other in neighbours.get(node, ()) if other not in seen]
            seen.update(fresh)
            part += dict.fromkeys(fresh)
        yield part
