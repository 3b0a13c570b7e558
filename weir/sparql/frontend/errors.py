"""Errors of query texts: not SPARQL, or SPARQL that Weir does not maintain."""

from __future__ import annotations

from weir.errors import ConfigurationError


class QueryError(ConfigurationError):
    """A query text that cannot be registered.

    Args:
        what: the construct, as it is written (`OPTIONAL`, `NOW()`).
        file: name of the file, or `<query>`.
        line: line of the construct, from 1.
        column: column of the construct, from 1, in characters.
        reason: why not, a clause.
        hint: what to write or do instead, a sentence.
    """

    def __init__(
        self, what: str, file: str, line: int, column: int, reason: str, hint: str = ""
    ) -> None:
        self.construct, self.file, self.line, self.column = what, file, line, column
        self.reason = reason
        super().__init__(f"{what}: {reason}.", f"{file}:{line}:{column}", hint)


class QuerySyntaxError(QueryError):
    """The text is not a SPARQL 1.1 query."""


class UnsupportedQuery(QueryError):  # noqa: N818  the name says what happened
    """The text is a SPARQL 1.1 query that Weir does not maintain."""
