"""From the algebra of a query to its plan."""

from __future__ import annotations

from typing import assert_never

from jobs.plan.decompose import decompose
from jobs.plan.operators import (
    Component,
    Distinct,
    Exists,
    Filter,
    Instantiate,
    Plan,
    PlanNode,
    Product,
    Project,
    Scope,
)
from jobs.sparql import algebra
from jobs.sparql.algebra import Node, TriplePattern
from jobs.sparql.expressions import (
    Call,
    Expression,
    Variable,
    map_variables,
    variables_of,
)

PLAN_FORMAT = 1
"""Raised whenever equal algebra gives other plan nodes than before: stored embeddings are then made
anew.
"""

ANSWER_VARIABLE = "answer"
CONSTRUCT_COLUMNS = ("subject", "predicate", "object")


def lower(query: algebra.Query, *, allow_product: bool = False) -> Plan:
    """The plan of `query`.

    SELECT keeps the pattern's own projection; ASK is the existence of an empty solution; CONSTRUCT
    is the set of the triples that its template makes.
    """
    columns = _Columns()
    lowering = _Lowering(columns, _scope(query.dataset))
    match query.form:
        case algebra.Select(pattern, variables):
            root = lowering.pattern(pattern)
            published = tuple((name, columns.column(name)) for name in variables)
            is_set = isinstance(pattern, algebra.Distinct)
        case algebra.Ask(pattern):
            solutions = lowering.pattern(pattern)
            column = columns.fresh(ANSWER_VARIABLE)
            root = Exists(column, Distinct(Project((), solutions)))
            published, is_set = ((ANSWER_VARIABLE, column),), True
        case algebra.Construct(template, pattern):
            solutions = lowering.pattern(pattern)
            targets = tuple(columns.fresh(name) for name in CONSTRUCT_COLUMNS)
            subject, predicate, object_ = targets
            bound = set(solutions.variables)
            renamed = tuple(columns.pattern(pattern) for pattern in template)
            blank = frozenset(
                columns.column(name)
                for pattern in template
                for name in pattern.variables
                if name.startswith("_:") and columns.column(name) not in bound
            )
            root = Distinct(Instantiate(renamed, (subject, predicate, object_), blank, solutions))
            published, is_set = tuple(zip(CONSTRUCT_COLUMNS, targets, strict=True)), True
        case _:
            assert_never(query.form)
    return Plan(root, columns.names, published, is_set, allow_product)


class _Columns:
    """Numbers the variables of one query in order of first use."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def column(self, name: str) -> str:
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return f"v{self._numbers[name]}"

    def fresh(self, name: str) -> str:
        """A column of its own, even if a variable of that name exists."""
        self._names.append(name)
        return f"v{len(self._names) - 1}"

    def node(self, node: Node) -> Node:
        return Variable(self.column(node.name)) if isinstance(node, Variable) else node

    def pattern(self, pattern: TriplePattern) -> TriplePattern:
        subject, predicate, object_ = (self.node(node) for node in pattern.nodes)
        return TriplePattern(subject, predicate, object_)

    def expression(self, expression: Expression) -> Expression:
        return map_variables(expression, self.column)


class _Lowering:
    def __init__(self, columns: _Columns, scope: Scope) -> None:
        self._columns = columns
        self._scope = scope

    def pattern(self, pattern: algebra.Pattern) -> PlanNode:
        match pattern:
            case algebra.Bgp():
                return self._bgp(pattern)
            case algebra.Filter(condition, inner):
                return push_filter(self._columns.expression(condition), self.pattern(inner))
            case algebra.Project(variables, inner):
                child = self.pattern(inner)
                return Project(tuple(self._columns.column(name) for name in variables), child)
            case algebra.Distinct(inner):
                return Distinct(self.pattern(inner))
            case _:
                assert_never(pattern)

    def _bgp(self, bgp: algebra.Bgp) -> PlanNode:
        renamed = algebra.Bgp(tuple(self._columns.pattern(pattern) for pattern in bgp.patterns))
        parts = tuple(
            Component(segment.patterns, self._scope, segment.kind) for segment in decompose(renamed)
        )
        return parts[0] if len(parts) == 1 else Product(parts)


def push_filter(condition: Expression, node: PlanNode) -> PlanNode:
    """`Filter(condition, node)` with each conjunct in the deepest node that binds all its
    variables.

    A conjunction holds only if all its parts are true, error or not, so it may be split. A variable
    that a component does not have stays unbound in it, so a conjunct moves down only where nothing
    is missing.
    """
    if isinstance(condition, Call) and condition.function == "&&":
        for conjunct in condition.arguments:
            node = push_filter(conjunct, node)
        return node
    mentioned = variables_of(condition)
    match node:
        case Component(patterns, scope, kind, conditions) if mentioned <= set(node.variables):
            return Component(patterns, scope, kind, (*conditions, condition))
        case Product(parts) if mentioned:
            homes = [part for part in parts if mentioned <= set(part.variables)]
            if homes:
                return Product(
                    tuple(push_filter(condition, p) if p is homes[0] else p for p in parts)
                )
        case Filter(other, child):
            return Filter(other, push_filter(condition, child))
        case _:
            pass
    return Filter(condition, node)


def _scope(dataset: algebra.Dataset) -> Scope:
    if dataset.from_graphs:
        return Scope(tuple(sorted(set(dataset.from_graphs))))
    return Scope(("",)) if dataset.default_graph == "default" else Scope()
