"""What commits appended to the log of an answer: rows that appeared and vanished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from weir.answers.logs import ROWS_AT_ONCE, exact_terms, plain_value
from weir.answers.plain_values import connect_with_plain_values
from weir.compute.sql import bigint, column, columns, number, rows_of, select, sum_of
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.change_feed import INSERT, ChangeFeedGap, feed_by_files
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS
from weir.progress.answer_commits import AnswerCommits
from weir.settings import Settings

_LOG = "appended"


@dataclass(frozen=True, slots=True)
class Appended:
    """What some commits changed in an answer.

    Attributes:
        query: whose answer it is.
        epochs: the first and the last epoch of the rows; None if they are not known any more.
        appeared: copies of rows that appeared; None if they are not known any more.
        vanished: copies of rows that vanished.
        columns: of `rows`: epoch, weight, event_time, one per variable, exact terms.
        terms: those of exact terms.
        rows: the first of the rows that appeared and vanished.
        left_out: further rows.
    """

    query: str
    epochs: tuple[int, int] | None
    appeared: int | None
    vanished: int | None
    columns: Sequence[str] = ()
    terms: Sequence[str] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    left_out: int = 0

    @property
    def is_any(self) -> bool:
        """Whether anything changed, as far as is known."""
        return self.appeared is None or bool(self.appeared or self.vanished)

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        return {
            "query": self.query,
            "epochs": None if self.epochs is None else [*self.epochs],
            "appeared": self.appeared,
            "vanished": self.vanished,
            "rows": [
                {
                    name: value.isoformat() if isinstance(value, datetime) else value
                    for name, value in row.items()
                }
                for row in self.rows
            ],
            "rows_left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class EpochChange:
    """What an epoch changed in an answer: copies of rows that appeared, and that vanished."""

    epoch: int
    appeared: int
    vanished: int


class UnknownChanges(Exception):  # noqa: N818  (named after what is wrong)
    """What some commits changed is not known any more."""


def appended(settings: Settings, lake: Lake, commits: AnswerCommits, most: int) -> Appended:
    """What some commits appended to the table of an answer.

    Args:
        settings: of the project.
        lake: has the table.
        commits: these.
        most: rows that are given, at most.

    Raises:
        DamagedTable: a file is damaged.
    """
    epoch = column("epoch")
    totals = select(
        exp.Count(this=exp.Star()),
        exp.Min(this=epoch),
        exp.Max(this=epoch),
        *_numbers(),
        from_=rows_of(_LOG),
    )
    try:
        with _log_of(settings, lake, commits) as (connection, variables):
            first = _rows(variables).limit(most).sql(dialect="duckdb")
            ((rows, since, to, appeared, vanished),) = connection.execute(
                totals.sql(dialect="duckdb")
            ).fetchall()
            result = connection.execute(first)
            names = tuple(name for name, *_ in result.description or ())
            shown = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    except UnknownChanges:
        return Appended(commits.query, None, None, None)
    if not rows:
        return Appended(commits.query, None, 0, 0)
    terms = tuple(term.alias for term in exact_terms(variables))
    left_out = rows - len(shown)
    return Appended(commits.query, (since, to), appeared, vanished, names, terms, shown, left_out)


def appended_rows(settings: Settings, lake: Lake, commits: AnswerCommits) -> pa.Table:
    """All rows that some commits appended: columns as those of the view `<query>_changes`.

    Raises:
        UnknownChanges: the table is another one, or files of the commits are gone.
        DamagedTable: a file is damaged.
    """
    with appended_batches(settings, lake, commits) as rows:
        return rows.read_all()


@contextmanager
def appended_batches(
    settings: Settings, lake: Lake, commits: AnswerCommits
) -> Iterator[pa.RecordBatchReader]:
    """The rows of `appended_rows`, read while they are used.

    Raises:
        UnknownChanges, DamagedTable: as `appended_rows`.
    """
    with _log_of(settings, lake, commits) as (connection, variables):
        yield connection.sql(_rows(variables).sql(dialect="duckdb")).to_arrow_reader(ROWS_AT_ONCE)


def changes_by_epoch(
    bindings: Bindings, lake: Lake, commits: AnswerCommits, most: int
) -> tuple[list[EpochChange], pa.Table]:
    """What each epoch changed by some commits, and rows of the newest of these changes.

    The rows have columns as those of the view `<query>_changes`, the newest epoch first.

    Args:
        bindings: of a connection that has the macros of plain values.
        lake: has the table.
        commits: these.
        most: rows that are given, at most.

    Raises:
        UnknownChanges, DamagedTable: as `appended_rows`.
    """
    by_epoch = (
        select(column("epoch"), *_numbers(), from_=rows_of(_LOG))
        .group_by(column("epoch"))
        .order_by(column("epoch"))
    )
    connection = bindings.connection
    with _bound(bindings, lake, commits) as variables:
        changes = connection.execute(by_epoch.sql(dialect="duckdb")).fetchall()
        order = [exp.Ordered(this=column("epoch"), desc=True), *columns((*variables, "weight"))]
        newest = _unordered(variables).order_by(*order).limit(most)
        rows: pa.Table = connection.sql(newest.sql(dialect="duckdb")).to_arrow_table()
    return [EpochChange(*values) for values in changes], rows


@contextmanager
def _log_of(
    settings: Settings, lake: Lake, commits: AnswerCommits
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Sequence[str]]]:
    """A connection with the rows of some commits, and the columns of variables.

    Raises:
        UnknownChanges, DamagedTable: as `appended_rows`.
    """
    with (
        closing(connect_with_plain_values(settings)) as connection,
        _bound(Bindings(connection), lake, commits) as variables,
    ):
        yield connection, variables


@contextmanager
def _bound(bindings: Bindings, lake: Lake, commits: AnswerCommits) -> Iterator[Sequence[str]]:
    """The rows of some commits bound to a name; gives the columns of variables.

    Raises:
        UnknownChanges, DamagedTable: as `appended_rows`.
    """
    table = ANSWERS.name(commits.query)
    stored = lake.open(table)
    if stored is None or str(stored.metadata().id) != commits.table_id:
        raise UnknownChanges(f"they are of another table, as after {commits.query} was dropped")
    schema = columns_of(stored)
    with lake.using(table), bindings.scope():
        try:
            feed = feed_by_files(lake, table, commits.after + 1, commits.until)
            if any(files.kind != INSERT for files in feed):
                # A repair takes damaged files away.
                raise UnknownChanges(f"rows of {commits.query} were repaired since")
            names = [name for files in feed for name in files.names]
            rows = rows_of_files(lake, table, names, schema)
        except (ChangeFeedGap, FileNotFoundError) as error:
            raise UnknownChanges(f"files of {commits.query} are gone") from error
        bindings.rows(_LOG, rows)
        yield [name for name in schema.names if name not in ANSWER_COLUMNS]


def _numbers() -> Iterator[exp.Expr]:
    """How many copies of rows appeared, and how many vanished."""
    weight = column("weight")
    for copies in (weight, exp.Neg(this=weight)):
        yield bigint(sum_of(exp.func("greatest", copies, number(0))))


def _rows(variables: Sequence[str]) -> exp.Select:
    return _unordered(variables).order_by(exp.var("ALL"))


def _unordered(variables: Sequence[str]) -> exp.Select:
    return select(
        *columns(ANSWER_COLUMNS),
        *map(plain_value, variables),
        *exact_terms(variables),
        from_=rows_of(_LOG),
    )
