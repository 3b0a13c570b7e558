"""`weir audit`, `weir repair`: check the lake, and rebuild what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.listing import Exclude, Select
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress

if TYPE_CHECKING:
    from weir.audit.repairs import Repair
    from weir.audit.stage import AuditResult

Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Also compute again the union of all graphs, merges of traversals, some answers.",
    ),
]


def audit(
    context: typer.Context,
    full: Full = False,
    queries: Annotated[
        int, typer.Option(min=0, help="With --full: how many queries are computed again.")
    ] = 5,
    select: Select = None,
    exclude: Exclude = None,
) -> None:
    """Examine all that the lake holds: files, logs, answers. Nothing is changed.

    A selection says which answers are computed again, with `--full`; all else is examined anyway.
    The results go to the table `quality`. Exit code 3 if something is not what it should be.
    """
    options = Options.of(context)
    from weir.audit.stage import examined, failure
    from weir.definitions.catalog import Catalog
    from weir.errors import ConfigurationError
    from weir.selection import declared_names_of
    from weir.stage import new_run_id

    if (select or exclude) and not full:
        raise ConfigurationError(
            "--select and --exclude choose the answers that are computed again",
            "",
            "Add --full, or leave them out.",
        )
    run_id = new_run_id("audit")
    with options.project() as project:
        only = None
        if select or exclude:
            catalog = Catalog.of(project.settings)
            only = declared_names_of(project, catalog, select or (), exclude or ())
        with progress("audit") as report:
            result = examined(project, run_id, report, full=full, queries=queries, only=only)
        _print(options, run_id, result)
        if result.failed:
            raise failure(result, project.settings)


def _print(options: Options, run_id: str, result: AuditResult) -> None:
    from weir.audit.checked import table_of

    rows: list[dict[str, Any]] = [
        {
            "table": table_of(check),
            "check": check.expectation,
            "success": check.success,
            "found": check.detail or None,
        }
        for check in result.results
    ]
    if options.output is Output.json:
        print_json({"run_id": run_id, "checks": rows})
        return
    tables: dict[str, list[bool]] = {}
    for row in rows:
        tables.setdefault(row["table"], []).append(row["success"])
    shown = [
        {"table": table, "checks": len(passed), "failed": passed.count(False)}
        for table, passed in sorted(tables.items())
    ]
    print_rows(options.output, ("table", "checks", "failed"), shown, title=f"Audit {run_id}")


def repair(
    context: typer.Context,
    full: Full = False,
    from_sources: Annotated[
        bool,
        typer.Option(
            "--from-sources",
            help="Rebuild a damaged log of the graph from what the sources still have.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Audit the lake, and rebuild what is wrong and follows from other tables.

    The next `weir run` publishes corrections of answers as signed rows. Exit code 3 if something
    cannot be rebuilt.
    """
    options = Options.of(context)
    from weir.audit.repair import repair_lake
    from weir.stage import new_run_id

    def confirm(planned: Sequence[Repair]) -> bool:
        if not yes:
            rows = [{"table": step.table, "what": step.what} for step in planned]
            print_rows(Output.table, ("table", "what"), rows, title="To be done")
            typer.confirm("Go on?", abort=True)
        return True

    run_id = new_run_id("repair")
    with options.project() as project, progress("repair") as report:
        result = repair_lake(
            project,
            run_id,
            report,
            full=full,
            from_sources=from_sources,
            confirm=confirm,
        )
    rows = [{"table": step.table, "done": step.what} for step in result.done]
    if options.output is Output.json:
        print_json({"run_id": run_id, "done": rows})
    elif rows:
        print_rows(options.output, ("table", "done"), rows, title=f"Repair {run_id}")
        print_line("`weir run` computes and publishes the corrections.")
    else:
        print_line("Nothing is to be repaired.")
