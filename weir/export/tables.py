"""Published answers as files of tables: CSV, JSON lines, Parquet or Arrow, and all as DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from weir.answers.logs import require_published
from weir.answers.sql import read_state
from weir.compute.connection import connect
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.export.formats import Dialect, TableFormat
from weir.lake.delta.bindings import Bindings, quoted
from weir.lake.tables import ANSWERS
from weir.lake.tables import CURRENT as CURRENT_TABLES
from weir.lake.whole_files import whole_path
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.text.cells import finite

_BATCH = 100_000
_LAST_OF_VALUES, _ROWS = "weight", "rows of the answer"


def write_table(
    project: Project,
    query: str,
    output: IO[bytes],
    format_: TableFormat,
    *,
    terms: bool = False,
    at: str | None = None,
    as_of: int | None = None,
) -> int:
    """Write a published answer; gives the number of rows.

    Columns: one per variable, of the newest answer with the types of `current/<query>` if there is
    such a table, else text; `weight`. Rows are sorted by all columns, within the memory of DuckDB,
    and written as they come: equal answers give equal files.

    Args:
        project: has it.
        query: its name.
        output: a file, opened to write bytes.
        format_: how rows are written.
        terms: whether there are columns of languages and exact terms, too.
        at: an epoch, of a query over streams a time; by default the newest answer.
        as_of: the epoch as of which it is known.

    Raises:
        QualityError: it is held back, and none was published before.
        ConfigurationError: there is no such query, nothing of it is published, or not at `at`.
    """
    require_published(project.settings, query)
    write = partial(_write, output, format_, terms=terms)
    return read_state(project.settings, query, write, at, as_of)


def write_duckdb(project: Project, queries: Iterable[str], file: Path) -> dict[str, int]:
    """Write the newest answers as tables of a DuckDB file; gives their rows by name.

    Tables and columns have the comments of the front matter. A file that is there is replaced as a
    whole, once the new one is complete.

    Raises:
        ConfigurationError: nothing of an answer is published; or the file has something else.
    """
    catalog = Catalog.of(project.settings)
    members = {member.name: member for member in catalog.members}
    _require_ours(project, file)
    rows = {}
    with whole_path(file) as draft, closing(connect(project.settings, draft)) as database:
        for query in queries:
            require_published(project.settings, query)
            create = partial(_create, database, query)
            rows[query] = read_state(project.settings, query, create)
            member = members.get(query)
            if member is not None:
                _comment(database, query, member.description, member.current.comments)
    return rows


def statements(project: Project, names: Iterable[str], dialect: Dialect) -> Iterator[str]:
    """The statements by which another engine reads the tables `current/<query>` where they are.

    Args:
        project: has the lake.
        names: of published answers.
        dialect: of the other engine.

    An answer without such a table is a comment that says so.
    """
    lake = open_lake(project.settings)
    completion = Completion.read(lake)
    for query in names:
        name = CURRENT_TABLES.name(query)
        if not completion.follows(query):
            yield f"-- {query}: {name} is not there or behind (limits.current_rows, materialize)"
            continue
        place = exp.Literal.string(lake.location(name)).sql()
        match dialect:
            case Dialect.duckdb:
                rows = f"SELECT * FROM delta_scan({place})"
                yield f"CREATE OR REPLACE VIEW {quoted(query)} AS {rows};"
            case Dialect.spark:
                yield f"CREATE TABLE IF NOT EXISTS `{query}` USING delta LOCATION {place};"
            case Dialect.trino:
                yield (
                    "CALL delta.system.register_table(schema_name => 'weir',"
                    f" table_name => '{query}', table_location => {place});"
                )


def _require_ours(project: Project, file: Path) -> None:
    """Check that nothing but tables of answers would be lost if a file is replaced.

    Raises:
        ConfigurationError: it is no DuckDB file, or has other tables.
    """
    if not file.exists():
        return
    hint = "Choose another file, or delete this one."
    try:
        with closing(duckdb.connect(str(file), read_only=True)) as database:
            tables = database.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    except duckdb.Error:
        raise ConfigurationError("it is no DuckDB file that can be read", str(file), hint) from None
    known = {*open_lake(project.settings).owners(ANSWERS), *Catalog.of(project.settings).names}
    others = sorted({name for (name,) in tables} - known)
    if others:
        what = f"it has tables that are no answers: {', '.join(others)}"
        raise ConfigurationError(what, str(file), hint)


def _write(
    output: Any,
    format_: TableFormat,
    connection: duckdb.DuckDBPyConnection,
    statement: str,
    *,
    terms: bool,
) -> int:
    rows = _values(connection.sql(statement), terms=terms).to_arrow_reader(_BATCH)
    return write_rows(rows, output, format_)


def write_rows(rows: pa.RecordBatchReader, output: Any, format_: TableFormat) -> int:
    """Write rows as they come to a file that is opened to write bytes; gives their number."""
    match format_:
        case TableFormat.csv:
            from pyarrow import csv

            writer: Any = csv.CSVWriter(output, rows.schema)
        case TableFormat.jsonl:
            writer = _JsonLines(output)
        case TableFormat.parquet:
            from pyarrow import parquet

            writer = parquet.ParquetWriter(output, rows.schema)
        case TableFormat.arrow:
            writer = pa.ipc.new_file(output, rows.schema)
    number = 0
    with closing(writer):
        for batch in rows:
            writer.write_batch(defined(batch))
            number += batch.num_rows
    return number


def defined(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, with zeros where the memory of a missing value may hold anything.

    An Arrow file is a copy of that memory, so that equal rows would differ.
    """
    rows = pa.array(range(batch.num_rows), pa.int64())
    columns = [column.take(pc.if_else(column.is_valid(), rows, None)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


class _JsonLines:
    """Writes a JSON object per row."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch; times, decimal and infinite numbers are texts."""
        for row in batch.to_pylist():
            known = {name: finite(value) for name, value in row.items()}
            line = json.dumps(known, default=_text, ensure_ascii=False, allow_nan=False)
            self._output.write(f"{line}\n".encode())

    def close(self) -> None:
        """The output is closed by who opened it."""


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _values(rows: duckdb.DuckDBPyRelation, *, terms: bool) -> duckdb.DuckDBPyRelation:
    """The columns up to `weight`, or all."""
    if terms:
        return rows
    values = rows.columns[: rows.columns.index(_LAST_OF_VALUES) + 1]
    return rows.project(", ".join(map(quoted, values)))


def _create(
    database: duckdb.DuckDBPyConnection,
    name: str,
    connection: duckdb.DuckDBPyConnection,
    statement: str,
) -> int:
    reader = _values(connection.sql(statement), terms=False).to_arrow_reader(_BATCH)
    bindings = Bindings(database)
    bindings.rows(_ROWS, reader)
    bindings.table(name, f'SELECT * FROM "{_ROWS}"')
    bindings.release(_ROWS)
    ((number,),) = database.execute(f"SELECT count(*) FROM {quoted(name)}").fetchall()
    return int(number)


def _comment(
    database: duckdb.DuckDBPyConnection, name: str, comment: str, comments: Mapping[str, str]
) -> None:
    if comment:
        said = exp.Literal.string(comment).sql(dialect="duckdb")
        database.execute(f"COMMENT ON TABLE {quoted(name)} IS {said}")
    described = database.execute(f"DESCRIBE {quoted(name)}").fetchall()
    published = {column for column, *_ in described}
    # The text of the query may have been edited since.
    for column, about in ((c, about) for c, about in comments.items() if c in published):
        said = exp.Literal.string(about).sql(dialect="duckdb")
        database.execute(f"COMMENT ON COLUMN {quoted(name)}.{quoted(column)} IS {said}")
