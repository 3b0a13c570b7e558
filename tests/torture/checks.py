"""Whether a project has what it must have: by pyoxigraph, and by an undisturbed project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import pyarrow.compute as pc

from tests.support.oracles.projects import evaluate, solutions
from tests.support.projects.project import Project
from tests.support.streams.projects import answer_log
from tests.torture.life import AGED, STREAM_LOGS, Step, answer_with_remote, registered
from weir.lake.ledger.runs import ABANDONED, CLAIMED
from weir.progress.watermarks import head
from weir.project import open_lake
from weir.rdf.reserved_graphs import is_reserved

_TABLES = (
    "quads",
    "triples",
    "transactions",
    "graphs",
    "rejected",
    "late",
    "stream_epochs",
    "streams/readings",
    "replicas/wd",
)
_OWN = {"run_id", "ingested_at", "recorded_at", "quads_version", "triples_version", "change_id"}
_OWN |= {"asked_at", "answered_at", "previous_at", "seconds", "request_id"}
"""Columns that differ from run to run."""
_LOGS = {"quads", "triples"}
"""Tables that compaction consolidates: what counts is their state."""

Claim = tuple[str, int]
"""A job and the number of a run."""


def wrong_answers(project: Project, step: Step) -> Iterator[str]:
    """What the graph and the published answers have wrong at the newest epoch, by pyoxigraph."""
    lake = open_lake(project.settings)
    newest = head(lake)
    terms = {
        (str(q.graph_name), str(q.subject), str(q.predicate), str(q.object)) for q in step.state
    }
    held = [row for row in project.state(newest) if not is_reserved(str(row[0]))]
    yield from _different("quads", Counter(held), Counter(terms))
    if step.said is not None:
        text, store = answer_with_remote(step)
        yield from _different(AGED, project.answer(AGED, newest), solutions(store, text))
    for query in registered(project):
        text = (project.folder / f"queries/{query}.rq").read_text()
        if not lake.exists(f"answers/{query}"):
            yield f"{query}: not published"
            continue
        yield from _different(query, project.answer(query, newest), evaluate(text, step.state))


def differences(
    project: Project, undisturbed: Project, corrected: Collection[str] = ()
) -> Iterator[str]:
    """What differs from an undisturbed project: epochs, states, and the logs of answers.

    Of the queries in `corrected`, the sums of the logs are compared: rows of their answers were
    lost, and a repair publishes the difference to the right answer at a later epoch.
    """
    for table in _TABLES:
        ours, theirs = (_rows(side, table) for side in (project, undisturbed))
        yield from _different(table, ours, theirs)
    for query in sorted(_published(project) | _published(undisturbed)):
        ours, theirs = (_log(side, query) for side in (project, undisturbed))
        if query in corrected:
            ours, theirs = _summed(query, ours), _summed(query, theirs)
        yield from _different(f"the log of {query}", ours, theirs)


def other_sums(project: Project, undisturbed: Project) -> Iterator[str]:
    """What differs from an undisturbed project in the states of the graph and of all answers.

    Not which epoch is which, if both took the same inputs in another order.
    """
    for table in sorted(_LOGS):
        ours, theirs = (_rows(side, table) for side in (project, undisturbed))
        yield from _different(table, ours, theirs)
    for query in sorted(_published(project) | _published(undisturbed)):
        ours, theirs = (_summed(query, _log(side, query)) for side in (project, undisturbed))
        yield from _different(f"the sum of the log of {query}", ours, theirs)


def _log(project: Project, query: str) -> Counter[Any]:
    if query not in _published(project):
        return Counter()
    log = answer_log if query in STREAM_LOGS else Project.signed
    return Counter(log(project, query))


def _summed(query: str, log: Counter[Any]) -> Counter[Any]:
    """The weights of the rows of a log, over all epochs."""
    of_stream = query in STREAM_LOGS
    summed: Counter[Any] = Counter()
    for row, count in log.items():
        weight, key = (row[2], (row[1], row[3])) if of_stream else (row[1], row[2])
        summed[key] += weight * count
    return Counter({row: weight for row, weight in summed.items() if weight})


def claims(project: Project) -> tuple[set[Claim], set[Claim]]:
    """The claims without an end, and those that were found to be abandoned."""
    lake = open_lake(project.settings)
    if not lake.exists("runs"):
        return set(), set()
    rows = lake.rows("runs", ["job", "number", "status", "query"])
    about_runs = rows.filter(pc.is_null(rows["query"])).to_pylist()
    ended = {(row["job"], row["number"]) for row in about_runs if row["status"] != CLAIMED}
    abandoned = {(r["job"], r["number"]) for r in about_runs if r["status"] == ABANDONED}
    return {(row["job"], row["number"]) for row in about_runs} - ended, abandoned


def _rows(project: Project, table: str) -> Counter[Any]:
    if not open_lake(project.settings).exists(table):
        return Counter()
    if table in _LOGS:
        rows = open_lake(project.settings).rows(table)
        names = [name for name in rows.column_names if name not in {"epoch", "weight"}]
        state: Counter[Any] = Counter()
        for row in rows.to_pylist():
            state[tuple(row[name] for name in names)] += row["weight"]
        return Counter({row: weight for row, weight in state.items() if weight})
    names = [name for name in project.columns(table) if name not in _OWN]
    return Counter(project.rows(table, *names))


def _published(project: Project) -> set[str]:
    logs = (project.folder / "lake/answers").glob("*/_delta_log")
    return {log.parent.name for log in logs}


def _different(what: str, actual: Counter[Any], expected: Counter[Any]) -> Iterator[str]:
    """A line per row that is missing or too much."""
    for row in expected.keys() | actual.keys():
        if actual[row] != expected[row]:
            yield f"{what}: {actual[row]} times instead of {expected[row]}: {row}"
