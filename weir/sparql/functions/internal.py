"""Internal functions, which plans and the engine call; no query can name them."""

from __future__ import annotations

from decimal import Decimal

from weir.sparql.functions.arity import Arity, exactly
from weir.sparql.functions.comparisons import equality_key
from weir.sparql.functions.library import Function
from weir.sparql.functions.special_forms import Compiled, Row, SpecialForm
from weir.sparql.functions.values import PROMOTION, Number, Text, Value, to_text

_WHOLE_DIGITS, _FRACTION_DIGITS = 18, 10


def _addend(value: Value) -> Value | None:
    """ADDEND: an integer as `i12`, a decimal as `d1.5`; an error if SQL cannot sum it exactly.

    SQL cannot sum floats, doubles, numbers that do not fit into DECIMAL(28, 10), and other values.
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


def _equality_key(value: Value, other: Value) -> Value | None:
    """EQUALITY KEY: `equality_key` of a number and the type named by `other`.

    An error for NaN and values that are not numbers.
    """
    if not isinstance(value, Number) or not isinstance(other, Text):
        return None
    (other_type,) = (kind for kind in PROMOTION if kind == other.lexical)
    key = equality_key(value, other_type)
    return None if key is None else Text(key)


def _solution(*parts: Compiled) -> Compiled:
    """SOLUTION: all values as one text, each preceded by its length; unbound is empty."""

    def run(row: Row) -> Value | None:
        terms = ("" if (value := part(row)) is None else to_text(value) for part in parts)
        return Text(" ".join(f"{len(term)}:{term}" for term in terms))

    return run


INTERNAL_FUNCTIONS = {
    "ADDEND": Function(_addend, exactly(1)),
    "EQUALITY KEY": Function(_equality_key, exactly(2)),
}
INTERNAL_FORMS = {"SOLUTION": SpecialForm(_solution, Arity(1, None))}
