"""`weir watch`: the changes of an answer as they are published."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import sleep
from typing import Annotated

import typer

from weir.cli.options import Options, Output, QueryName
from weir.cli.output import json_text, print_line, print_rows
from weir.cli.stages import period
from weir.lake.instants import time_text


def watch(
    context: typer.Context,
    query: QueryName,
    every: Annotated[str, typer.Option(help="How often to look: 500ms, 2s, 1m.")] = "2s",
    limit: Annotated[int, typer.Option(min=1, help="Most rows that are shown at once.")] = 100,
    full: Annotated[bool, typer.Option("--full", help="With columns of exact terms.")] = False,
) -> None:
    """Print the changes of an answer as they are published, until Ctrl-C.

    Columns are those of `weir log`. With `--output json`, a line per row. Nothing is run: `weir run
    --every` or Airflow publishes.
    """
    from weir.answers.appended import appended
    from weir.answers.causes import CAUSE, Causes
    from weir.answers.logs import require_published
    from weir.progress.answer_commits import published_commits
    from weir.progress.completion import Completion
    from weir.project import open_lake
    from weir.status.streams import is_over_streams

    options, seconds = Options.of(context), period(every)
    settings = options.settings()
    require_published(settings, query)
    lake = open_lake(settings)
    known = published_commits(lake, Completion.read(lake), query)
    if options.output is not Output.json:
        print_line(f"Waiting for changes of {query}; Ctrl-C ends.")
    while True:
        sleep(seconds)
        lake = open_lake(settings)
        completion = Completion.read(lake)
        now = published_commits(lake, completion, query)
        if now is None or now == known:
            continue
        is_same = known is not None and known.table_id == now.table_id
        new = replace(now, after=known.until) if known is not None and is_same else now
        known = now
        changes = appended(settings, lake, new, limit)
        if not changes.is_any:
            continue
        over_streams = is_over_streams(completion, query)
        epochs = {row["epoch"] for row in changes.rows}
        causes = Causes.of(lake, query, epochs, over_streams=over_streams)
        rows = [
            {**row, CAUSE: causes.of_row(row["epoch"], row["event_time"])} for row in changes.rows
        ]
        if options.output is Output.json:
            for row in rows:
                print(json_text(row), flush=True)
            continue
        if over_streams:
            rows = [{**row, "event_time": time_text(row["event_time"])} for row in rows]
        own = [name for name in changes.columns if full or name not in changes.terms]
        columns = (*(name for name in own if name != "event_time"), "event_time", CAUSE)
        more = f"; {changes.left_out} more" if changes.left_out else ""
        print_rows(options.output, columns, rows, title=f"{query}{more}")
        # Into a pipe or a file, rows would appear once there are 8 kB of them.
        sys.stdout.flush()
