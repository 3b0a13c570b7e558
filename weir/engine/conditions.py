"""SPARQL conditions as SQL: TRUE, FALSE, or NULL for an error.

SQL's three-valued logic is SPARQL's (https://www.w3.org/TR/sparql11-query/#evaluation), so `&&`,
`||` and `!` are AND, OR and NOT. Tests that are exact on the text of a term are SQL; everything
else is one call of `SPARQL_EVAL`, which interprets the expression with SPARQL's rules. A parameter
is the column of its values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, assert_never

from sqlglot import exp

from weir.compute.functions import EVALUATE
from weir.compute.sql import (
    all_of,
    any_of,
    as_text,
    case,
    column,
    is_not_null,
    negated,
    one_of,
    text,
)
from weir.engine.terms import FALSE, TRUE, begins
from weir.plan.parameters import (
    MOST_OPTIONS,
    column_of,
    is_iri,
    is_parameter,
    parameters_as_variables,
    parameters_of,
)
from weir.rdf.terms import literal
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.algebra.traversal import map_arguments
from weir.sparql.functions.comparisons import equal_only_to, equality_key
from weir.sparql.functions.serialization import encode
from weir.sparql.functions.values import (
    PROMOTION,
    Number,
    NumericType,
    parse,
)

_KINDS = {"isIRI": "<", "isURI": "<", "isBlank": "_", "isLiteral": '"'}
_KINDS_BY_KEYWORD = {keyword.upper(): first for keyword, first in _KINDS.items()}
_NO_EXISTS = "a plan has semi, anti and mark joins where a query has EXISTS"
_LANGUAGE_RANGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def condition_sql(condition: Expression, bound: frozenset[str]) -> exp.Expr:
    """The effective boolean value of `condition` as SQL.

    Args:
        condition: over internal columns.
        bound: columns that exist; any other variable is unbound.
    """
    match condition:
        case Call("&&", parts):
            return all_of([condition_sql(part, bound) for part in parts])
        case Call("||", parts):
            return any_of([condition_sql(part, bound) for part in parts])
        case Call("!", (inner,)):
            return negated(condition_sql(inner, bound))
        case Call(function, (tested, *options)) if _has_long_list(condition):
            listed = _in_list(tested, options, bound)
            return listed if function == "IN" else negated(listed)
        case Call(function, arguments):
            exact = _exact(function, arguments, bound)
            return exact if exact is not None else _interpreted(condition, bound)
        case Variable() | Constant():
            return _interpreted(condition, bound)
        case Exists():
            raise ValueError(_NO_EXISTS)
        case _:
            assert_never(condition)


def _exact(
    function: str, arguments: tuple[Expression, ...], bound: frozenset[str]
) -> exp.Expr | None:
    """SQL for tests that the text of a term decides; None if it takes the evaluator."""
    match function.upper(), arguments:
        case "BOUND", (Variable() as variable,):
            return is_not_null(_term(variable, bound))
        case "SAMETERM", (Variable() | Constant() as left, Variable() | Constant() as right):
            return _term(left, bound).eq(_term(right, bound))
        case (("=" | "!="), (Variable() as variable, Constant(term) as iri)) if is_iri(term):
            equal = _term(variable, bound).eq(_term(iri, bound))
            return equal if function == "=" else negated(equal)
        case (("IN" | "NOT IN"), (Variable() as variable, *options)) if iris := _iris(options):
            is_one_of = any_of([_term(variable, bound).eq(_term(iri, bound)) for iri in iris])
            return is_one_of if function.upper() == "IN" else negated(is_one_of)
        case keyword, (Variable() as variable,) if keyword in _KINDS_BY_KEYWORD:
            return begins(_term(variable, bound), _KINDS_BY_KEYWORD[keyword])
        case (("=" | "!="), (Call("LANG", (Variable() as variable,)), Constant(term))):
            language = _simple_literal(term)
            if language is None or not _LANGUAGE_RANGE.fullmatch(language):
                return None
            # Stored language tags are in lower case, so a tag with capitals equals none of them.
            has = _of_literal(variable, bound, _ends(_term(variable, bound), f'"@{language}'))
            return has if function == "=" else negated(has)
        case "LANGMATCHES", (Call("LANG", (Variable() as variable,)), Constant(term)):
            return _language_matches(variable, _simple_literal(term), bound)
        case _:
            return None


def value_sql(expression: Expression, bound: frozenset[str]) -> exp.Expr:
    """The value of `expression` as SQL: a term, or null for an error.

    Args:
        expression: over internal columns.
        bound: columns that exist; any other variable is unbound.
    """
    match expression:
        case Variable() | Constant():
            return _term(expression, bound)
        case Call() if _has_long_list(expression):
            holds = condition_sql(expression, bound)
            return case((holds, text(TRUE)), (negated(holds.copy()), text(FALSE)))
        case Call():
            return _evaluated(expression, bound)
        case Exists():
            raise ValueError(_NO_EXISTS)
        case _:
            assert_never(expression)


def _in_list(tested: Expression, options: Sequence[Expression], bound: frozenset[str]) -> exp.Expr:
    """Whether a value is one of many: they are looked up, so that a row is not compared with each.

    A value that is none of them is unequal to all, or an error with some: which, one of each kind
    says. Other options are compared with each value.
    """
    listed = _Listed.of(options)
    tests = [one_of(value_sql(tested, bound), listed.terms)] if listed.terms else []
    for kind, keys in listed.numbers.items():
        key = Call("EQUALITY KEY", (tested, Constant(literal(kind))))
        tests.append(one_of(value_sql(key, bound), keys))
    rest = [*listed.kinds, *listed.others]
    parts = (rest[i : i + MOST_OPTIONS] for i in range(0, len(rest), MOST_OPTIONS))
    others = Call("||", tuple(Call("IN", (tested, *part)) for part in parts))
    compared = _interpreted(others, bound)
    return case((any_of(tests), exp.true()), otherwise=compared) if tests else compared


@dataclass(frozen=True, slots=True)
class _Listed:
    """The options of a long list.

    Attributes:
        terms: IRIs, strings, and literals without a known value: equal to themselves only.
        numbers: the keys that numbers of any type have in common with those of a type.
        kinds: one of each kind of these.
        others: other values, and expressions.
    """

    terms: Sequence[str]
    numbers: Mapping[NumericType, Sequence[str]]
    kinds: Sequence[Expression]
    others: Sequence[Expression]

    @classmethod
    def of(cls, options: Sequence[Expression]) -> Self:
        terms: list[str] = []
        numbers: dict[NumericType, dict[str, None]] = {}
        kinds: dict[str, Expression] = {}
        others: list[Expression] = []
        for option in dict.fromkeys(options):
            value = parse(option.term) if isinstance(option, Constant) else None
            alone = equal_only_to(option.term) if isinstance(option, Constant) else None
            if isinstance(value, Number):
                keys = (equality_key(value, other) for other in PROMOTION)
                known = numbers.setdefault(value.type, {})
                known.update((literal(key), None) for key in keys if key is not None)
                kinds.setdefault("number", option)
            elif alone is not None:
                terms.append(alone)
                kinds.setdefault(type(value).__name__, option)
            else:
                others.append(option)
        keys_of = {kind: [*keys] for kind, keys in numbers.items() if keys}
        return cls(terms, keys_of, [*kinds.values()], others)


def _interpreted(condition: Expression, bound: frozenset[str]) -> exp.Expr:
    boolean = Call("!", (Call("!", (condition,)),))
    value = _evaluated(boolean, bound)
    ifs = [
        exp.If(this=text(TRUE), true=exp.true()),
        exp.If(this=text(FALSE), true=exp.false()),
    ]
    return exp.Case(this=value, ifs=ifs)


def _evaluated(expression: Expression, bound: frozenset[str]) -> exp.Expr:
    lists: dict[str, Call] = {}
    expression = _without_long_lists(expression, lists)
    bound |= {*parameters_of([expression])}
    expression = parameters_as_variables(expression)
    used = sorted(variables_of(expression))
    # A row of an array that is empty everywhere would have no type.
    terms = [
        value_sql(lists[name], bound) if name in lists else _term(Variable(name), bound)
        for name in used or ["none"]
    ]
    row = exp.Array(expressions=terms)
    return exp.Anonymous(this=EVALUATE, expressions=[text(encode(expression, used)), row])


def _without_long_lists(expression: Expression, lists: dict[str, Call]) -> Expression:
    """An expression with variables in the place of its long lists, which `lists` receives.

    The evaluator is given the expression with each row.
    """
    if isinstance(expression, Call) and _has_long_list(expression):
        name = f"list {len(lists)}"
        lists[name] = expression
        return Variable(name)
    return map_arguments(expression, lambda part: _without_long_lists(part, lists))


def _has_long_list(call: Call) -> bool:
    return call.function in ("IN", "NOT IN") and len(call.arguments) > MOST_OPTIONS + 1


def _term(node: Variable | Constant, bound: frozenset[str]) -> exp.Expr:
    match node:
        case Variable(name):
            return column(name) if name in bound else as_text(exp.null())
        case Constant(term):
            return column(column_of(term)) if is_parameter(term) else text(term)
        case _:
            assert_never(node)


def _iris(options: list[Expression]) -> list[Constant]:
    """The constants of `options` if all are IRIs, else none."""
    constants = [option for option in options if isinstance(option, Constant)]
    are_iris = len(constants) == len(options) and all(
        is_iri(constant.term) for constant in constants
    )
    return constants if are_iris else []


def _simple_literal(term: str) -> str | None:
    """The text of a plain literal without escapes, or None."""
    if term.startswith('"') and term.endswith('"') and "\\" not in term:
        return term[1:-1]
    return None


def _language_matches(
    variable: Variable, language: str | None, bound: frozenset[str]
) -> exp.Expr | None:
    if language is None or not (language == "*" or _LANGUAGE_RANGE.fullmatch(language)):
        return None
    tag = "[a-z0-9-]+" if language == "*" else f"{language.lower()}(-[a-z0-9]+)*"
    term = _term(variable, bound)
    matches = exp.RegexpLike(this=term, expression=text(f'"@{tag}$'))
    return _of_literal(variable, bound, matches)


def _of_literal(variable: Variable, bound: frozenset[str], test: exp.Expr) -> exp.Expr:
    """`test` of a literal; an error (NULL) for any other term, which has no language."""
    return case((begins(_term(variable, bound), '"'), test))


def _ends(term: exp.Expr, suffix: str) -> exp.Expr:
    return exp.Right(this=term, expression=exp.Literal.number(len(suffix))).eq(text(suffix))
