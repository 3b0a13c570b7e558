"""Reads the published log of a query by DuckDB: its answer at an epoch, its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import duckdb
import pyarrow as pa
from sqlglot import exp

from weir.answers.moments import Moment
from weir.answers.plain_values import connect_with_plain_values
from weir.compute.sql import (
    alias,
    ascending,
    bigint,
    column,
    columns,
    number,
    over,
    rows_of,
    select,
    subquery,
    sum_of,
    time_of,
)
from weir.errors import WeirError
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS
from weir.progress.answer_commits import publications
from weir.progress.backlog import answered_since
from weir.project import open_lake
from weir.settings import Settings

CURRENT, CHANGES, INTERVALS = "_current", "_changes", "_intervals"
"""How the names of the views of a query end."""
SPANS = "spans"
Fetched = TypeVar("Fetched")
Fetch: TypeAlias = Callable[[duckdb.DuckDBPyConnection, str], Fetched]
"""What takes the rows of a statement, with the connection that it is for."""
ROWS_AT_ONCE = 100_000
"""Rows of a batch, where rows are read while they are computed."""
Rows = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Names of columns, and rows."""


@dataclass(frozen=True, slots=True)
class AnswerLog:
    """The answer table of a query, registered with a DuckDB connection.

    Attributes:
        relation: the name of the table in DuckDB.
        variables: the columns of variables, of all texts that the query has had.
    """

    query: str
    relation: str
    variables: tuple[str, ...]

    def state(self, *values: exp.Expr, after_weight: Iterable[exp.Expr] = ()) -> exp.Select:
        """The newest answer: `values`, `weight`, `after_weight` of rows whose weights sum to not 0.

        The columns of all texts that the query has had identify a row.
        """
        weight = exp.Sum(this=column("weight"))
        return (
            select(*values, exp.cast(weight, "BIGINT").as_("weight"), *after_weight)
            .from_(rows_of(self.relation))
            .group_by(*columns(self.variables))
            .having(weight.neq(0))
        )

    def intervals(
        self,
        variables: Sequence[str],
        values: Iterable[exp.Expr],
        *,
        epoch: int | None = None,
        after_weight: Iterable[exp.Expr] = (),
    ) -> exp.Select:
        """The intervals in which rows held: `values`, since, until, weight, `after_weight`.

        For queries over streams. A row has an interval for each time during which its weight was
        constant; until is null if the row still holds.

        Args:
            variables: the columns that identify a row.
            values: the first selected columns.
            epoch: the epoch as of which intervals are known; by default the newest.
            after_weight: the last selected columns.
        """
        until = [] if epoch is None else [column("epoch") <= number(epoch)]
        spans = self._spans(variables, {"": "event_time"}, until)
        return select(
            *values,
            *columns(("since", "until", "weight")),
            *after_weight,
            from_=subquery(spans, SPANS),
            where=[column("weight").neq(0)],
        )

    def epoch_intervals(
        self,
        variables: Sequence[str],
        values: Iterable[exp.Expr],
        *,
        after_weight: Iterable[exp.Expr] = (),
    ) -> exp.Select:
        """When rows of a query over the graph held: `values`, since_epoch, until_epoch, since,
        until, weight, `after_weight`.

        A row has an interval for all epochs during which its weight was constant; until_epoch and
        until are null if the row still holds. `since` and `until` are the times of the changes.

        Args:
            variables: the columns that identify a row.
            values: the first selected columns.
            after_weight: the last selected columns.
        """
        spans = self._spans(variables, {"_epoch": "epoch", "": "event_time"})
        return select(
            *values,
            *columns(("since_epoch", "until_epoch", "since", "until", "weight")),
            *after_weight,
            from_=subquery(spans, SPANS),
            where=[column("weight").neq(0)],
        )

    def _spans(
        self,
        variables: Sequence[str],
        ends: Mapping[str, str],
        where: Sequence[exp.Expr] = (),
    ) -> exp.Select:
        """Each row between two changes of its weight: variables, since, until, .., weight.

        Args:
            variables: the columns that identify a row.
            ends: by what is added to `since` and `until`, the column whose values these are; the
                first one orders the changes.
            where: conditions of the rows of the log.
        """
        weight = column("weight")
        key, *others = ends.values()
        net = select(
            *columns((*variables, key)),
            *(alias(exp.Max(this=column(name)), name) for name in others),
            alias(sum_of(weight), "weight"),
            from_=rows_of(self.relation),
            where=[*where],
            group_by=columns((*variables, key)),
            having=sum_of(weight).neq(0),
        )
        rows, order = columns(variables), [ascending(column(key))]
        return select(
            *columns(variables),
            *(alias(column(name), f"since{ending}") for ending, name in ends.items()),
            *(
                alias(over(exp.Lead(this=column(name)), rows, order), f"until{ending}")
                for ending, name in ends.items()
            ),
            alias(bigint(over(sum_of(weight), rows, order)), "weight"),
            from_=subquery(net, "net"),
        )

    def variables_at(self, lake: Lake, epoch: int | None) -> tuple[str, ...]:
        """The columns of the text that the query had at an epoch, by default the newest.

        Columns of other texts are null in all rows of that state. All columns if the first commit
        of the text is no longer in the history.
        """
        for metadata in publications(lake, self.query):
            if epoch is None or answered_since(metadata) <= epoch:
                return tuple(name for name, _ in metadata.extra["columns"])
        return self.variables


