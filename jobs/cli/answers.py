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
Limit = Annotated[int, typer.Option(min=0, help="Maximum number of rows; 0 = all.")]


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

    `weight` is the multiplicity of a row: SPARQL answers are bags unless the query says DISTINCT.
    """
    from jobs.cli.answer_logs import answer_at
    from jobs.cli.views import CURRENT

    options = Options.of(context)
    settings = options.settings()
    _require_published(settings, query)
    if at is not None:
        _require_published_to(settings, query, at)
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
    """Print the published changes of a query: rows that appeared (+) or vanished (-), by epoch."""
    from jobs.cli.answer_logs import changes_between
    from jobs.cli.views import CHANGES

    options = Options.of(context)
    settings = options.settings()
    _require_published(settings, query)
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


def _require_published(settings: Settings, query: str) -> None:
    from jobs.catalog.catalog import Catalog
    from jobs.catalog.names import is_declared
    from jobs.cli.views import published_queries
    from jobs.errors import ConfigurationError

    published = published_queries(settings)
    if query in published:
        return
    if is_declared(settings.queries, query):
        # If its file cannot be used, this says why.
        Catalog.of(settings).member(query)
        raise ConfigurationError(
            f"{query} has no published answer yet", settings.lake, "`weir run` creates one."
        )
    known = ", ".join(published) or "none yet"
    raise ConfigurationError(
        f"there is no query {query}", str(settings.queries), f"Published: {known}."
    )


def _require_published_to(settings: Settings, query: str, epoch: int) -> None:
    from jobs.errors import ConfigurationError
    from jobs.progress.completion import Completion

    completion = Completion.read(settings.open_lake())
    newest = completion.head
    if epoch > newest:
        raise ConfigurationError(
            f"epoch {epoch} does not exist yet: the newest is {newest}",
            settings.lake,
            "Without --at, the newest answer is printed.",
        )
    published = completion.published(query)
    if published is not None and epoch > published.epoch:
        raise ConfigurationError(
            f"the answer of {query} is not known at epoch {epoch}: it is published up to epoch"
            f" {published.epoch}",
            settings.lake,
            "`weir run` publishes later epochs, unless a check holds them (`weir status`). Without"
            " --at, the newest answer is printed.",
        )


def _one_more(limit: int) -> int:
    """The limit of the query: one row more, to know whether rows are left out."""
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
