"""Equality, order and effective boolean value of RDF terms.

https://www.w3.org/TR/sparql11-query/#OperatorMapping
"""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from weir.rdf.terms import Blank, Iri
from weir.sparql.functions import calendar
from weir.sparql.functions.floats import nearest_double, nearest_single
from weir.sparql.functions.values import (
    NUMERIC_DATATYPES,
    PROMOTION,
    XSD,
    Boolean,
    Date,
    DateTime,
    LangText,
    Number,
    NumericType,
    Opaque,
    Text,
    Value,
    datatype_of,
    parse,
    to_text,
)

_FALSE_IF_ILL_TYPED = NUMERIC_DATATYPES | {f"{XSD}boolean"}


def effective_boolean_value(value: Value) -> bool | None:
    """The truth value of a term as a condition: https://www.w3.org/TR/sparql11-query/#ebv.

    A string is true unless it is empty, with or without a language tag. None for an error.
    """
    match value:
        case Boolean(true, _):
            return true
        case Text(lexical) | LangText(lexical, _):
            return lexical != ""
        case Number(number):
            # NaN is the number that differs from itself.
            return number != 0 and number == number
        case Opaque(_, datatype) if datatype in _FALSE_IF_ILL_TYPED:
            return False
        case Iri() | Blank() | DateTime() | Date() | Opaque():
            return None
        case _:
            assert_never(value)


def same_term(left: Value, right: Value) -> bool:
    """https://www.w3.org/TR/sparql11-query/#func-sameTerm."""
    match left, right:
        case Number(), Number():
            # Equal numbers may be written in two ways.
            return (left.lexical, left.datatype) == (right.lexical, right.datatype)
        case _:
            return left == right


def equal(left: Value, right: Value) -> bool | None:
    """The operator `=`; None for an error.

    Two literals of which one has no known value may or may not be equal: an error, unless they
    are the same term, or one has a language, which no typed literal has. Literals with known
    values of two disjoint kinds (a number and a string, two languages) differ: an extension that
    17.3.1 permits, and that every engine and SPARQL 1.2 have.
    """
    match left, right:
        case (Iri() | Blank(), _) | (_, Iri() | Blank()):
            return left == right
        case (LangText(), _) | (_, LangText()):
            return left == right
        case (Opaque(), _) | (_, Opaque()):
            return True if left == right else None
        case Number(), Number():
            number, other = promote(left, right)
            return number == other
        case Boolean(left_value, _), Boolean(right_value, _):
            return left_value == right_value
        case _ if isinstance(left, DateTime | Date) and isinstance(right, DateTime | Date):
            if datatype_of(left) != datatype_of(right):
                return False
            sign = calendar.order(left.moment, right.moment)
            return None if sign is None else sign == 0
        case _:
            return left == right


def order(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 for `<`, `=`, `>`, except for numbers (`less`, `at_most`).

    None (an error) if the values are of two kinds, or of a kind without order.
    """
    match left, right:
        case Text(left_text), Text(right_text):
            return (left_text > right_text) - (left_text < right_text)
        case Boolean(left_value, _), Boolean(right_value, _):
            return left_value - right_value
        case _ if isinstance(left, DateTime | Date) and isinstance(right, DateTime | Date):
            comparable = datatype_of(left) == datatype_of(right)
            return calendar.order(left.moment, right.moment) if comparable else None
        case _:
            return None


def less(left: Value, right: Value) -> bool | None:
    """The operator `<`; None for an error."""
    if isinstance(left, Number) and isinstance(right, Number):
        number, other = promote(left, right)
        return number < other
    sign = order(left, right)
    return None if sign is None else sign < 0


def at_most(left: Value, right: Value) -> bool | None:
    """The operator `<=`; None for an error."""
    if isinstance(left, Number) and isinstance(right, Number):
        number, other = promote(left, right)
        return number <= other
    sign = order(left, right)
    return None if sign is None else sign <= 0


def promoted_type(left: NumericType, right: NumericType) -> NumericType:
    """The type of both operands of an arithmetic operator: https://www.w3.org/TR/xpath20/#promotion."""
    return max(left, right, key=PROMOTION.index)


def promote(left: Number, right: Number) -> tuple[int | Decimal | float, int | Decimal | float]:
    """Both values in the type to which they are promoted."""
    if left.type == right.type:
        return left.value, right.value
    to = promoted_type(left.type, right.type)
    return convert(left.value, to), convert(right.value, to)


def equal_only_to(term: str) -> str | None:
    """A constant as terms are stored, if no other term is equal to it; None if some may be.

    IRIs, strings, and literals without a known value are equal to themselves only.
    """
    value = parse(term)
    return to_text(value) if isinstance(value, Iri | Text | LangText | Opaque) else None


def equality_key(number: Number, other: NumericType) -> str | None:
    """A text by which a number can be joined with the equal numbers of type `other`.

    Numbers `a` and `b` are equal exactly if `equality_key(a, b.type) == equality_key(b, a.type)`.
    None for NaN.
    """
    to = promoted_type(number.type, other)
    value = convert(number.value, to)
    if value != value:
        return None
    if isinstance(value, float):
        # Minus zero is equal to zero.
        return f"{to} {value + 0.0!r}"
    written = f"{value:f}" if isinstance(value, Decimal) else str(value)
    exact = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if exact == "-0" else exact


def convert(value: int | Decimal | float, to: NumericType) -> int | Decimal | float:
    """A number in a type that it is promoted to."""
    if to == "integer":
        return value
    if to == "decimal":
        return Decimal(value) if isinstance(value, int) else value
    return nearest_single(value) if to == "float" else nearest_double(value)
