"""`weir try`: the answer of a text now, without registering it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.cli.answers import Full, Limit, Terms
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.lake.counted import counted

STANDARD_INPUT = "-"


def try_(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(help="A query, or a program (.lars); - for standard input.", metavar="FILE"),
    ],
    limit: Limit = 100,
    terms: Terms = False,
    full: Full = False,
) -> None:
    """Print the answer of a query now, without registering it.

    It is computed from the whole graph, and nothing is written to the lake: a run may be at work
    meanwhile. Answers of remotes are those that the lake has.
    """
    from weir.answers.logs import Printed
    from weir.answers.prefixes import prefixes_in
    from weir.review.tried import given, tried

    options = Options.of(context)
    with options.project() as project, progress("try") as report:
        is_input = file == STANDARD_INPUT
        text = sys.stdin.buffer.read() if is_input else b""
        started = time.monotonic()
        definition = given(project, None if is_input else Path(file), text)
        in_full = terms or full or options.output is Output.json
        prefixes = {} if in_full else prefixes_in(definition.text, definition.kind)
        prefixes = {} if in_full else {**project.settings.prefixes, **prefixes}
        printed = Printed(limit, terms, prefixes)
        with tried(project, definition, report) as answer:
            (columns, rows), total = answer.rows(printed)
        seconds = time.monotonic() - started
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    warnings = [w.removeprefix(f"{definition.name}: ") for w in answer.computed.warnings]
    _print(options, columns, records, (total, answer.epoch, seconds), warnings)


def _print(
    options: Options,
    columns: tuple[str, ...],
    records: list[dict[str, Any]],
    figures: tuple[int, int, float],
    warnings: list[str],
) -> None:
    total, epoch, seconds = figures
    if options.output is Output.json:
        said = {"epoch": epoch, "rows": total, "seconds": round(seconds, 3), "warnings": warnings}
        print_json({**said, "columns": [*columns], "answer": records})
        return
    left_out = f", the first {len(records)} shown (--limit 0 for all)"
    shown = left_out if len(records) < total and records else ""
    title = f"epoch {epoch}: {counted(total, 'row')}, {seconds:.1f} s{shown}"
    print_rows(options.output, columns, records, title=title)
    for warning in warnings:
        print_line(f"warning: {warning}")