def register_log(bindings: Bindings, lake: Lake, query: str) -> AnswerLog | None:
    """Make the published log of a query readable by DuckDB; None if there is none."""
    relation = f"{query} log"
    names = register_table(bindings, lake, ANSWERS.name(query), relation)
    if not names:
        return None
    variables = tuple(name for name in names if name not in ANSWER_COLUMNS)
    return AnswerLog(query, relation, variables)


def register_table(bindings: Bindings, lake: Lake, table_name: str, relation: str) -> list[str]:
    """Make a table of the lake readable by DuckDB, once; gives its columns, or none."""
    table = lake.open(table_name)
    if table is None:
        return []
    dataset = table.to_pyarrow_dataset()
    if relation not in bindings:
        bindings.rows(relation, dataset)
    return list(dataset.schema.names)


@dataclass(frozen=True, slots=True)
class Printed:
    """How rows of answers are printed.

    Attributes:
        limit: maximum number of rows; 0 = all.
        terms: exact terms instead of plain values.
        prefixes: IRIs by the prefix that shortens them among plain values.
    """

    limit: int
    terms: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def bindings(self, settings: Settings) -> Bindings:
        """Those of a connection to DuckDB."""
        return Bindings(connect_with_plain_values(settings, self.prefixes))

    def values(self, names: Iterable[str]) -> list[exp.Expr]:
        """Columns of terms as they are printed."""
        return [self.value(name) for name in names]

    def value(self, name: str, shown: str | None = None) -> exp.Expr:
        """A column of terms as it is printed, under its own name or another one."""
        if self.terms:
            return alias(column(name), shown or name)
        value = exp.func("short_value" if self.prefixes else "plain_value", column(name))
        return exp.alias_(value, shown or name, quoted=True)

    def order(self, names: Iterable[str], relation: str) -> list[exp.Expr]:
        """What rows are ordered by: terms or plain values, also where these are shortened."""
        if not self.prefixes:
            return [*columns(names)]
        return [exp.func("plain_value", column(name, relation)) for name in names]


def require_published(settings: Settings, query: str) -> None:
    """Check that a query has a published answer.

    Raises:
        QualityError: it is held back.
        ConfigurationError: there is no such query, or nothing of it is published yet, and why.
    """
    if query not in open_lake(settings).owners(ANSWERS):
        # Imported here: reading an answer needs no definition.
        from weir.answers.unpublished import why_unpublished

        raise why_unpublished(settings, query)


def answer_at(settings: Settings, query: str, moment: Moment, printed: Printed) -> Rows:
    """The published answer of a query at a moment.

    Raises:
        WeirError: the query has no published answer.
    """
    lake, bindings = open_lake(settings), printed.bindings(settings)
    log = existing_log(bindings, lake, query)
    variables = _variables(log, lake, moment)
    answer = _state_at(log, moment, printed.values(variables))
    with lake.using(ANSWERS.name(query)):
        order = printed.order(variables, log.relation)
        return fetch(bindings.connection, answer, printed.limit, order=order)


def answer_table(settings: Settings, query: str, moment: Moment) -> pa.Table:
    """The published answer of a query at a moment: columns as those of its SQL view.

    Raises:
        WeirError: the query has no published answer.
    """

    def table(connection: duckdb.DuckDBPyConnection, statement: str) -> pa.Table:
        rows: pa.Table = connection.sql(statement).to_arrow_table()
        return rows

    return read_answer(settings, query, moment, table)


