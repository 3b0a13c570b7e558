"""`weir metrics`: how far and how fresh a project is, for monitors."""

from __future__ import annotations

import typer

from weir.cli.options import Options
from weir.cli.output import print_text


def metrics(context: typer.Context) -> None:
    """Print figures for monitors, as Prometheus reads them."""
    from weir.metrics.written import metrics_text

    with Options.of(context).project() as project:
        text = metrics_text(project)
    print_text(text)
