"""`weir diff`: what the answers of edited queries would gain and lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.answers import Full, Terms
from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress

if TYPE_CHECKING:
    from weir.definitions.catalog import Catalog
    from weir.project import Project
    from weir.review.differences import Difference
    from weir.review.edits import Edit
    from weir.settings import Settings

FAULTS = ("added", "edited", "removed", "gained", "lost", "held")
"""What `--fail-on` may name."""
_SUMMARY = ("query", "change", "gained", "lost", "note")


def diff(
    context: typer.Context,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            help="Compare with this commit, tag or branch of git, not with what is published.",
        ),
    ] = None,
    select: Select = None,
    exclude: Exclude = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="FAULTS",
            help="Exit with 1 if anything is one of: added,edited,removed,gained,lost,held.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=0, help="Most rows that are shown of each sign; 0 = all.")
    ] = 5,
    terms: Terms = False,
    full: Full = False,
) -> None:
    """Print what the answers of added, edited and removed queries would gain and lose.

    It is what the next run publishes if no source has anything new. Nothing is written to the lake.
    With a query that cannot be used or computed, the exit code is 1.
    """
    options = Options.of(context)
    watched = _watched(fail_on)
    with options.project() as project, progress("diff") as report:
        from weir.review.differences import differences

        edits = _edits(project, base, select or (), exclude or ())
        changed = [*differences(project, edits, limit, report)] if edits else []
    shown = {
        difference.name: _shown_rows(options, project.settings, difference, terms, full)
        for difference in changed
    }
    if options.output is Output.json:
        print_json([_json(difference, shown[difference.name]) for difference in changed])
    else:
        _print(options, changed, shown)
    is_wrong = any(difference.error for difference in changed)
    raise typer.Exit(
        1 if is_wrong or watched & {f for difference in changed for f in _faults(difference)} else 0
    )


def _edits(
    project: Project, base: str | None, select: Sequence[str], exclude: Sequence[str]
) -> list[Edit]:
    from weir.definitions.catalog import Catalog
    from weir.progress.completion import Completion
    from weir.review.computed import newest_epoch
    from weir.review.edits import edits_of_base, edits_of_published
    from weir.review.revisions import definitions_at

    settings, lake = project.settings, project.open_lake()
    newest_epoch(lake)
    catalog, completion = Catalog.of(settings), Completion.read(lake)
    with nullcontext(None) if base is None else definitions_at(settings, base) as before:
        if before is None:
            edits = [*edits_of_published(settings, catalog, completion)]
        else:
            edits = [*edits_of_base(settings, catalog, before, completion)]
    if not (select or exclude):
        return edits
    names = _selected(settings, catalog, edits, select, exclude)
    return [edit for edit in edits if edit.name in names]


def _selected(
    settings: Settings,
    catalog: Catalog,
    edits: Sequence[Edit],
    select: Sequence[str],
    exclude: Sequence[str],
) -> set[str]:
    from weir.selection import names_in

    words = {"added": "new", "edited": "modified", "removed": "removed", "recomputed": "modified"}
    states: dict[str, list[str]] = {name: [] for name in catalog.names}
    states |= {edit.name: [words[edit.change]] for edit in edits}
    return {*names_in(settings, catalog, states, select, exclude)}


def _watched(fail_on: str | None) -> frozenset[str]:
    from weir.errors import ConfigurationError

    names = [name.strip() for name in (fail_on or "").split(",") if name.strip()]
    for name in names:
        if name not in FAULTS:
            raise ConfigurationError(
                f"--fail-on {name}: no such fault", "", f"Known: {', '.join(FAULTS)}."
            )
    return frozenset(names)


def _faults(difference: Difference) -> set[str]:
    faults: set[str] = {difference.change} if difference.change != "recomputed" else set()
    return faults | {
        name
        for name, is_so in (
            ("gained", difference.gained),
            ("lost", difference.lost),
            ("held", difference.note),
        )
        if is_so
    }


def _shown_rows(
    options: Options, settings: Settings, difference: Difference, terms: bool, full: bool
) -> list[dict[str, Any]]:
    """The rows of a difference as they are printed: the weight, then a value for each column."""
    import pyarrow as pa

    from weir.answers.logs import Printed
    from weir.answers.prefixes import prefixes_of
    from weir.compute.sql import columns, rows_of, select
    from weir.lake.instants import time_text
    from weir.review.differences import TIME

    if not difference.rows:
        return []
    in_full = terms or full or options.output is Output.json
    prefixes = {} if in_full else prefixes_of(settings, difference.name)
    printed = Printed(0, terms, prefixes)
    bindings = printed.bindings(settings)
    terms_only = [name for name in difference.columns if name != TIME]
    cells = {
        name: [row[i] for row in difference.rows]
        for i, name in enumerate(("weight", *difference.columns))
    }
    texts = {name: pa.array(cells[name], pa.string()) for name in terms_only}
    bindings.rows("rows", pa.table({"number": pa.array(range(len(difference.rows))), **texts}))
    values = printed.values(terms_only)
    query = select(
        *columns(["number"]), *values, from_=rows_of("rows"), order_by=columns(["number"])
    )
    read = bindings.connection.execute(query.sql(dialect="duckdb")).fetchall()
    for i, name in enumerate(terms_only, 1):
        cells[name] = [row[i] for row in read]
    if TIME in cells and options.output is not Output.json:
        cells[TIME] = [time_text(time) for time in cells[TIME]]
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _json(difference: Difference, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "query": difference.name,
        "change": difference.change,
        "gained": difference.gained,
        "lost": difference.lost,
        "note": difference.note or None,
        "error": difference.error or None,
        "rows": [*rows],
    }


def _print(
    options: Options,
    changed: Sequence[Difference],
    shown: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    if not changed:
        print_line("No query differs.")
        return
    summary = [
        {
            **_json(difference, ()),
            "note": difference.error or difference.note or _UNTIL_DROP.get(difference.change),
        }
        for difference in changed
    ]
    print_rows(options.output, _SUMMARY, summary, title="Answers that would change")
    for difference in changed:
        rows = shown[difference.name]
        if rows:
            left = difference.gained + difference.lost - sum(abs(row["weight"]) for row in rows)
            title = f"{difference.name}, {difference.change}: rows gained (+) and lost (-)"
            title += f", and {left:,} more (--limit 0 for all)" if left else ""
            signed = [{**row, "weight": f"{row['weight']:+}"} for row in rows]
            print_rows(options.output, ("weight", *difference.columns), signed, title=title)


_UNTIL_DROP = {"removed": "its tables stay until it is dropped"}
