"""The function library: the implementation and arity of each function, by its name.

Names are those of `Call`: the keyword in upper case, the symbol of an operator, the IRI of a cast
in N-Triples form. Functions that see errors or do not evaluate all their arguments are in
`special_forms.py`, those that only plans call in `internal.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weir.sparql.functions import casts, comparisons, numerics, strings, term_functions, times
from weir.sparql.functions.arity import Arity, exactly
from weir.sparql.functions.values import XSD, Value, boolean

Implementation = Callable[..., Value | None]
"""Values in, a value out; a result of None is an error. Arguments are never errors."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is called with the values of its arguments."""

    implementation: Implementation
    arity: Arity


def _comparison(
    comparison: Callable[[Value, Value], bool | None], *, swap: bool = False
) -> Implementation:
    """A comparison as a function; with `swap`, of its operands in the opposite order."""

    def compare(left: Value, right: Value) -> Value | None:
        holds = comparison(right, left) if swap else comparison(left, right)
        return None if holds is None else boolean(holds)

    return compare


def _differ(left: Value, right: Value) -> bool | None:
    same = comparisons.equal(left, right)
    return None if same is None else not same


_UNARY: dict[str, Implementation] = {
    "NEG": numerics.negate,
    "POS": numerics.plus,
    "ABS": numerics.absolute,
    "ROUND": numerics.round_half_up,
    "CEIL": numerics.ceil,
    "FLOOR": numerics.floor,
    "ISNUMERIC": numerics.is_numeric,
    "ISIRI": term_functions.is_iri,
    "ISURI": term_functions.is_iri,
    "ISBLANK": term_functions.is_blank,
    "ISLITERAL": term_functions.is_literal,
    "STR": term_functions.str_,
    "LANG": term_functions.lang,
    "DATATYPE": term_functions.datatype,
    "STRLEN": strings.strlen,
    "UCASE": strings.ucase,
    "LCASE": strings.lcase,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "MD5": strings.digest("md5"),
    "SHA1": strings.digest("sha1"),
    "SHA256": strings.digest("sha256"),
    "SHA384": strings.digest("sha384"),
    "SHA512": strings.digest("sha512"),
    "YEAR": times.year,
    "MONTH": times.month,
    "DAY": times.day,
    "HOURS": times.hours,
    "MINUTES": times.minutes,
    "SECONDS": times.seconds,
    "TIMEZONE": times.timezone,
    "TZ": times.tz,
}
_CASTS: dict[str, Implementation] = {
    f"<{XSD}{name}>": cast
    for name, cast in (
        ("string", casts.to_string),
        ("boolean", casts.to_boolean),
        ("integer", casts.to_integer),
        ("decimal", casts.to_decimal),
        ("float", casts.to_float),
        ("double", casts.to_double),
        ("dateTime", casts.to_date_time),
        ("date", casts.to_date),
    )
}
_BINARY: dict[str, Implementation] = {
    "=": _comparison(comparisons.equal),
    "!=": _comparison(_differ),
    "<": _comparison(comparisons.less),
    ">": _comparison(comparisons.less, swap=True),
    "<=": _comparison(comparisons.at_most),
    ">=": _comparison(comparisons.at_most, swap=True),
    "SAMETERM": _comparison(comparisons.same_term),
    "+": numerics.add,
    "-": numerics.subtract,
    "*": numerics.multiply,
    "/": numerics.divide,
    "LANGMATCHES": strings.langmatches,
    "STRSTARTS": strings.strstarts,
    "STRENDS": strings.strends,
    "CONTAINS": strings.contains,
    "STRBEFORE": strings.strbefore,
    "STRAFTER": strings.strafter,
    "STRDT": term_functions.strdt,
    "STRLANG": term_functions.strlang,
}

FUNCTIONS: dict[str, Function] = {
    **{name: Function(function, exactly(1)) for name, function in (_UNARY | _CASTS).items()},
    **{name: Function(function, exactly(2)) for name, function in _BINARY.items()},
    "IRI": Function(term_functions.iri, Arity(1, 2)),
    "BNODE": Function(term_functions.bnode, exactly(2)),
    "SUBSTR": Function(strings.substr, Arity(2, 3)),
    "REGEX": Function(strings.regex, Arity(2, 3)),
    "REPLACE": Function(strings.replace, Arity(3, 4)),
    "CONCAT": Function(strings.concat, Arity(0, None)),
}
"""All functions whose arguments are evaluated first."""
