"""Operators that see errors or do not evaluate all their arguments.

https://www.w3.org/TR/sparql11-query/#evaluation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobs.sparql.functions.comparisons import effective_boolean_value, equal
from jobs.sparql.functions.ordering import composable, value_key
from jobs.sparql.functions.values import FALSE, TRUE, Text, Value, boolean

Row = Sequence[Value | None]
Compiled = Callable[[Row], Value | None]
"""An expression ready to run: a row in (None is unbound), a value out (None is an error)."""


def truth(argument: Compiled, row: Row) -> bool | None:
    """The effective boolean value of an argument; None for an error."""
    value = argument(row)
    return None if value is None else effective_boolean_value(value)


def _and(*arguments: Compiled) -> Compiled:
    """`&&`: false if any is false, else an error if any is one."""

    def run(row: Row) -> Value | None:
        result: Value | None = TRUE
        for argument in arguments:
            held = truth(argument, row)
            if held is False:
                return FALSE
            if held is None:
                result = None
        return result

    return run


def _or(*arguments: Compiled) -> Compiled:
    """`||`: true if any is true, else an error if any is one."""

    def run(row: Row) -> Value | None:
        result: Value | None = FALSE
        for argument in arguments:
            held = truth(argument, row)
            if held is True:
                return TRUE
            if held is None:
                result = None
        return result

    return run


def _not(argument: Compiled) -> Compiled:
    """`!`."""

    def run(row: Row) -> Value | None:
        held = truth(argument, row)
        return None if held is None else boolean(not held)

    return run


def _bound(argument: Compiled) -> Compiled:
    """BOUND; its argument is a variable, which is None only if it is unbound."""
    return lambda row: boolean(argument(row) is not None)


def _if(condition: Compiled, then: Compiled, otherwise: Compiled) -> Compiled:
    """IF: an error of the condition is an error, one of the branch not taken is none."""

    def run(row: Row) -> Value | None:
        held = truth(condition, row)
        if held is None:
            return None
        return then(row) if held else otherwise(row)

    return run


def _coalesce(*arguments: Compiled) -> Compiled:
    """COALESCE: the first that is no error."""

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
    """SORTKEY: the place of a value in SPARQL's order as text, of an error the first.

    Translation writes it for ORDER BY; concatenated sort keys compare as the first that differs.
    """
    return lambda row: Text(composable(value_key(argument(row))))


def _sort_key_descending(argument: Compiled) -> Compiled:
    """SORTKEY DESC: SORTKEY in the opposite order."""
    return lambda row: Text(composable(value_key(argument(row)), descending=True))


@dataclass(frozen=True, slots=True)
class Lazy:
    """How an operator is compiled from its compiled arguments, and how many it takes."""

    make: Callable[..., Compiled]
    least: int
    most: int | None

    def accepts(self, count: int) -> bool:
        """Whether it can be called with `count` arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


LAZY: dict[str, Lazy] = {
    "&&": Lazy(_and, 1, None),
    "||": Lazy(_or, 1, None),
    "!": Lazy(_not, 1, 1),
    "BOUND": Lazy(_bound, 1, 1),
    "IF": Lazy(_if, 3, 3),
    "COALESCE": Lazy(_coalesce, 0, None),
    "IN": Lazy(_in, 1, None),
    "NOT IN": Lazy(_not_in, 1, None),
    "SORTKEY": Lazy(_sort_key, 1, 1),
    "SORTKEY DESC": Lazy(_sort_key_descending, 1, 1),
}
