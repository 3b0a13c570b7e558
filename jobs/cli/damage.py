"""What `weir status` says of failed runs, and of a damaged graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from expectations.suite import QualityResult
from jobs.audit.files import FILES, LOG, file_results, is_damage
from jobs.progress.completion import Completion, FailedRun
from jobs.progress.watermarks import require_graph
from lake.integrity import missing_files
from lake.lake import Lake, local_folder
from lake.storage_errors import DamagedTable, StorageError
from lake.tables import GRAPHS, QUADS, QUALITY, TRANSACTIONS, TRIPLES

_GRAPH = (QUADS.name, TRIPLES.name, GRAPHS.name, TRANSACTIONS.name)


@dataclass(frozen=True, slots=True)
class GraphDamage:
    """What is wrong with a table of the graph, which `weir audit` lists in full."""

    what: str

    @classmethod
    def of(cls, completion: Completion) -> GraphDamage | None:
        """The first damage that is found; None if nothing is known to be wrong.

        Logs, and whether each file is there with its size, are looked at always; the content of
        files only if the last run or the last audit named the table.
        """
        lake = completion.lake
        try:
            require_graph(lake)
        except DamagedTable as error:
            return cls(str(error))
        for table in _GRAPH:
            if (what := next(_damages(lake, table), None)) is not None:
                return cls(f"{what} (table {table})")
        for table in _GRAPH:
            if _is_named(completion, table) and (what := _deep(lake, table)) is not None:
                return cls(f"{what} (table {table})")
        return None


def _damages(lake: Lake, table: str) -> Iterator[str]:
    folder = local_folder(lake.location(table))
    try:
        stored = lake.open(table)
        for each in missing_files(folder, stored) if folder and stored else ():
            yield f"{each.file}: {each.what}"
    except StorageError as error:
        yield f"{error.where}: {error.what}"


def _is_named(completion: Completion, table: str) -> bool:
    """Whether a run that nothing followed failed at a table, or the last audit of its files did."""
    if any(f"(table {table})" in each.reason for each in completion.failed_runs):
        return True
    lake = completion.lake
    if not lake.exists(QUALITY.name):
        return False
    filters = [("table", "=", table), ("expectation", "in", [FILES.name, LOG.name])]
    rows = lake.rows(QUALITY.name, ["success", "recorded_at"], filters)
    newest = rows.filter(pc.equal(rows["recorded_at"], pc.max(rows["recorded_at"])))
    return not all(newest["success"].to_pylist())


def _deep(lake: Lake, table: str) -> str | None:
    folder = local_folder(lake.location(table))
    if folder is None:
        return None
    found = [each for each in file_results(lake, folder, table) if is_damage(each)]
    return next(map(_first_of, found), None)


def _first_of(result: QualityResult) -> str:
    """The first file that is damaged; of the log it is said how."""
    first = result.found.splitlines()[0]
    return (
        f"{first}: the file is not what was written" if result.expectation == FILES.name else first
    )


def failed_run_text(run: FailedRun) -> str:
    """A failed run in a sentence: what failed, when, why and what to do."""
    return f"the last run of {run.job} failed at {_time(run.at)}: {run.reason}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
