"""Renders a template to one HTML file; every value is escaped."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from weir.text.cells import cell_text
from weir.text.secret_values import without_secrets

PAGES: Final = (
    ("index", "Answers"),
    ("sources", "Sources"),
    ("graph", "Graph"),
    ("remotes", "Remotes"),
    ("runs", "Runs"),
    ("checks", "Checks"),
    ("audit", "Audit"),
)
"""What each page of a site links to."""


def render(template: str, **values: Any) -> str:
    """The text of a page.

    Args:
        template: the name of a file in `templates/`.
        values: what the template shows. A table is a list of rows that are mappings of the same
            columns; a chart is what `weir.pages.charts` drew.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        # Of the package, which may be in a zip, on a cluster.
        loader=PackageLoader("weir.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_public,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = cell_text
    environment.filters["iso"] = _iso
    environment.filters["minute"] = _minute
    environment.globals["pages"] = PAGES
    return environment


def _public(value: Any) -> Any:
    """What a template writes, without secrets, which a text or a reason may quote."""
    if not isinstance(value, str):
        return value
    shown = without_secrets(value)
    return Markup(shown) if isinstance(value, Markup) else shown


def _iso(at: datetime | str) -> str:
    """A time as HTML has it."""
    return at if isinstance(at, str) else at.isoformat(timespec="seconds")


def _minute(at: datetime | str) -> str:
    """A time for readers whose browser runs no script."""
    return f"{_iso(at)[:16].replace('T', ' ')} UTC"
