"""`weir setup-spark`: install what Spark needs and pip does not bring."""

from __future__ import annotations

import typer

from weir.cli.options import Options
from weir.cli.output import print_rows


def setup_spark(context: typer.Context) -> None:
    """Install what Spark needs and pip does not bring: jars for Delta and S3, a way to a Java."""
    from weir.errors import WeirError
    from weir.spark_setup.commands import SetupError
    from weir.spark_setup.installation import install

    try:
        installed = [*install()]
    except SetupError as error:
        raise WeirError(str(error)) from error
    columns = ("part", "source", "place")
    rows = [{"part": part.part, "source": part.source, "place": part.place} for part in installed]
    print_rows(Options.of(context).output, columns, rows, title="Spark has")
