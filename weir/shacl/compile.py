"""Compiles shapes to the query whose answer is their validation report.

A part of the report is a constraint at the focus nodes of its shape. For `sh:property` the focus
nodes of the inner shape are the value nodes of the outer one, and the results are the inner
shape's. https://www.w3.org/TR/shacl/#validation
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from weir.rdf.terms import literal
from weir.shacl.components.logic import instances
from weir.shacl.formulas import Names, assigned, beside, distinct, triple, union
from weir.shacl.paths import sparql
from weir.shacl.prebinding import scoped
from weir.shacl.shapes import Constraint, Property, Shape, Target, Violation, solutions
from weir.sparql.algebra.expressions import Constant, Expression, Variable
from weir.sparql.algebra.paths import Link, Path
from weir.sparql.algebra.patterns import Bgp, Extend, Pattern, Project, Values
from weir.sparql.algebra.queries import Dataset, Query, Select

REPORT_COLUMNS = (
    "focus_node",
    "result_path",
    "value",
    "detail",
    "source_constraint_component",
    "source_constraint",
    "source_shape",
    "severity",
    "message",
)
"""The columns of a report: terms; `detail` distinguishes results of one focus node and value;
`result_path` is an IRI, or a literal with the path in SPARQL.
"""
_VALUE, _DETAIL, _PATH, _MESSAGE = (
    Variable(f"result {name}") for name in ("value", "detail", "path", "message")
)


@dataclass(frozen=True, slots=True)
class Focus:
    """The focus nodes of a shape.

    Attributes:
        nodes: variables; the last is the focus node, the others are the focus nodes of the shapes
            around it: a node that is reached from two of them is two focus nodes.
        pattern: binds them.
        taken: how many names it takes.
        is_set: whether the pattern has each solution once.
    """

    nodes: tuple[Variable, ...]
    pattern: Pattern
    taken: int
    is_set: bool

    @property
    def node(self) -> Variable:
        """The focus node."""
        return self.nodes[-1]

    def once(self) -> Pattern:
        """The pattern with each solution once."""
        return self.pattern if self.is_set else distinct(self.nodes, self.pattern)


def compile_shapes(shapes: Sequence[Shape], dataset: Dataset) -> Query:
    """The query of the report of some shapes; its columns are `REPORT_COLUMNS`.

    Args:
        shapes: which have targets.
        dataset: the data graph.
    """
    parts = [part for shape in shapes for part in _of_shape(shape)]
    pattern = union(parts) if parts else Values(REPORT_COLUMNS, ())
    return Query(Select(Project(REPORT_COLUMNS, pattern), REPORT_COLUMNS), dataset)


def _of_shape(shape: Shape) -> Iterator[Pattern]:
    names = Names()
    node = names.fresh()
    terms = sorted({target.term for target in shape.targets if target.kind == "node"})
    patterns = [_target(target, node, names) for target in shape.targets if target.kind != "node"]
    if terms:
        patterns.append(Values((node.name,), tuple((term,) for term in terms)))
    if len(patterns) == 1 and isinstance(patterns[0], Bgp | Values):
        # Results are made distinct later: of them less is stored than of all focus nodes.
        focus = Focus((node,), patterns[0], names.taken, is_set=bool(terms))
    else:
        focus = Focus((node,), distinct([node], union(patterns)), names.taken, is_set=True)
    yield from _results(shape, focus)


def _target(target: Target, node: Variable, names: Names) -> Pattern:
    term = Constant(target.term)
    match target.kind:
        case "class":
            return instances(node, target.term, target.classes, names)
        case "subjects_of":
            return triple(node, term, names.fresh())
        case "objects_of":
            return triple(names.fresh(), term, node)
        case "node":
            return Values((node.name,), ((target.term,),))
        case _:
            assert_never(target.kind)


def _results(shape: Shape, focus: Focus) -> Iterator[Pattern]:
    """The results of a shape at its focus nodes, as patterns that bind `REPORT_COLUMNS`."""
    for constraint in shape.constraints:
        # Parts name what is beside their focus nodes alike, and so share it.
        names = Names(focus.taken)
        if isinstance(constraint, Property):
            yield from _results(constraint.shape, _value_nodes(shape, focus, names))
            continue
        violations = [*constraint.violations(shape, focus.node, names)]
        if violations:
            yield _shown(shape, constraint, focus, violations)


def _value_nodes(shape: Shape, focus: Focus, names: Names) -> Focus:
    """The value nodes of a shape, as focus nodes of a shape in it."""
    if shape.path is None:
        return focus
    node = names.fresh()
    reached = [
        Extend(focus.pattern, node.name, focus.node)
        if values.pattern is None
        else assigned(beside(focus.pattern, values.pattern), node, values.node)
        for values in shape.value_nodes(focus.node, names)
    ]
    nodes = (*focus.nodes, node)
    return Focus(nodes, distinct(nodes, union(reached)), names.taken, is_set=True)


def _shown(
    shape: Shape, constraint: Constraint, focus: Focus, violations: Sequence[Violation]
) -> Pattern:
    """The results of a constraint, as a pattern that binds `REPORT_COLUMNS`."""
    solved = []
    for violation in violations:
        pattern = solutions(violation, focus.pattern)
        if violation.is_bag:
            assert violation.pattern is not None
            inner = scoped(violation.pattern, focus.node.name, focus.once())
            pattern = beside(focus.once(), inner)
        pattern = assigned(pattern, _VALUE, violation.value)
        pattern = assigned(pattern, _DETAIL, violation.detail)
        pattern = assigned(pattern, _PATH, violation.path)
        solved.append(assigned(pattern, _MESSAGE, violation.message))
    parts = {_VALUE.name, _DETAIL.name, _PATH.name, _MESSAGE.name}
    bound = {name for pattern in solved for name in pattern.in_scope} & parts
    kept = (*focus.nodes, *(Variable(name) for name in sorted(bound)))
    if any(violation.is_bag for violation in violations):
        results: Pattern = Project(tuple(node.name for node in kept), union(solved))
    else:
        results = distinct(kept, union(solved))
    own_path = None if shape.path is None else path_term(shape.path)
    message = shape.message or constraint.message
    constants: dict[str, Expression | None] = {
        "focus_node": focus.node,
        "result_path": _PATH if _PATH.name in bound else _constant(own_path),
        "value": _VALUE if _VALUE.name in bound else None,
        "detail": _DETAIL if _DETAIL.name in bound else None,
        "source_constraint_component": Constant(constraint.component),
        "source_constraint": _constant(constraint.source),
        "source_shape": Constant(shape.name),
        "severity": Constant(shape.severity),
        "message": _MESSAGE if _MESSAGE.name in bound else Constant(message),
    }
    for name, value in constants.items():
        results = assigned(results, Variable(name), value)
    return Project(REPORT_COLUMNS, results)


def _constant(term: str | None) -> Constant | None:
    return None if term is None else Constant(term)


def path_term(path: Path) -> str:
    """A path as a term: its predicate, or a literal with its text in SPARQL."""
    return path.predicate if isinstance(path, Link) else literal(sparql(path))
