"""The queries that a run did not touch: one row of the ledger for all of them.

In the ledger, the watermark of a query is the `to_epoch` of the newest row about it. A row about
the query `*` moves all queries of its job whose watermark is `from_epoch` to `to_epoch`, except
queries with a row of their own from the same run. A query that was not examined (its file is gone
or has an error, its rows are held back) gets such a row, and so stays at `from_epoch`. It needs no
further row: from then on, its watermark differs from that of the others.

A run that was given up may go on nevertheless and report late. The watermarks of the queries of its
rows are then unknown, and no row about all moves them until a later run has a row about them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from weir.lake.ledger.runs import ABANDONED, SKIPPED, UNTOUCHED

ALL = "*"
"""The query of a row about all queries; no query can have this name."""

Range = tuple[int, int]
"""Two epochs, the first exclusive."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row to write: a query, or `ALL`; its mode; its epochs."""

    query: str
    mode: str
    epochs: Range


def entries(
    watermarks: Mapping[str, int], untouched: Mapping[str, Range], reported: Collection[str]
) -> Iterator[Entry]:
    """The smallest set of rows that records which queries a run did not touch.

    Args:
        watermarks: of each query of the job, by the ledger (`watermarks_of`).
        untouched: from which epoch to which the run moves queries without new rows.
        reported: queries that the run has rows of their own about.
    """
    by_watermark: defaultdict[int, set[str]] = defaultdict(set)
    for query, epoch in watermarks.items():
        if query not in reported:
            by_watermark[epoch].add(query)
    for epoch, queries in by_watermark.items():
        moved = Counter(
            untouched[query] for query in queries if untouched.get(query, (None,))[0] == epoch
        )
        if not moved:
            continue
        ((most, count),) = moved.most_common(1)
        others = {query for query in queries if untouched.get(query) != most}
        unexamined = others - untouched.keys()
        if 1 + len(unexamined) < count:
            yield Entry(ALL, UNTOUCHED, most)
            yield from (Entry(query, SKIPPED, (epoch, epoch)) for query in sorted(unexamined))
            by_watermark[epoch] = others
    single = {query for queries in by_watermark.values() for query in queries}
    for query, epochs in untouched.items():
        if query in single or query not in watermarks:
            yield Entry(query, UNTOUCHED, epochs)


def watermarks_of(rows: pa.Table, job: str) -> dict[str, int]:
    """The watermark of each query of a job, by rows of the ledger in their order, `expanded`."""
    given_up = _given_up(rows)
    watermarks: dict[str, int] = {}
    names = ("job", "number", "query", "to_epoch")
    for row_job, number, query, to_epoch in _values(rows, names):
        if row_job != job or query is None or query == ALL:
            continue
        if to_epoch is None or (job, number) in given_up:
            watermarks.pop(query, None)
        else:
            watermarks[query] = to_epoch
    return watermarks


def expanded(rows: pa.Table) -> pa.Table:
    """`rows` of the ledger with a row per query instead of rows about all queries.

    For consecutive rows about all, a query gets one row, from the first epoch to the last.
    """
    queries = rows["query"].to_pylist()
    if ALL not in queries:
        return rows
    given_up = _given_up(rows)
    watermarks: defaultdict[str, dict[str, int]] = defaultdict(dict)
    reported: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    # By job and query: the first epoch and the position of the newest row about all.
    moved: dict[tuple[str, str], tuple[int, int]] = {}
    copies: list[tuple[int, str, int]] = []
    names = ("job", "number", "query", "from_epoch", "to_epoch")
    values = [*_values(rows, names)]
    for job, number, query, _, _ in values:
        reported[job, number].add(query)
    for position in _in_order(values):
        job, number, query, from_epoch, to_epoch = values[position]
        if query is None or ((job, number) in given_up and query == ALL):
            continue
        if query != ALL:
            if (job, query) in moved:
                start, last = moved.pop((job, query))
                copies.append((last, query, start))
            if to_epoch is None or (job, number) in given_up:
                watermarks[job].pop(query, None)
            else:
                watermarks[job][query] = to_epoch
            continue
        own = reported[job, number]
        for other, epoch in watermarks[job].items():
            if epoch == from_epoch and other not in own:
                start, _ = moved.get((job, other), (from_epoch, 0))
                moved[job, other] = start, position
                watermarks[job][other] = to_epoch
    copies += [(position, query, start) for (_, query), (start, position) in moved.items()]
    return _with(rows, queries, copies)


def _in_order(values: list[tuple[Any, ...]]) -> list[int]:
    """The positions of the rows in order; within a run the row about all comes first.

    That row does not concern the queries that the run has rows about.
    """
    jobs: dict[str, int] = {}
    return sorted(
        range(len(values)),
        key=lambda i: (jobs.setdefault(values[i][0], len(jobs)), values[i][1], values[i][2] != ALL),
    )


def _with(
    rows: pa.Table, queries: list[str | None], copies: list[tuple[int, str, int]]
) -> pa.Table:
    """`rows` without those about all, and copies of these: (position, query, from_epoch)."""
    kept = pa.array([query != ALL for query in queries])
    copied = rows.take(pa.array([position for position, _, _ in copies], pa.int64()))
    for name, values in (
        ("query", [query for _, query, _ in copies]),
        ("from_epoch", [start for _, _, start in copies]),
    ):
        column = rows.schema.get_field_index(name)
        field = rows.schema.field(column)
        copied = copied.set_column(column, field, pa.array(values, field.type))
    return pa.concat_tables([rows.filter(kept), copied])


def _given_up(rows: pa.Table) -> set[tuple[str, int]]:
    """Job and number of the runs that were given up."""
    names = ("job", "number", "status")
    return {(job, number) for job, number, status in _values(rows, names) if status == ABANDONED}


def _values(rows: pa.Table, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in names), strict=True)
