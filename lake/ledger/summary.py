"""The summary of the ledger: the few rows that readers of `runs` need, for any number of runs.

`runs` alone is authoritative. Few of its rows are still needed: the newest about each query, that
of its newest commit, the claims without an end, the newest range of epochs that did not touch a
query. The table `ledger_summary` holds these rows up to one version of `runs`; a reader adds the
rows appended since. The summary names that version and the digest of its commit, so that it is not
used for another ledger, or after a restore that undid the commit. It can be deleted at any time;
readers then read all of `runs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import DeltaError

from weir.lake.damage.storage_errors import StorageError
from weir.lake.delta.appended import NotAppended, appended_rows, commit_digest
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, CLAIMED, SUCCEEDED, UNTOUCHED
from weir.lake.ledger.untouched import expanded
from weir.lake.tables import LEDGER_SUMMARY, RUNS

_FORMAT = 2
"""Increased when `summed_up` keeps other rows than before: earlier summaries are not used then."""
_COMMITS, _ROWS = 32, 20_000
"""A new summary is written after reading so many commits of `runs`, or so many obsolete rows."""
_POSITION = "position"


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of `runs` that are still needed.

    Attributes:
        rows: columns of `RUNS`, ordered by number; rows about all queries are `expanded`.
        version: of `runs` when it was read; -1 if there is none.
        commits: how many commits of `runs` are newer than the summary.
        rows_read: how many rows of the summary and of `runs` were read.
    """

    rows: pa.Table
    version: int
    commits: int
    rows_read: int


def read_ledger(lake: Lake) -> Ledger:
    """The rows that are still needed of the ledger, as the lake has it open."""
    # Opened before `runs`, so that mostly it is not newer.
    lake.open(LEDGER_SUMMARY.name)
    table = lake.open(RUNS.name)
    if table is None:
        return Ledger(arrow_schema(RUNS).empty_table(), -1, 0, 0)
    newest = table.version()
    known = lake.derived(RUNS.name)
    if isinstance(known, Ledger) and known.version <= newest:
        with suppress(NotAppended):
            return _remembered(lake, _later(lake, known, newest))
    try:
        summary, version = _summary(lake)
        later = appended_rows(lake, RUNS.name, version, newest, arrow_schema(RUNS))
        rows = pa.concat_tables([summary, later])
    except NotAppended:
        rows, version = _whole(lake), -1
    ledger = Ledger(summed_up(rows), newest, newest - version, rows.num_rows)
    return _remembered(lake, ledger)


def _later(lake: Lake, known: Ledger, newest: int) -> Ledger:
    """A ledger that was read before, with the rows appended since.

    Raises:
        NotAppended: the log does not say which rows these are.
    """
    if known.version == newest:
        return known
    later = appended_rows(lake, RUNS.name, known.version, newest, arrow_schema(RUNS))
    return Ledger(
        summed_up(pa.concat_tables([known.rows, later])),
        newest,
        known.commits + newest - known.version,
        known.rows_read + later.num_rows,
    )


def _remembered(lake: Lake, ledger: Ledger) -> Ledger:
    lake.derive(RUNS.name, ledger)
    return ledger


def write_summary(lake: Lake, ledger: Ledger, job: str, run_id: str) -> None:
    """Write a ledger as the new summary, if reading it took many commits or rows.

    A run that dies before this leaves an older summary, which is still valid. If two runs write at
    once, either summary is right.
    """
    if ledger.commits < _COMMITS and ledger.rows_read - ledger.rows.num_rows < _ROWS:
        return
    with suppress(NotAppended, DeltaError):
        digest = commit_digest(lake, RUNS.name, ledger.version)
        extra = {"format": _FORMAT, "version": ledger.version, "commit": digest}
        metadata = Metadata(run_id, job, watermark=0, extra=extra)
        write(lake, LEDGER_SUMMARY, ledger.rows, metadata, mode="overwrite")
        _remembered(lake, replace(ledger, commits=0, rows_read=ledger.rows.num_rows))


def summed_up(rows: pa.Table) -> pa.Table:
    """The rows of a ledger that later runs need, in the order of their numbers.

    These are, per job: the newest run, open claims, and runs that were given up; for `validate`
    also the run that checked the graph up to the latest epoch. Per job and query: the newest row,
    that of the newest commit of its table, and the newest range of epochs that did not touch the
    query, as one row from its first epoch to its last.

    Summing up the result with later rows gives the same as summing up all rows.
    """
    order = ("number", "recorded_at", "job", "query")
    ordered = expanded(rows).sort_by([(name, "ascending") for name in order])
    numbered = ordered.append_column(_POSITION, pa.array(range(ordered.num_rows), pa.int64()))
    starts = _starts_of_untouched(numbered)
    positions = sorted({*_of_runs(numbered), *_newest(numbered), *_commits(numbered), *starts})
    kept = ordered.take(pa.array(positions, pa.int64()))
    from_epochs = [
        starts.get(position, start)
        for position, start in zip(positions, kept["from_epoch"].to_pylist(), strict=True)
    ]
    column = kept.schema.get_field_index("from_epoch")
    return kept.set_column(column, kept.schema.field(column), pa.array(from_epochs, pa.int64()))


