"""`weir status`, `weir explain`, `weir report`: the state and the plan of queries."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.options import Options, Output
from jobs.cli.output import print_json, print_line, print_rows

_NARROW = ("query", "state", "watermark", "lag_epochs", "lag", "rows", "mode")
"""The columns of `weir status` as a table, which fit into 80 characters; JSON has all."""


def status(context: typer.Context) -> None:
    """Print how far each query is maintained and published, and what the last run did."""
    from jobs.cli.query_status import QueryStatus, query_statuses

    options = Options.of(context)
    rows = [asdict(each) for each in query_statuses(options.settings())]
    if options.output is Output.json:
        print_rows(options.output, tuple(QueryStatus.__dataclass_fields__), rows, title="")
    elif rows:
        print_rows(options.output, _NARROW, rows, title="")
        for row in rows:
            if row["reason"]:
                print_line(f"{row['query']}: {row['reason']}")
    else:
        print_line("No query is registered: write one into the folder `queries`.")


def explain(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Name of a query.", show_default=False)],
    with_sql: Annotated[bool, typer.Option("--sql", help="Print the SQL of one run, too.")] = False,
) -> None:
    """Print how a query is maintained: the class of each part, the plan, which nodes are stored."""
    from jobs.catalog.catalog import Catalog
    from jobs.cli.explanation import explain_query
    from jobs.errors import ConfigurationError

    options = Options.of(context)
    settings = options.settings()
    catalog = Catalog.of(settings)
    try:
        found = catalog.member(query)
    except KeyError:
        known = ", ".join(catalog.names) or "none yet"
        raise ConfigurationError(
            f"there is no query {query}", str(settings.queries), f"Registered: {known}."
        ) from None
    explanation = explain_query(found, sql=with_sql)
    if options.output is Output.json:
        print_json({"query": query, "explanation": explanation})
    else:
        print_line(explanation)


def report(
    context: typer.Context,
    file: Annotated[Path, typer.Option("--to", help="The page to write.")] = Path("weir.html"),
) -> None:
    """Write one HTML page, which works offline: queries, changes per epoch, runs, checks."""
    from jobs.cli.report_page import report_page

    settings = Options.of(context).settings()
    file.write_text(report_page(settings), encoding="utf-8")
    print_line(f"Wrote {file}.")
