"""`weir ls`: what is declared, and which of it a selection names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows

if TYPE_CHECKING:
    from weir.definitions.catalog import Catalog
    from weir.pending import Pending
    from weir.selection import Candidate

Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CRITERIA",
        help="Only these: names, patterns, tag:, owner:, kind:, state:. A comma means 'and', a"
        " space 'or'.",
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="CRITERIA", help="Without these; as --select.")
]
_COLUMNS = ("name", "kind", "state", "owner", "tags", "description")


def ls(context: typer.Context, select: Select = None, exclude: Exclude = None) -> None:
    """List what is declared: queries and programs, with owner, tags and state."""
    from weir.pending import Pending

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


def names_of(
    pending: Pending, states: Mapping[str, str], select: Sequence[str], exclude: Sequence[str]
) -> list[str]:
    """The names of the selected definitions, in order.

    Args:
        pending: of the project.
        states: of the definitions that there are to select from, by name.
        select: values of `--select`.
        exclude: values of `--exclude`.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    from weir.remotes.readiness import is_edited
    from weir.selection import selected

    edited = {m.name for m in pending.catalog.members if is_edited(m, pending.completion)}
    with_edits = {
        name: {state, "modified"} if name in edited else {state} for name, state in states.items()
    }
    return selected(candidates(pending.catalog, with_edits), select, exclude)


def candidates(catalog: Catalog, states: Mapping[str, Collection[str]]) -> list[Candidate]:
    """What there is to select from.

    Args:
        catalog: says the kind, the owner and the tags of definitions.
        states: those of each definition, by name; its file may be gone.
    """
    from weir.selection import Candidate

    kinds = {declared.name: declared.kind.name for declared in catalog.declarations}
    members = {member.name: member for member in catalog.members}
    listed = []
    for name, own in sorted(states.items()):
        member = members.get(name)
        owner, tags = ("", ()) if member is None else (member.owner, member.tags)
        listed.append(Candidate(name, kinds.get(name, ""), owner, tags, frozenset(own)))
    return listed


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
                "reads": sorted(member.reads) if member else [],
                "streams": sorted({c.name for c in member.axis.windows}) if member else [],
                "traversals": [*member.traversals] if member else [],
                "file": str(declared[name].file),
                "reason": state.reason,
            }
        )
    return rows
