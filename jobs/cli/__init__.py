"""The command line `weir`: a file per group of commands; heavy imports are deferred to them.

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 a data-quality check failed, 4 another run
is in progress.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.answers import log, show, sql
from jobs.cli.failures import report_failure
from jobs.cli.freshness import freshness
from jobs.cli.options import Options, Output, global_options_first
from jobs.cli.project import doctor, drop, init
from jobs.cli.queries import explain, report, status
from jobs.cli.refresh import refresh
from jobs.cli.remotes import remotes
from jobs.cli.stages import ingest, run

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
    "Project": (init, doctor),
    "Run": (ingest, run, refresh),
    "Inspect": (status, show, log, sql, explain, freshness, report),
    "Remove": (drop,),
}

for panel, commands in _COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(remotes, name="remotes", rich_help_panel="Inspect")


@app.callback()
def weir(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Configuration file; default: weir.toml in this folder.")
    ] = None,
    output: Annotated[Output, typer.Option(help="How results are printed.")] = Output.table,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Keep the answers of SPARQL queries over a changing RDF graph up to date.

    The options below can also be given after the command.
    """
    context.obj = Options(config, output, debug)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(global_options_first(given), prog_name="weir")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (reported to the user; with --debug, in full)
        return report_failure(error, debug="--debug" in given)
    return 0
