"""Whether the graph is known to be damaged: then no query over it is up to date."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from weir.expectations.damage import FILES_ARE_WHOLE, LOG_IS_WHOLE
from weir.lake.damage.storage_errors import RESTORE, DamagedTable, StorageError
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, QUALITY, TRANSACTIONS, TRIPLES
from weir.progress.completion import Completion
from weir.progress.observed import Observed
from weir.progress.watermarks import require_graph

_GRAPH = (QUADS.name, TRIPLES.name, GRAPHS.name, TRANSACTIONS.name)


def graph_damage(completion: Completion) -> str | None:
    """The first known damage of a table of the graph, and what to do; None if none is known.

    `weir audit` lists all. Logs are read, and whether each file exists with its size. The content
    of files is not read, which takes long: the last run or audit has recorded its damage.
    """
    try:
        require_graph(completion.lake)
    except DamagedTable as error:
        return str(error)
    seen = (str(error) for table in _GRAPH for error in _damages(completion.lake, table))
    recorded = filter(None, (_recorded(completion, table) for table in _GRAPH))
    return next(chain(seen, recorded), None)


def _damages(lake: Lake, table: str) -> Iterator[StorageError]:
    try:
        for damage in lake.missing_files(table) if lake.exists(table) else ():
            yield DamagedTable(f"{damage.what} (table {table})", str(damage.file), RESTORE)
    except StorageError as error:
        yield error


def _recorded(completion: Completion, table: str) -> str | None:
    """The damage of the files of a table that the last audit, or a later failed run, recorded."""
    lake, audited = completion.lake, datetime.min.replace(tzinfo=UTC)
    if lake.exists(QUALITY.name):
        filters = [("table", "=", table), ("expectation", "in", [FILES_ARE_WHOLE, LOG_IS_WHOLE])]
        names = ["expectation", "success", "observed", "recorded_at"]
        rows = lake.rows(QUALITY.name, names, filters).to_pylist()
        audited = max((row["recorded_at"] for row in rows), default=audited)
        for row in rows:
            if row["recorded_at"] == audited and not row["success"]:
                return f"{_what(row)} (table {table}). {RESTORE}"
    for run in completion.failed_runs:
        if run.at > audited and f"(table {table})" in run.reason:
            return run.reason
    return None


def _what(row: Mapping[str, Any]) -> str:
    """The first damaged file, and how a log is damaged."""
    examples = Observed.from_json(row["observed"]).examples
    first = str(json.loads(examples[0])["found"]) if examples else row["expectation"]
    is_of_file = row["expectation"] == FILES_ARE_WHOLE
    return f"{first}: the file is not what was written" if is_of_file else first
