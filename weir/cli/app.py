"""The commands of `weir`; their modules defer heavy imports to the functions that need them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from weir.cli.answers import log, show, sql
from weir.cli.artifacts import artifacts
from weir.cli.audit import audit, repair
from weir.cli.difference import diff
from weir.cli.documents import documents
from weir.cli.export import export
from weir.cli.freshness import freshness
from weir.cli.listing import ls
from weir.cli.metrics import metrics
from weir.cli.notify import notify
from weir.cli.options import Options, Output
from weir.cli.progress import still_at_work
from weir.cli.project import doctor, drop, init, new, rename, retype
from weir.cli.queries import explain
from weir.cli.query_tests import test_
from weir.cli.refresh import refresh
from weir.cli.remotes import remotes
from weir.cli.review import check
from weir.cli.serve import serve
from weir.cli.shapes import validate
from weir.cli.site import site
from weir.cli.spark_setup import setup_spark
from weir.cli.stages import ingest, run
from weir.cli.status import status
from weir.cli.tried import try_
from weir.cli.watch import watch
from weir.cli.why import why

app = typer.Typer(
    name="weir",
    help="Keep the answers of SPARQL queries over a changing RDF graph up to date.",
    epilog="Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 a data-quality check failed, "
    "4 another run is in progress.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Project": (init, new, doctor, setup_spark),
    "Run": (ingest, run, refresh, notify),
    "Inspect": (
        status,
        ls,
        show,
        log,
        watch,
        why,
        sql,
        explain,
        documents,
        freshness,
        site,
        metrics,
        artifacts,
        serve,
    ),
    "Review": (check, test_, try_, diff, validate),
    "Check": (audit, repair),
    "Change": (drop, rename, retype),
}

_WITH_STAGES = (
    "ingest",
    "run",
    "refresh",
    "notify",
    "test",
    "try",
    "diff",
    "validate",
    "watch",
    "serve",
)
"""Commands that report progress themselves, or wait."""

for panel, commands in _COMMANDS.items():
    for command in commands:
        name = command.__name__.strip("_").replace("_", "-")
        app.command(name, rich_help_panel=panel)(command)
app.add_typer(remotes, name="remotes", rich_help_panel="Inspect")
app.add_typer(export, name="export", rich_help_panel="Inspect")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        print(f"weir {version('weir')}")
        raise typer.Exit


@app.callback()
def weir(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(help="Configuration file; default: weir.toml in this folder or one above."),
    ] = None,
    output: Annotated[Output, typer.Option(help="How results are printed.")] = Output.table,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    show_version: Annotated[  # noqa: ARG001  (its callback prints it)
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Keep the answers of SPARQL queries over a changing RDF graph up to date.

    The options below can also be given after the command.
    """
    context.obj = Options(config, output, debug)
    command = context.invoked_subcommand
    if command is not None and command not in _WITH_STAGES:
        context.with_resource(still_at_work(command))


@cache
def command_line() -> Callable[..., Any]:
    """What is called to run a command: made of `app` once, in 26 ms."""
    return get_command(app)
