"""The casts of XPath: the functions that a query may name by an IRI.

https://www.w3.org/TR/sparql11-query/#FunctionMapping; xsd:date is an extension.
"""

from __future__ import annotations

_XSD = "http://www.w3.org/2001/XMLSchema#"
_DATATYPES = ("string", "boolean", "integer", "decimal", "float", "double", "dateTime", "date")

CASTS = frozenset(f"<{_XSD}{name}>" for name in _DATATYPES)
"""Names of casts as a `Call` has them: the IRI of the datatype in N-Triples form."""
