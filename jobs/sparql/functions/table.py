"""The table of functions: name -> implementation and arity.

A function has its keyword in upper case as its name, an operator its symbol, a cast its IRI in
N-Triples form. Those that must not evaluate all their arguments, or that see errors, are in
`lazy.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jobs.sparql.functions import comparisons, numerics, strings, term_functions, times
from jobs.sparql.functions.values import XSD, Value, boolean

Implementation = Callable[..., Value | None]
"""Values in, a value out; None is an error. An argument that is an error never arrives."""


@dataclass(frozen=True, slots=True)
class Function:
    """An implementation, and how many arguments it takes (`most` None: any number)."""

    implementation: Implementation
    least: int
    most: int | None

    def accepts(self, count: int) -> bool:
        """Whether it can be called with `count` arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


def _test(
    comparison: Callable[[Value, Value], bool | None], *, swap: bool = False
) -> Implementation:
    """A comparison as a function; with `swap` its operands change places."""

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
        ("string", term_functions.cast_string),
        ("boolean", term_functions.cast_boolean),
        ("integer", term_functions.cast_integer),
        ("decimal", term_functions.cast_decimal),
        ("float", term_functions.cast_float),
        ("double", term_functions.cast_double),
        ("dateTime", term_functions.cast_date_time),
        ("date", term_functions.cast_date),
    )
}
_BINARY: dict[str, Implementation] = {
    "=": _test(comparisons.equal),
    "!=": _test(_differ),
    "<": _test(comparisons.less),
    ">": _test(comparisons.less, swap=True),
    "<=": _test(comparisons.at_most),
    ">=": _test(comparisons.at_most, swap=True),
    "SAMETERM": _test(comparisons.same_term),
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

CASTS = frozenset(_CASTS)
"""The functions that a query may name by their IRI."""

FUNCTIONS: dict[str, Function] = {
    **{name: Function(implementation, 1, 1) for name, implementation in (_UNARY | _CASTS).items()},
    **{name: Function(implementation, 2, 2) for name, implementation in _BINARY.items()},
    "IRI": Function(term_functions.iri, 1, 2),
    "BNODE": Function(term_functions.bnode, 2, 2),
    "SUBSTR": Function(strings.substr, 2, 3),
    "REGEX": Function(strings.regex, 2, 3),
    "REPLACE": Function(strings.replace, 3, 4),
    "CONCAT": Function(strings.concat, 0, None),
}
