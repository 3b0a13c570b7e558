"""`weir serve`: the graph and the answers over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Options
from weir.cli.output import print_line


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 for any.")] = 8580,
    site: Annotated[
        Path | None,
        typer.Option(
            help="A folder of pages, served at /; default: the site, which is kept up to date.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    token_variable: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The environment variable with the token that clients send; needed where other"
            " machines can ask.",
        ),
    ] = "WEIR_TOKEN",
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Let pages of this origin read it, in a browser."),
    ] = None,
) -> None:
    """Serve the site, the graph by SPARQL and the published answers, until Ctrl-C.

    Nothing is run and nothing can be written: `weir run --every` or Airflow publishes.
    """
    from weir.errors import ConfigurationError
    from weir.serve.app import application
    from weir.serve.server import listen, server_of

    settings = Options.of(context).settings()
    token = os.environ.get(token_variable)
    is_loopback = _is_loopback(host)
    if not is_loopback and not token:
        raise ConfigurationError(
            f"other machines can ask {host}, and no token protects it",
            token_variable,
            f"Set {token_variable} to a long random text, or listen at 127.0.0.1.",
        )
    app = application(
        settings,
        site=site,
        token=token,
        is_loopback=is_loopback,
        origins=allow_origin or (),
        progress=print_line,
    )
    with listen(host, port) as listening:
        named = f"[{host}]" if ":" in host else host
        print_line(f"Serving at http://{named}:{listening.getsockname()[1]}/; Ctrl-C ends.")
        server_of(app).run(sockets=[listening])


def _is_loopback(host: str) -> bool:
    # Requests name these; of other addresses of this machine, a token is wanted, too.
    return host in ("localhost", "127.0.0.1", "::1")
