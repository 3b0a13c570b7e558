r"""SQL conditions with predicates on RDF terms in N-Triples form, as sqlglot trees.

https://www.w3.org/TR/n-triples/#n-triples-grammar

The regular expressions mean the same in Java (Spark) and in RE2 (DuckDB): no lookaround, and
characters beyond ASCII by code point. They repeat no group many times: Java's matcher recurses into
groups, and a literal of a megabyte with many escapes would overflow its stack. So escapes are
removed first, and the remaining text must have no backslash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp, parse_one

_HEX = "[0-9A-Fa-f]"
_UNICODE = rf"u{_HEX * 4}|U{_HEX * 8}"
# Single characters, not ranges: Java then looks a character up in one table (3x faster).
_NOT_IN_IRI = "".join(rf"\x{code:02x}" for code in (*range(0x21), *b'<>"{}|^`\\'))
_IRI = f"<[^{_NOT_IN_IRI}]+>"
_LANGUAGE = "@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
_LABEL_START = (
    r"0-9A-Z_a-z\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{2ff}\x{370}-\x{37d}\x{37f}-\x{1fff}"
    r"\x{200c}-\x{200d}\x{2070}-\x{218f}\x{2c00}-\x{2fef}\x{3001}-\x{d7ff}\x{f900}-\x{fdcf}"
    r"\x{fdf0}-\x{fffd}\x{10000}-\x{effff}"
)
_LABEL = rf"{_LABEL_START}\x{{b7}}\x{{300}}-\x{{36f}}\x{{203f}}-\x{{2040}}-"


def parse_condition(text: str) -> exp.Expr:
    """Parse a condition in Spark SQL, with the predicates of this module as functions.

    They are `is_iri(value)`, `is_blank_node(value)`, `is_literal(value)`, `is_resource(value)` (an
    IRI or a blank node) and `is_term(value)`; each is null if the value is.
    """
    return parse_one(text, dialect="spark").transform(_expand_predicate, copy=False)


def _expand_predicate(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Anonymous) and (predicate := _PREDICATES.get(node.name)):
        (value,) = node.expressions
        return predicate(value)
    return node


def _is_iri(value: exp.Expr) -> exp.Expr:
    return _matches(_without_escapes(value, _UNICODE), _IRI)


def _is_blank_node(value: exp.Expr) -> exp.Expr:
    return _matches(value.copy(), rf"_:[{_LABEL_START}](?:[.{_LABEL}]*[{_LABEL}])?")


def _is_literal(value: exp.Expr) -> exp.Expr:
    without_escapes = _without_escapes(value, rf"""[tbnrf"'\\]|{_UNICODE}""")
    return _matches(without_escapes, rf'"[^"\\\n\r]*"(?:{_LANGUAGE}|\^\^{_IRI})?')


def _is_resource(value: exp.Expr) -> exp.Expr:
    return _by_first_character(value, {"<": _is_iri}, _is_blank_node)


def _is_term(value: exp.Expr) -> exp.Expr:
    return _by_first_character(value, {"<": _is_iri, "_": _is_blank_node}, _is_literal)


_Predicate = Callable[[exp.Expr], exp.Expr]

_PREDICATES: Mapping[str, _Predicate] = {
    "is_iri": _is_iri,
    "is_blank_node": _is_blank_node,
    "is_literal": _is_literal,
    "is_resource": _is_resource,
    "is_term": _is_term,
}


def _by_first_character(
    value: exp.Expr, cases: Mapping[str, _Predicate], otherwise: _Predicate
) -> exp.Expr:
    """The predicate for the value's first character, so that only one pattern is matched."""
    first = exp.Left(this=value.copy(), expression=exp.Literal.number(1))
    by_character = exp.Case(this=first).else_(otherwise(value))
    for character, predicate in cases.items():
        by_character = by_character.when(exp.Literal.string(character), predicate(value))
    return by_character


def _matches(value: exp.Expr, pattern: str) -> exp.Expr:
    """Whether the whole value matches."""
    return exp.RegexpLike(this=value, expression=exp.Literal.string(rf"\A{pattern}\z"))


def _without_escapes(value: exp.Expr, escapes: str) -> exp.Expr:
    """The value with each escape sequence replaced by one plain character."""
    replaced = exp.RegexpReplace(
        this=value.copy(),
        expression=exp.Literal.string(rf"\\(?:{escapes})"),
        replacement=exp.Literal.string("x"),
    )
    has_escape = exp.Contains(this=value.copy(), expression=exp.Literal.string("\\"))
    return exp.If(this=has_escape, true=replaced, false=value.copy())
