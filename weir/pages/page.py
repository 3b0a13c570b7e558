"""Renders a template to one HTML file; every value is escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from weir.text.cells import cell_text


def render(template: str, **values: Any) -> str:
    """The text of a page.

    Args:
        template: the name of a file in `templates/`.
        values: what the template shows. A table is a list of rows that are mappings of the same
            columns; a chart is what `weir.pages.charts` drew.
    """
    environment = Environment(
        # Of the package, which may be in a zip, on a cluster.
        loader=PackageLoader("weir.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = cell_text
    environment.tests["a_number"] = _is_number
    return environment.get_template(template).render(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
