"""Reads the shapes of a shapes graph: https://www.w3.org/TR/shacl/#shapes-graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from weir.shacl.components.conditions import CONDITIONS
from weir.shacl.components.counts import COUNTS
from weir.shacl.components.logic import SHAPES
from weir.shacl.components.pairs import PAIRS
from weir.shacl.components.reading import Read, Reading
from weir.shacl.components.sparql import SPARQL, custom_components
from weir.shacl.errors import ShapesSyntaxError, UnsupportedShapes
from weir.shacl.graph import ShapesGraph, is_blank, is_iri, is_literal
from weir.shacl.known_names import check_names
from weir.shacl.paths import read_path
from weir.shacl.shapes import Constraint, Shape, Target, TargetKind
from weir.shacl.vocabulary import (
    CLASS,
    NAMESPACE,
    OWL_CLASS,
    local_name,
    sh,
)

Subclasses = Literal["data", "shapes"]
"""Where subclasses are declared: in the data at each epoch, or in the shapes graph alone."""

_READERS: dict[str, Read] = {**CONDITIONS, **COUNTS, **PAIRS, **SHAPES, **SPARQL}
_TARGETS: dict[str, TargetKind] = {
    sh("targetNode"): "node",
    sh("targetClass"): "class",
    sh("targetSubjectsOf"): "subjects_of",
    sh("targetObjectsOf"): "objects_of",
}
_NOT_MAINTAINED = {
    "target": "targets of SHACL Advanced Features",
    "rule": "rules of SHACL Advanced Features",
    "expression": "expressions of SHACL Advanced Features",
    "js": "SHACL JavaScript",
}
_VIOLATION, _NODE_SHAPE, _PROPERTY_SHAPE = map(sh, ("Violation", "NodeShape", "PropertyShape"))
_SHAPES = (sh("Shape"), _NODE_SHAPE, _PROPERTY_SHAPE)


def read_shapes(text: str, file: str, subclasses: Subclasses = "data") -> tuple[Shape, ...]:
    """The shapes of a Turtle document that have targets, sorted by their names.

    Args:
        text: the document.
        file: its name, for errors.
        subclasses: where subclasses are declared.

    Raises:
        ShapesSyntaxError: it is not Turtle, or a shape is ill-formed.
        UnsupportedShapes: it uses what Weir does not maintain.
    """
    return _Reader(ShapesGraph(text, file), subclasses).shapes()


class _Reader:
    def __init__(self, graph: ShapesGraph, subclasses: Subclasses) -> None:
        self._graph, self._subclasses = graph, subclasses
        self._read: dict[str, Shape] = {}
        self._inside: list[str] = []
        self._custom = custom_components(graph)
        self._has_target = False

    def shapes(self) -> tuple[Shape, ...]:
        graph = self._graph
        check_names(graph)
        for node in graph.subjects:
            if self._is_shape(node):
                # Those without a target, too: what is wrong with one is an error.
                self._shape(node)
        if not self._has_target:
            raise ShapesSyntaxError(
                "shapes",
                f"{graph.file}:1:1",
                "no shape has a target, so that nothing is validated",
                "Give one sh:targetClass, sh:targetNode, sh:targetSubjectsOf, or another.",
            )
        shapes = [self._read[node] for node in graph.subjects if node in self._read]
        return tuple(shape for shape in shapes if shape.targets)

    def _is_shape(self, node: str) -> bool:
        graph = self._graph
        return graph.is_instance(node, *_SHAPES) or any(
            graph.objects(node, predicate) for predicate in _TARGETS
        )

    def _shape(self, node: str) -> Shape:
        if node in self._read:
            return self._read[node]
        graph = self._graph
        if is_literal(node):
            owner = self._inside[-1]
            what = f"shape {graph.shown(owner)}"
            raise ShapesSyntaxError(what, graph.place(owner), f"{node} is no shape")
        if node in self._inside:
            cycle = [*self._inside[self._inside.index(node) :], node]
            shown = " > ".join(graph.name(shape) for shape in cycle)
            what = f"shape {graph.shown(node)}"
            raise UnsupportedShapes(what, graph.place(node), f"it refers to itself: {shown}")
        self._inside.append(node)
        shape = self._new(node)
        self._inside.pop()
        self._read[node] = shape
        return shape

    def _new(self, node: str) -> Shape:
        graph, path = self._graph, None
        paths = graph.objects(node, sh("path"))
        if graph.is_instance(node, _PROPERTY_SHAPE) and not paths:
            raise graph.ill_formed(node, "path", "a property shape has one")
        if paths:
            if graph.is_instance(node, _NODE_SHAPE):
                raise graph.ill_formed(node, "path", "a node shape has none")
            path_node = graph.one(node, sh("path"))
            assert path_node is not None
            path = read_path(graph, path_node, node)
        severity = graph.one(node, sh("severity")) or _VIOLATION
        if not is_iri(severity):
            raise graph.ill_formed(node, "severity", "its value is not an IRI")
        reading = Reading(graph, node, path is not None, self._shape, self._classes)
        is_off = reading.flag("deactivated")
        constraints = tuple(self._constraints(reading))
        targets = tuple(self._targets(node))
        self._has_target |= bool(targets)
        return Shape(
            graph.name(node),
            path,
            () if is_off else targets,
            () if is_off else constraints,
            severity,
            graph.message(node),
        )

    def _constraints(self, reading: Reading) -> Iterator[Constraint]:
        graph, node = self._graph, reading.node
        for predicate in graph.predicates(node):
            name = local_name(predicate)
            if predicate.startswith(f"<{NAMESPACE}") and name in _NOT_MAINTAINED:
                what, where = f"sh:{name} of {graph.shown(node)}", graph.place(node, f"sh:{name}")
                raise UnsupportedShapes(what, where, f"{_NOT_MAINTAINED[name]} are not maintained")
            read = _READERS.get(name) if predicate.startswith(f"<{NAMESPACE}") else None
            if read is not None:
                for value in graph.objects(node, predicate):
                    constraint = read(reading, value)
                    if constraint is not None:
                        yield constraint
        for component in self._custom:
            yield from component.constraints(reading)

    def _targets(self, node: str) -> Iterator[Target]:
        graph = self._graph
        for predicate, kind in _TARGETS.items():
            for term in graph.objects(node, predicate):
                is_valid = not is_blank(term) if kind == "node" else is_iri(term)
                if not is_valid:
                    parameter = local_name(predicate)
                    wanted = "an IRI or a literal" if kind == "node" else "an IRI"
                    raise graph.ill_formed(node, parameter, f"its value is not {wanted}")
                yield Target(kind, term, self._classes(term) if kind == "class" else None)
        is_class = is_iri(node) and graph.is_instance(node, CLASS, OWL_CLASS)
        if is_class and graph.is_instance(node, *_SHAPES):
            yield Target("class", node, self._classes(node))

    def _classes(self, term: str) -> frozenset[str] | None:
        if self._subclasses == "data":
            return None
        graph = self._graph
        return frozenset(
            {term} | {c for c in graph.subjects if is_iri(c) and term in graph.superclasses(c)}
        )
