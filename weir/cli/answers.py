"""`weir show`, `weir log`, `weir sql`: read published answers without Spark."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output, QueryName
from weir.cli.output import print_rows
from weir.project import open_lake

if TYPE_CHECKING:
    from weir.answers.logs import Printed, Rows
    from weir.answers.moments import Moment
    from weir.settings import Settings

Terms = Annotated[
    bool, typer.Option("--terms", help="Exact terms in N-Triples form instead of plain values.")
]
Full = Annotated[bool, typer.Option("--full", help="IRIs in full, not shortened by prefixes.")]
Limit = Annotated[int, typer.Option(min=0, help="Maximum number of rows; 0 = all.")]

At = Annotated[
    str | None,
    typer.Option(
        help="Answer at this epoch instead of the newest; of a query over streams, at this time"
        " with its zone."
    ),
]
AsOf = Annotated[
    int | None, typer.Option("--as-of", min=0, help="Answer as it was known at this epoch.")
]


def show(
    context: typer.Context,
    query: QueryName,
    at: At = None,
    epoch: AsOf = None,
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Of a query over streams: since and until each row held."),
    ] = False,
    held: Annotated[
        bool, typer.Option("--held", help="The answer that is held back, and why.")
    ] = False,
    limit: Limit = 100,
    terms: Terms = False,
    full: Full = False,
) -> None:
    """Print the published answer of a query.

    `weight` is the multiplicity of a row: SPARQL answers are bags unless the query says DISTINCT.
    With `--output json`, the newest answer has the numbers and truth values of `current/QUERY`, if
    there is such a table.
    """
    from weir.answers.logs import CURRENT, INTERVALS, answer_at, intervals_at, require_published
    from weir.answers.moments import moment_of

    options = Options.of(context)
    settings = options.settings()
    printed = _printed(options, settings, query, limit, terms=terms, full=full)
    if held:
        _show_held(options, settings, query, (at, epoch, intervals or None), printed)
        return
    require_published(settings, query)
    moment = moment_of(settings, query, at, epoch)
    if intervals:
        _require_intervals(query, at, over_streams=moment.over_streams)
        columns, rows = intervals_at(settings, query, moment, printed)
        title = f"{query}{INTERVALS}" + ("" if epoch is None else f", as of epoch {epoch}")
        _print(options, columns, rows, printed, title=title, times=("since", "until"))
        return
    if options.output is Output.json and at is None and epoch is None and not terms:
        columns, rows = _typed(settings, query, moment, printed)
    else:
        columns, rows = answer_at(settings, query, moment, printed)
    _print(options, columns, rows, printed, title=moment.title or f"{query}{CURRENT}")


def _typed(settings: Settings, query: str, moment: Moment, printed: Printed) -> Rows:
    """The newest answer with the values of its table, or with plain values if it has none."""
    from weir.answers.logs import answer_at
    from weir.answers.typed_views import current_layout, with_types
    from weir.progress.completion import Completion

    layout = current_layout(Completion.read(open_lake(settings)), query)
    if layout is None:
        return answer_at(settings, query, moment, printed)
    return with_types(layout, answer_at(settings, query, moment, replace(printed, terms=True)))


def log(
    context: typer.Context,
    query: QueryName,
    from_epoch: Annotated[int, typer.Option("--from", min=0, help="First epoch.")] = 0,
    to_epoch: Annotated[int | None, typer.Option("--to", min=0, help="Last epoch.")] = None,
    limit: Limit = 100,
    terms: Terms = False,
    full: Full = False,
) -> None:
    """Print the published changes of a query: rows that appeared (+) or vanished (-), by epoch.

    `changed by` is the change set of the epoch, or an edit of the query: its rows are no change of
    the data, and have no `event_time`. Of a query over streams, `event_time` is the instant of the
    change, and `correction` says whether the answer at that instant was final before the epoch.
    """
    from weir.answers.causes import CAUSE, Causes
    from weir.answers.logs import CHANGES, changes_between, require_published
    from weir.answers.moments import published_over_streams
    from weir.progress.completion import Completion

    options = Options.of(context)
    settings = options.settings()
    require_published(settings, query)
    printed = _printed(options, settings, query, limit, terms=terms, full=full)
    columns, rows = changes_between(settings, query, from_epoch, to_epoch, printed)
    title = f"{query}{CHANGES}"
    lake = open_lake(settings)
    answer = published_over_streams(settings, Completion.read(lake), query)
    epoch, time = columns.index("epoch"), columns.index("event_time")
    epochs = {row[epoch] for row in rows}
    causes = Causes.of(lake, query, epochs, over_streams=answer is not None)
    rows = [(*row, causes.of_row(row[epoch], row[time])) for row in rows]
    columns = (*columns, CAUSE)
    if answer is None:
        _print(options, columns, rows, printed, title=title)
        return
    marked = [(*row, answer.is_correction(row[epoch], row[time])) for row in rows]
    times = ("event_time",)
    _print(options, (*columns, "correction"), marked, printed, title=title, times=times)


def sql(
    context: typer.Context,
    statement: Annotated[str, typer.Argument(help="A SELECT over the views.", show_default=False)],
) -> None:
    """Run SQL over the answers (DuckDB, no Spark).

    Views: <query>_current, <query>_changes, <query>_intervals, <stream>_events, quads_current,
    triples_current, transactions, stream_epochs, late, runs, quality, rejected. A variable is a
    plain value; <variable>_term is the exact term.
    """
    from weir.answers.sql import query_lake

    options = Options.of(context)
    columns, rows = query_lake(options.settings(), statement)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    print_rows(options.output, columns, records, title="")


def _show_held(
    options: Options,
    settings: Settings,
    query: str,
    others: tuple[object, ...],
    printed: Printed,
) -> None:
    from weir.answers.held import held_answer
    from weir.errors import ConfigurationError

    if any(option is not None for option in others):
        raise ConfigurationError(
            "--held prints the newest state alone", "", "Leave --at, --as-of and --intervals out."
        )
    (columns, rows), reason = held_answer(settings, query, printed)
    _print(options, columns, rows, printed, title=f"{query}, held back: {reason}")


def _require_intervals(query: str, at: str | None, *, over_streams: bool) -> None:
    from weir.errors import ConfigurationError

    if not over_streams:
        raise ConfigurationError(
            f"{query} reads no stream, so its rows have epochs, not times",
            "",
            f"`weir log {query}` prints at which epochs rows appeared and vanished.",
        )
    if at is not None:
        raise ConfigurationError(
            "--intervals prints all times, and --at one of them", "", "Give one of the two."
        )


def _printed(
    options: Options, settings: Settings, query: str, limit: int, *, terms: bool, full: bool
) -> Printed:
    """How the rows of a query are printed: one more than `limit` shows that rows are left out.

    IRIs are shortened for people alone.
    """
    from weir.answers.logs import Printed
    from weir.answers.prefixes import prefixes_of

    in_full = terms or full or options.output is not Output.table
    prefixes = {} if in_full else prefixes_of(settings, query)
    return Printed(limit + 1 if limit else 0, terms, prefixes)


def _print(
    options: Options,
    columns: tuple[str, ...],
    rows: list[tuple[Any, ...]],
    printed: Printed,
    *,
    title: str,
    times: Collection[str] = (),
) -> None:
    """Print rows; a table shows the columns `times` with all digits and the zone."""
    from weir.lake.instants import time_text

    limit = printed.limit - 1 if printed.limit else len(rows)
    shown = rows[:limit]
    if len(shown) < len(rows):
        first = f"the first {limit} rows (--limit 0 for all)"
        title += f", {first}"
        if options.output is Output.json:
            # JSON has no place for it, and who reads it may take these for all.
            print(f"note: {first}", file=sys.stderr)
    records = [dict(zip(columns, row, strict=True)) for row in shown]
    if options.output is Output.table:
        for row in records:
            row |= {name: time_text(row[name]) for name in times if row[name] is not None}
    print_rows(options.output, columns, records, title=title)
