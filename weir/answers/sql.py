"""Runs a statement of SQL that can only read the views."""

from __future__ import annotations

import re

import duckdb
import pyarrow as pa
from duckdb import StatementType
from sqlglot import exp

from weir.answers.logs import CURRENT, Fetch, Fetched, Rows, read_answer
from weir.answers.moments import moment_of
from weir.answers.views import connect_to_views, view_names
from weir.compute.sql import alias, select, text
from weir.errors import ConfigurationError, WeirError
from weir.lake.damage.damaged_files import damage_is_named
from weir.project import open_lake
from weir.settings import Settings

_EXAMPLE = "`weir sql 'SELECT * FROM runs'` prints a view."
_READING = "SELECT, WITH, FROM, VALUES, PIVOT, SHOW, DESCRIBE, SUMMARIZE and EXPLAIN"
_SPACE = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*"
_FIRST_WORD = re.compile(rf"(?:{_SPACE}\()*{_SPACE}(\w+)", re.DOTALL)
_EXPLAIN = re.compile(
    rf"{_SPACE}EXPLAIN\b{_SPACE}(?:ANALYZE\b)?{_SPACE}(?:\(\s*(?:ANALYZE|FORMAT)\b[^)]*\))?",
    re.DOTALL | re.IGNORECASE,
)
_SHOW_VIEWS = re.compile(
    rf"{_SPACE}SHOW\b{_SPACE}(?:ALL\b{_SPACE})?(?:TABLES|VIEWS)\b{_SPACE};?{_SPACE}",
    re.DOTALL | re.IGNORECASE,
)
_WITHIN_SEVERAL = {"PIVOT", "WITH", "FROM", "SELECT"}
"""First words of a query with a pivot, which DuckDB executes as several statements."""
_UNKNOWN_VIEW = re.compile(r"Catalog Error: Table with name ")


def query_lake(settings: Settings, statement: str) -> Rows:
    """The rows of a statement over the views.

    Raises:
        WeirError: as `arrow_of`.
    """
    return read_views(settings, statement, _rows)


def arrow_of(settings: Settings, statement: str) -> pa.Table:
    """The result of a statement over the views; it can read nothing else, and write nothing.

    Raises:
        ConfigurationError: it is not exactly one statement, or does not only read.
        DamagedTable: a file of a table that it reads is damaged.
        WeirError: the statement names a view that does not exist, or DuckDB cannot run it.
    """
    return read_views(settings, statement, _arrow)


def _rows(connection: duckdb.DuckDBPyConnection, statement: str) -> Rows:
    result = connection.execute(statement)
    return tuple(name for name, *_ in result.description or ()), result.fetchall()


def _arrow(connection: duckdb.DuckDBPyConnection, statement: str) -> pa.Table:
    rows: pa.Table = connection.sql(statement).to_arrow_table()
    return rows


def read_views(settings: Settings, statement: str, fetched: Fetch[Fetched]) -> Fetched:
    """What a function makes of a statement, to which it gives a connection that has the views.

    Raises:
        WeirError: as `arrow_of`.
    """
    _require_one_reading(statement)
    if _SHOW_VIEWS.fullmatch(statement):
        # Not asked of DuckDB, which has only the views that the statement names.
        names = exp.array(*map(text, sorted(view_names(settings))))
        listed = select(alias(exp.func("unnest", names), "name"))
        return fetched(duckdb.connect(), listed.sql(dialect="duckdb"))
    lake = open_lake(settings)
    connection = connect_to_views(settings, re.findall(r"\w+", statement), lake)
    try:
        # Creating the views has opened exactly the tables that are read.
        with damage_is_named(*(lake.folder(table) for table in lake.opened)):
            return fetched(connection, statement)
    except duckdb.CatalogException as error:
        is_about_views = _UNKNOWN_VIEW.match(str(error))
        hint = f"There are {', '.join(view_names(settings))}." if is_about_views else ""
        shown = str(error).splitlines()[: 1 if is_about_views else 2]
        raise WeirError(shown[0], "", hint, parts=shown[1:]) from error
    except duckdb.PermissionException as error:
        raise WeirError(
            str(error).splitlines()[0],
            "",
            "`weir sql` reads the views, and neither reads nor writes files.",
        ) from error
    except duckdb.Error as error:
        first, *others = str(error).splitlines() or [type(error).__name__]
        what = f"DuckDB cannot run the statement: {first}"
        raise WeirError(what, parts=others) from error


def read_state(
    settings: Settings,
    query: str,
    fetched: Fetch[Fetched],
    at: str | None = None,
    as_of: int | None = None,
) -> Fetched:
    """What a function makes of a published answer: values, `weight`, exact terms, sorted.

    The newest has the values of its view, an earlier one has plain values.

    Args:
        settings: of the project.
        query: whose answer it is.
        fetched: is given a statement and its connection.
        at: an epoch, of a query over streams a time; by default the newest answer.
        as_of: the epoch as of which it is known.

    Raises:
        WeirError: there is no such state.
    """
    if at is None and as_of is None:
        return read_views(settings, f'SELECT * FROM "{query}{CURRENT}" ORDER BY ALL', fetched)
    return read_answer(settings, query, moment_of(settings, query, at, as_of), fetched)


def _require_one_reading(statement: str) -> None:
    """Refuse other statements: DuckDB would execute them in its memory, without any effect.

    Raises:
        ConfigurationError: there is no statement, or more than one, or it does not only read.
    """
    try:
        statements = duckdb.extract_statements(statement)
    except duckdb.ParserException:
        # DuckDB reports what is wrong when it is executed.
        return
    if not statements:
        raise ConfigurationError("the statement is empty", "", _EXAMPLE)
    if len(statements) > 1:
        raise ConfigurationError(
            f"these are {len(statements)} statements, and `weir sql` runs one", "", _EXAMPLE
        )
    if not _reads(statements[0].type, statements[0].query):
        raise ConfigurationError(
            "`weir sql` only reads", "", f"A statement begins with {_READING}. {_EXAMPLE}"
        )


def _reads(kind: StatementType, text: str) -> bool:
    if kind == StatementType.SELECT:
        return True
    if kind == StatementType.MULTI:
        first = _FIRST_WORD.match(text)
        return first is not None and first[1].upper() in _WITHIN_SEVERAL
    if kind != StatementType.EXPLAIN:
        return False
    # EXPLAIN ANALYZE executes what it explains.
    try:
        explained = duckdb.extract_statements(_EXPLAIN.sub("", text, count=1))
    except duckdb.ParserException:
        return False
    return all(_reads(inner.type, inner.query) for inner in explained)
