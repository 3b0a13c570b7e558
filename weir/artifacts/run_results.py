"""`run_results.json`: whether each query is up to date after the newest run, and each check."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from weir.artifacts.contents import Contents, Model, time_text
from weir.artifacts.lineage import check_id
from weir.artifacts.manifest import relation
from weir.artifacts.newest_run import NewestRun, Row
from weir.checks.declared import Check
from weir.lake.counted import counted
from weir.lake.ledger.runs import FAILED
from weir.progress.observed import Observed


def run_results(contents: Contents) -> dict[str, Any]:
    """The document, by dbt's schema of version 6; empty before the first run.

    A query is a `success` if its answer is current, an `error` if it failed, or is held or broken,
    else `skipped`; the message is the reason. A check that has not run yet is not in it.
    """
    run, results = contents.run, list[dict[str, Any]]()
    if run is not None:
        for model in contents.models:
            results.append(_model(model, run))
            for check in model.checks:
                row = contents.check_results.get((model.state.name, check.name))
                if row is not None:
                    results.append(_check(model, check, row))
    return {
        "metadata": contents.head("run-results/v6"),
        "results": results,
        "elapsed_time": 0.0 if run is None else run.seconds,
        "args": {"which": "build"},
    }


def _model(model: Model, run: NewestRun) -> dict[str, Any]:
    state, rows = model.state, run.rows.get(model.state.name, ())
    failures = [row["reason"] or "" for row in rows if row["status"] == FAILED]
    status = "success" if state.state == "current" else "skipped"
    if failures or state.state in ("held", "broken"):
        status = "error"
    message = next(iter(failures), state.mode)
    if status != "success":
        message = state.reason or message
    result = _result(model.id, status, message)
    # Validate checks all queries together.
    computed = [row for row in rows if row["seconds"] and row["job"] != "validate"]
    if computed:
        # The ledger has when the stage ended, not when the query did.
        ended = max(row["recorded_at"] for row in computed)
        seconds = sum(row["seconds"] for row in computed)
        published = [row["rows_out"] or 0 for row in computed if row["job"] == "publish"]
        result |= {"timing": _timing(ended, seconds), "execution_time": seconds}
        result["adapter_response"] = {"rows_affected": sum(published)}
    return result | {"relation_name": relation(model.table)}


def _check(model: Model, check: Check, row: Row) -> dict[str, Any]:
    status, message, unexpected = "pass", None, row["unexpected_rows"]
    if not row["success"]:
        status = "warn" if check.severity == "warn" else "fail"
        sentence = Observed.from_json(row["observed"]).sentence
        message = f"{sentence} ({counted(unexpected, 'unexpected row')})"
    result = _result(check_id(model.state.name, check.name), status, message)
    return result | {"failures": unexpected, "timing": _timing(row["recorded_at"], 0)}


def _timing(ended: datetime, seconds: float) -> list[dict[str, str]]:
    began = time_text(ended - timedelta(seconds=seconds))
    return [{"name": "execute", "started_at": began, "completed_at": time_text(ended)}]


def _result(id_: str, status: str, message: str | None) -> dict[str, Any]:
    return {
        "unique_id": id_,
        "status": status,
        "message": message,
        "timing": [],
        "thread_id": "main",
        "execution_time": 0.0,
        "adapter_response": {},
        "failures": None,
    }