def _summary(lake: Lake) -> tuple[pa.Table, int]:
    """The rows of the summary, and the version of `runs` that they sum up.

    Raises:
        NotAppended: there is none, it is not one of this ledger, or it cannot be read.
    """
    stored, newest = lake.last_metadata(LEDGER_SUMMARY.name), lake.version(RUNS.name)
    if stored is None or newest is None or stored[1].extra.get("format") != _FORMAT:
        raise NotAppended("there is no summary")
    version, commit = int(stored[1].extra["version"]), stored[1].extra["commit"]
    if version > newest or commit_digest(lake, RUNS.name, version) != commit:
        raise NotAppended("the summary is one of another ledger")
    try:
        return _with_all_columns(lake.rows(LEDGER_SUMMARY.name)), version
    except (OSError, pa.ArrowException, StorageError) as error:
        raise NotAppended(f"the summary cannot be read: {error}") from error


def _whole(lake: Lake) -> pa.Table:
    return _with_all_columns(lake.rows(RUNS.name))


def _with_all_columns(rows: pa.Table) -> pa.Table:
    """`rows` with all columns of `RUNS`; those that an earlier version of Weir lacked are null."""
    columns = [
        rows[field.name].cast(field.type)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in arrow_schema(RUNS)
    ]
    return pa.table(columns, schema=arrow_schema(RUNS))


def _of_runs(rows: pa.Table) -> Iterator[int]:
    """The positions of the rows about runs as a whole that are still needed."""
    is_of_run = pc.is_null(rows["query"])
    about_runs = [*_values(rows, is_of_run, "job", "number", "status")]
    newest: dict[str, int] = {}
    for _, job, number, _ in about_runs:
        newest[job] = max(number, newest.get(job, number))
    ended = {(job, number) for _, job, number, status in about_runs if status != CLAIMED}
    for position, job, number, status in about_runs:
        is_open = status == CLAIMED and (job, number) not in ended
        if number == newest[job] or is_open or status == ABANDONED:
            yield position
    of_graph = _all(
        is_of_run, pc.equal(rows["job"], pa.scalar("validate")), pc.is_valid(rows["to_epoch"])
    )
    validated = _values(rows, of_graph, "to_epoch")
    furthest = max(((to_epoch, position) for position, to_epoch in validated), default=None)
    if furthest is not None:
        yield furthest[1]


def _newest(rows: pa.Table) -> list[int]:
    """The positions of the newest row about each query, per job."""
    return _last_per_query(rows, pc.is_valid(rows["query"]))


def _commits(rows: pa.Table) -> list[int]:
    """The positions of the newest row with a commit of each query's table, per job."""
    return _last_per_query(rows, pc.is_valid(rows["commit_metadata"]))


def _last_per_query(rows: pa.Table, condition: pa.BooleanArray) -> list[int]:
    selected = rows.select(["job", "query", _POSITION]).filter(condition)
    newest = selected.group_by(["job", "query"]).aggregate([(_POSITION, "max")])
    return [int(position) for position in newest[f"{_POSITION}_max"].to_numpy()]


def _starts_of_untouched(rows: pa.Table) -> dict[int, int]:
    """The first epoch of each query's newest untouched range, by the position of its last row.

    An older range ends before a commit with a later watermark, so only the newest range counts.
    """
    is_untouched = _all(
        pc.equal(rows["mode"], pa.scalar(UNTOUCHED)),
        pc.equal(rows["status"], pa.scalar(SUCCEEDED)),
        pc.is_valid(rows["query"]),
    )
    ranges: dict[tuple[str, str], tuple[int, int, int]] = {}
    untouched = _values(rows, is_untouched, "from_epoch", "to_epoch", "job", "query")
    for position, start, end, job, query in sorted(untouched, key=lambda row: row[1:3]):
        first, last, _ = ranges.get((job, query), (start, start, position))
        if start > last:
            ranges[job, query] = start, end, position
        elif end >= last:
            ranges[job, query] = first, end, position
    return {position: first for first, _, position in ranges.values()}


def _values(rows: pa.Table, condition: pa.BooleanArray, *names: str) -> Iterator[tuple[Any, ...]]:
    """The position and the values of some columns, for each row that meets `condition`."""
    # An expression as condition would run a plan of Arrow's, a millisecond each.
    selected = rows.select([_POSITION, *names]).filter(condition)
    return zip(*(column.to_pylist() for column in selected.columns), strict=True)


def _all(*conditions: pa.BooleanArray) -> pa.BooleanArray:
    return reduce(pc.and_kleene, conditions)
