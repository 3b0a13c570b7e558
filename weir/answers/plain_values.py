"""SQL macros that give an RDF term as a plain value, for DuckDB.

`plain_value(term)` is an IRI without its angle brackets, the lexical form of a literal, the label
of a blank node. `short_value(term)` is the same, but an IRI that begins like one of some prefixes
is shortened by the longest of these: `ex:name`.
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
  WHEN '<' THEN substr(term, 2, length(term) - 2)
  WHEN '"' THEN plain_lexical(regexp_extract(term, '^"(.*)"', 1, 's'))
  ELSE term END;
"""


_LOCAL = r"[\pL\pN_]([\pL\pN_.-]*[\pL\pN_-])?>"
"""What may be left of an IRI after a prefix, with its angle bracket: what needs no escapes."""


def connect_with_plain_values(
    settings: Settings, prefixes: Mapping[str, str] | None = None
) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection that has the macros.

    Args:
        settings: of the project.
        prefixes: IRIs by the prefix that shortens them; of two with one IRI, the first does.
    """
    connection = connect(settings)
    connection.execute(_MACROS)
    connection.execute(f"CREATE TEMP MACRO short_value(term) AS {_shortened(prefixes or {})}")
    return connection


def _shortened(prefixes: Mapping[str, str]) -> str:
    """The expression for a plain value with the IRIs shortened."""
    whole = "plain_value(term)"
    cases = []
    for prefix, iri in sorted(prefixes.items(), key=lambda item: -len(item[1])):
        begin = len(iri) + 2
        name = f"substr(term, {begin}, length(term) - {begin})"
        cases.append(
            f"WHEN starts_with(term, {_quoted('<' + iri)})"
            f" AND regexp_full_match(substr(term, {begin}), {_quoted(_LOCAL)})"
            f" THEN {_quoted(prefix + ':')} || {name}"
        )
    return f"CASE {' '.join(cases)} ELSE {whole} END" if cases else whole


def _quoted(value: str) -> str:
    return text(value).sql(dialect="duckdb")