def read_answer(settings: Settings, query: str, moment: Moment, fetched: Fetch[Fetched]) -> Fetched:
    """What a function makes of the statement whose rows are those of `answer_table`.

    Raises:
        WeirError: the query has no published answer.
    """
    lake, bindings = open_lake(settings), Bindings(connect_with_plain_values(settings))
    log = existing_log(bindings, lake, query)
    variables = _variables(log, lake, moment)
    answer = _state_at(log, moment, map(plain_value, variables), exact_terms(variables))
    with lake.using(ANSWERS.name(query)):
        statement = answer.order_by(exp.var("ALL")).sql(dialect="duckdb")
        return fetched(bindings.connection, statement)


def intervals_at(settings: Settings, query: str, moment: Moment, printed: Printed) -> Rows:
    """The intervals in which rows of a query over streams held, as known at a moment's epoch.

    Raises:
        WeirError: the query has no published answer.
    """
    lake, bindings = open_lake(settings), printed.bindings(settings)
    log = existing_log(bindings, lake, query)
    variables = _variables(log, lake, moment)
    intervals = log.intervals(variables, printed.values(variables), epoch=moment.epoch)
    with lake.using(ANSWERS.name(query)):
        order = [*printed.order(variables, SPANS), column("since")]
        return fetch(bindings.connection, intervals, printed.limit, order=order)


def changes_between(
    settings: Settings, query: str, first: int, last: int | None, printed: Printed
) -> Rows:
    """The published changes of a query from epoch `first` to `last`, both included.

    Raises:
        WeirError: the query has no published answer.
    """
    lake, bindings = open_lake(settings), printed.bindings(settings)
    log = existing_log(bindings, lake, query)
    changes = (
        select(
            *columns(("epoch", "weight")),
            *printed.values(log.variables),
            column("event_time"),
        )
        .from_(rows_of(log.relation))
        .where(column("epoch") >= first)
    )
    if last is not None:
        changes = changes.where(column("epoch") <= last)
    with lake.using(ANSWERS.name(query)):
        order = [*columns(("epoch", "event_time")), *printed.order(log.variables, log.relation)]
        return fetch(bindings.connection, changes, printed.limit, order=order)


def plain_value(name: str, shown: str | None = None) -> exp.Expr:
    """A column of terms as plain values, under its own name or another one."""
    return exp.alias_(exp.func("plain_value", column(name)), shown or name, quoted=True)


def exact_terms(variables: Sequence[str]) -> list[exp.Expr]:
    """The exact terms as columns `<variable>_term`.

    A variable x has none if there is a variable x_term, perhaps of an earlier text of the query.
    """
    taken = {name.lower() for name in variables}
    free = [name for name in variables if f"{name}_term".lower() not in taken]
    return [exp.alias_(column(name), f"{name}_term", quoted=True) for name in free]


def _state_at(
    log: AnswerLog,
    moment: Moment,
    values: Iterable[exp.Expr],
    after_weight: Iterable[exp.Expr] = (),
) -> exp.Select:
    state = log.state(*values, after_weight=after_weight)
    if moment.epoch is not None:
        state = state.where(column("epoch") <= number(moment.epoch))
    if moment.instant is not None:
        state = state.where(column("event_time") <= time_of(number(moment.instant)))
    return state


def existing_log(bindings: Bindings, lake: Lake, query: str) -> AnswerLog:
    """Make the published log of a query readable by DuckDB.

    Raises:
        WeirError: the query has no published answer.
    """
    log = register_log(bindings, lake, query)
    if log is None:
        raise WeirError(f"{query} has no published answer", lake.root, "`weir run` creates one.")
    return log


def _variables(log: AnswerLog, lake: Lake, moment: Moment) -> tuple[str, ...]:
    """The columns of the text that the query had at a moment.

    Of a query over streams at an epoch, those of all texts: its rows do not begin at a base.
    """
    if moment.over_streams and moment.epoch is not None:
        return log.variables
    return log.variables_at(lake, moment.epoch)


def fetch(
    connection: duckdb.DuckDBPyConnection,
    query: exp.Select,
    limit: int,
    *,
    order: Sequence[exp.Expr],
) -> Rows:
    """The columns and rows of a query, at most `limit` rows (0 = all), ordered by `order`."""
    ordered = query.order_by(*order) if order else query
    limited = ordered.limit(limit) if limit else ordered
    result = connection.execute(limited.sql(dialect="duckdb"))
    return tuple(name for name, *_ in result.description), result.fetchall()
