"""`weir validate`: the report of shapes over files, without a project and without a lake."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.output import print_line
from weir.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.shacl.report import Row


class ReportFormat(StrEnum):
    """How a report is written."""

    human = "human"
    turtle = "turtle"
    nt = "nt"


def validate(
    context: typer.Context,
    shapes: Annotated[Path, typer.Option("--shapes", "-s", help="The shapes graph, in Turtle.")],
    data: Annotated[
        list[Path],
        typer.Option("--data", "-d", help="A file of the data graph; several are merged."),
    ],
    format_: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="How the report is written.")
    ] = ReportFormat.human,
) -> None:
    """Validate files by SHACL shapes, without a lake.

    Exits with 0 if the data conforms, with 1 if there are results, and with 2 if shapes or data
    cannot be read.
    """
    from weir.project import Project
    from weir.review.given_data import answer_over_files
    from weir.review.shapes import given_shapes, require_files
    from weir.settings import Settings
    from weir.shacl.compile import REPORT_COLUMNS

    del context
    require_files([shapes, *data])
    definition = given_shapes(shapes)
    with Project(Settings()) as project, progress("validate") as report:
        report(f"reading {', '.join(map(str, data))}")
        answer = answer_over_files(project, definition, data)
    rows = [
        (tuple(row[name] for name in REPORT_COLUMNS), row["weight"]) for row in answer.to_pylist()
    ]
    _print(rows, format_, shapes)
    raise typer.Exit(1 if rows else 0)


def _print(rows: Sequence[tuple[Row, int]], format_: ReportFormat, shapes: Path) -> None:
    from weir.shacl.report import human_lines, report_lines

    if format_ is ReportFormat.human:
        for line in human_lines(rows):
            print_line(line)
        return
    lines = [*report_lines(rows)]
    if format_ is ReportFormat.nt:
        for line in lines:
            print_line(line)
        return
    from weir.answers.prefixes import prefixes_in
    from weir.definitions.kinds import SHAPES
    from weir.export.rdf import write_turtle

    prefixes = prefixes_in(shapes.read_text(encoding="utf-8"), SHAPES)
    write_turtle(lines, sys.stdout.buffer, prefixes)
