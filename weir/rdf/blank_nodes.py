"""Stable labels of blank nodes: the same node has the same label in every change set.

In a patch, the label identifies a blank node within its source. In a document, the content does: a
node's label is a hash of its content tree. So an unchanged node has the same label in every
version, and nodes of one document with equal content become one node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from weir.rdf.canonical_labelling import canonical_labelling
from weir.rdf.connected import strongly_connected

Quad = tuple[str, str, str, str]
"""Graph, subject, predicate, object in N-Triples form."""

Property = tuple[str, str, str]
"""Graph, predicate, object of a node."""


def scoped_label(scope: str, label: str) -> str:
    """The label `_:b<hash>` of the blank node with the label `label` in `scope`."""
    return hashed_label(scope, "name", label)


def content_labels(quads: Iterable[Quad], scope: str) -> dict[str, str]:
    """The label of every blank node of a document, by its old label (`_:x`).

    The content of a node is its properties, including those of the blank nodes that it points to.
    Nodes that reach each other have no content tree: they are labelled together, by a canonical
    labelling of their cycle. Cycles of the same form in one document get the same labels. Nodes of
    a cycle with equal content are distinguished by the IRIs that point to them, then by their order
    in the document.
    """
    pointers: defaultdict[str, list[str]] = defaultdict(list)
    content: dict[str, dict[Property, None]] = {}
    for graph, subject, predicate, object_ in quads:
        if subject.startswith("_:"):
            content.setdefault(subject, {})[graph, predicate, object_] = None
        if object_.startswith("_:"):
            content.setdefault(object_, {})
            if not subject.startswith("_:"):
                pointers[object_].append(f"{graph} {subject} {predicate}")
    labels: dict[str, str] = {}
    for group in strongly_connected(content, lambda node: _targets(content[node])):
        if len(group) == 1 and not any(o == group[0] for _, _, o in content[group[0]]):
            lines = sorted({_line(property_, labels) for property_ in content[group[0]]})
            labels[group[0]] = hashed_label(scope, "tree", *lines)
        else:
            labels |= _cycle_labels(group, content, pointers, labels, scope)
    return labels


def _cycle_labels(
    group: list[str],
    content: Mapping[str, Iterable[Property]],
    pointers: Mapping[str, list[str]],
    labels: Mapping[str, str],
    scope: str,
) -> dict[str, str]:
    """Labels of nodes that reach each other; `labels` has the other nodes that they reach."""
    inside = set(group)
    own = {
        node: tuple(sorted({_line(p, labels) for p in content[node] if p[2] not in inside}))
        for node in group
    }
    edges = [
        (node, f"{graph} {predicate}", object_)
        for node in group
        for graph, predicate, object_ in content[node]
        if object_ in inside
    ]
    pointed = {node: tuple(sorted(pointers.get(node, ()))) for node in group}
    place = canonical_labelling(own, pointed, edges)
    form = (
        *(
            f"{place[node]} {line}"
            for node in sorted(group, key=place.__getitem__)
            for line in own[node]
        ),
        *(f"{s} {edge} {o}" for s, edge, o in sorted((place[s], e, place[o]) for s, e, o in edges)),
    )
    return {node: hashed_label(scope, "cycle", str(place[node]), *form) for node in group}


def _line(property_: Property, labels: Mapping[str, str]) -> str:
    graph, predicate, object_ = property_
    return f"{graph} {predicate} {labels.get(object_, object_)}"


def hashed_label(scope: str, kind: str, *lines: str) -> str:
    """The label `_:b<hash>` of a scope, a kind and some lines."""
    # Terms in N-Triples form have no line feed, so different lines give different texts.
    text = "\n".join((kind, *lines))
    return f"_:b{sha256(f'{len(scope)} {scope} {text}'.encode()).hexdigest()[:32]}"


def _targets(properties: Iterable[Property]) -> Iterator[str]:
    return (object_ for _, _, object_ in properties if object_.startswith("_:"))
