r"""SQL conditions that tell whether a string is an RDF term in N-Triples form.

https://www.w3.org/TR/n-triples/#n-triples-grammar

The patterns mean the same to Java, which Spark has, and to RE2, which DuckDB has: no looking
around, and characters beyond ASCII by number. They have no long repetition of a group: Java's
matcher recurses into those, and a literal of a megabyte with many escapes would overflow its stack.
So escapes are taken out first, and what is left must have no backslash. Quotes are written as
`\x..`: the text stands in a raw SQL literal.
"""

from __future__ import annotations

_HEX = "[0-9A-Fa-f]"
_UNICODE = rf"u{_HEX * 4}|U{_HEX * 8}"
# One by one, not as ranges: Java then looks a character up in one table (3x faster).
_NOT_IN_IRI = "".join(rf"\x{code:02x}" for code in (*range(0x21), *b'<>"{}|^`\\'))
_IRI = f"<[^{_NOT_IN_IRI}]+>"
_LANGUAGE = "@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
_LABEL_START = (
    r"0-9A-Z_a-z\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{2ff}\x{370}-\x{37d}\x{37f}-\x{1fff}"
    r"\x{200c}-\x{200d}\x{2070}-\x{218f}\x{2c00}-\x{2fef}\x{3001}-\x{d7ff}\x{f900}-\x{fdcf}"
    r"\x{fdf0}-\x{fffd}\x{10000}-\x{effff}"
)
_LABEL = rf"{_LABEL_START}\x{{b7}}\x{{300}}-\x{{36f}}\x{{203f}}-\x{{2040}}-"


def is_iri(value: str) -> str:
    """The condition that the SQL expression `value` is an IRI."""
    return rf"{_without_escapes(value, _UNICODE)} RLIKE r'\A{_IRI}\z'"


def is_blank_node(value: str) -> str:
    """The condition that the SQL expression `value` is a blank node."""
    label = rf"[{_LABEL_START}](?:[.{_LABEL}]*[{_LABEL}])?"
    return rf"{value} RLIKE r'\A_:{label}\z'"


def is_literal(value: str) -> str:
    """The condition that the SQL expression `value` is a literal."""
    without_escapes = _without_escapes(value, rf"[tbnrf\x22\x27\\]|{_UNICODE}")
    return rf"{without_escapes} RLIKE r'\A\x22[^\x22\\\n\r]*\x22(?:{_LANGUAGE}|\^\^{_IRI})?\z'"


def is_resource(value: str) -> str:
    """The condition that the SQL expression `value` is an IRI or a blank node."""
    return f"CASE left({value}, 1) WHEN '<' THEN {is_iri(value)} ELSE {is_blank_node(value)} END"


def is_term(value: str) -> str:
    """The condition that the SQL expression `value` is an RDF term."""
    return (
        f"CASE left({value}, 1) WHEN '<' THEN {is_iri(value)} "
        f"WHEN '_' THEN {is_blank_node(value)} ELSE {is_literal(value)} END"
    )


def _without_escapes(value: str, escapes: str) -> str:
    return (
        rf"if(contains({value}, r'\'), regexp_replace({value}, r'\\(?:{escapes})', 'x'), {value})"
    )
