"""`weir site`: pages that show what changed, whether it is right, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Options
from weir.cli.output import print_line


def site(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option("--to", help="Folder of the site; by default as set, else `site`."),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="With the reasons for the newest changes, which take about a second per answer.",
        ),
    ] = False,
) -> None:
    """Write pages that show what changed, whether it is right, and why."""
    from weir.files.destination import require_writable_folder
    from weir.site.writing import write_site

    if folder is not None:
        require_writable_folder(folder)
    with Options.of(context).project() as project:
        written = write_site(project, folder, explains=why)
    print_line(f"Wrote {written.summary}: open {written.index}")
