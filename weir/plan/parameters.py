"""Parameterized plans: the constants of a plan as parameters, so that plans can be compared.

A parameter stands where a constant has its term. It begins with `$`, which no term does, then has
the kind of its values, `<` for IRIs and `"` for literals, and its number: `$<0`, `$"1`. There is
one per distinct constant, numbered by first occurrence in the walk of the plan. So two nodes are
equal with parameters just if they are equal with constants, and a plan and its parameterized form
have the same ids and store the same nodes.

The constants of triple patterns, of inline data, of templates, and those at which a path starts are
parameters; those of an expression are if they are compared, computed with or given as a value.
Others stay: with another language range or regular expression the SQL of a condition is another,
and a long list is looked up as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from weir.plan.leaves import Component, Values
from weir.plan.operators import (
    AntiJoin,
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Instantiate,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
    Union,
)
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import Node, TriplePattern
from weir.sparql.algebra.traversal import arguments_of, map_arguments
from weir.sparql.recursion import deep_recursion

_MARK = "$"
_IRI, _LITERAL = "<", '"'

_COMPARED = frozenset({"=", "!=", "<", ">", "<=", ">="})
_OVER_VALUES = _COMPARED | {
    *("IN", "NOT IN", "SAMETERM", "+", "-", "*", "/", "IF", "COALESCE"),
    *("CONTAINS", "STRSTARTS", "STRENDS"),
}
"""Calls whose constants are parameters: the evaluator treats them as it does a variable's value."""

MOST_OPTIONS = 64
"""Longer lists of IN, and longer inline data, stay: a parameter is a column of a relation."""

Change = Callable[[str], str]
"""From a term or parameter to the one in its place."""


def parameter(number: int, constant: str) -> str:
    """The parameter of this number in the place of `constant`."""
    kind = _IRI if constant.startswith(_IRI) else _LITERAL
    return f"{_MARK}{kind}{number}"


def is_parameter(term: str) -> bool:
    """Whether what stands for a term is a parameter."""
    return term.startswith(_MARK)


def is_iri(term: str) -> bool:
    """Whether a term is an IRI, or each value of a parameter is one."""
    return term.removeprefix(_MARK).startswith(_IRI)


def column_of(term: str) -> str:
    """The column of a parameter's values: `p<number>`."""
    return f"p{number_of(term)}"


def number_of(term: str) -> int:
    """The number of a parameter."""
    return int(term[2:])


