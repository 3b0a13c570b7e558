"""`weir ls`: what is declared, and which of it a selection names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output, declared_names
from weir.cli.output import print_json, print_line, print_rows

if TYPE_CHECKING:
    from weir.pending import Pending

Select = Annotated[
    list[str] | None,
    typer.Option(
        autocompletion=declared_names,
        metavar="CRITERIA",
        help="Only these: names, patterns, tag:, owner:, source:, kind:, state:; with + up- or"
        " downstream. A comma means 'and', a space 'or'.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        autocompletion=declared_names,
        metavar="CRITERIA",
        help="Without these; as --select.",
    ),
]
_COLUMNS = ("name", "kind", "state", "owner", "tags", "description")


def ls(context: typer.Context, select: Select = None, exclude: Exclude = None) -> None:
    """List what is declared, with owner, tags and state."""
    from weir.pending import Pending
    from weir.selection import names_of

    options = Options.of(context)
    with options.project() as project:
        pending = Pending(project)
        states = {name: state.state for name, state in pending.definitions.items()}
        rows = _rows(pending, names_of(pending, states, select or (), exclude or ()))
    if options.output is Output.json:
        print_json(rows)
    elif rows:
        shown = [{**row, "tags": ", ".join(row["tags"]) or None} for row in rows]
        print_rows(options.output, _COLUMNS, shown, title="")
    elif select or exclude:
        print_line("Nothing is selected.")
    else:
        print_line("Nothing is declared: write a query into the folder `queries`.")


def _rows(pending: Pending, names: Sequence[str]) -> list[dict[str, Any]]:
    declared = {d.name: d for d in pending.catalog.declarations}
    members = {member.name: member for member in pending.catalog.members}
    rows = []
    for name in names:
        state, member = pending.definitions[name], members.get(name)
        rows.append(
            {
                "name": name,
                "kind": declared[name].kind.name,
                "state": state.state,
                "owner": member.owner or None if member else None,
                "tags": [*member.tags] if member else [],
                "description": member.description or None if member else None,
                "columns": [*member.output.columns] if member else [],
                "reads": [*member.logs] if member else [],
                "streams": sorted({c.name for c in member.axis.windows}) if member else [],
                "traversals": [*member.traversals] if member else [],
                "file": str(declared[name].file),
                "reason": state.reason,
            }
        )
    return rows
