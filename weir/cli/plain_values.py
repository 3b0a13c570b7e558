"""The SQL macro `plain_value(term)`: an RDF term as a plain value, for DuckDB.

An IRI without its angle brackets, the lexical form of a literal, the label of a blank node. An IRI
that begins like one of some prefixes is shortened by the longest of these: `ex:name`.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from weir.compute.connection import connect
from weir.compute.sql import text
from weir.settings import Settings

# A pair of backslashes is an escaped backslash. Between such pairs, every backslash starts another
# escape.
_MACROS = r"""
CREATE TEMP MACRO escaped_code(part, mark, digits) AS
  list_aggregate(list_transform(string_split(part, mark), lambda piece, i:
    CASE WHEN i = 1 THEN piece
    ELSE chr(CAST('0x' || left(piece, digits) AS INTEGER)) || substr(piece, digits + 1) END
  ), 'string_agg', '');
CREATE TEMP MACRO unescaped(part) AS
  escaped_code(escaped_code(
    replace(replace(replace(replace(replace(replace(replace(part,
      '\t', chr(9)), '\b', chr(8)), '\n', chr(10)), '\r', chr(13)), '\f', chr(12)),
      '\"', '"'), '\''', ''''), '\u', 4), '\U', 8);
CREATE TEMP MACRO plain_lexical(text) AS
  CASE WHEN contains(text, '\')
  THEN list_aggregate(
    list_transform(string_split(text, '\\'), lambda part: unescaped(part)), 'string_agg', '\')
  ELSE text END;
CREATE TEMP MACRO plain_value(term) AS
  CASE left(term, 1)
  WHEN '<' THEN {iri}
  WHEN '"' THEN plain_lexical(regexp_extract(term, '^"(.*)"', 1, 's'))
  ELSE term END;
"""


_LOCAL = r"[\pL\pN_]([\pL\pN_.-]*[\pL\pN_-])?>"
"""What may be left of an IRI after a prefix, with its angle bracket: what needs no escapes."""


def connect_with_plain_values(
    settings: Settings, prefixes: Mapping[str, str] | None = None
) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection that has the macro `plain_value(term)`.

    Args:
        settings: of the project.
        prefixes: IRIs by the prefix that shortens them.
    """
    connection = connect(settings)
    connection.execute(_MACROS.replace("{iri}", _iri(prefixes or {})))
    return connection


def _iri(prefixes: Mapping[str, str]) -> str:
    """The expression for the plain value of an IRI."""
    whole = "substr(term, 2, length(term) - 2)"
    if not prefixes:
        return whole
    cases = []
    for prefix, iri in sorted(prefixes.items(), key=lambda item: (-len(item[1]), item[0])):
        begin, rest = len(iri) + 2, f"substr(term, {len(iri) + 2})"
        name = f"substr(term, {begin}, length(term) - {begin})"
        cases.append(
            f"WHEN starts_with(term, {_quoted('<' + iri)})"
            f" AND regexp_full_match({rest}, {_quoted(_LOCAL)})"
            f" THEN {_quoted(prefix + ':')} || {name}"
        )
    return f"CASE {' '.join(cases)} ELSE {whole} END"


def _quoted(value: str) -> str:
    return text(value).sql(dialect="duckdb")
