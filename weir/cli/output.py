"""Rows on standard output, as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from weir.cli.options import Output
from weir.text.cells import cell_text
from weir.text.printable import printable, printable_json, printable_lines

Row = Mapping[str, Any]
_MARKUP = re.compile(r"[\\|*`\[\]]")


def print_rows(output: Output, columns: Sequence[str], rows: Sequence[Row], *, title: str) -> None:
    """Print rows as a JSON list of objects, or as a table below its `title`."""
    if output is Output.json:
        print_json([{column: row[column] for column in columns} for row in rows])
        return
    if output is Output.markdown:
        _print_markdown(columns, rows, title)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        numbers = all(isinstance(row[column], int | float | None) for row in rows)
        table.add_column(
            Text(printable(column)),
            justify="right" if rows and numbers else "left",
            overflow="fold",
        )
    for row in rows:
        # Text, so that brackets in the data are not read as markup.
        table.add_row(*(Text(printable(cell_text(row[column]))) for column in columns))
    if title:
        # rich would wrap the table's own title to the width of the table.
        print_line(title)
    _console().print(table)


def _print_markdown(columns: Sequence[str], rows: Sequence[Row], title: str) -> None:
    if title:
        print(f"### {_markdown(title)}\n")
    lines = [columns, ["---"] * len(columns), *([row[c] for c in columns] for row in rows)]
    for line in lines:
        print(f"| {' | '.join(_markdown(cell_text(cell)) for cell in line)} |")
    print()


def _markdown(text: str) -> str:
    """A text in which nothing is read as markup, in a line."""
    return _MARKUP.sub(r"\\\g<0>", printable(text)).replace("<", "&lt;")


def print_json(value: Any) -> None:
    """Print a value as one JSON document."""
    print(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as a JSON document; characters that the output cannot encode are escaped."""
    text = printable_json(json.dumps(value, default=_plain, ensure_ascii=False, indent=indent))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return printable_json(json.dumps(value, default=_plain, indent=indent))
    return text


def print_line(text: str) -> None:
    """Print a line of text; line feeds in it, as in names of files, are escaped."""
    print_text(printable(text))


def print_text(text: str) -> None:
    """Print text of several lines; names in it must not have line feeds."""
    from rich.text import Text

    _console().print(Text(printable_lines(text)))


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return str(value)


def _console() -> Any:
    from rich.console import Console

    # A pipe has no width; lines must not be wrapped there.
    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
