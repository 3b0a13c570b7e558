"""Different labels for all blank nodes of a document, the same in every version.

A label is computed from the content of a node. Nodes with equal content are distinguished by the
IRI and the predicate with which paths to them begin, then by the nodes that point to them, then by
a number. So each node of the document is one node of the graph, and an unchanged node keeps its
label. No label depends on names or order in the document: interchangeable nodes are numbered in any
order, others in the order of a canonical labelling of their part of the graph.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from weir.rdf.blank_nodes import Quad, hashed_label
from weir.rdf.canonical_labelling import Budget, Edge, canonical_labelling, equal_colours
from weir.rdf.connected import strongly_connected, weakly_connected

_SOME_GRAPH = "_:"
"""Replaces a blank node that names a graph: the labels of nodes in the graph ignore its name."""


def counted_labels(quads: Iterable[Quad], scope: str) -> dict[str, str]:
    """The label of every blank node of a document, by its old label (`_:x`); all differ.

    Args:
        quads: at least all quads with blank nodes.
        scope: equal nodes of different scopes get different labels.
    """
    return _Labels(_Document.of(quads), scope).all()


class _Link(NamedTuple):
    """A triple as seen from a blank node in it: the term at the other end, predicate, graph."""

    other: str
    predicate: str
    graph: str

    def line(self, names: Mapping[str, str]) -> str:
        """The link as text; the IRI comes first, so that the least line has the least IRI."""
        other, predicate, graph = self
        return f"{names.get(other, other)} {predicate} {graph}"


@dataclass(frozen=True, slots=True)
class _Document:
    """The blank nodes of a document and their triples.

    Attributes:
        properties: by node, the triples whose subject it is.
        pointers: by node, the triples whose object it is.
        inside: by node that names a graph, the triples in the graph.
        graphs: by node, the graphs with a blank name that have a triple with it.
    """

    properties: dict[str, list[_Link]] = field(default_factory=dict)
    pointers: dict[str, list[_Link]] = field(default_factory=dict)
    inside: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    graphs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, quads: Iterable[Quad]) -> _Document:
        """The document with these quads."""
        document = cls()
        for graph, subject, predicate, object_ in dict.fromkeys(quads):
            ends = [node for node in (subject, object_) if node.startswith("_:")]
            if graph.startswith("_:"):
                document._add_inside(graph, subject, predicate, object_, ends)
                graph = _SOME_GRAPH
            for node in ends:
                document._has(node)
            if subject in ends:
                document.properties[subject].append(_Link(object_, predicate, graph))
            if object_ in ends:
                document.pointers[object_].append(_Link(subject, predicate, graph))
        return document

    def _add_inside(
        self, graph: str, subject: str, predicate: str, object_: str, ends: Iterable[str]
    ) -> None:
        self._has(graph)
        self.inside.setdefault(graph, []).append((subject, predicate, object_))
        for node in ends:
            self.graphs[node].add(graph)

    def _has(self, node: str) -> None:
        if node not in self.properties:
            self.properties[node] = []
            self.pointers[node] = []

    @property
    def nodes(self) -> KeysView[str]:
        """The blank nodes, in the order of the document."""
        return self.properties.keys()

    def targets(self, node: str) -> Iterator[str]:
        """The blank nodes that a node points to."""
        return (other for other, _, _ in self.properties[node] if other in self.properties)

    def groups(self) -> list[list[str]]:
        """Groups of nodes that reach each other; a group comes after those that it points to."""
        # Most nodes point to none.
        ends = [node for node in self.nodes if not any(self.targets(node))]
        rest = self.nodes - {*ends}
        groups = strongly_connected(
            (node for node in self.nodes if node in rest),
            lambda node: (other for other, _, _ in self.properties[node] if other in rest),
        )
        return [*([node] for node in ends), *groups]

    def edges(self, nodes: Iterable[str]) -> Iterator[Edge]:
        """The edges from some nodes: their triples, and the triples of graphs that they name."""
        for node in nodes:
            for other, predicate, graph in self.properties[node]:
                if other in self.properties:
                    yield node, f"{graph} {predicate}", other
            for subject, predicate, object_ in self.inside.get(node, ()):
                if subject in self.properties:
                    yield node, f"subject {predicate} {self._known(object_)}", subject
                if object_ in self.properties:
                    yield node, f"object {predicate} {self._known(subject)}", object_

    def _known(self, term: str) -> str:
        return _SOME_GRAPH if term in self.properties else term


class _Keys:
    """Keys of the blank nodes of a document; several nodes may have the same key.

    Attributes:
        of: the key of each node: its content, and the IRI and the predicate with which a path to it
            begins. Of several paths the least counts, so that one pointer more or less changes few
            keys.
        height: by node, how many groups are below it.
        group: by node in a cycle, the nodes that it reaches and that reach it.
        is_tree: by node, whether the nodes that it reaches are a tree to which no other node
            points, so that it is interchangeable with a node of equal content.
    """

    def __init__(self, document: _Document) -> None:
        self._document = document
        self._content: dict[str, str] = {}
        self.height: dict[str, int] = {}
        self.group: dict[str, frozenset[str]] = {}
        self.is_tree: dict[str, bool] = {}
        groups = document.groups()
        for group in groups:
            self._add(group)
        least: dict[str, str] = {}
        for group in reversed(groups):
            begins = (begin for node in group for begin in self._begins(node, group, least))
            least |= dict.fromkeys(group, min(begins, default=""))
        self.of = {node: f"{self._content[node]}\n{least[node]}" for node in document.nodes}
        self._distinguish_graphs()

    def _add(self, group: Sequence[str]) -> None:
        """Add a group of nodes that reach each other, after the groups that it points to."""
        targets = {target for node in group for target in self._document.targets(node)}
        below = (self.height[target] for target in targets if target in self.height)
        self.height |= dict.fromkeys(group, 1 + max(below, default=0))
        if targets.isdisjoint(group):
            (node,) = group
            links = self._document.properties[node]
            self._content[node] = _hash("node", *sorted(link.line(self._content) for link in links))
            self.is_tree[node] = self._has_tree(node)
        else:
            members = frozenset(group)
            self.group |= dict.fromkeys(group, members)
            self.is_tree |= dict.fromkeys(group, False)
            self._content |= self._cycle(group)

    def _has_tree(self, node: str) -> bool:
        document = self._document
        return (
            node not in document.inside
            and node not in document.graphs
            and all(
                len(document.pointers[target]) == 1 and self.is_tree[target]
                for target in document.targets(node)
            )
        )

    def _cycle(self, group: Sequence[str]) -> dict[str, str]:
        """The content of nodes that reach each other; equivalent nodes have equal content."""
        members = self.group[group[0]]
        own: dict[str, tuple[str, ...]] = {}
        edges: list[Edge] = []
        for node in group:
            links = self._document.properties[node]
            others = (link for link in links if link.other not in members)
            own[node] = tuple(sorted(link.line(self._content) for link in others))
            edges += [
                (node, f"{link.graph} {link.predicate}", link.other)
                for link in links
                if link.other in members
            ]
        colours = equal_colours(own, edges)
        form = _form(colours, own, edges)
        return {node: _hash("cycle", str(colours[node]), form) for node in group}

    def _begins(self, node: str, group: Sequence[str], least: Mapping[str, str]) -> Iterator[str]:
        """The beginnings of paths to a node from outside its group."""
        members = self.group.get(node, group)
        for link in self._document.pointers[node]:
            if link.other not in self._document.properties:
                yield link.line({})
            elif link.other not in members:
                # Blank nodes without a path from an IRI come after all IRIs.
                yield least[link.other] or link.line({link.other: "~"})
        for graph in self._document.graphs.get(node, ()):
            yield f"~ {self._content[graph]}"

    def _distinguish_graphs(self) -> None:
        """Add their triples to the keys of blank graph names that would have the same key."""
        shared = Counter(self.of[graph] for graph in self._document.inside)
        for graph in self._document.inside:
            if shared[self.of[graph]] > 1:
                self.of[graph] = _hash("graph", self.of[graph], self.inside(graph))

    def inside(self, graph: str) -> str:
        """A hash of the triples in the graph that a node names; '' if it names none."""
        triples, names = self._document.inside.get(graph, ()), self._content
        lines = (f"{names.get(s, s)} {p} {names.get(o, o)}" for s, p, o in triples)
        return _hash(*sorted(lines)) if triples else ""


class _Labels:
    """Labels of nodes: the key, and more for nodes with the same key.

    Args:
        document: has the nodes.
        scope: equal nodes of different scopes get different labels.
    """

    def __init__(self, document: _Document, scope: str) -> None:
        self._document, self._scope = document, scope
        self._keys = _Keys(document)
        self._labels: dict[str, str] = {}
        self._places: dict[str, tuple[str, int, int]] = {}
        self._parts: Counter[str] = Counter()
        self._budget = Budget()

    def all(self) -> dict[str, str]:
        """The labels of all nodes."""
        keys, height = self._keys.of, self._keys.height
        nodes_of: defaultdict[str, list[str]] = defaultdict(list)
        for node in self._document.nodes:
            nodes_of[keys[node]].append(node)
        alike: list[list[str]] = []
        for key, nodes in nodes_of.items():
            if len(nodes) > 1:
                alike.append(nodes)
            else:
                self._labels[nodes[0]] = hashed_label(self._scope, "counted", key)
        # Nodes that point to nodes of one content are higher, and so are labelled first.
        for nodes in sorted(alike, key=lambda nodes: -height[nodes[0]]):
            # The first gets the label that it would have alone: one more node changes no other.
            for number, (node, more) in enumerate(self._distinguished(nodes)):
                names = more if number else ()
                self._labels[node] = hashed_label(self._scope, "counted", keys[node], *names)
        return self._labels

    def _distinguished(self, nodes: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Nodes of one key, each with the names that distinguish it from the others."""
        parents = {node: self._parents(node) for node in nodes}
        nodes.sort(key=parents.__getitem__)
        for above, siblings in groupby(nodes, parents.__getitem__):
            for number, node in enumerate(self._in_order([*siblings])):
                yield node, (*above, str(number))

    def _parents(self, node: str) -> tuple[str, ...]:
        """The nodes that point to a node, except those that it reaches itself."""
        group = self._keys.group.get(node, ())
        links = self._document.pointers[node]
        return tuple(sorted(link.line(self._labels) for link in links if link.other not in group))

    def _in_order(self, nodes: list[str]) -> list[str]:
        """Nodes with the same key and parents, in an order independent of that in the document."""
        if len(nodes) > 1 and not all(map(self._keys.is_tree.__getitem__, nodes)):
            self._place([node for node in nodes if node not in self._places])
            nodes.sort(key=self._places.__getitem__)
        return nodes

    def _place(self, nodes: Sequence[str]) -> None:
        """Order nodes, and all nodes connected with them, by a canonical labelling."""
        for part in weakly_connected(nodes, self._neighbours):
            own = {
                node: (self._keys.of[node], self._keys.inside(node), *self._iris(node))
                for node in part
            }
            edges = [*self._document.edges(part)]
            place = canonical_labelling(own, dict.fromkeys(part, ()), edges, self._budget)
            form = _form(place, own, edges)
            # Equal parts are interchangeable: each gets a number as a whole.
            number = self._parts[form]
            self._parts[form] += 1
            self._places |= {node: (form, number, place[node]) for node in part}

    def _iris(self, node: str) -> list[str]:
        links = self._document.pointers[node]
        return sorted(
            link.line({}) for link in links if link.other not in self._document.properties
        )

    @cached_property
    def _neighbours(self) -> Mapping[str, Iterable[str]]:
        neighbours: defaultdict[str, list[str]] = defaultdict(list)
        for source, _, target in self._document.edges(self._document.nodes):
            neighbours[source].append(target)
            neighbours[target].append(source)
        return neighbours


def _form(
    places: Mapping[str, int], own: Mapping[str, tuple[str, ...]], edges: Iterable[Edge]
) -> str:
    """A hash of a graph, with positions in place of nodes."""
    return _hash(
        *sorted(
            f"{places[node]} {len(lines)} {line}" for node, lines in own.items() for line in lines
        ),
        *sorted(f"{places[source]} {places[target]} {label}" for source, label, target in edges),
    )


def _hash(*lines: str) -> str:
    # Terms in N-Triples form have no line feed, so different lines give different texts.
    return sha256("\n".join(lines).encode()).hexdigest()[:32]
