"""The pages about the project as a whole: sources, graph, runs and checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from weir.checks.declared import SUITE
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, CLAIMED, FAILED
from weir.lake.tables import QUALITY, REJECTED, RUNS
from weir.pages.charts import Chart, graph_chart, terms_chart
from weir.progress.observed import Observed
from weir.site.epochs import Epochs
from weir.site.graph_counts import GraphCounts, Series
from weir.status.status import Status
from weir.text.short_term import short_term

_RUNS: Final = 200
"""Most runs on their page."""
_STEPS: Final = 1_000
"""Most steps of them."""
_STEP: Final = ("job", "mode", "status", "rows_in", "rows_out", "seconds", "reason")
_JOBS: Final = ("maintain", "publish")
"""The jobs with rows about answers; those of validate have the time of all together."""
_EPOCHS: Final = 1_000
"""Most change sets on the page of the graph."""
_TERMS: Final = 1_000
"""Most predicates and classes there."""
_POINTS: Final = 400
"""Most points of its chart."""
_REJECTED: Final = 200
"""Most rejected lines on the page of sources."""
_RESULT: Final = (
    *("recorded_at", "table", "query", "expectation", "success", "unexpected_rows", "observed"),
)
_RECENT: Final = timedelta(days=7)
"""What happened so long before the newest is not shown."""


def sources_page(status: Status, lake: Lake) -> dict[str, Any]:
    """Position, lag and rejected lines of each source, and how far streams are."""
    rejected: Sequence[Mapping[str, Any]] = ()
    if any(source.rejected for source in status.sources.sources):
        names = ["source", "position", "file", "line", "column", "reason", "raw"]
        rows = lake.rows(REJECTED.name, names)
        rejected = rows.slice(max(rows.num_rows - _REJECTED, 0)).to_pylist()[::-1]
    return {
        "sources": [asdict(source) for source in status.sources.sources],
        "error": status.sources.error,
        "streams": [asdict(stream) for stream in status.streams],
        "rejected": rejected,
    }


def graph_page(epochs: Epochs, counts_: GraphCounts, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """How many quads the graph has over time, its newest change sets, predicates and classes."""
    quads, counts = 0, []
    for epoch, row in epochs.rows.items():
        quads += row.change
        counts.append(
            {
                "epoch": epoch,
                "at": row.at.isoformat(timespec="seconds"),
                "rows": quads,
                "change": row.change,
                "change_set": row.change_set,
            }
        )
    charts = {"quads": graph_chart(_thinned(counts, _POINTS))}
    series = {"classes": counts_.classes_over_time, "predicates": counts_.predicates_over_time}
    for name, of_terms in series.items():
        if of_terms and len(epochs.rows) > 1:
            charts[name] = _terms_chart(of_terms, epochs, prefixes)
    return {
        "quads": quads,
        "epochs": counts[::-1][:_EPOCHS],
        "charts": charts,
        "prefixes": prefixes,
        "predicates": _terms("predicate", "triples", counts_.predicates),
        "classes": _terms("class", "instances", counts_.classes or {}),
    }


def _terms_chart(series: Series, epochs: Epochs, prefixes: Mapping[str, str]) -> Chart:
    """The counts of terms over time, to the newest epoch."""
    last = max(epochs.rows)
    names = legend([*series], prefixes)
    rows = [
        {"epoch": epoch, "at": at.isoformat(timespec="seconds"), "term": name, "rows": count}
        for term, points in sorted(series.items())
        for name in [names[term]]
        for epoch, count in (*points, (last, points[-1][1]))
        for at in [epochs.at(epoch)]
        if at is not None
    ]
    largest = sorted(series, key=lambda term: (-series[term][-1][1], term))
    return terms_chart(rows, [names[term] for term in largest])


def legend(terms: Sequence[str], prefixes: Mapping[str, str]) -> dict[str, str]:
    """What a legend calls terms: of an IRI without a prefix, what the others do not begin with."""
    names = {term: short_term(term, prefixes) for term in terms}
    locals_ = {
        term: re.split(r"[#/:]", name.rstrip("/#>"))[-1]
        for term, name in names.items()
        if name.startswith("<")
    }
    known = Counter([*locals_.values(), *names.values()])
    return names | {term: name for term, name in locals_.items() if name and known[name] == 1}


def _terms(name: str, number: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The terms with the highest counts; IRIs as cells of tables have them."""
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
    return [
        {name: [term[1:-1]] if term.startswith("<") else term, number: count}
        for term, count in most
    ]


def runs_page(lake: Lake, within: Callable[[str], str]) -> dict[str, Any]:
    """The newest runs, and what the stages did for each query in them.

    Args:
        lake: has the ledger.
        within: makes the places in a text those in the project.
    """
    names = ["recorded_at", "run_id", "job", "query", "mode", "status", "from_epoch", "to_epoch"]
    names += ["rows_in", "rows_out", "seconds", "reason"]
    table = _newest_days(lake, RUNS.name, names)
    if table is not None:
        table = table.sort_by([("recorded_at", "descending")])
    rows = [
        {**row, "reason": within(row["reason"] or "")}
        for row in ([] if table is None else table.to_pylist())
        if row["status"] != CLAIMED
    ]
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_run.setdefault(row["run_id"], []).append(row)
    runs = [_run(of_run) for of_run in [*by_run.values()][:_RUNS]]
    steps = [
        {"at": row["recorded_at"], "answer": row["query"], **{name: row[name] for name in _STEP}}
        for row in rows
        if row["query"] not in (None, "*") and row["job"] in _JOBS
    ]
    return {"runs": runs, "steps": steps[:_STEPS]}


