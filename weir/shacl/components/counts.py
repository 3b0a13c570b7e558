"""Constraints on how many value nodes there are, also of those that conform to a shape.

https://www.w3.org/TR/shacl/#core-components-count, #QualifiedMinCountConstraintComponent
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weir.rdf.terms import literal
from weir.shacl.components.reading import Read, Reading
from weir.shacl.formulas import (
    FALSE,
    TRUE,
    Names,
    all_of,
    any_of,
    beside,
    exists,
    have_many,
    negated,
    same,
    where,
)
from weir.shacl.shapes import Constraint, Shape, ValueNodes, Violation
from weir.shacl.vocabulary import sh
from weir.sparql.algebra.expressions import Expression, Variable
from weir.sparql.algebra.patterns import Pattern

Test = Callable[[Variable], Expression]
"""A condition of a value node, never an error."""


@dataclass(frozen=True, slots=True)
class Count(Constraint):
    """At least or at most some number of value nodes conform to a shape.

    Attributes:
        component: of the constraint.
        message: of its results.
        number: the least or the greatest number.
        is_least: which of both.
        shape: to which they conform; None for all value nodes.
        siblings: to none of which they conform.
    """

    component: str
    message: str
    number: int
    is_least: bool
    shape: Shape | None = None
    siblings: tuple[Shape, ...] = ()

    def violations(self, shape: Shape, focus: Variable, names: Names) -> Iterator[Violation]:
        """The focus node, if it has too few or too many."""

        def value_nodes() -> list[ValueNodes]:
            return [*shape.value_nodes(focus, names)]

        def is_counted(node: Variable) -> Expression:
            conforms = TRUE if self.shape is None else self.shape.is_met(node, names)
            return all_of([conforms, *(negated(s.is_met(node, names)) for s in self.siblings)])

        least = self.number if self.is_least else self.number + 1
        enough = _are_at_least(least, focus, value_nodes, is_counted)
        yield Violation(negated(enough) if self.is_least else enough)


def _are_at_least(
    number: int, focus: Variable, value_nodes: Callable[[], list[ValueNodes]], is_counted: Test
) -> Expression:
    """Whether a focus node has at least some number of different value nodes that count."""
    if number <= 0:
        return TRUE
    is_focus = any(nodes.pattern is None for nodes in value_nodes())

    def others() -> Iterator[tuple[Variable, Pattern]]:
        for nodes in value_nodes():
            if nodes.pattern is not None:
                # The focus node counts by itself, and once.
                beside_focus = [negated(same(focus, nodes.node))] if is_focus else []
                yield nodes.node, where(nodes.pattern, *beside_focus, is_counted(nodes.node))

    def are_others(least: int) -> Expression:
        if least <= 0:
            return TRUE
        reached = [*others()]
        if not reached:
            return FALSE
        ((node, pattern),) = reached
        if least == 1:
            return exists(pattern)
        if least == 2:
            # Pairs, of which there are few: mostly there is none, and groups are of all nodes.
            ((other, more),) = others()
            return exists(beside(pattern, more), negated(same(node, other)))
        return exists(have_many(least, focus, node, pattern))

    if not is_focus:
        return are_others(number)
    return any_of([all_of([is_counted(focus), are_others(number - 1)]), are_others(number)])


def _count(name: str, word: str, *, is_least: bool) -> Read:
    def read(reading: Reading, value: str) -> Constraint | None:
        parameter = name[0].lower() + name[1:]
        reading.only_of_properties(parameter)
        number = reading.number(parameter, value)
        if is_least and number <= 0:
            return None
        message = literal(f"has {word} than {number} value{'' if number == 1 else 's'}")
        return Count(sh(f"{name}ConstraintComponent"), message, number, is_least)

    return read


def _qualified(name: str, word: str, *, is_least: bool) -> Read:
    def read(reading: Reading, value: str) -> Constraint | None:
        parameter, graph = name[0].lower() + name[1:], reading.graph
        number = reading.number(parameter, value)
        shape = graph.one(reading.node, sh("qualifiedValueShape"))
        if shape is None or not reading.is_property:
            # Without all of its parameters it is no constraint, and none of a node shape.
            return None
        is_disjoint = reading.flag("qualifiedValueShapesDisjoint")
        siblings = [*_siblings(reading, shape)] if is_disjoint else []
        if is_least and number <= 0:
            return None
        message = literal(f"has {word} than {number} values that conform to {graph.name(shape)}")
        return Count(
            sh(f"{name}ConstraintComponent"),
            message,
            number,
            is_least,
            reading.shape_of(shape),
            tuple(reading.shape_of(sibling) for sibling in siblings),
        )

    return read


def _siblings(reading: Reading, shape: str) -> Iterator[str]:
    """https://www.w3.org/TR/shacl/#dfn-sibling-shapes"""
    graph, of_property = reading.graph, sh("property")
    parents = [s for s in graph.subjects if graph.has(s, of_property, reading.node)]
    beside = dict.fromkeys(p for parent in parents for p in graph.objects(parent, of_property))
    siblings = (s for p in beside for s in graph.objects(p, sh("qualifiedValueShape")))
    yield from (s for s in dict.fromkeys(siblings) if s != shape)


COUNTS: dict[str, Read] = {
    "minCount": _count("MinCount", "fewer", is_least=True),
    "maxCount": _count("MaxCount", "more", is_least=False),
    "qualifiedMinCount": _qualified("QualifiedMinCount", "fewer", is_least=True),
    "qualifiedMaxCount": _qualified("QualifiedMaxCount", "more", is_least=False),
}
"""The readers of parameters, by their local names."""
