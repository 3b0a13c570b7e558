"""`weir try`: the answer of a text now, without registering it."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.cli.answers import Full, Limit, Terms
from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.lake.counted import counted

STANDARD_INPUT = "-"
MOST_TYPED = 1_000_000
"""Rows of an answer whose columns are given types."""


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
    from weir.cli.explanation import stored_nodes
    from weir.review.tried import given, tried
    from weir.typed.rows import WrongType

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
            warnings = [w.removeprefix(f"{definition.name}: ") for w in answer.computed.warnings]
            types, stored = dict[str, str](), answer.stored_rows()
            try:
                # Each different term is looked at.
                if total <= MOST_TYPED:
                    types = {name: str(type_) for name, type_ in answer.types().items()}
            except WrongType as wrong:
                warnings.append(f"{wrong}; its front matter says so")
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    described = stored_nodes(definition)
    nodes = [
        {"node": node, "is": described.get(node), "rows": number} for node, number in stored.items()
    ]
    tried_ = _Tried(answer.epoch, total, round(seconds, 3), warnings, columns, types, nodes)
    _print(options, tried_, records)


@dataclass(frozen=True, slots=True)
class _Tried:
    """What is said of an answer, in the order of JSON.

    types: by column, as the front matter names them.
    stored: of each stored node of the plan what it is, and how many rows a lake would store.
    """

    epoch: int
    rows: int
    seconds: float
    warnings: list[str]
    columns: tuple[str, ...]
    types: dict[str, str]
    stored: list[dict[str, Any]]


def _print(options: Options, tried: _Tried, records: list[dict[str, Any]]) -> None:
    if options.output is Output.json:
        print_json({**asdict(tried), "answer": records})
        return
    left_out = f", the first {len(records)} shown (--limit 0 for all)"
    shown = left_out if len(records) < tried.rows and records else ""
    title = f"epoch {tried.epoch}: {counted(tried.rows, 'row')}, {tried.seconds:.1f} s{shown}"
    print_rows(options.output, tried.columns, records, title=title)
    if tried.types:
        print_line(f"types: {{{', '.join(f'{name}: {of}' for name, of in tried.types.items())}}}")
    if len(tried.stored) > 1:
        title = "A lake would store"
        print_rows(options.output, ("node", "is", "rows"), tried.stored, title=title)
    for warning in tried.warnings:
        print_line(f"warning: {warning}")
