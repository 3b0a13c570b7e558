"""Which literals of the datatypes of XML Schema are well-formed.

https://www.w3.org/TR/rdf11-concepts/#xsd-datatypes
"""

from __future__ import annotations

from weir.shacl.formulas import TRUE, all_of, call, integer, sure, text
from weir.shacl.vocabulary import XSD
from weir.sparql.algebra.expressions import Expression

_CASTS = ("boolean", "integer", "decimal", "float", "double", "dateTime", "date")
"""Datatypes whose lexical forms SPARQL's casts read."""
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}
_ZONE = "(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_YEAR, _MONTH, _DAY = "-?([1-9][0-9]{3,}|0[0-9]{3})", "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
_TIME = r"(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?|24:00:00(\.0+)?)"
_DAYS, _HOURS = (
    "[0-9]+D",
    r"([0-9]+H([0-9]+M)?([0-9]+(\.[0-9]+)?S)?|[0-9]+M([0-9]+(\.[0-9]+)?S)?|[0-9]+(\.[0-9]+)?S)",
)
_MONTHS = "([0-9]+Y([0-9]+M)?|[0-9]+M)"
_PATTERNS = {
    "time": _TIME + _ZONE,
    "gYear": _YEAR + _ZONE,
    "gYearMonth": f"{_YEAR}-{_MONTH}{_ZONE}",
    "gMonth": f"--{_MONTH}{_ZONE}",
    "gDay": f"---{_DAY}{_ZONE}",
    "gMonthDay": f"--(02-(0[1-9]|[12][0-9])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|(0[13578]|1[02])-{_DAY}){_ZONE}",
    "dateTimeStamp": ".*(Z|[+-][0-9]{2}:[0-9]{2})",
    "duration": f"-?P(({_MONTHS}({_DAYS})?|{_DAYS})(T{_HOURS})?|T{_HOURS})",
    "dayTimeDuration": f"-?P({_DAYS}(T{_HOURS})?|T{_HOURS})",
    "yearMonthDuration": f"-?P{_MONTHS}",
    "hexBinary": "([0-9A-Fa-f]{2})*",
    "base64Binary": "((([A-Za-z0-9+/] ?){4})*(([A-Za-z0-9+/] ?){3}[A-Za-z0-9+/]"
    "|([A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?=|[A-Za-z0-9+/] ?[AQgw] ?= ?=))?",
    "language": "[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*",
    "Name": r"\i\c*",
    "NCName": r"[\i-[:]][\c-[:]]*",
    "NMTOKEN": r"\c+",
    "normalizedString": r"[^\t\n\r]*",
    "token": r"([^\t\n\r ]+( [^\t\n\r ]+)*)?",
}
"""Expressions that a whole lexical form matches."""
_SPACE = "[\\t\\n\\r ]*"
_KEEP_SPACE = ("normalizedString", "token")


def is_well_formed(value: Expression, datatype: str) -> Expression:
    """Whether a literal of a datatype is well-formed; one of an unknown datatype is."""
    name = datatype.removeprefix(f"<{XSD}").removesuffix(">")
    lexical = call("STR", value)
    if name in _CASTS:
        return _is_cast(lexical, name)
    if name in _BOUNDS:
        least, most = _BOUNDS[name]
        number = call(f"<{XSD}integer>", lexical)
        bounds = [(">=", least), ("<=", most)]
        return sure(
            all_of(
                call(sign, number, integer(bound)) for sign, bound in bounds if bound is not None
            )
        )
    if name in _PATTERNS:
        space = "" if name in _KEEP_SPACE else _SPACE
        pattern = f"^{space}({_PATTERNS[name]}){space}$"
        matches = sure(call("REGEX", lexical, text(pattern)))
        return (
            all_of([matches, _is_cast(lexical, "dateTime")]) if name == "dateTimeStamp" else matches
        )
    return TRUE


def _is_cast(lexical: Expression, name: str) -> Expression:
    return sure(call("ISLITERAL", call(f"<{XSD}{name}>", lexical)))
