"""`weir show`, `weir log`, `weir sql`: read published answers without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.cli.options import Options
from jobs.cli.output import print_rows

if TYPE_CHECKING:
    from jobs.settings import Settings

Query = Annotated[str, typer.Argument(help="Name of a query.", show_default=False)]
Terms = Annotated[
    bool, typer.Option("--terms", help="Exact terms in N-Triples form instead of plain values.")
]
Limit = Annotated[int, typer.Option(min=0, help="At most so many rows; 0 = all.")]


def show(
    context: typer.Context,
    query: Query,
    at: Annotated[
        int | None, typer.Option(min=0, help="Answer at this epoch instead of the newest.")
    ] = None,
    limit: Limit = 100,
    terms: Terms = False,
) -> None:
    """Print the published answer of a query.

    `weight` is how often a row is there: SPARQL answers are bags unless the query says DISTINCT.
    """
    from jobs.cli.views import CURRENT, answer_at

    options = Options.of(context)
    settings = options.settings()
    _must_be_published(settings, query)
    if at is not None:
        _must_have_come(settings, query, at)
    columns, rows = answer_at(settings, query, at, terms=terms, limit=_one_more(limit))
    _print(options, columns, rows, limit, title=f"{query}{CURRENT}")


def log(
    context: typer.Context,
    query: Query,
    from_epoch: Annotated[int, typer.Option("--from", min=0, help="First epoch.")] = 0,
    to_epoch: Annotated[int | None, typer.Option("--to", min=0, help="Last epoch.")] = None,
    limit: Limit = 100,
    terms: Terms = False,
) -> None:
    """Print the published changes of a query: what appeared (+) or vanished (-) at which epoch."""
    from jobs.cli.views import CHANGES, changes_between

    options = Options.of(context)
    settings = options.settings()
    _must_be_published(settings, query)
    columns, rows = changes_between(
        settings, query, from_epoch, to_epoch, terms=terms, limit=_one_more(limit)
    )
    _print(options, columns, rows, limit, title=f"{query}{CHANGES}")


def sql(
    context: typer.Context,
    statement: Annotated[str, typer.Argument(help="A SELECT over the views.", show_default=False)],
) -> None:
    """Run SQL over the answers (DuckDB, no Spark).

    Views: <query>_current, <query>_changes, quads_current, triples_current, transactions, runs,
    quality, rejected. A variable is a plain value; <variable>_term is the exact term.
    """
    from jobs.cli.views import query_lake

    options = Options.of(context)
    columns, rows = query_lake(options.settings(), statement)
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    print_rows(options.output, columns, found, title="")


def _must_be_published(settings: Settings, query: str) -> None:
    from jobs.cli.views import published_queries
    from jobs.errors import ConfigurationError

    published = published_queries(settings)
    if query in published:
        return
    if (settings.queries / f"{query}.rq").is_file():
        raise ConfigurationError(
            f"{query} has no published answer yet", settings.lake, "`weir run` makes one."
        )
    known = ", ".join(published) or "none yet"
    raise ConfigurationError(
        f"there is no query {query}", str(settings.queries), f"Published: {known}."
    )


def _must_have_come(settings: Settings, query: str, epoch: int) -> None:
    from jobs.errors import ConfigurationError
    from jobs.progress.watermarks import head, mark, untouched

    lake = settings.open_lake()
    newest = head(lake)
    if epoch > newest:
        raise ConfigurationError(
            f"there is no epoch {epoch} yet: the newest is {newest}",
            settings.lake,
            "Without --at you get the newest answer.",
        )
    ranges = untouched(lake, "publish").get(query, ())
    published = mark(lake, f"answers/{query}", "publish", ranges)
    if published is not None and epoch > published.watermark:
        raise ConfigurationError(
            f"the answer of {query} is not known at epoch {epoch}: it is published up to epoch"
            f" {published.watermark}",
            settings.lake,
            "`weir run` takes it on (`weir status` tells what holds it); without --at you get the"
            " newest answer.",
        )


def _one_more(limit: int) -> int:
    """One row more tells whether there are more."""
    return limit + 1 if limit else 0


def _print(
    options: Options,
    columns: tuple[str, ...],
    rows: list[tuple[Any, ...]],
    limit: int,
    *,
    title: str,
) -> None:
    shown = rows[:limit] if limit else rows
    if len(shown) < len(rows):
        title += f", the first {limit} rows (--limit 0 for all)"
    found = [dict(zip(columns, row, strict=True)) for row in shown]
    print_rows(options.output, columns, found, title=title)