@deep_recursion()
def parameterized(plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """A plan with parameters, and the constants that they are in it, in order."""
    numbers: dict[str, int] = {}

    def numbered(term: str) -> str:
        return parameter(numbers.setdefault(term, len(numbers)), term)

    for node in plan.ids:
        mapped_node(node, numbered, lambda child: child)
    return _with_terms(plan, numbered), tuple(numbers)


@deep_recursion()
def with_constants(plan: Plan, constants: Sequence[str | None]) -> Plan:
    """A parameterized plan with constants in the place of its parameters.

    Args:
        plan: the parameterized plan.
        constants: the constant of each parameter; None for one that stays a parameter.
    """

    def constant(term: str) -> str:
        known = constants[number_of(term)] if is_parameter(term) else term
        return term if known is None else known

    return _with_terms(plan, constant)


def parameters_of(expressions: Iterable[Expression]) -> tuple[str, ...]:
    """The columns of the parameters that occur in `expressions`, each once, in order of names.

    Wherever they stand: an operator may have put a condition into calls around it.
    """
    terms = (term for expression in expressions for term in _constants(expression))
    return tuple(sorted({column_of(term) for term in terms if is_parameter(term)}))


def _constants(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Constant):
        yield expression.term
    for argument in arguments_of(expression):
        yield from _constants(argument)


def parameters_as_variables(expression: Expression) -> Expression:
    """`expression` with the column of each parameter as a variable in its place."""
    match expression:
        case Constant(term):
            return Variable(column_of(term)) if is_parameter(term) else expression
        case _:
            return map_arguments(expression, parameters_as_variables)


def _with_terms(plan: Plan, change: Change) -> Plan:
    return map_nodes(plan, lambda node, child: mapped_node(node, change, child))


def map_nodes(
    plan: Plan, change: Callable[[PlanNode, Callable[[PlanNode], PlanNode]], PlanNode]
) -> Plan:
    """A plan of changed nodes: `change` is given a node and what finds the changed children.

    Each node is changed once, however many nodes read it.
    """
    changed: dict[PlanNode, PlanNode] = {}

    def of(node: PlanNode) -> PlanNode:
        if node not in changed:
            changed[node] = change(node, of)
        return changed[node]

    asked = tuple((pattern, of(node)) for pattern, node in plan.asked)
    return replace(plan, root=of(plan.root), asked=asked)


def mapped_node(node: PlanNode, term: Change, child: Callable[[PlanNode], PlanNode]) -> PlanNode:
    """`node` with other constants and children.

    Args:
        node: the node.
        term: from a constant that may be a parameter, or a parameter, to what takes its place.
        child: from a child to what takes its place.
    """
    match node:
        case Component():
            patterns = tuple(_mapped_pattern(each, term) for each in node.patterns)
            conditions = tuple(_mapped_value(each, term) for each in node.conditions)
            return replace(node, patterns=patterns, conditions=conditions)
        case Values() if len(node.rows) * len(node.variables) > MOST_OPTIONS:
            return node
        case Values():
            return replace(node, rows=tuple(_mapped_row(row, term) for row in node.rows))
        case Product(parts):
            return replace(node, children=tuple(map(child, parts)))
        case Union(parts):
            return Union(tuple(map(child, parts)))
        case Join(left, right):
            return Join(child(left), child(right))
        case LeftJoin() | SemiJoin() | AntiJoin() | MarkJoin():
            condition = None if node.condition is None else _mapped_value(node.condition, term)
            return replace(
                node, left=child(node.left), right=child(node.right), condition=condition
            )
        case Filter(condition, below):
            return Filter(_mapped_value(condition, term), child(below))
        case Extend(variable, expression, below):
            return Extend(variable, _mapped_value(expression, term), child(below))
        case Closure():
            start = None if node.start is None else term(node.start)
            return replace(node, child=child(node.child), start=start)
        case Instantiate():
            template = tuple(_mapped_pattern(each, term) for each in node.template)
            return replace(node, template=template, child=child(node.child))
        case Ask(variable, below):
            whole = child(below)
            assert isinstance(whole, Distinct), "a node is changed to one of its kind"
            return Ask(variable, whole)
        case Project() | Distinct() | Group() | Slice():
            return replace(node, child=child(node.child))
        case _:
            assert_never(node)


def _mapped_pattern(pattern: TriplePattern, term: Change) -> TriplePattern:
    subject, predicate, object_ = (_mapped_part(part, term) for part in pattern.nodes)
    return TriplePattern(subject, predicate, object_)


def _mapped_part(node: Node, term: Change) -> Node:
    return Constant(term(node.term)) if isinstance(node, Constant) else node


def _mapped_row(row: tuple[str | None, ...], term: Change) -> tuple[str | None, ...]:
    return tuple(None if cell is None else term(cell) for cell in row)


def _mapped_value(expression: Expression, term: Change) -> Expression:
    """An expression with other constants, where those are parameters."""
    match expression:
        case Constant(value):
            return Constant(term(value))
        case Call(function, arguments) if _is_over_values(function, arguments):
            return Call(function, tuple(_mapped_value(each, term) for each in arguments))
        case Call(function, arguments):
            # Inside of an argument there may be values again.
            inner = (
                each if isinstance(each, Constant) else _mapped_value(each, term)
                for each in arguments
            )
            return Call(function, tuple(inner))
        case Variable() | Exists():
            return expression
        case _:
            assert_never(expression)


def _is_over_values(function: str, arguments: tuple[Expression, ...]) -> bool:
    """Whether constants among the arguments of a call are parameters."""
    if function.upper() not in _OVER_VALUES or len(arguments) > MOST_OPTIONS + 1:
        return False
    # The language in a comparison decides its SQL.
    is_language = any(isinstance(each, Call) and each.function == "LANG" for each in arguments)
    return not (function in _COMPARED and is_language)
