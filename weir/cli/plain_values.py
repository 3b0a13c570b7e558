"""The SQL macro `plain_value(term)`: an RDF term as a plain value, for DuckDB.

An IRI without its angle brackets, the lexical form of a literal, the label of a blank node.
"""

from __future__ import annotations

import duckdb

from weir.compute.connection import connect
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


def connect_with_plain_values(settings: Settings) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection that has the macro `plain_value(term)`."""
    connection = connect(settings)
    connection.execute(_MACROS)
    return connection
