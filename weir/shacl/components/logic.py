"""Constraints by other shapes: classes, `sh:node`, `sh:property`, and how shapes are combined.

https://www.w3.org/TR/shacl/#core-components-logical, #core-components-shape
"""

from __future__ import annotations

from dataclasses import dataclass

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
    integer,
    negated,
    steps,
    sure,
    triple,
    where,
)
from weir.shacl.shapes import Constraint, Property, Shape, ValueConstraint
from weir.shacl.vocabulary import SUBCLASS, TYPE, sh
from weir.sparql.algebra.expressions import Constant, Expression, Variable
from weir.sparql.algebra.paths import Closure, Link
from weir.sparql.algebra.patterns import Pattern


def instances(node: Variable, term: str, classes: frozenset[str] | None, names: Names) -> Pattern:
    """The instances of a class.

    Args:
        node: an instance.
        term: the class.
        classes: it and its subclasses; None if the data says which these are.
        names: for further variables.
    """
    if classes == frozenset({term}):
        return triple(node, Constant(TYPE), Constant(term))
    of = names.fresh()
    typed = triple(node, Constant(TYPE), of)
    if classes is None:
        return beside(typed, steps(of, Closure(Link(SUBCLASS), 0), Constant(term), names))
    return where(typed, call("IN", of, *map(Constant, sorted(classes))))


@dataclass(frozen=True, slots=True)
class Class(ValueConstraint):
    """`sh:class`; classes: the class and its subclasses, None if the data says which."""

    term: str
    classes: frozenset[str] | None
    message: str
    component = sh("ClassConstraintComponent")

    def is_met(self, value: Variable, names: Names) -> Expression:
        """Whether a value node is an instance."""
        return exists(instances(value, self.term, self.classes, names))


@dataclass(frozen=True, slots=True)
class Combined(ValueConstraint):
    """`sh:not`, `sh:and`, `sh:or`, `sh:xone`, `sh:node`: value nodes conform to shapes or not."""

    component: str
    message: str
    shapes: tuple[Shape, ...]

    def is_met(self, value: Variable, names: Names) -> Expression:
        """Whether a value node conforms."""
        conform = [shape.is_met(value, names) for shape in self.shapes]
        match self.component:
            case component if component == _NOT:
                return negated(*conform)
            case component if component == _OR:
                return any_of(conform)
            case component if component == _XONE:
                return _exactly_one(conform)
            case _:
                return all_of(conform)


_NOT, _AND, _OR, _XONE, _NODE = (
    sh(f"{name}ConstraintComponent") for name in ("Not", "And", "Or", "Xone", "Node")
)
_LISTS = {
    "and": (_AND, "does not conform to all of the shapes of sh:and"),
    "or": (_OR, "conforms to none of the shapes of sh:or"),
    "xone": (_XONE, "does not conform to exactly one of the shapes of sh:xone"),
}
_SINGLE = {
    "not": (_NOT, "conforms to the shape of sh:not"),
    "node": (_NODE, "does not conform to the shape of sh:node"),
}


def _exactly_one(conditions: list[Expression]) -> Expression:
    sure_ones = sum(condition == TRUE for condition in conditions)
    open_ones = [condition for condition in conditions if not isinstance(condition, Constant)]
    if not open_ones or sure_ones > 1:
        return TRUE if sure_ones == 1 else negated(TRUE)
    numbers = [call("IF", condition, integer(1), integer(0)) for condition in open_ones]
    total: Expression = numbers[0]
    for number in numbers[1:]:
        total = call("+", total, number)
    return sure(call("=", total, integer(1 - sure_ones)))


def _list(parameter: str) -> Read:
    component, message = _LISTS[parameter]

    def read(reading: Reading, value: str) -> Constraint:
        members = reading.graph.members(value, reading.node, parameter)
        return Combined(component, literal(message), tuple(map(reading.shape_of, members)))

    return read


def _single(parameter: str) -> Read:
    component, message = _SINGLE[parameter]

    def read(reading: Reading, value: str) -> Constraint:
        if parameter == "node" and reading.graph.objects(value, sh("path")):
            raise reading.error(
                "node", "its value is a property shape", "Write sh:property, or a node shape."
            )
        return Combined(component, literal(message), (reading.shape_of(value),))

    return read


def _property(reading: Reading, value: str) -> Constraint:
    if not reading.graph.objects(value, sh("path")):
        raise reading.error("property", "its value is no property shape: it has no sh:path")
    return Property(reading.shape_of(value))


def _class(reading: Reading, value: str) -> Constraint:
    term = reading.iri("class", value)
    return Class(term, reading.classes_of(term), literal(f"is not an instance of {term}"))


SHAPES: dict[str, Read] = {
    "class": _class,
    **{parameter: _list(parameter) for parameter in _LISTS},
    **{parameter: _single(parameter) for parameter in _SINGLE},
    "property": _property,
}
"""The readers of parameters, by their local names."""
