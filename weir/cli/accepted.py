"""`--accept`: change sets and answers that a person accepts although they exceed their guards."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from weir.cli.options import all_names, named, source_names
from weir.lake.names import Name


def _option(metavar: str, text: str, **more: Any) -> Any:
    return typer.Option("--accept", parser=named, metavar=metavar, help=text, **more)


AcceptSource = Annotated[
    list[Name] | None,
    _option(
        "SOURCE",
        "Take in the change set that stopped this source, though it is beyond its guards.",
        autocompletion=source_names,
    ),
]
AcceptAny = Annotated[
    list[Name] | None,
    _option(
        "NAME",
        "Take in the change set that stopped this source, or publish the answer of this query that"
        " is held, though it is beyond its guards.",
        autocompletion=all_names,
    ),
]
