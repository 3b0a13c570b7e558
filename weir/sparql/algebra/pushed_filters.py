"""FILTERs that a remote applies to a block of SERVICE, so that it sends fewer solutions.

    { block } FILTER(condition)

The FILTER stays where it is, too. So the answer is right if each solution for which a condition is
true here is one for which it is true there; the remote may send others. That holds of any remote
that compares values as SPARQL says for

| comparison | with constants that are |
| --- | --- |
| `=`, `IN` | IRIs, strings, numbers, truth values, times |
| `!=`, `NOT IN` | IRIs: of two literals that cannot be compared, SPARQL lets a remote choose |
| `<`, `<=`, `>`, `>=` | numbers, times |

of one variable that each solution of the block binds. Numbers are xsd:integer, xsd:decimal and
xsd:double with at most 18 digits, times xsd:dateTime. Servers differ in the order of strings, in
the case of language tags, and in the types that they know beside these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from weir.rdf.terms import XSD_STRING, Iri, Literal, parse_term
from weir.sparql.algebra.expressions import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    conjuncts,
)
from weir.sparql.algebra.patterns import Service
from weir.sparql.algebra.scoping import variables_of

_XSD = "http://www.w3.org/2001/XMLSchema#"
_DIGITS = 18
_NUMBER = re.compile(r"[+-]?(?P<digits>[0-9.]+)(?:[eE][+-]?[0-9]{1,2})?")
_INTEGER = re.compile(rf'"(-?[0-9]+)"\^\^<{_XSD}integer>')
_NUMBERS = frozenset(f"{_XSD}{name}" for name in ("integer", "decimal", "double"))


@dataclass(frozen=True, slots=True)
class Pushing:
    """What becomes of the conditions on a block, as SPARQL.

    Attributes:
        pushed: those that the remote is given, in order.
        kept: those that it is not, each with the reason.
    """

    pushed: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()


NOTHING_PUSHED = Pushing()


def pushing_of(
    service: Service,
    conditions: Iterable[Expression],
    withheld: Iterable[tuple[Expression, str]],
) -> Pushing:
    """What becomes of conditions, conjunct by conjunct.

    Args:
        service: the block.
        conditions: without which a solution of the block is in no answer.
        withheld: other conditions around it, each with why it is none of those.
    """
    reasons: dict[str, str] = {}
    for condition, why in (*((condition, "") for condition in conditions), *withheld):
        for part in conjuncts(condition):
            if variables_of(part) & {*service.variables}:
                reasons.setdefault(text_of(part), why or _why_not(part, service))
    pushed = sorted(text for text, why in reasons.items() if not why)
    return Pushing(tuple(pushed), tuple((text, why) for text, why in reasons.items() if why))


def with_filters(service: Service, pushed: Sequence[str]) -> Service:
    """The block with conditions that its remote applies."""
    if not pushed:
        return service
    return replace(service, block=f"{{ {service.block} }} FILTER({' && '.join(pushed)})")


def text_of(expression: Expression) -> str:
    """An expression as SPARQL; of EXISTS, not its pattern."""
    match expression:
        case Variable(name):
            return f"?{name}"
        case Constant(term):
            integer = _INTEGER.fullmatch(term)
            return integer[1] if integer else term
        case Exists():
            return "EXISTS { .. }"
        case Call("IN" | "NOT IN" as function, (tested, *listed)):
            return f"{_operand(tested)} {function} ({', '.join(map(text_of, listed))})"
        case Call(function, (_, _, *_) as operands) if not function[0].isalpha():
            return f" {function} ".join(map(_operand, operands))
        case Call(function, arguments):
            return f"{function}({', '.join(map(text_of, arguments))})"


def _operand(expression: Expression) -> str:
    text = text_of(expression)
    return f"({text})" if isinstance(expression, Call) else text


def _why_not(condition: Expression, service: Service) -> str:
    """Why a condition is not given to a remote; empty if it is."""
    match condition:
        case Call(comparison, (Variable(name), *others)) if comparison in _COMPARED:
            pass
        case Call(comparison, (Constant() as other, Variable(name))) if comparison in _COMPARED:
            others = [other]
        case _:
            return "it is no comparison of a variable with constants"
    constants = [operand for operand in others if isinstance(operand, Constant)]
    if len(constants) < len(others):
        return "it is no comparison of a variable with constants"
    if name not in service.certain:
        return f"not every solution of the block binds ?{name}"
    for constant in constants:
        if not _COMPARED[comparison](parse_term(constant.term)):
            return f"servers differ in how they compare {text_of(constant)} by {comparison}"
    return ""


def _is_iri(term: object) -> bool:
    return isinstance(term, Iri)


def _has_order(term: object) -> bool:
    if not isinstance(term, Literal):
        return False
    if term.datatype in _NUMBERS:
        number = _NUMBER.fullmatch(term.lexical)
        return number is not None and len(number["digits"].replace(".", "")) <= _DIGITS
    return term.datatype == f"{_XSD}dateTime"


def _has_equality(term: object) -> bool:
    if isinstance(term, Literal) and term.language is None:
        return term.datatype in (XSD_STRING, f"{_XSD}boolean") or _has_order(term)
    return _is_iri(term)


_COMPARED: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("=", "IN"), _has_equality),
    **dict.fromkeys(("!=", "NOT IN"), _is_iri),
    **dict.fromkeys(("<", "<=", ">", ">="), _has_order),
}
"""The comparisons, each with the constants that all remotes compare alike by it."""
