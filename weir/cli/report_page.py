"""The page that `weir report` writes: one HTML file without scripts or external resources."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.tables import ANSWERS, QUALITY, RUNS
from weir.pages.charts import change_chart, drawn
from weir.pages.page import render
from weir.pending import Pending
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.settings import Settings
from weir.status.queries import query_statuses
from weir.status.streams import stream_statuses
from weir.text.cells import cell_text

_RUNS = 50


def report_page(project: Project) -> str:
    """The HTML page for the lake as it is now."""
    settings = project.settings
    changes = _changes(settings)
    return render(
        "report.html",
        title="Weir",
        subtitle=f"{settings.lake}, {cell_text(datetime.now(UTC))} UTC",
        queries=[asdict(query) for query in query_statuses(Pending(project))],
        streams=[asdict(stream) for stream in stream_statuses(settings)],
        changes=drawn(change_chart(changes)) if changes else None,
        failed_runs=_failed_runs(settings),
        runs=_runs(settings),
        checks=_checks(settings),
    )


def _changes(settings: Settings) -> list[dict[str, Any]]:
    """The changes of published answers: query, epoch, change (appeared or vanished), rows."""
    from collections import Counter

    counted: Counter[tuple[str, int, str]] = Counter()
    for query in open_lake(settings).owners(ANSWERS):
        log = _read(settings, ANSWERS.name(query), ["epoch", "weight"])
        for epoch, weight in zip(*(column.to_pylist() for column in log.columns), strict=True):
            counted[query, epoch, "appeared" if weight > 0 else "vanished"] += weight
    return [
        {"query": query, "epoch": epoch, "change": change, "rows": rows}
        for (query, epoch, change), rows in sorted(counted.items())
    ]


def _failed_runs(settings: Settings) -> list[dict[str, Any]]:
    """The jobs whose last run failed, and what to do."""
    failed = Completion.read(open_lake(settings)).failed_runs
    return [{"job": run.job, "failed_at": run.at, "reason": run.reason} for run in failed]


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
