"""The lake as SQL views of DuckDB, read with delta-rs; no Spark.

* `quads_current`, `triples_current`: the graph, terms in N-Triples form.
* `<query>_current`: the published answer: each variable with the type that it has in the table
  `current/<query>`, or as a plain value if there is none; `weight` (the multiplicity of the row),
  `<variable>_lang`, and `<variable>_term`, the exact term in N-Triples form.
* `<query>_changes`: the published log: `epoch`, `weight`, `event_time`, and the same columns of the
  variables; of a query with a `key` also `change`, as a Delta change feed names it.
* `<query>_intervals`: when each row held, `since` and `until`, as known at the newest epoch: null
  if it still holds, of a query over streams at the last final instant. Of a query over the graph
  also `since_epoch` and `until_epoch`: at which epochs it appeared and vanished.
* `<program>_<predicate>`, of a program: when each atom held, `since` and `until`; its arguments by
  name, as plain values and as terms.
* `<query>_stream`, of a query with a stream operator: its elements as a log: `event_time`, `epoch`,
  `weight` (+1 emitted, -1 taken back), and the columns of the variables.
* `<stream>_events`: the events of a stream, terms in N-Triples form, with `event_time`.
* `replica_<remote>`: the last answer of a remote: the mappings of each key.
* `freshness_current`: how fresh each pattern of a remote was at its last evaluation.
* `quads`, `triples`, `transactions`, `graphs`, `rejected`, `source_files`, `stopped_sources`,
  `stream_epochs`, `late`, `runs`, `quality`, `requests`, `services`, `freshness`: the tables.

No two views have the same name: the endings differ, no table has one of them, and no query or
program may be named like a view of a remote. Only the views that a statement names are created, as
opening a table takes time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import duckdb
from sqlglot import exp

from weir.answers.logs import (
    CHANGES,
    CURRENT,
    INTERVALS,
    AnswerLog,
    exact_terms,
    plain_value,
    register_log,
    register_table,
)
from weir.answers.plain_values import connect_with_plain_values
from weir.answers.remote_views import create_remote_view, remote_views
from weir.answers.typed_views import typed_answer
from weir.answers.updates import key_of, kind_of_change
from weir.compute.sql import alias, cast, column, columns, number, rows_of, select, text, time_of
from weir.definitions.current_table import CHANGE
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import (
    ANSWER_COLUMNS,
    ANSWERS,
    OUTPUT_STREAMS,
    QUADS,
    SHARED_TABLES,
    TRIPLES,
    Table,
    stream,
)
from weir.lars.columns import PREDICATE, argument_columns, predicate_term
from weir.progress.backlog import PREDICATES
from weir.progress.completion import Completion
from weir.progress.streams import stream_names
from weir.progress.watermarks import head
from weir.project import open_lake
from weir.settings import Settings
from weir.status.streams import is_over_streams

EVENTS, ELEMENTS = "_events", "_stream"
_GRAPHS = {f"{table.name}{CURRENT}": table for table in (QUADS, TRIPLES)}
_TABLES = tuple(table.name for table in SHARED_TABLES)
_LOCKED = """
SET python_enable_replacements = false;
SET enable_external_access = false;
SET lock_configuration = true;
"""


def connect_to_views(
    settings: Settings, names: Iterable[str], lake: Lake
) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the views among `names`; other names are ignored.

    It has no access to files, addresses, extensions or variables of Python: the views read tables
    that are registered already.

    Args:
        settings: of the project.
        names: of views, and others.
        lake: of the project; afterwards, the tables that the views read are open in it.
    """
    bindings = Bindings(connect_with_plain_values(settings))
    for name in dict.fromkeys(name.lower() for name in names):
        _create_view(settings, bindings, lake, name)
    bindings.connection.execute(_LOCKED)
    return bindings.connection


def view_names(settings: Settings) -> list[str]:
    """The views that a statement can name."""
    lake = open_lake(settings)
    answers = []
    for query in lake.owners(ANSWERS):
        elements = [ELEMENTS] if lake.exists(OUTPUT_STREAMS.name(query)) else []
        answers += [f"{query}{view}" for view in (CURRENT, CHANGES, INTERVALS, *elements)]
        answers += [f"{query}_{name.lower()}" for name in _predicates(lake, query)]
    events = [f"{name}{EVENTS}" for name in stream_names(lake)]
    return [*_GRAPHS, *answers, *events, *remote_views(settings), *_TABLES]


def current_answer(
    bindings: Bindings, lake: Lake, query: str, completion: Completion
) -> exp.Select | None:
    """The newest answer: values, weight, terms; None if nothing of it is published.

    The values are those of the table `current/<query>` if there is one, else plain values.
    """
    typed = typed_answer(bindings, lake, query, completion)
    log = None if typed is not None else register_log(bindings, lake, query)
    if log is None:
        return typed
    variables = log.variables_at(lake, None)
    return log.state(*map(plain_value, variables), after_weight=exact_terms(variables))


