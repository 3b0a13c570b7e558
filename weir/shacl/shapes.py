"""Shapes as frozen values: https://www.w3.org/TR/shacl/#shapes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.rdf.terms import literal
from weir.shacl.formulas import (
    Names,
    all_of,
    beside,
    exists,
    negated,
    steps,
    where,
)
from weir.shacl.paths import split
from weir.shacl.vocabulary import sh
from weir.sparql.algebra.expressions import Expression, Variable
from weir.sparql.algebra.paths import Path
from weir.sparql.algebra.patterns import Pattern

TargetKind = Literal["node", "class", "subjects_of", "objects_of"]


@dataclass(frozen=True, slots=True)
class Target:
    """Focus nodes of a shape: a node, the instances of a class, or the ends of a predicate.

    classes: of a class, it and its subclasses; None if the data says which these are.
    """

    kind: TargetKind
    term: str
    classes: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """What a constraint finds at a focus node: a result for each solution.

    Attributes:
        condition: of the result; it is never an error.
        pattern: solutions beside the focus node; None for the focus node alone.
        value: the value of the result, if it has one.
        detail: distinguishes results of one focus node and value.
        path: of the result, if the solution has one.
        message: of the result, if the solution has one.
        is_bag: whether equal solutions are as many results.
    """

    condition: Expression
    pattern: Pattern | None = None
    value: Expression | None = None
    detail: Expression | None = None
    path: Expression | None = None
    message: Expression | None = None
    is_bag: bool = False

    @property
    def is_absent(self) -> Expression:
        """That the constraint does not find it."""
        if self.pattern is None:
            return negated(self.condition)
        return negated(exists(self.pattern, self.condition))


@dataclass(frozen=True, slots=True)
class ValueNodes:
    """Some value nodes of a shape at a focus node: a variable, and the pattern that binds it.

    pattern: None if they are the focus node itself.
    """

    node: Variable
    pattern: Pattern | None = None

    def violation(self, condition: Expression) -> Violation:
        """A result for each value node for which a condition holds."""
        return Violation(condition, self.pattern, self.node)


class Constraint(ABC):
    """A constraint of a shape; a frozen value."""

    component: str
    """The IRI of its component."""
    message: str
    """What a result of it says, if neither its shape nor its solution do; a literal."""
    source: str | None = None
    """The node of the shapes graph that has it, if that is not its shape."""

    @abstractmethod
    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """What it finds at a focus node.

        Args:
            shape: which has it.
            focus: the focus node.
            names: for further variables.
        """


class ValueConstraint(Constraint):
    """A constraint that each value node meets or not by itself."""

    @abstractmethod
    def is_met(self, value: Variable, names: Names) -> Expression:
        """Whether a value node meets it; never an error."""

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The value nodes that do not meet it."""
        for values in shape.value_nodes(focus, names):
            yield values.violation(negated(self.is_met(values.node, names)))


@dataclass(frozen=True, slots=True)
class Shape:
    """A node shape, or with a path a property shape.

    Attributes:
        name: its IRI, or the name of its blank node.
        path: from a focus node to its value nodes; None if they are the same.
        targets: its focus nodes.
        constraints: what its value nodes must meet, in a fixed order.
        severity: of its results, an IRI.
        message: of its results, a literal, if it has one.
    """

    name: str
    path: Path | None
    targets: tuple[Target, ...]
    constraints: tuple[Constraint, ...]
    severity: str
    message: str | None = None

    def value_nodes(self, focus: Variable, names: Names) -> Iterator[ValueNodes]:
        """The value nodes at a focus node, which may be among several of these."""
        if self.path is None:
            yield ValueNodes(focus)
            return
        is_focus, rest = split(self.path)
        if is_focus:
            yield ValueNodes(focus)
        if rest is not None:
            value = names.fresh()
            yield ValueNodes(value, steps(focus, rest, value, names))

    def is_met(self, node: Variable, names: Names) -> Expression:
        """Whether a node conforms to it; never an error."""
        return all_of(
            violation.is_absent
            for constraint in self.constraints
            for violation in constraint.violations(self, node, names)
        )


@dataclass(frozen=True, slots=True)
class Property(ValueConstraint):
    """`sh:property`: each value node conforms to a property shape, whose results are reported."""

    shape: Shape
    component = sh("PropertyConstraintComponent")
    message = literal("does not conform to a property shape")

    def is_met(self, value: Variable, names: Names) -> Expression:
        """Whether it conforms."""
        return self.shape.is_met(value, names)


def solutions(violation: Violation, scope: Pattern) -> Pattern:
    """The solutions of a violation at the focus nodes of a pattern."""
    pattern = scope if violation.pattern is None else beside(scope, violation.pattern)
    return where(pattern, violation.condition)
