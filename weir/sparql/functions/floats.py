"""Floats of 32 and 64 bits: the nearest one to a number, and its canonical text.

https://www.w3.org/TR/xmlschema-2/#double
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal


def to_single(value: float) -> float:
    """The nearest 32-bit float."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)


def nearest_double(number: int | Decimal | float) -> float:
    """The nearest 64-bit float; infinite beyond the greatest."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def nearest_single(number: int | Decimal | float) -> float:
    """The nearest 32-bit float, rounded once: not to 64 bits first."""
    near = nearest_double(number)
    if math.isfinite(near) and number != near and _last_bit(near) == 0:
        # Rounded to the odd neighbour instead: it lies between the same two 32-bit floats as the
        # number, but is never halfway between them.
        near = math.nextafter(near, math.inf if number > near else -math.inf)
    return to_single(near)


def canonical_double(value: float) -> str:
    """The canonical lexical form of a 64-bit float: `1.0E3`."""
    return _canonical(value, repr(value))


def canonical_single(value: float) -> str:
    """The canonical lexical form of a 32-bit float."""
    candidates = (format(value, f".{digits}g") for digits in range(1, 10))
    shortest = next((c for c in candidates if to_single(float(c)) == value), repr(value))
    return _canonical(value, shortest)


def _canonical(value: float, shortest: str) -> str:
    """The canonical form, from the shortest decimal that is read as `value`.

    https://www.w3.org/TR/xmlschema-2/#double-canonical-representation
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, _ = Decimal(shortest).as_tuple()
    exponent = Decimal(shortest).adjusted() if value else 0
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent}"


def _last_bit(value: float) -> int:
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) & 1
