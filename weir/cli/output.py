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
    if title:
        # rich would wrap the table's own title to the width of the table.
        print_line(title)
    head = [printable(column) for column in columns]
    cells = [[printable(cell_text(row[column])) for column in columns] for row in rows]
    numbers = [
        bool(rows) and all(isinstance(row[column], int | float | None) for row in rows)
        for column in columns
    ]
    _print_table(head, cells, numbers)


def _print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], is_right: Sequence[bool]
) -> None:
    """Print cells below their heads, those of some columns at the right."""
    from rich.cells import cell_len
    from rich.text import Text

    console = _console()
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
    whole = sum(widths) + 3 * len(widths) - 1
    if whole > console.width:
        console.print(_folded(head, rows, is_right))
        return
    # rich takes a millisecond a row, of which there may be ten thousand.
    blank = " " * whole

    def line(cells: Sequence[str]) -> str:
        padded = []
        for cell, width, right in zip(cells, widths, is_right, strict=True):
            padding = " " * (width - cell_len(cell))
            padded.append(padding + cell if right else cell + padding)
        return f" {'   '.join(padded)} "

    print(blank)
    console.print(Text(line(head), style="table.header"), soft_wrap=True)
    print(f" {'─' * (whole - 2)} ")
    for row in rows:
        print(line(row))
    print(blank)


def _folded(head: Sequence[str], rows: Sequence[Sequence[str]], is_right: Sequence[bool]) -> Any:
    """A table of rich, which folds cells that are too long for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(head, is_right, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        # Text, so that brackets in the data are not read as markup.
        table.add_row(*map(Text, row))
    return table


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