def _run(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a run did: its stages, the answers that it changed, how long, and what failed."""
    stages = [row for row in rows if row["query"] is None]
    failed = [row for row in stages if row["status"] in (FAILED, ABANDONED)]
    published = {row["query"] for row in rows if row["job"] == "publish" and row["rows_out"]}
    return {
        "at": rows[0]["recorded_at"],
        "status": "failed" if failed else "succeeded",
        "stages": ", ".join(dict.fromkeys(row["job"] for row in stages[::-1])),
        "to_epoch": max((row["to_epoch"] or 0 for row in rows), default=0),
        "changed_answers": len(published - {None, "*"}),
        "seconds": round(sum(row["seconds"] or 0 for row in stages), 1),
        "what_failed": "".join(row["reason"] or row["status"] for row in failed[:1]),
        "run": rows[0]["run_id"],
    }


def checks_page(
    lake: Lake,
    audits: Sequence[Mapping[str, Any]],
    own: Mapping[tuple[str, str], str] | None = None,
) -> dict[str, Any]:
    """The newest result of each check of runs: those that failed, and how many passed.

    Args:
        lake: has the results.
        audits: as of `ended_audits`, whose results are left out.
        own: the severity of the checks that the project declares, by query and name; results of
            those that it does not declare any more are left out.
    """
    if not lake.exists(QUALITY.name):
        return _results(None)
    # Whole: the newest result of a check may be old, as unchanged rows are not checked again.
    rows = lake.rows(QUALITY.name, [*_RESULT, "run_id"])
    of_audits = pa.array([row["run_id"] for row in audits], pa.string())
    return _results(rows.filter(pc.invert(pc.is_in(rows["run_id"], of_audits))), own)


def audit_page(lake: Lake, audits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """When the lake was examined last, and what that found; `at` is None if it never was.

    Args:
        lake: has the results.
        audits: as of `ended_audits`.
    """
    if not audits or not lake.exists(QUALITY.name):
        return {"at": None, **_results(None)}
    newest = max(audits, key=lambda row: row["recorded_at"])
    rows = lake.rows(QUALITY.name, _RESULT, [("run_id", "=", newest["run_id"])])
    return {"at": newest["recorded_at"], **_results(rows)}


def ended_audits(lake: Lake) -> list[dict[str, Any]]:
    """The ends of all audits: run_id, recorded_at, status."""
    if not lake.exists(RUNS.name):
        return []
    rows = lake.rows(RUNS.name, ["run_id", "recorded_at", "status"], [("job", "=", "audit")])
    return [row for row in rows.to_pylist() if row["status"] != CLAIMED]


def _results(
    rows: pa.Table | None, own: Mapping[tuple[str, str], str] | None = None
) -> dict[str, Any]:
    """The newest result of each check of each table.

    Gives `failed`, with those that only warn last; `warned`, their number; `total`; and `passed`:
    by suite, its sentences with the number of tables.
    """
    if rows is None or not rows.num_rows:
        return {"failed": [], "warned": 0, "total": 0, "passed": {}}
    others = [name for name in _RESULT if name not in ("table", "expectation")]
    # With threads, `last` would not be the newest.
    newest = (
        rows.sort_by("recorded_at")
        .group_by(["table", "expectation"], use_threads=False)
        .aggregate([(name, "last") for name in others])
    )
    newest = newest.rename_columns([name.removesuffix("_last") for name in newest.column_names])
    names = zip(
        *(newest[name].to_pylist() for name in ("table", "query", "expectation")), strict=True
    )
    is_known = [
        own is None or not table.startswith(f"{SUITE}/") or (query, name) in own
        for table, query, name in names
    ]
    newest = newest.filter(pa.array(is_known, pa.bool_()))
    failed = newest.filter(pc.invert(newest["success"])).sort_by("table").to_pylist()
    passed = newest.filter(newest["success"])
    tables: list[Any] = passed["table"].to_pylist()
    suites = pa.array([table.partition("/")[0] for table in tables], pa.string())
    counts = (
        passed.append_column("suite", suites)
        .group_by(["suite", "expectation"], use_threads=False)
        .aggregate([("table", "count"), ("observed", "last")])
        .sort_by([("suite", "ascending"), ("expectation", "ascending")])
    )
    by_suite: dict[str, list[dict[str, Any]]] = {}
    for row in counts.to_pylist():
        sentence = Observed.from_json(row["observed_last"]).sentence or row["expectation"]
        shown = {"sentence": sentence, "tables": row["table_count"]}
        by_suite.setdefault(row["suite"], []).append(shown)
    failures = sorted((_failure(row, own or {}) for row in failed), key=lambda row: row["result"])
    return {
        "failed": failures,
        "warned": sum(failure["result"] == "warned" for failure in failures),
        "total": newest.num_rows,
        "passed": by_suite,
    }


def _failure(row: Mapping[str, Any], own: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    observed = Observed.from_json(row["observed"])
    is_own = row["table"].startswith(f"{SUITE}/")
    warns = is_own and own.get((row["query"], row["expectation"])) == "warn"
    return {
        **row,
        "result": "warned" if warns else "failed",
        "sentence": observed.sentence or row["expectation"],
        "examples": [*map(str, observed.examples)],
    }


def _newest_days(lake: Lake, table: str, names: Sequence[str]) -> pa.Table | None:
    """The rows of the days before the newest one; None if there are none."""
    if not lake.exists(table):
        return None
    newest = pc.max(lake.rows(table, ["recorded_at"])["recorded_at"]).as_py()
    if newest is None:
        return None
    return lake.rows(table, names, [("recorded_at", ">=", newest - _RECENT)])


def _thinned(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most about so many of the rows, the last among them."""
    step = -(-len(rows) // most) or 1
    return [*rows[::-1][::step]][::-1]
