"""Arithmetic and functions on numbers.

https://www.w3.org/TR/sparql11-query/#func-numerics
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, InvalidOperation

from weir.sparql.functions.comparisons import convert, promoted_type
from weir.sparql.functions.values import Number, Value, boolean, decimal, double, integer, single

# xsd:decimal is exact up to this many digits; a quotient that does not end is rounded to 28.
_EXACT = Context(prec=200, traps=[InvalidOperation])
_QUOTIENT = Context(prec=28, traps=[InvalidOperation])


def add(left: Value, right: Value) -> Value | None:
    """`left + right`."""
    return _arithmetic(left, right, operator.add, operator.add, _EXACT.add)


def subtract(left: Value, right: Value) -> Value | None:
    """`left - right`."""
    return _arithmetic(left, right, operator.sub, operator.sub, _EXACT.subtract)


def multiply(left: Value, right: Value) -> Value | None:
    """`left * right`."""
    return _arithmetic(left, right, operator.mul, operator.mul, _EXACT.multiply)


def divide(left: Value, right: Value) -> Value | None:
    """`left / right`; of integers a decimal, by an exact zero an error."""
    if not isinstance(left, Number) or not isinstance(right, Number):
        return None
    if promoted_type(left.type, right.type) in ("integer", "decimal"):
        dividend, divisor = Decimal(left.value), Decimal(right.value)
        return None if divisor == 0 else decimal(_quotient(dividend, divisor))
    return _arithmetic(left, right, operator.floordiv, _float_quotient, _EXACT.divide)


def negate(value: Value) -> Value | None:
    """`-value`."""
    return _keep_type(value, lambda i: -i, lambda d: d.copy_negate() if d else d, lambda f: -f)


def plus(value: Value) -> Value | None:
    """`+value`."""
    return value if isinstance(value, Number) else None


def absolute(value: Value) -> Value | None:
    """ABS."""
    return _keep_type(value, abs, Decimal.copy_abs, abs)


def round_half_up(value: Value) -> Value | None:
    """ROUND: to the nearest integer, halves towards positive infinity (fn:round)."""
    half = Decimal("0.5")

    def of_float(number: float) -> float:
        if not math.isfinite(number) or number == math.floor(number):
            return number
        # Decimal: number + 0.5 in binary may round up by itself.
        rounded = _whole(_EXACT.add(Decimal(number), half), ROUND_FLOOR)
        return math.copysign(float(rounded), number)

    return _keep_type(
        value, lambda i: i, lambda d: _whole(_EXACT.add(d, half), ROUND_FLOOR), of_float
    )


def ceil(value: Value) -> Value | None:
    """CEIL."""

    def of_float(number: float) -> float:
        return math.copysign(math.ceil(number), number) if math.isfinite(number) else number

    return _keep_type(value, lambda i: i, lambda d: _whole(d, ROUND_CEILING), of_float)


def floor(value: Value) -> Value | None:
    """FLOOR."""

    def of_float(number: float) -> float:
        return math.copysign(math.floor(number), number) if math.isfinite(number) else number

    return _keep_type(value, lambda i: i, lambda d: _whole(d, ROUND_FLOOR), of_float)


def truncate(value: int | Decimal | float) -> int | None:
    """The integer towards zero; None for NaN and infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value)


def is_numeric(value: Value) -> Value:
    """isNUMERIC: well-typed literals only."""
    return boolean(isinstance(value, Number))


def _whole(value: Decimal, rounding: str) -> Decimal:
    return value.to_integral_value(rounding)


def _quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    context = _EXACT.copy()
    # A copy starts with the flags of every computation with the original.
    context.clear_flags()
    exact = context.divide(dividend, divisor)
    return _QUOTIENT.divide(dividend, divisor) if context.flags[Inexact] else exact


def _float_quotient(dividend: float, divisor: float) -> float:
    """IEEE 754 division."""
    if divisor != 0:
        return dividend / divisor
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1, divisor)


def _arithmetic(
    left: Value,
    right: Value,
    of_integers: Callable[[int, int], int],
    of_floats: Callable[[float, float], float],
    of_decimals: Callable[[Decimal, Decimal], Decimal],
) -> Value | None:
    if not isinstance(left, Number) or not isinstance(right, Number):
        return None
    to = promoted_type(left.type, right.type)
    a, b = convert(left.value, to), convert(right.value, to)
    if to == "integer":
        assert isinstance(a, int), "an integer's value"
        assert isinstance(b, int), "an integer's value"
        return integer(of_integers(a, b))
    if to == "decimal":
        assert isinstance(a, Decimal), "a decimal's value"
        assert isinstance(b, Decimal), "a decimal's value"
        return decimal(of_decimals(a, b))
    result = of_floats(float(a), float(b))
    return single(result) if to == "float" else double(result)


def _keep_type(
    value: Value,
    of_integer: Callable[[int], int],
    of_decimal: Callable[[Decimal], Decimal],
    of_float: Callable[[float], float],
) -> Value | None:
    """A function whose result has the type of its argument (xsd:integer for the derived ones)."""
    if not isinstance(value, Number):
        return None
    match value.type, value.value:
        case "integer", int(number):
            return integer(of_integer(number))
        case "decimal", Decimal() as number:
            return decimal(of_decimal(number))
        case "float", float(number):
            return single(of_float(number))
        case "double", float(number):
            return double(of_float(number))
        case _:
            raise AssertionError(f"{value}: a value of another type")
