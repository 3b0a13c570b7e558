"""Special forms: functions that see errors or do not evaluate all their arguments.

https://www.w3.org/TR/sparql11-query/#evaluation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weir.sparql.functions.arity import Arity, exactly
from weir.sparql.functions.comparisons import effective_boolean_value, equal
from weir.sparql.functions.ordering import composable, value_key
from weir.sparql.functions.values import FALSE, TRUE, Text, Value, boolean

Row = Sequence[Value | None]
Compiled = Callable[[Row], Value | None]
"""A compiled expression: a row in (None is unbound), a value out (None is an error)."""


def _truth(argument: Compiled, row: Row) -> bool | None:
    """The effective boolean value of an argument; None for an error."""
    value = argument(row)
    return None if value is None else effective_boolean_value(value)


def _and(*arguments: Compiled) -> Compiled:
    """`&&`: false if any argument is false, else an error if any is an error."""

    def run(row: Row) -> Value | None:
        result: Value | None = TRUE
        for argument in arguments:
            truth = _truth(argument, row)
            if truth is False:
                return FALSE
            if truth is None:
                result = None
        return result

    return run


def _or(*arguments: Compiled) -> Compiled:
    """`||`: true if any argument is true, else an error if any is an error."""

    def run(row: Row) -> Value | None:
        result: Value | None = FALSE
        for argument in arguments:
            truth = _truth(argument, row)
            if truth is True:
                return TRUE
            if truth is None:
                result = None
        return result

    return run


def _not(argument: Compiled) -> Compiled:
    """`!`."""

    def run(row: Row) -> Value | None:
        truth = _truth(argument, row)
        return None if truth is None else boolean(not truth)

    return run


def _bound(argument: Compiled) -> Compiled:
    """BOUND; its argument is a variable, so that None means unbound and not an error."""
    return lambda row: boolean(argument(row) is not None)


def _if(condition: Compiled, then: Compiled, otherwise: Compiled) -> Compiled:
    """IF: an error in the condition is an error; the branch not taken is not evaluated."""

    def run(row: Row) -> Value | None:
        truth = _truth(condition, row)
        if truth is None:
            return None
        return then(row) if truth else otherwise(row)

    return run


def _coalesce(*arguments: Compiled) -> Compiled:
    """COALESCE: the first value that is not an error."""

    def run(row: Row) -> Value | None:
        values = (argument(row) for argument in arguments)
        return next((value for value in values if value is not None), None)

    return run


def _in(tested: Compiled, *options: Compiled) -> Compiled:
    """IN: `tested = option || ...`; false without options."""

    def run(row: Row) -> Value | None:
        value = tested(row)
        result: Value | None = FALSE
        for option in options:
            other = option(row)
            same = None if value is None or other is None else equal(value, other)
            if same is True:
                return TRUE
            if same is None:
                result = None
        return result

    return run


def _not_in(tested: Compiled, *options: Compiled) -> Compiled:
    """NOT IN: `!(tested IN options)`."""
    return _not(_in(tested, *options))


def _sort_key(argument: Compiled) -> Compiled:
    """SORTKEY: a text whose order is that of SPARQL's ORDER BY; an error comes first.

    Translation adds it for ORDER BY. Texts of several keys can be concatenated: the first key that
    differs decides.
    """
    return lambda row: Text(composable(value_key(argument(row))))


def _sort_key_descending(argument: Compiled) -> Compiled:
    """SORTKEY DESC: SORTKEY in the opposite order."""
    return lambda row: Text(composable(value_key(argument(row)), descending=True))


@dataclass(frozen=True, slots=True)
class SpecialForm:
    """A function that evaluates its compiled arguments itself."""

    make: Callable[..., Compiled]
    arity: Arity


SPECIAL_FORMS: dict[str, SpecialForm] = {
    "&&": SpecialForm(_and, Arity(1, None)),
    "||": SpecialForm(_or, Arity(1, None)),
    "!": SpecialForm(_not, exactly(1)),
    "BOUND": SpecialForm(_bound, exactly(1)),
    "IF": SpecialForm(_if, exactly(3)),
    "COALESCE": SpecialForm(_coalesce, Arity(0, None)),
    "IN": SpecialForm(_in, Arity(1, None)),
    "NOT IN": SpecialForm(_not_in, Arity(1, None)),
    "SORTKEY": SpecialForm(_sort_key, exactly(1)),
    "SORTKEY DESC": SpecialForm(_sort_key_descending, exactly(1)),
}
