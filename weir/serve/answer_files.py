"""Rows of an answer as files: the state at an epoch, or the changes since then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import IO

import duckdb
import pyarrow as pa

from weir.answers.appended import appended_batches
from weir.answers.logs import CHANGES, ROWS_AT_ONCE
from weir.answers.sql import read_state, read_views
from weir.export.formats import TableFormat
from weir.export.tables import write_rows
from weir.lake.delta.datasets import columns_of
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS
from weir.progress.answer_commits import AnswerCommits
from weir.project import Project
from weir.rdf.terms import XSD_STRING, Blank, Iri, Literal, Term, parse_term
from weir.serve.problems import Problem

SOLUTIONS = "srj"
"""The ending of results of SPARQL; the others are those of `TableFormat`, and `json`."""


def write_state(
    project: Project, name: str, epoch: int | None, file: IO[bytes], ending: str, *, terms: bool
) -> None:
    """Write the answer as it is, or as it was at an epoch.

    Args:
        project: has it.
        name: of it.
        epoch: None for the newest.
        file: opened to write bytes.
        ending: of the format.
        terms: whether there are columns of exact terms.

    Raises:
        WeirError: there is no such answer or epoch.
    """

    def write(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
        rows = connection.sql(statement).to_arrow_reader(ROWS_AT_ONCE)
        if ending == SOLUTIONS:
            _write_solutions(rows, file)
            return
        names = rows.schema.names
        _write(rows, names if terms else names[: names.index("weight") + 1], file, ending)

    read_state(project.settings, name, write, as_of=epoch)


def write_changes(
    project: Project,
    since: int | AnswerCommits,
    name: str,
    file: IO[bytes],
    ending: str,
    *,
    terms: bool,
) -> None:
    """Write the changes of an answer after an epoch, or those of some commits.

    Raises:
        UnknownChanges: what the commits changed is not known any more.
    """
    stored = columns_of(project.lake.existing(ANSWERS.name(name))).names
    values = [*ANSWER_COLUMNS, *(one for one in stored if one not in ANSWER_COLUMNS)]

    def write(rows: pa.RecordBatchReader) -> None:
        _write(rows, rows.schema.names if terms else values, file, ending)

    if isinstance(since, AnswerCommits):
        with appended_batches(project.settings, project.lake, since) as rows:
            write(rows)
        return

    def fetched(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
        write(connection.sql(statement).to_arrow_reader(ROWS_AT_ONCE))

    statement = f'SELECT * FROM "{name}{CHANGES}" WHERE epoch > {since} ORDER BY ALL'
    read_views(project.settings, statement, fetched)


def _write(rows: pa.RecordBatchReader, shown: Sequence[str], file: IO[bytes], ending: str) -> None:
    schema = pa.schema([rows.schema.field(name) for name in shown])
    batches = (batch.select([*shown]) for batch in rows)
    chosen = pa.RecordBatchReader.from_batches(schema, batches)
    if ending != "json":
        write_rows(chosen, file, TableFormat(ending))
        return
    array = _Array(file)
    write_rows(chosen, array, TableFormat.jsonl)
    array.end()


class _Array:
    """Makes an array of JSON of lines, each of which is written at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._between = file, b"[\n"

    def write(self, line: bytes) -> None:
        """Take a line."""
        self._file.write(self._between + line.removesuffix(b"\n"))
        self._between = b",\n"

    def end(self) -> None:
        """End the array."""
        self._file.write(b"[]\n" if self._between == b"[\n" else b"\n]\n")


def _write_solutions(rows: pa.RecordBatchReader, file: IO[bytes]) -> None:
    """Write exact terms; a row is as often there as its weight says.

    https://www.w3.org/TR/sparql11-results-json/
    """
    names = rows.schema.names
    variables = names[: names.index("weight")]
    exact = {name: f"{name}_term" for name in variables}
    if lacking := [name for name, term in exact.items() if names.count(term) != 1 or term in exact]:
        what = f"there is a variable like the column of exact terms of {', '.join(lacking)}"
        raise Problem(HTTPStatus.NOT_ACCEPTABLE, what, "Choose another format.")
    file.write(b'{"head":' + json.dumps({"vars": [*exact]}).encode() + b',"results":{"bindings":[')
    between = b"\n"
    for batch in rows:
        for row in batch.to_pylist():
            bound = {name: row[term] for name, term in exact.items() if row[term] is not None}
            solution = {name: _as_json(parse_term(term)) for name, term in bound.items()}
            line = json.dumps(solution, ensure_ascii=False).encode()
            for _ in range(row["weight"]):
                file.write(between + line)
                between = b",\n"
    file.write(b"\n]}}\n")


def _as_json(term: Term) -> dict[str, str]:
    match term:
        case Iri(value):
            return {"type": "uri", "value": value}
        case Blank(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, _, language) if language is not None:
            return {"type": "literal", "value": lexical, "xml:lang": language}
        case Literal(lexical, datatype):
            plain = {"type": "literal", "value": lexical}
            return plain if datatype == XSD_STRING else {**plain, "datatype": datatype}