def _create_view(settings: Settings, bindings: Bindings, lake: Lake, name: str) -> None:
    """Create the view `name`; nothing happens if there is no such view."""
    if name in _TABLES:
        register_table(bindings, lake, name, name)
        return
    if create_remote_view(bindings, lake, name):
        return
    if graph := _GRAPHS.get(name):
        relation, newest = f"{graph.name} log", head(lake)
        # Opened after the newest epoch was read, so that it has all of that epoch.
        if register_table(bindings, lake, graph.name, relation):
            _create(bindings, name, _graph(graph, relation, newest))
        return
    if name.endswith(EVENTS):
        events = stream(name.removesuffix(EVENTS))
        relation, newest = f"{events.name} log", head(lake)
        if register_table(bindings, lake, events.name, relation):
            _create(bindings, name, _events(relation, newest))
        return
    if name.endswith(ELEMENTS):
        query = name.removesuffix(ELEMENTS)
        table = OUTPUT_STREAMS.name(query)
        relation, published = f"{table} log", Completion.read(lake).published(query)
        if names := register_table(bindings, lake, table, relation):
            last = published.epoch if published else 0
            _create(bindings, name, _elements(relation, names, last))
        return
    if name.endswith(CURRENT):
        query = name.removesuffix(CURRENT)
        current = current_answer(bindings, lake, query, Completion.read(lake))
        if current is not None:
            _create(bindings, name, current)
            return
    for ending in (CHANGES, INTERVALS):
        query = name.removesuffix(ending)
        if query != name and (log := register_log(bindings, lake, query)):
            is_log = ending == CHANGES
            rows = _changes(log, key_of(settings, query)) if is_log else _intervals(log, lake)
            _create(bindings, name, rows)
            return
    for at in (match.start() for match in re.finditer("_", name)):
        program, wanted = name[:at], name[at + 1 :]
        for predicate, arguments in _predicates(lake, program).items():
            if predicate.lower() == wanted and (log := register_log(bindings, lake, program)):
                _create(bindings, name, _atoms(log, predicate, arguments))
                return


def _predicates(lake: Lake, program: str) -> Mapping[str, Sequence[str]]:
    """The published predicates of a program, with the names of their arguments."""
    table = ANSWERS.name(program)
    published = lake.last_metadata(table, job="publish") if lake.exists(table) else None
    return {} if published is None else published[1].extra.get(PREDICATES, {})


def _graph(table: Table, relation: str, last: int) -> exp.Select:
    """The graph at the epoch `last`; an ingest that died may have written later rows."""
    names = tuple(name for name in table.column_names if name not in ANSWER_COLUMNS)
    return (
        select(*columns(names))
        .from_(rows_of(relation))
        .where(column("epoch") <= last)
        .group_by(*columns(names))
        .having(exp.Sum(this=column("weight")) > 0)
    )


def _changes(log: AnswerLog, key: Sequence[str]) -> exp.Select:
    """The log with plain values and terms; with a key, what happened to the row that it names."""
    return select(
        *columns(ANSWER_COLUMNS),
        *([alias(kind_of_change(key), CHANGE)] if key else []),
        *map(plain_value, log.variables),
        *exact_terms(log.variables),
    ).from_(rows_of(log.relation))


def _intervals(log: AnswerLog, lake: Lake) -> exp.Select:
    """When rows held: plain values, since, until, weight, terms; of the graph with epochs."""
    variables = log.variables_at(lake, None)
    over_streams = is_over_streams(Completion.read(lake), log.query)
    intervals = log.intervals if over_streams else log.epoch_intervals
    return intervals(variables, [*map(plain_value, variables)], after_weight=exact_terms(variables))


def _atoms(log: AnswerLog, predicate: str, arguments: Sequence[str]) -> exp.Select:
    """When the atoms of a predicate held: arguments, since, until, terms."""
    stored = argument_columns(len(arguments))
    named = [*zip(stored, arguments, strict=True)]
    values = [plain_value(own, name) for own, name in named]
    terms = [exp.alias_(column(own), f"{name}_term", quoted=True) for own, name in named]
    of_predicate = column(PREDICATE).eq(text(predicate_term(predicate)))
    return log.intervals((PREDICATE, *stored), values, after_weight=terms).where(of_predicate)


def _events(relation: str, last: int) -> exp.Select:
    """The events of the epochs up to `last`; an ingest that died may have written later ones."""
    time = cast(time_of(column("instant")), exp.DType.TIMESTAMPTZ)
    return select(
        *columns(("graph", "subject", "predicate", "object")),
        alias(time, "event_time"),
        *columns(("epoch", "line")),
        from_=rows_of(relation),
        where=[column("epoch") <= number(last)],
    )


def _elements(relation: str, names: Sequence[str], last: int) -> exp.Select:
    """The log of the stream that a query emits: epoch, weight, event_time, plain values, terms.

    Only the epochs up to `last`: later ones are not published.
    """
    variables = [name for name in names if name not in ("instant", "epoch", "weight")]
    time = cast(time_of(column("instant")), exp.DType.TIMESTAMPTZ)
    return select(
        *columns(("epoch", "weight")),
        alias(time, "event_time"),
        *map(plain_value, variables),
        *exact_terms(variables),
        from_=rows_of(relation),
        where=[column("epoch") <= number(last)],
    )


def _create(bindings: Bindings, name: str, query: exp.Select) -> None:
    bindings.view(name, query.sql(dialect="duckdb"))
