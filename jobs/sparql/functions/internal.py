"""Functions that no query can name: the engine's plans call them."""

from __future__ import annotations

from decimal import Decimal

from jobs.sparql.functions.special_forms import Compiled, Lazy, Row
from jobs.sparql.functions.table import Function
from jobs.sparql.functions.values import Number, Text, Value, to_text

_WHOLE_DIGITS, _FRACTION_DIGITS = 18, 10


def _addend(value: Value) -> Value | None:
    """ADDEND: an integer as `i12`, a decimal as `d1.5`; nothing for what is not summed exactly.

    These are floats, doubles, numbers that do not fit into DECIMAL(28, 10), and what is no number.
    """
    if not isinstance(value, Number) or isinstance(value.value, float):
        return None
    number = Decimal(value.value)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "integers and decimals are finite"
    if -exponent > _FRACTION_DIGITS or len(digits) + exponent > _WHOLE_DIGITS:
        return None
    kind = "i" if isinstance(value.value, int) else "d"
    return Text(f"{kind}{number:f}")


def _solution(*parts: Compiled) -> Compiled:
    """SOLUTION: all values as one text, each with its length; an unbound one is nothing."""

    def run(row: Row) -> Value | None:
        terms = ("" if (value := part(row)) is None else to_text(value) for part in parts)
        return Text(" ".join(f"{len(term)}:{term}" for term in terms))

    return run


INTERNAL = {"ADDEND": Function(_addend, 1, 1)}
INTERNAL_LAZY = {"SOLUTION": Lazy(_solution, 1, None)}
