"""The lake as SQL views of DuckDB, read with delta-rs; no Spark.

* `quads_current`, `triples_current`: the graph, terms in N-Triples form.
* `<query>_current`: the published answer: each variable as a plain value, `weight` (how often the
  row is there), and `<variable>_term`, the exact term in N-Triples form.
* `<query>_changes`: the published log: `epoch`, `weight`, `event_time`, the variables alike.
* `quads`, `triples`, `transactions`, `graphs`, `rejected`, `runs`, `quality`: the tables.

A view is made only if the statement names it: opening a table takes time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
from sqlglot import exp, select

from jobs.compute.connection import connect
from jobs.errors import WeirError
from jobs.progress.watermarks import head
from jobs.settings import Settings
from lake.lake import local_folder
from lake.metadata import Metadata
from lake.tables import ANSWER_COLUMNS, QUADS, SHARED_TABLES, TRIPLES

CURRENT, CHANGES = "_current", "_changes"
_GRAPHS = (QUADS, TRIPLES)

# An escape is a backslash and what follows, so cutting at pairs of backslashes leaves parts in
# which every other backslash starts an escape.
_UNESCAPE = r"""
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


def query_lake(settings: Settings, statement: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows of a statement over the views.

    Raises:
        WeirError: the statement names no such view, or DuckDB cannot run it.
    """
    connection = connect_to_views(settings, re.findall(r"\w+", statement))
    try:
        result = connection.execute(statement)
        return tuple(column[0] for column in result.description or ()), result.fetchall()
    except duckdb.CatalogException as error:
        raise WeirError(
            str(error).splitlines()[0], "", f"There are {', '.join(view_names(settings))}."
        ) from error
    except duckdb.Error as error:
        raise WeirError(f"the statement does not run: {error}") from error


def answer_at(
    settings: Settings, query: str, epoch: int | None, *, terms: bool, limit: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows of a published answer at an epoch, by default the newest.

    Args:
        terms: exact terms instead of plain values.
        limit: at most so many rows; 0 = all.
    """
    connection, log = duckdb_connection(settings), f"{query} log"
    stored = _variables(_register(connection, settings, f"answers/{query}", log))
    columns = _columns_at(settings, query, epoch, stored)
    values = [_column(name) if terms else _plain(name) for name in columns]
    answer = _state(log, stored, values)
    if epoch is not None:
        answer = answer.where(exp.column("epoch") <= epoch)
    return _fetch(connection, answer.order_by(*map(_column, columns)), limit)


def changes_between(
    settings: Settings, query: str, first: int, last: int | None, *, terms: bool, limit: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows of a published log from epoch `first` to `last`, both included."""
    connection, log = duckdb_connection(settings), f"{query} log"
    columns = _variables(_register(connection, settings, f"answers/{query}", log))
    values = [_column(name) if terms else _plain(name) for name in columns]
    changes = (
        select(_column("epoch"), _column("weight"), *values, _column("event_time"))
        .from_(exp.to_identifier(log, quoted=True))
        .where(exp.column("epoch") >= first)
        .order_by(_column("epoch"), *map(_column, columns))
    )
    if last is not None:
        changes = changes.where(exp.column("epoch") <= last)
    return _fetch(connection, changes, limit)


def duckdb_connection(settings: Settings) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection that has the macro `plain_value(term)`."""
    connection = connect(settings)
    connection.execute(_UNESCAPE)
    return connection


def connect_to_views(settings: Settings, names: Iterable[str]) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with those views of `names` that there are."""
    connection = duckdb_connection(settings)
    for name in dict.fromkeys(name.lower() for name in names):
        _make_view(connection, settings, name)
    return connection


def view_names(settings: Settings) -> list[str]:
    """The views that a statement can name."""
    graphs = [f"{table.name}{CURRENT}" for table in _GRAPHS]
    answers = [
        f"{query}{view}" for query in published_queries(settings) for view in (CURRENT, CHANGES)
    ]
    return [*graphs, *answers, *(table.name for table in SHARED_TABLES)]


def published_queries(settings: Settings) -> list[str]:
    """The queries that have an answer table; if the lake is a folder, removed ones too."""
    lake = local_folder(settings.lake)
    if lake is not None:
        names = {folder.parent.name for folder in lake.glob("answers/*/_delta_log")}
    else:
        files = {file.stem for file in settings.queries.glob("*.rq")}
        names = {name for name in files if _open(settings, f"answers/{name}") is not None}
    return sorted(names)


def _make_view(connection: duckdb.DuckDBPyConnection, settings: Settings, name: str) -> None:
    for table in SHARED_TABLES:
        if name == table.name:
            _register(connection, settings, table.name, name)
            return
        if table in _GRAPHS and name == f"{table.name}{CURRENT}":
            columns = [c for c in table.column_names if c not in ANSWER_COLUMNS]
            if _register(connection, settings, table.name, f"{table.name} log"):
                _create(
                    connection,
                    name,
                    _graph_now(f"{table.name} log", columns, head(settings.open_lake())),
                )
            return
    query, mark, view = name.rpartition("_")
    if f"{mark}{view}" not in (CURRENT, CHANGES):
        return
    log = f"{query} log"
    found = _register(connection, settings, f"answers/{query}", log)
    if not found:
        return
    stored = _variables(found)
    if f"{mark}{view}" == CURRENT:
        columns = _columns_at(settings, query, None, stored)
        values = [*map(_plain, columns)]
        _create(connection, name, _state(log, stored, values, *_terms(columns)))
    else:
        _create(connection, name, _log(log, stored))


def _state(log: str, stored: list[str], values: Sequence[exp.Expr], *more: exp.Expr) -> exp.Select:
    """The state of an answer log: rows whose weights sum to something.

    Rows are told apart by the columns of all texts that the query ever had.
    """
    weight = exp.Sum(this=_column("weight"))
    return (
        select(*values, exp.cast(weight, "BIGINT").as_("weight"), *more)
        .from_(exp.to_identifier(log, quoted=True))
        .group_by(*map(_column, stored))
        .having(weight.neq(0))
    )


def _log(log: str, columns: list[str]) -> exp.Select:
    """An answer log with plain values."""
    fixed = [_column(name) for name in ANSWER_COLUMNS]
    return select(*fixed, *map(_plain, columns), *_terms(columns)).from_(
        exp.to_identifier(log, quoted=True)
    )


def _graph_now(log: str, columns: list[str], last: int) -> exp.Select:
    """The graph at the newest epoch; an ingest that died may have written later rows."""
    return (
        select(*map(_column, columns))
        .from_(exp.to_identifier(log, quoted=True))
        .where(_column("epoch") <= exp.Literal.number(last))
        .group_by(*map(_column, columns))
        .having(exp.Sum(this=_column("weight")) > 0)
    )


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _plain(name: str) -> exp.Expr:
    return exp.alias_(exp.func("plain_value", _column(name)), name, quoted=True)


def _terms(columns: list[str]) -> list[exp.Expr]:
    taken = {name.lower() for name in columns}
    # A query whose earlier text had a variable x_term keeps the plain value of that one.
    free = [name for name in columns if f"{name}_term".lower() not in taken]
    return [exp.alias_(_column(name), f"{name}_term", quoted=True) for name in free]


def _fetch(
    connection: duckdb.DuckDBPyConnection, query: exp.Select, limit: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    cut = query.limit(limit) if limit else query
    result = connection.execute(cut.sql(dialect="duckdb"))
    return tuple(column[0] for column in result.description), result.fetchall()


def _create(connection: duckdb.DuckDBPyConnection, name: str, query: exp.Select) -> None:
    view = exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
    connection.execute(f"CREATE TEMP VIEW {view} AS {query.sql(dialect='duckdb')}")


def _register(
    connection: duckdb.DuckDBPyConnection, settings: Settings, table_name: str, view: str
) -> list[str]:
    """Make a Delta table known to DuckDB; its columns, or none if there is no such table."""
    table = _open(settings, table_name)
    if table is None:
        return []
    dataset = table.to_pyarrow_dataset()
    connection.register(view, dataset)
    return list(dataset.schema.names)


def _variables(columns: list[str]) -> list[str]:
    return [name for name in columns if name not in ANSWER_COLUMNS]


def _columns_at(settings: Settings, query: str, epoch: int | None, stored: list[str]) -> list[str]:
    """The columns of the text that the query had at an epoch, by default the newest.

    Those of its other texts are null in every row of that state. All that are stored if the commit
    that made the text valid is no longer in the history.
    """
    for commit in settings.open_lake().commits(f"answers/{query}"):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is None or metadata.job != "publish":
            continue
        # The rows of a text begin at its base.
        if epoch is None or metadata.base <= epoch:
            return [name for name, _ in metadata.extra["columns"]]
    return stored


def _open(settings: Settings, table_name: str) -> Any:
    return settings.open_lake().open(table_name)
