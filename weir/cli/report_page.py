"""The page that `weir report` writes: one HTML file without scripts or external resources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.cli.output import cell_text
from weir.cli.query_status import query_statuses
from weir.cli.stream_status import stream_statuses
from weir.definitions.published import published_queries
from weir.lake.tables import ANSWERS, QUALITY, RUNS
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.settings import Settings

_RUNS = 50
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem; }
td { border-bottom: 1px solid #ddd; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
"""


def report_page(project: Project) -> str:
    """The HTML page for the lake as it is now."""
    settings = project.settings
    queries = [asdict(query) for query in query_statuses(project)]
    streams = [asdict(stream) for stream in stream_statuses(settings)]
    parts = (
        ("Queries", _table(queries, "No query is registered.")),
        ("Streams", _table(streams, "No stream is declared.")),
        ("Changes per epoch", _chart(_changes(settings))),
        ("Failed runs", _failed_runs(settings)),
        ("Last runs", _table(_runs(settings), "Nothing has run yet.")),
        ("Checks of the last validation", _table(_checks(settings), "Nothing was checked yet.")),
    )
    body = "".join(f"<h2>{escape(title)}</h2>{part}" for title, part in parts)
    now = datetime.now(UTC)
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Weir</title>"
        f"<style>{_STYLE}</style></head><body><h1>Weir</h1>"
        f"<p>{escape(settings.lake)}, {now:%Y-%m-%d %H:%M:%S} UTC</p>{body}</body></html>\n"
    )


def _changes(settings: Settings) -> list[dict[str, Any]]:
    """The changes of published answers: query, epoch, change (appeared or vanished), rows."""
    from collections import Counter

    counted: Counter[tuple[str, int, str]] = Counter()
    for query in published_queries(settings, open_lake(settings)):
        log = _read(settings, ANSWERS.name(query), ["epoch", "weight"])
        for epoch, weight in zip(*(column.to_pylist() for column in log.columns), strict=True):
            counted[query, epoch, "appeared" if weight > 0 else "vanished"] += weight
    return [
        {"query": query, "epoch": epoch, "change": change, "rows": rows}
        for (query, epoch, change), rows in sorted(counted.items())
    ]


def _failed_runs(settings: Settings) -> str:
    """The jobs whose last run failed, and what to do."""
    failed = Completion.read(open_lake(settings)).failed_runs
    rows = [{"job": run.job, "failed_at": run.at, "reason": run.reason} for run in failed]
    return _table(rows, "The last run of each job succeeded.")


def _chart(changes: Sequence[dict[str, Any]]) -> str:
    """A bar chart per query and epoch: appeared rows upwards, vanished rows downwards."""
    if not changes:
        return "<p>Nothing was published yet.</p>"
    import altair as alt
    import vl_convert

    chart = (
        alt.Chart(alt.InlineData(values=list(changes)))
        .mark_bar()
        .encode(
            x=alt.X("epoch:O", title="epoch", axis=alt.Axis(labelOverlap=True)),
            y=alt.Y("rows:Q", title="rows"),
            color=alt.Color(
                "change:N",
                title=None,
                scale=alt.Scale(domain=["appeared", "vanished"], range=["#2a7f62", "#b3344d"]),
            ),
        )
        .properties(width=340, height=120)
        .facet(facet=alt.Facet("query:N", title=None), columns=3)
        .resolve_scale(y="independent")
    )
    # An image, not a script: it works offline and in an e-mail.
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def _runs(settings: Settings) -> list[dict[str, Any]]:
    columns = ["recorded_at", "job", "query", "mode", "status", "from_epoch", "to_epoch"]
    columns += ["rows_in", "rows_out", "seconds", "reason"]
    rows = _read(settings, RUNS.name, columns)
    if not rows.num_rows:
        return []
    newest_first: list[dict[str, Any]] = rows.sort_by([("recorded_at", "descending")]).to_pylist()
    return [row for row in newest_first if row["status"] != "claimed"][:_RUNS]


def _checks(settings: Settings) -> list[dict[str, Any]]:
    """The results of the last validation, failed checks first."""
    columns = [
        "to_epoch",
        "run_id",
        "recorded_at",
        "table",
        "expectation",
        "success",
        "unexpected_rows",
    ]
    rows = _read(settings, QUALITY.name, [*columns, "observed"])
    # Checks of remotes have no epochs.
    rows = rows.filter(pc.is_valid(rows["to_epoch"]))
    if not rows.num_rows:
        return []
    newest_first: list[dict[str, Any]] = rows.sort_by([("recorded_at", "descending")]).to_pylist()
    last = [_check(row) for row in newest_first if row["run_id"] == newest_first[0]["run_id"]]
    return sorted(last, key=lambda row: (row["success"], row["table"], row["expectation"]))


def _check(row: dict[str, Any]) -> dict[str, Any]:
    """A row of `quality` for a reader, with the sentence and the examples that were observed."""
    observed = json.loads(row["observed"] or "{}")
    columns = {name: row[name] for name in ("table", "expectation", "success", "unexpected_rows")}
    examples = "; ".join(str(example) for example in observed.get("examples", ()))
    return columns | {"meaning": observed.get("sentence", ""), "examples": examples}


def _read(settings: Settings, table_name: str, columns: list[str]) -> pa.Table:
    table = open_lake(settings).open(table_name)
    if table is None:
        return pa.table({name: [] for name in columns})
    return table.to_pyarrow_table(columns=columns)


def _table(rows: Sequence[dict[str, Any]], otherwise: str) -> str:
    if not rows:
        return f"<p>{escape(otherwise)}</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(_cell(value) for value in row.values())}</tr>" for row in rows)
    return f"<div class=wide><table><tr>{head}</tr>{body}</table></div>"


def _cell(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"<td{' class=number' if number else ''}>{escape(cell_text(value))}</td>"
