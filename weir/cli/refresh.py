"""`weir refresh`: ask remotes for the keys that answers depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output, named
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.errors import BusyError
from weir.lake.names import Name

if TYPE_CHECKING:
    from weir.refresh.stage import RefreshedRemote

_COUNTS = ("elected", "answered", "changed", "unchanged", "gone", "failed", "never_asked")
_UNITS = ("keys", "requests", "bytes", "seconds")


def refresh(
    context: typer.Context,
    remotes: Annotated[
        list[Name] | None,
        typer.Argument(
            parser=named,
            metavar="[REMOTE]...",
            help="Names of remotes; default: all.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Ask the remotes that are due, within their budgets; the next run ingests what they say.

    A remote that cannot be asked does not keep the others from being asked. What is wrong with one
    is printed below the table; `weir freshness` fails if its answers are too old.
    """
    options = Options.of(context)
    from weir.errors import worst_of
    from weir.refresh.stage import refresh_remotes
    from weir.stage import new_run_id

    run_id = new_run_id("refresh")
    with options.project() as project, progress("refresh") as report:
        result = refresh_remotes(project, run_id, report, names=remotes or ())
    rows = [refreshed_row(remote) for remote in result.remotes]
    followed = [traversal.row for traversal in result.traversals]
    if options.output is Output.json:
        errors = [str(error) for error in result.errors]
        print_json({"run_id": run_id, "remotes": rows, "traversals": followed, "errors": errors})
        rows, followed = [], []
    if rows:
        shown = [_shown(row) for row in rows]
        print_rows(options.output, [*shown[0]], shown, title=f"Run {run_id}")
        for row in rows:
            if row["reason"]:
                print_line(f"{row['remote']}: {row['reason']}")
    if followed:
        print_rows(options.output, [*followed[0]], followed, title="" if rows else f"Run {run_id}")
    if not (result.remotes or result.traversals):
        print_line(f"No remote is declared in {project.settings.remotes}.")
    if result.errors:
        raise worst_of(result.errors)


def refreshed_row(refreshed: RefreshedRemote) -> dict[str, Any]:
    """The newest evaluation of a remote, summed over its patterns; null if there is none.

    Keys: remote, outcome, evaluation, round; numbers of keys (`asked`, `answered`, ...); used and
    budget by unit; state, reason and next_at.
    """
    patterns, worst = refreshed.rows, refreshed.worst
    row: dict[str, Any] = {
        "remote": refreshed.remote,
        "outcome": _outcome(refreshed),
        "evaluation": None,
        "round": None,
        "asked": None,
        **dict.fromkeys(_COUNTS),
        "used": None,
        "budget": None,
        "state": None,
        "reason": None,
        "next_at": refreshed.next_at,
    }
    if worst is None:
        return row
    first = patterns[0]
    counts = {name: sum(pattern[name] for pattern in patterns) for name in _COUNTS}
    return row | {
        "evaluation": first["evaluation"],
        "round": first["round"],
        "asked": counts["elected"] - sum(pattern["not_asked"] for pattern in patterns),
        **counts,
        "used": {unit: first[f"{unit}_used"] for unit in _UNITS},
        "budget": {unit: first[f"{unit}_budget"] for unit in _UNITS},
        "state": worst["state"],
        "reason": worst["reason"],
    }


def _outcome(refreshed: RefreshedRemote) -> str:
    if refreshed.error is not None:
        return "busy" if isinstance(refreshed.error, BusyError) else "failed"
    if refreshed.is_new:
        return "evaluated"
    # Without a time, no query needs it.
    return "not due" if refreshed.next_at is not None else "not needed"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a table shows it: used and budget in one cell per unit."""
    used, budget = row["used"], row["budget"]
    counts = ("asked", "answered", "changed", "failed", "never_asked")
    changed = None if row["changed"] is None else row["changed"] + row["gone"]
    units = {unit: used and f"{_amount(used[unit])}/{_amount(budget[unit])}" for unit in _UNITS}
    return {
        **{name: row[name] for name in ("remote", "outcome", "evaluation", *counts)},
        "changed": changed,
        **units,
        **{name: row[name] for name in ("state", "next_at")},
    }


def _amount(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
