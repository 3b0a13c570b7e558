"""What the reader of a parameter is given: the shape that has it, and how to read others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weir.rdf.terms import Literal, parse_term
from weir.shacl.errors import ShapesError
from weir.shacl.formulas import TRUE
from weir.shacl.graph import ShapesGraph, is_iri, is_literal
from weir.shacl.shapes import Constraint, Shape
from weir.shacl.vocabulary import XSD, sh

Read = Callable[["Reading", str], Constraint | None]
"""Reads one value of a parameter; None if it demands nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A shape that is being read.

    Attributes:
        graph: the shapes graph.
        node: of the shape.
        is_property: whether it has a path.
        shape_of: reads another shape.
        classes_of: a class and its subclasses; None if the data says which these are.
    """

    graph: ShapesGraph
    node: str
    is_property: bool
    shape_of: Callable[[str], Shape]
    classes_of: Callable[[str], frozenset[str] | None]

    def error(self, parameter: str, reason: str, hint: str = "") -> ShapesError:
        """That a parameter of the shape is ill-formed."""
        return self.graph.ill_formed(self.node, parameter, reason, hint)

    def only_of_properties(self, parameter: str) -> None:
        """Refuse a parameter in a shape without a path.

        Raises:
            ShapesSyntaxError: it has none.
        """
        if not self.is_property:
            raise self.error(parameter, "only property shapes have it", "Give it an sh:path.")

    def only_once(self, parameter: str) -> None:
        """Refuse several values of a parameter.

        Raises:
            ShapesSyntaxError: there are several.
        """
        self.graph.one(self.node, sh(parameter))

    def iri(self, parameter: str, value: str) -> str:
        """A value that is an IRI.

        Raises:
            ShapesSyntaxError: it is not.
        """
        if not is_iri(value):
            raise self.error(parameter, "its value is not an IRI")
        return value

    def number(self, parameter: str, value: str) -> int:
        """A value that is an xsd:integer.

        Raises:
            ShapesSyntaxError: it is not.
        """
        self.only_once(parameter)
        term = parse_term(value)
        if not isinstance(term, Literal) or term.datatype != f"{XSD}integer":
            raise self.error(parameter, "its value is not an xsd:integer")
        try:
            return int(term.lexical)
        except ValueError:
            raise self.error(parameter, "its value is not an xsd:integer") from None

    def string(self, parameter: str, value: str) -> str:
        """The characters of a value that is a string.

        Raises:
            ShapesSyntaxError: it is not.
        """
        term = parse_term(value)
        if not isinstance(term, Literal) or term.datatype != f"{XSD}string":
            raise self.error(parameter, "its value is not a string")
        return term.lexical

    def flag(self, parameter: str) -> bool:
        """Whether a parameter is `true`; `"1"^^xsd:boolean` is another term, and has no effect.

        Raises:
            ShapesSyntaxError: it has several values, or one that is no boolean.
        """
        value = self.graph.one(self.node, sh(parameter))
        if value is None or value == TRUE.term:
            return value is not None
        if value.endswith(f"^^<{XSD}boolean>"):
            return False
        raise self.error(parameter, "its value is neither true nor false")

    def terms(self, parameter: str, head: str) -> tuple[str, ...]:
        """The members of a list, which are IRIs and literals.

        Raises:
            ShapesSyntaxError: it is not a list, or has a blank node.
        """
        return self.named(parameter, self.graph.members(head, self.node, parameter))

    def named(self, parameter: str, terms: Sequence[str]) -> tuple[str, ...]:
        """Some terms, which are IRIs and literals.

        Raises:
            ShapesSyntaxError: one is a blank node.
        """
        if not all(is_iri(term) or is_literal(term) for term in terms):
            raise self.error(
                parameter,
                "a blank node of the shapes is no node of the data",
                "Write IRIs and literals.",
            )
        return tuple(terms)
