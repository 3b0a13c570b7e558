"""What a definition is made of and who uses it, as a small graph that a page draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weir.artifacts.contents import Contents
from weir.site.files import page_of

_GRAPH: Final = "graph"
"""The node between the sources of the graph and what reads it."""
_MOST: Final = 12
"""Most nodes on one side of a node; the others are counted."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What reads what in a project.

    Attributes:
        nodes: label, kind and page of each node, by its id.
        reads: by id, the ids of what it reads.
        readers: by id, the ids of what reads it.
    """

    nodes: Mapping[str, Mapping[str, str]]
    reads: Mapping[str, Sequence[str]]
    readers: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, contents: Contents) -> Lineage:
        """That of a project."""
        graph = {source.id for source in contents.sources if source.group == "graph"}
        nodes = {_GRAPH: {"label": "the graph", "kind": "graph", "href": "graph.html"}}
        nodes |= {
            source.id: {"label": source.name, "kind": source.group, "href": "sources.html"}
            for source in contents.sources
        }
        reads: dict[str, Sequence[str]] = {_GRAPH: sorted(graph)}
        for model in contents.models:
            name = model.state.name
            kind, href = model.declaration.kind.name, page_of(name)
            nodes[model.id] = {"label": name, "kind": kind, "href": href}
            others = [id_ for id_ in model.reads if id_ not in graph]
            reads[model.id] = [_GRAPH, *others] if len(others) < len(model.reads) else others
        readers: dict[str, list[str]] = {}
        for reader, read in reads.items():
            for id_ in read:
                readers.setdefault(id_, []).append(reader)
        return cls(nodes, reads, readers)

    def around(self, id_: str) -> dict[str, Any]:
        """All that a node is made of, and all that is made of it: nodes, and edges between them."""
        nodes, edges = {id_: {**self.nodes[id_], "kind": "this"}}, list[tuple[str, str]]()
        for next_, is_upstream in ((self.reads, True), (self.readers, False)):
            front = [id_]
            while front:
                beyond: list[str] = []
                for at in front:
                    shown, more = _first(next_.get(at, ()))
                    for other in shown:
                        edges.append((other, at) if is_upstream else (at, other))
                        if other not in nodes:
                            nodes[other] = {**self.nodes[other]}
                            beyond.append(other)
                    if more:
                        rest = f"{at} {'reads' if is_upstream else 'readers'}"
                        nodes[rest] = {"label": f"{more} more", "kind": "more", "href": ""}
                        edges.append((rest, at) if is_upstream else (at, rest))
                front = beyond
        return {
            "nodes": [{"id": name, **node} for name, node in nodes.items()],
            "edges": [[*edge] for edge in dict.fromkeys(edges)],
        }


def _first(ids: Iterable[str]) -> tuple[list[str], int]:
    every = [*ids]
    return every[:_MOST], max(len(every) - _MOST, 0)
