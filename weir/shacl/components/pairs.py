"""Constraints on pairs of nodes: with the values of another property, or of one another.

https://www.w3.org/TR/shacl/#core-components-property-pairs, #UniqueLangConstraintComponent
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from weir.rdf.terms import literal
from weir.shacl.components.reading import Read, Reading
from weir.shacl.formulas import (
    TRUE,
    Names,
    all_of,
    any_of,
    beside,
    call,
    exists,
    negated,
    same,
    sure,
    text,
    triple,
)
from weir.shacl.shapes import Constraint, Shape, Violation
from weir.shacl.vocabulary import sh
from weir.sparql.algebra.expressions import Constant, Expression, Variable


@dataclass(frozen=True, slots=True)
class Equals(Constraint):
    """`sh:equals`: the value nodes are the values of another property."""

    predicate: str
    message: str
    component = sh("EqualsConstraintComponent")

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The value nodes that are no values of it, and the values that are no value nodes."""
        values = [*shape.value_nodes(focus, names)]
        predicate = Constant(self.predicate)
        for nodes in values:
            yield nodes.violation(negated(exists(triple(focus, predicate, nodes.node))))
        other = names.fresh()
        is_value = any_of(_is_among(other, focus, shape, names))
        yield Violation(negated(is_value), triple(focus, predicate, other), other)


def _is_among(node: Variable, focus: Variable, shape: Shape, names: Names) -> Iterator[Expression]:
    """Whether a node is one of the value nodes of a shape."""
    for nodes in shape.value_nodes(focus, names):
        if nodes.pattern is None:
            yield same(node, focus)
        else:
            yield exists(nodes.pattern, same(node, nodes.node))


@dataclass(frozen=True, slots=True)
class Disjoint(Constraint):
    """`sh:disjoint`: no value node is a value of another property."""

    predicate: str
    message: str
    component = sh("DisjointConstraintComponent")

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The value nodes that are."""
        for nodes in shape.value_nodes(focus, names):
            other = triple(focus, Constant(self.predicate), nodes.node)
            pattern = other if nodes.pattern is None else beside(nodes.pattern, other)
            yield Violation(TRUE, pattern, nodes.node)


@dataclass(frozen=True, slots=True)
class Less(Constraint):
    """`sh:lessThan`, `sh:lessThanOrEquals`: value nodes compare with values of a property."""

    component: str
    operator: str
    predicate: str
    message: str

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The value nodes that do not, one result for each of the values."""
        for nodes in shape.value_nodes(focus, names):
            other = names.fresh()
            values = triple(focus, Constant(self.predicate), other)
            pattern = values if nodes.pattern is None else beside(nodes.pattern, values)
            is_less = sure(call(self.operator, nodes.node, other))
            yield Violation(negated(is_less), pattern, nodes.node, detail=other)


@dataclass(frozen=True, slots=True)
class UniqueLang(Constraint):
    """`sh:uniqueLang`: no two value nodes have the same language."""

    component = sh("UniqueLangConstraintComponent")
    message = literal("has a language more than once")

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """One result for each language."""
        ones = [*shape.value_nodes(focus, names)]
        others = [*shape.value_nodes(focus, names)]
        for left, right in product(ones, others):
            patterns = [nodes.pattern for nodes in (left, right) if nodes.pattern is not None]
            if not patterns:
                continue
            tag = call("LANG", left.node)
            condition = all_of(
                [
                    negated(same(left.node, right.node)),
                    sure(call("!=", tag, text(""))),
                    sure(call("=", tag, call("LANG", right.node))),
                ]
            )
            yield Violation(condition, beside(*patterns), detail=tag)


@dataclass(frozen=True, slots=True)
class HasValue(Constraint):
    """`sh:hasValue`: a node is one of the value nodes."""

    term: str
    message: str
    component = sh("HasValueConstraintComponent")

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The focus node, if it is not."""
        term = Constant(self.term)
        is_value = [
            same(nodes.node, term)
            if nodes.pattern is None
            else exists(nodes.pattern, same(nodes.node, term))
            for nodes in shape.value_nodes(focus, names)
        ]
        yield Violation(negated(any_of(is_value)))


@dataclass(frozen=True, slots=True)
class Closed(Constraint):
    """`sh:closed`: value nodes have no other predicates."""

    predicates: tuple[str, ...]
    component = sh("ClosedConstraintComponent")
    message = literal("has a predicate that the shape does not permit")

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The triples of value nodes with another one."""
        for nodes in shape.value_nodes(focus, names):
            predicate, value = names.fresh(), names.fresh()
            triples = triple(nodes.node, predicate, value)
            pattern = triples if nodes.pattern is None else beside(nodes.pattern, triples)
            permitted = map(Constant, self.predicates)
            is_other = sure(call("NOT IN", predicate, *permitted)) if self.predicates else TRUE
            # The triples of two value nodes may differ in their subjects alone: two results.
            detail = None if shape.path is None else nodes.node
            yield Violation(is_other, pattern, value, detail, path=predicate)


def _equals(reading: Reading, value: str) -> Constraint:
    return Equals(reading.iri("equals", value), literal(f"its values are not those of {value}"))


def _disjoint(reading: Reading, value: str) -> Constraint:
    return Disjoint(reading.iri("disjoint", value), literal(f"is a value of {value}, too"))


def _less(parameter: str, operator: str) -> Read:
    component = sh(f"{parameter[0].upper()}{parameter[1:]}ConstraintComponent")

    def read(reading: Reading, value: str) -> Constraint:
        reading.only_of_properties(parameter)
        message = literal(f"is not {operator} a value of {value}")
        return Less(component, operator, reading.iri(parameter, value), message)

    return read


def _unique_lang(reading: Reading, _: str) -> Constraint | None:
    reading.only_of_properties("uniqueLang")
    return UniqueLang() if reading.flag("uniqueLang") else None


def _has_value(reading: Reading, value: str) -> Constraint:
    (term,) = reading.named("hasValue", [value])
    return HasValue(term, literal(f"does not have the value {term}"))


def _closed(reading: Reading, _: str) -> Constraint | None:
    graph, node = reading.graph, reading.node
    if not reading.flag("closed"):
        return None
    ignored = graph.one(node, sh("ignoredProperties"))
    permitted = [
        path
        for shape in graph.objects(node, sh("property"))
        for path in graph.objects(shape, sh("path"))
    ]
    if ignored is not None:
        permitted += reading.terms("ignoredProperties", ignored)
    return Closed(tuple(sorted(path for path in {*permitted} if path.startswith("<"))))


PAIRS: dict[str, Read] = {
    "equals": _equals,
    "disjoint": _disjoint,
    "lessThan": _less("lessThan", "<"),
    "lessThanOrEquals": _less("lessThanOrEquals", "<="),
    "uniqueLang": _unique_lang,
    "hasValue": _has_value,
    "closed": _closed,
}
"""The readers of parameters, by their local names."""
