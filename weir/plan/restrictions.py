"""Restrictions: the terms that conditions leave to a variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weir.plan.parameters import is_parameter
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable
from weir.sparql.functions.comparisons import equal_only_to

_MOST_TERMS = 1_000
"""A variable with more terms counts as one that is not restricted: each is compared with the
changes."""

_NONE: Mapping[str, frozenset[str]] = {}


def restrictions(conditions: Iterable[Expression]) -> Mapping[str, frozenset[str]]:
    """By variable, terms of which it has one in each solution for which all conditions hold.

    Of variables that no condition restricts to a few constants there is nothing.
    """
    fewest: dict[str, frozenset[str]] = {}
    for condition in conditions:
        for name, terms in _restrictions(condition).items():
            if name not in fewest or len(terms) < len(fewest[name]):
                fewest[name] = terms
    return {name: terms for name, terms in fewest.items() if len(terms) <= _MOST_TERMS}


def _restrictions(condition: Expression) -> Mapping[str, frozenset[str]]:
    match condition:
        case Call("=" | "SAMETERM", (Constant() as constant, Variable() as variable)):
            return _restrictions(Call(condition.function, (variable, constant)))
        case Call("SAMETERM", (Variable(name), Constant(term))) if not is_parameter(term):
            return {name: frozenset({term})}
        case Call("=" | "IN", (Variable(name), *options)) if options:
            terms = [_equal_only_to(option) for option in options]
            known = frozenset(term for term in terms if term is not None)
            return _NONE if None in terms else {name: known}
        case Call("||", (first, *others)):
            of_all = dict(_restrictions(first))
            for other in others:
                own = _restrictions(other)
                of_all = {name: of_all[name] | own[name] for name in of_all if name in own}
            return of_all
        case Call("&&", parts):
            return restrictions(parts)
        case _:
            return _NONE


def _equal_only_to(option: Expression) -> str | None:
    if not isinstance(option, Constant) or is_parameter(option.term):
        return None
    return equal_only_to(option.term)
