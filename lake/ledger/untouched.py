"""The queries that a run did not touch: one row of the ledger for all of them.

A row about the query `*` says that a run of its job moved every query that stood at `from_epoch` to
`to_epoch`, but for those that the same run has a row of their own about. Where a query stands is
what the ledger says: the `to_epoch` of the newest row about it. A query that stood there and was
not examined (its file is gone or has an error, its rows are held back) gets a row of its own that
says so; it is needed once, for then it no longer stands where the others do.

A run that was given up and goes on nevertheless may report late. Nothing is known of the queries of
its rows, so no row about all moves them until a later run has a row about them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from weir.lake.ledger.runs import ABANDONED, SKIPPED, UNTOUCHED

ALL = "*"
"""The query of a row about all of them; no query can have this name."""

Range = tuple[int, int]
"""Two epochs, the first exclusive."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row to write: a query, or `ALL`; its mode; its epochs."""

    query: str
    mode: str
    epochs: Range


def entries(
    standing: Mapping[str, int], untouched: Mapping[str, Range], reported: Collection[str]
) -> Iterator[Entry]:
    """The fewest rows that say which queries a run did not touch.

    Args:
        standing: where the ledger has each query of the job (`standing_of`).
        untouched: from which epoch to which the run moves queries without new rows.
        reported: queries that the run has a row of their own about.
    """
    there: defaultdict[int, set[str]] = defaultdict(set)
    for query, epoch in standing.items():
        if query not in reported:
            there[epoch].add(query)
    for epoch, queries in there.items():
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
            there[epoch] = others
    together = {query for queries in there.values() for query in queries}
    for query, epochs in untouched.items():
        if query in together or query not in standing:
            yield Entry(query, UNTOUCHED, epochs)


def standing_of(rows: pa.Table, job: str) -> dict[str, int]:
    """Where each query stands, by rows of the ledger in their order, `expanded`."""
    given_up = _given_up(rows)
    found: dict[str, int] = {}
    names = ("job", "number", "query", "to_epoch")
    for of, number, query, to_epoch in _values(rows, names):
        if of != job or query is None or query == ALL:
            continue
        if to_epoch is None or (job, number) in given_up:
            found.pop(query, None)
        else:
            found[query] = to_epoch
    return found


def expanded(rows: pa.Table) -> pa.Table:
    """`rows` of the ledger with a row for each query instead of those about all.

    Of consecutive rows about all, a query gets one, from the first epoch to the last.
    """
    queries = rows["query"].to_pylist()
    if ALL not in queries:
        return rows
    given_up = _given_up(rows)
    standing: defaultdict[str, dict[str, int]] = defaultdict(dict)
    reported: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    # By job and query: the first epoch and the position of the newest row about all.
    moved: dict[tuple[str, str], tuple[int, int]] = {}
    made: list[tuple[int, str, int]] = []
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
                made.append((last, query, start))
            if to_epoch is None or (job, number) in given_up:
                standing[job].pop(query, None)
            else:
                standing[job][query] = to_epoch
            continue
        own = reported[job, number]
        for other, epoch in standing[job].items():
            if epoch == from_epoch and other not in own:
                start, _ = moved.get((job, other), (from_epoch, 0))
                moved[job, other] = start, position
                standing[job][other] = to_epoch
    made += [(position, query, start) for (_, query), (start, position) in moved.items()]
    return _with(rows, queries, made)


def _in_order(values: list[tuple[Any, ...]]) -> list[int]:
    """The positions of the rows: within a run the row about all comes first.

    It does not concern the queries that the run has rows about.
    """
    jobs: dict[str, int] = {}
    return sorted(
        range(len(values)),
        key=lambda i: (jobs.setdefault(values[i][0], len(jobs)), values[i][1], values[i][2] != ALL),
    )


def _with(rows: pa.Table, queries: list[str | None], made: list[tuple[int, str, int]]) -> pa.Table:
    """`rows` without those about all, and copies of these: (position, query, from_epoch)."""
    kept = pa.array([query != ALL for query in queries])
    copies = rows.take(pa.array([position for position, _, _ in made], pa.int64()))
    for name, values in (
        ("query", [query for _, query, _ in made]),
        ("from_epoch", [start for _, _, start in made]),
    ):
        column = rows.schema.get_field_index(name)
        field = rows.schema.field(column)
        copies = copies.set_column(column, field, pa.array(values, field.type))
    return pa.concat_tables([rows.filter(kept), copies])


def _given_up(rows: pa.Table) -> set[tuple[str, int]]:
    """Job and number of the runs that were given up."""
    names = ("job", "number", "status")
    return {(job, number) for job, number, status in _values(rows, names) if status == ABANDONED}


def _values(rows: pa.Table, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in names), strict=True)
