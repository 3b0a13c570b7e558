"""What a message says of an answer: how many rows appeared and vanished, and the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from weir.answers.logs import exact_terms, plain_value
from weir.answers.plain_values import connect_with_plain_values
from weir.compute.sql import bigint, column, columns, number, rows_of, select, sum_of
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.change_feed import ChangeFeedGap, feed_by_files
from weir.lake.delta.file_rows import columns_of, rows_of_files
from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS
from weir.settings import Settings

_LOG = "appended"


@dataclass(frozen=True, slots=True)
class Span:
    """The commits of an answer table that a message is about.

    Attributes:
        query: whose answer it is.
        table_id: of the Delta table; another one was made after the answer was dropped.
        after: the last version that earlier messages are about; -1 if none is.
        until: the last version of the message.
    """

    query: str
    table_id: str
    after: int
    until: int


@dataclass(frozen=True, slots=True)
class AnswerNews:
    """What changed in an answer.

    Attributes:
        query: whose answer it is.
        epochs: the first and the last epoch of the rows; None if they are not known any more.
        appeared: copies of rows that appeared; None if they are not known any more.
        vanished: copies of rows that vanished.
        rows: the first of them: epoch, weight, event_time, a column per variable, exact terms.
        left_out: further rows.
    """

    query: str
    epochs: tuple[int, int] | None
    appeared: int | None
    vanished: int | None
    rows: Sequence[Mapping[str, Any]] = ()
    left_out: int = 0

    @property
    def is_any(self) -> bool:
        """Whether anything changed, as far as is known."""
        return self.appeared is None or bool(self.appeared or self.vanished)

    def to_json(self) -> dict[str, Any]:
        """The form in a message."""
        return {
            "query": self.query,
            "epochs": None if self.epochs is None else [*self.epochs],
            "appeared": self.appeared,
            "vanished": self.vanished,
            "rows": [dict(row) for row in self.rows],
            "rows_left_out": self.left_out,
        }


def news_of(settings: Settings, lake: Lake, span: Span, most: int) -> AnswerNews:
    """What some commits appended to the table of an answer.

    Args:
        settings: of the project.
        lake: has the table.
        span: the commits.
        most: rows that are in the message.
    """
    table = ANSWERS.name(span.query)
    stored = lake.open(table)
    if stored is None or str(stored.metadata().id) != span.table_id:
        # The answer was dropped since.
        return AnswerNews(span.query, None, None, None)
    try:
        feed = feed_by_files(lake, table, span.after + 1, span.until)
    except ChangeFeedGap:
        return AnswerNews(span.query, None, None, None)
    schema = columns_of(stored)
    bindings = Bindings(connect_with_plain_values(settings))
    names = [name for files in feed for name in files.names]
    bindings.rows(_LOG, rows_of_files(lake, table, names, schema))
    weight, epoch = column("weight"), column("epoch")
    positive = exp.func("greatest", weight, number(0))
    negative = exp.func("greatest", exp.Neg(this=weight), number(0))
    totals = select(
        exp.Count(this=exp.Star()),
        exp.Min(this=epoch),
        exp.Max(this=epoch),
        bigint(sum_of(positive)),
        bigint(sum_of(negative)),
        from_=rows_of(_LOG),
    )
    variables = [name for name in schema.names if name not in ANSWER_COLUMNS]
    first = (
        select(
            *columns(ANSWER_COLUMNS),
            *map(plain_value, variables),
            *exact_terms(variables),
            from_=rows_of(_LOG),
        )
        .order_by(exp.var("ALL"))
        .limit(most)
    )
    with lake.using(table):
        execute = bindings.connection.execute
        ((rows, since, to, appeared, vanished),) = execute(totals.sql(dialect="duckdb")).fetchall()
        shown = [*_records(execute(first.sql(dialect="duckdb")))] if most else []
    if not rows:
        return AnswerNews(span.query, None, 0, 0)
    return AnswerNews(span.query, (since, to), appeared, vanished, shown, rows - len(shown))


def _records(result: Any) -> Iterator[dict[str, Any]]:
    names = [name for name, *_ in result.description]
    for row in result.fetchall():
        yield {
            name: value.isoformat() if hasattr(value, "isoformat") else value
            for name, value in zip(names, row, strict=True)
        }
