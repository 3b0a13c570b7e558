"""`weir remotes`: the declared remotes, who asks them, and their Airflow pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.project import open_lake

if TYPE_CHECKING:
    from weir.remotes.schedule import Scheduled

remotes = typer.Typer(help="List the declared remotes, and the queries that ask them.")

_UNITS = {"keys": "keys", "requests": "requests", "bytes": "B", "seconds": "s"}


@remotes.callback(invoke_without_command=True)
def listed(context: typer.Context) -> None:
    """List the declared remotes, and the queries that ask them."""
    if context.invoked_subcommand is not None:
        return
    options = Options.of(context)
    settings = options.settings()
    from weir.ingest.sources.all_sources import check_names
    from weir.remotes.fetching import utc_now
    from weir.remotes.schedule import schedule

    check_names(settings)
    rows = [_row(scheduled) for scheduled in schedule(settings, open_lake(settings), utc_now())]
    if options.output is Output.json:
        print_json(rows)
    elif rows:
        shown = [row | _texts(row) for row in rows]
        print_rows(options.output, tuple(shown[0]), shown, title="")
    else:
        print_line(f"No remote is declared in {settings.remotes}.")


@remotes.command()
def pools(context: typer.Context) -> None:
    """Print the Airflow pools of remotes and traversals, as JSON for `airflow pools import`."""
    settings = Options.of(context).settings()
    from weir.traversals.names import declared_to_refresh

    # Airflow accepts a file without pools.
    print_json(
        {
            remote.pool: {
                "slots": 1,
                "description": f"Weir asks {remote.name} one evaluation at a time",
                "include_deferred": False,
            }
            for remote in declared_to_refresh(settings)
        }
    )


def _row(scheduled: Scheduled) -> dict[str, Any]:
    remote = scheduled.remote
    asked: dict[str, list[str]] = {}
    for asker in scheduled.askers:
        asked.setdefault(asker.block.pattern, []).append(asker.query.name)
    return {
        "remote": remote.name,
        "iri": remote.iri,
        "every": remote.every,
        "policy": remote.rule.name,
        "budget": remote.budget.model_dump(),
        "patterns": {pattern: [*dict.fromkeys(names)] for pattern, names in asked.items()},
        "queries": [*dict.fromkeys(asker.query.name for asker in scheduled.askers)],
        # A remote without queries is not asked.
        "next_at": scheduled.asked_at if scheduled.askers else None,
    }


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    budget = ", ".join(f"{row['budget'][unit]:,} {name}" for unit, name in _UNITS.items())
    return {
        "budget": budget,
        "patterns": len(row["patterns"]),
        "queries": ", ".join(row["queries"]) or "none",
    }
