"""`weir artifacts`: what catalogues read of a project, as dbt writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Options
from weir.cli.output import print_line


def artifacts(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option("--to", help="Folder of the files; by default as set, else `target`."),
    ] = None,
) -> None:
    """Write what catalogues read, as dbt does."""
    from weir.artifacts.written import write_artifacts
    from weir.files.destination import require_writable_folder

    if folder is not None:
        require_writable_folder(folder)
    with Options.of(context).project() as project:
        written = write_artifacts(project, folder)
    print_line(f"Wrote {written.summary}.")
