"""`weir try`: the answer of a text now, without registering it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.answers import Full, Limit, Terms
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.lake.counted import counted

if TYPE_CHECKING:
    from weir.cli.answer_logs import Printed, Rows
    from weir.review.tried import Tried

STANDARD_INPUT = "-"
_ROWS = "tried rows"


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
    from weir.cli.answer_logs import Printed
    from weir.cli.prefixes import prefixes_in
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
            (columns, rows), total = _rows(answer, printed)
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


def _rows(answer: Tried, printed: Printed) -> tuple[Rows, int]:
    """The first rows of an answer, and how many different rows it has."""
    from sqlglot import exp

    from weir.cli.answer_logs import fetch
    from weir.compute.sql import (
        alias,
        bigint,
        column,
        columns,
        rows_of,
        select,
        subquery,
        sum_of,
        text,
    )
    from weir.plan.plan import ANSWER

    lake, definition = answer.computed.lake, answer.definition
    bindings = printed.bindings(answer.computed.project.settings)
    bindings.rows(_ROWS, lake.existing(answer.table).to_pyarrow_dataset())
    stored = [own for _, own in definition.columns]
    rows = select(
        *(printed.value(own, name) for name, own in definition.columns),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=rows_of(_ROWS),
        where=[column("node").eq(text(ANSWER))],
        # Without columns, as of ASK, the weights of all rows are one.
        group_by=columns(stored),
        having=sum_of(column("weight")).neq(0),
    )
    with lake.using(answer.table):
        number = select(exp.Count(this=exp.Star()), from_=subquery(rows.copy(), "answer"))
        ((total,),) = bindings.connection.execute(number.sql(dialect="duckdb")).fetchall()
        order = printed.order(stored, _ROWS)
        return fetch(bindings.connection, rows, printed.limit, order=order), int(total)
